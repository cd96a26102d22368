"""What several commands can write: tables, the report page and plots."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset._io.paths import real_path
from openset.cli._console import console
from openset.errors import OpenSetError, need

if TYPE_CHECKING:
    from openset.results.table import Table

LatexOption = Annotated[Path | None, typer.Option("--latex", help="Write a booktabs table to this file.")]
MarkdownOption = Annotated[Path | None, typer.Option("--markdown", help="Write a Markdown table to this file.")]
CsvOption = Annotated[Path | None, typer.Option("--csv", help="Write every metric value to this CSV file.")]
ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Write an interactive page to this .html file; it opens from disk.")
]
FiguresOption = Annotated[
    Path | None, typer.Option("--figures", help="Write every figure to this folder, as PDF and PNG.")
]


def check_outputs(
    *files: Path | None,
    folder: Path | None = None,
    parts: Path | None = None,
    inputs: Sequence[Path | None] = (),
) -> None:
    """Find out before the work, not after it, that a result could not be written, or would overwrite another file.

    `folder` is for figures; `parts` for one result in many files, made whole in place of what was made before.
    """
    given = [path for path in (*files, folder, parts) if path is not None]
    for path in given:
        _check_possible(path)
    taken = {real_path(path): "is read by this command" for path in inputs if path is not None}
    for path in given:
        if real_path(path) in taken:
            raise OpenSetError(f"Cannot write {path}: it {taken[real_path(path)]}; give another name.")
        taken[real_path(path)] = "is already the place of another result"
    for file in files:
        if file is not None and file.is_dir():
            raise OpenSetError(f"Cannot write {file}: it is a folder; give a file name.")
    if folder is not None and folder.exists() and not folder.is_dir():
        raise OpenSetError(f"Cannot write figures to {folder}: it is a file; give the name of a folder.")
    if parts is not None and parts.exists():
        from openset.models.parts import is_folder_of_parts

        if not is_folder_of_parts(parts):
            raise OpenSetError(f"Cannot write {parts}: there is something else of that name; give another name.")
    for path in given:
        near = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
        if not near.is_dir() and near != path:
            raise OpenSetError(f"Cannot write {path}: {near} is a file, not a folder.")
        if not os.access(near, os.W_OK):
            raise OpenSetError(f"Cannot write {path}: permission denied in {near if near.is_dir() else near.parent}.")
    if folder is not None:
        need("Drawing figures", "matplotlib")


def _check_possible(path: Path) -> None:
    """A name that no file can have, or a place that is closed: the system says so when it is asked about one."""
    from openset._io.paths import check_name, reason

    check_name(path, "Cannot write: ")
    try:
        path.stat()
    except OSError as error:
        if error.errno in {errno.ENAMETOOLONG, errno.EACCES}:
            raise OpenSetError(f"Cannot write {path}: {reason(error)}.") from error


def write_tables(
    latex: Path | None, markdown: Path | None, csv: Path | None, tables: Sequence["Table"], lines: "Table"
) -> None:
    """Write the tables that were asked for; `lines` are what the CSV file holds."""
    from openset._io.atomic import write_text
    from openset.present.csv_text import csv_table
    from openset.present.latex import latex_table
    from openset.present.markdown import markdown_table

    if latex is not None:
        write_text(latex, "\n".join(map(latex_table, tables)))
    if markdown is not None:
        write_text(markdown, "\n".join(map(markdown_table, tables)))
    if csv is not None:
        write_text(csv, csv_table(lines))


def say_written(report: Path | None, figures: Path | None = None, drawn: Sequence[Path] = ()) -> None:
    """Where the results are."""
    out = console()
    if figures is not None:
        out.print(f"{len(drawn)} figures are in {figures}.", soft_wrap=True, highlight=False, markup=False)
    if report is not None:
        out.print(f"The report is {report}: open it in a browser.", soft_wrap=True, highlight=False, markup=False)
