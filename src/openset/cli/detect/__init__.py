"""`openset detect`: measure and operate object detectors that meet unknown objects."""

import typer

from openset.cli._folder import commands_of

app = typer.Typer(
    cls=commands_of("openset.cli.detect"),
    help="Measure and operate object detectors that meet unknown objects.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
