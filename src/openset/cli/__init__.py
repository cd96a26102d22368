"""The `openset` command: one file per command, found by its name in this folder; heavy imports wait inside."""

import os
import sys
from importlib import import_module
from pkgutil import iter_modules

import typer

from openset._core.memory import keep_memory
from openset._core.text import shown
from openset.errors import OpenSetError, missing_package

app = typer.Typer(
    name="openset",
    help="Measure, compare and operate models that must say: I don't know this.",
    epilog="Add --debug to any command to see the traceback of an error.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for _module in sorted(iter_modules(__path__), key=lambda module: module.name):
    if not _module.name.startswith("_"):  # a command file has either `command`, a function, or `app`, a group of them
        _file = import_module(f"openset.cli.{_module.name}")
        if hasattr(_file, "app"):
            app.add_typer(_file.app, name=_module.name)
        else:
            app.command(_module.name)(_file.command)


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
    try:
        app([word for word in words if word != "--debug"], prog_name="openset")
    except OpenSetError as error:
        if debug:
            raise
        _stop(f"Error: {error}", 2)
    except ImportError as error:
        if debug:
            raise
        _stop(f"Error: {missing_package('This command', error)}", 2)
    except MemoryError as error:
        if debug:
            raise
        _stop(f"Error: there is not enough memory for this ({str(error) or 'none is left'}): take fewer rows.", 2)
    except BrokenPipeError:  # the reader of our output, `head` for example, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except Exception as error:
        if debug:
            raise
        kind = type(error).__name__
        _stop(
            f"Error: openset failed unexpectedly ({kind}: {error}). Add --debug for details and please report it.",
            3,
        )


def _stop(sentence: str, code: int) -> None:
    typer.echo(shown(sentence, lines=False), err=True)
    raise SystemExit(code) from None
