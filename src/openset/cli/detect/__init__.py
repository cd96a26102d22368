"""`openset detect`: open-set evaluation of object detectors, from COCO files; one file per command."""

from importlib import import_module

import typer

app = typer.Typer(
    help="Measure and operate object detectors that meet unknown objects.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
for _name in ("evaluate", "compare", "threshold", "split", "gallery", "demo", "predict"):
    _file = import_module(f"openset.cli.detect.{_name}")
    app.command(_name, epilog=f"Example: {_file.EXAMPLE}")(_file.command)
