"""Commands that are killed at random moments, again and again, until one is let through.

Run as a program, in a process of its own: it imports everything once, and each command is a copy of it, so that twenty
deaths take seconds. Arguments: how many deaths, a seed, modules to import, and the command after ``--``.
"""

from __future__ import annotations

import importlib
import os
import random
import signal
import sys
import time


def main() -> int:
    deaths, seed = int(sys.argv[1]), int(sys.argv[2])
    split = sys.argv.index("--")
    for module in sys.argv[3:split]:
        importlib.import_module(module)
    from fltheory.cli import main as command
    from fltheory.simulation import checkpoints

    checkpoints.LEAST = 0.0  # after every round, however short
    checkpoints.SHARE = float("inf")
    sys.argv = ["fltheory", *sys.argv[split + 1 :]]
    moments = random.Random(seed)
    longest, killed = 0.5, 0
    for _ in range(deaths):
        child = os.fork()
        if child == 0:
            os.setsid()
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for the rest of this process
            _exit_as(command)
        time.sleep(moments.uniform(0.0, longest))
        done, _ = os.waitpid(child, os.WNOHANG)
        if done:
            longest *= 0.7  # it was through before
            continue
        os.killpg(child, signal.SIGKILL) if os.getpgid(child) == child else os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        killed += 1
    print(killed, flush=True)
    child = os.fork()
    if child == 0:
        _exit_as(command)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _exit_as(command: object) -> None:
    code = 1
    try:
        command()  # type: ignore[operator]
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
