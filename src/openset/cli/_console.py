"""What the commands share: a console, a progress bar, and reading scores files with their warnings."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.cli._plugins import OWN, resolving
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from openset.results.table import Table as ResultTable
    from openset.scores import Scores

ScoreOption = Annotated[
    str | None,
    typer.Option(
        "--score",
        help=f"For files of logits: max_logit (default), energy, 'knn(k=10)', ... (see: openset scores), {OWN}.",
        callback=resolving("openset.posthoc", "SCORES"),
    ),
]
BackgroundOption = Annotated[
    bool, typer.Option("--background", help="The model has a background class: the last column of files of logits.")
]
FitOption = Annotated[
    Path | None,
    typer.Option(
        "--fit", help="Training outputs, or a saved fit (.safetensors), for scores that learn; see: openset scores."
    ),
]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Write the results to this JSON file.")]
SkipCorruptOption = Annotated[bool, typer.Option("--skip-corrupt", help="Leave out images that cannot be decoded.")]
AgainstOption = Annotated[
    str,
    typer.Option("--against", help="Open-set samples to look at: all, negative, unknown or the name of a group."),
]


def console() -> "Console":
    """Standard output, as wide as the terminal; wide enough for tables where there is none."""
    from rich.console import Console

    probe = Console()
    return probe if probe.is_terminal else Console(width=120)


def table(*columns: str, title: str | None = None) -> "Table":
    """A table with the first column to the left and numbers to the right, to be filled row by row."""
    from openset.present.terminal import NumberTable

    return NumberTable(columns, title)


def show_table(made: "ResultTable") -> None:
    """Print a table of results and its note."""
    from openset.present.terminal import terminal_table

    screen = console()
    screen.print(terminal_table(made))
    if made.note:
        screen.print(made.note, style="dim", highlight=False, markup=False)


def read(path: Path, score: str | None = None, background: bool = False, fit: Path | None = None) -> "Scores":
    """Scores from a file."""
    from openset.scores import Scores

    return Scores.read(path, score=score, background=background, fit=fit)


@contextmanager
def naming_files(*files: Path) -> Iterator[None]:
    """What is wrong in here is said of these files."""
    try:
        yield
    except OpenSetError as error:
        raise OpenSetError(f"{' and '.join(map(str, files))}: {error}") from error


@contextmanager
def progress(text: str, total: int) -> Iterator[Callable[[int], object]]:
    """A bar on standard error for long work; nothing where nobody watches."""
    from rich.console import Console
    from rich.progress import Progress

    watching = Console(stderr=True)
    with Progress(console=watching, transient=True, disable=not watching.is_terminal) as bar:
        task = bar.add_task(text, total=total)
        yield lambda steps: bar.advance(task, steps)
