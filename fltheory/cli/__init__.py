"""The command ``fltheory``: parse, call, print.

Exit codes: 0 done, 1 something that was run failed or a check that must hold does not, 2 bad input, 130 interrupted.
An error is one line on standard error that starts with ``error:``; results go to standard output. Commands import
what they need when they run, so that help answers at once.
"""

from __future__ import annotations

import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fltheory import __version__
from fltheory.cli.bounding import bounds
from fltheory.cli.checking import check, diff, falsify, replay
from fltheory.cli.conforming import conform
from fltheory.cli.data import data
from fltheory.cli.drawing import figure
from fltheory.cli.exporting import export
from fltheory.cli.listing import list_catalogue
from fltheory.cli.running import run
from fltheory.cli.showing import show
from fltheory.cli.streams import close_streams, ended_as_interrupted, open_streams
from fltheory.cli.sweeping import sweep
from fltheory.cli.terminal import complain, show_tracebacks, trace
from fltheory.cli.tuning import tune
from fltheory.cli.validating import validate
from fltheory.errors import FltheoryError

# Releases of typer differ in whether usage errors are click's own or a copy; the base of BadParameter is right in both.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


class OneLineErrors(TyperGroup):
    """A group of commands that turns every expected error into one line and an exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command and leave the process with its exit code."""
        given = args[0] if args else extra.pop("args", None)
        words = list(sys.argv[1:] if given is None else given)
        show_tracebacks(wanted="--traceback" in words)  # wherever it stands
        try:
            others = [word for word in words if word != "--traceback"]
            code = super().main(others, *args[1:], **{**extra, "standalone_mode": False})
        except FltheoryError as error:
            trace("".join(traceback.format_exception(error)))
            complain(str(error))
            code = 2
        except _UsageError as error:
            message: str = error.format_message()  # type: ignore[attr-defined]
            complain(f"{message.rstrip('.')}; see 'fltheory --help'")
            code = 2
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            complain(f"{(error.strerror or str(error)).lower()}{where}")
            code = 1
        except typer.Abort:
            code = 130
        sys.exit(code if isinstance(code, int) else 0)


# Recent releases of typer load pydantic, which takes a tenth of a second, to convert the missing value of --help.
_NO_HELP = {"help": False}

app = typer.Typer(
    name="fltheory",
    cls=OneLineErrors,
    help="The executable theory of federated learning on heterogeneous, drifting clients.",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: rich alone would take a third of the time allowed for it
    context_settings={"help_option_names": ["-h", "--help"], "default_map": _NO_HELP},
)
app.command("validate")(validate)
app.command("list")(list_catalogue)
app.command("show")(show)
app.command("export")(export)
app.command("check")(check)
app.command("falsify")(falsify)
app.command("replay")(replay)
app.command("diff")(diff)
app.command("run")(run)
app.command("sweep")(sweep)
app.command("tune")(tune)
app.command("bounds")(bounds)
app.command("figure")(figure)
app.command("conform")(conform)
app.command("data")(data)


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)] = False,
    _traceback: Annotated[
        bool, typer.Option("--traceback", help="Show the traceback of an error; may stand anywhere.")
    ] = False,
) -> None:
    if version:
        typer.echo(f"fltheory {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line; this is what the ``fltheory`` script calls."""
    open_streams()
    with ended_as_interrupted() as endings:
        try:
            app(prog_name="fltheory")
            code = 0
        except SystemExit as done:
            code = done.code if isinstance(done.code, int) else 0
        except KeyboardInterrupt:
            code = 130
        code = close_streams(endings.code(code))
    sys.exit(code)
