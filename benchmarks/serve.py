"""One tool in one process: requests come in as JSON lines, answers go out as JSON lines.

``python -m benchmarks.serve MODULE SETTINGS`` imports the module, prepares the job with the settings and then runs it
once per request. Whatever the tool itself prints goes to standard error, so that it cannot disturb the answers.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
import sys
import time
from typing import IO, Any

import numpy as np

from benchmarks.agreement import summary
from benchmarks.protocol import Job

PACKAGES = ("numpy", "scipy", "numba", "fltheory", "jax", "jaxlib", "fedjax", "flwr", "ray", "torch")


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    name, settings = sys.argv[1], json.loads(sys.argv[2])
    began = time.perf_counter()
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        _answer(answers, {"missing": error.name or str(error)})
        return
    imported = time.perf_counter()
    try:
        job: Job = module.prepare(**settings)
    except Exception as error:
        _answer(answers, {"error": _reason(error)})
        return
    ready = {"import_seconds": imported - began, "prepare_seconds": time.perf_counter() - imported}
    _answer(answers, {**ready, "versions": _versions()})
    for line in sys.stdin:
        _answer(answers, _run(job, json.loads(line)))


def _run(job: Job, request: dict[str, Any]) -> dict[str, Any]:
    began = time.perf_counter()
    try:
        result = job(**request)
    except Exception as error:
        return {"error": _reason(error)}
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds if result.seconds is None else result.seconds,
        "statistics": summary(np.asarray(result.curve, dtype=np.float64)),
        "peak_bytes": result.peak_bytes,
        "note": result.note,
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        if package in sys.modules:
            found[package] = importlib.metadata.version(package)
    return found


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _answer(answers: IO[str], content: dict[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
