"""The `openset` command: one file per command, found by its name in this folder."""

import io
import os
import sys
import warnings
from pathlib import Path

import typer

from openset._core.memory import keep_memory
from openset._core.processor import prefer_avx2
from openset._core.text import shown
from openset._io.paths import reason
from openset.cli._folder import commands_of
from openset.errors import OpenSetError, missing_package

app = typer.Typer(
    name="openset",
    cls=commands_of("openset.cli"),
    help="Measure, compare and operate models that must say: I don't know this.",
    epilog="Add to any command: --debug to see the traceback of an error, --plugin FILE.py to run your own file first.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _top(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    if version:
        from openset import __version__

        typer.echo(f"openset {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command; a user's mistake becomes one sentence and exit code 2."""
    words = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in words or bool(os.environ.get("OPENSET_DEBUG"))
    keep_memory()
    prefer_avx2()
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal that lacks a letter shows its number
        sys.stdout.reconfigure(errors="backslashreplace")
    # Pillow refuses pictures that fill the memory; of those of half that size it only warns, as large photographs are.
    warnings.filterwarnings("ignore", message="Image size .* exceeds limit of")
    try:
        try:
            from openset.cli._plugins import run_plugins

            _check_working_folder()
            app(run_plugins([word for word in words if word != "--debug"]), prog_name="openset")
        finally:
            sys.stdout.flush()  # here, where a full disk can still be told of
    except BrokenPipeError:  # the reader of our output, `head` for example, has enough
        _drop_output()
        raise SystemExit(0) from None
    except Exception as error:
        if debug:
            raise
        sentence, code = _sentence_of(error)
        typer.echo(shown(f"Error: {sentence}", lines=False), err=True)
        raise SystemExit(code) from None


def _sentence_of(error: Exception) -> tuple[str, int]:
    """What to say of an error, and the exit code: 2 for what the user or the system can fix, 3 for our mistakes."""
    if isinstance(error, OpenSetError):
        return str(error), 2
    if isinstance(error, ImportError):
        return str(missing_package("This command", error)), 2
    if isinstance(error, MemoryError):
        return f"there is not enough memory for this ({str(error) or 'none is left'}): take fewer rows.", 2
    if isinstance(error, OSError):  # a full disk, a folder that is closed
        _drop_output()
        return f"system error: {reason(error)}{'' if error.filename is None else f' ({error.filename})'}.", 2
    kind = type(error).__name__
    return f"openset failed unexpectedly ({kind}: {error}). Add --debug for details and please report it.", 3


def _check_working_folder() -> None:
    try:
        Path.cwd()
    except OSError as error:  # libraries would give up on it in words of their own
        raise OpenSetError("the working folder is gone: go to another one.") from error


def _drop_output() -> None:
    """What could not be written is given up, or else it would be tried once more at the very end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
