"""Figures of a reproduction, by the functions of `openset.present.plots`; without matplotlib there are none."""

from pathlib import Path
from typing import Any

from openset.errors import MissingPackageError
from openset.reproduction.options import Options


def draw(options: Options, name: str, file: str, function: str, *arguments: Any, **others: Any) -> list[Path]:
    """Draw `openset.present.plots.<function>` into the folder of the report; returns the files."""
    if options.show:
        return []
    try:
        from openset.present import plots
    except MissingPackageError as missing:
        options.tell(f"No figure is drawn: {missing}")
        return []
    return plots.save(getattr(plots, function)(*arguments, **others), options.out / name / file)
