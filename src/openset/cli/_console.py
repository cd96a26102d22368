"""What the commands share: a console, a progress bar, and reading scores files with their warnings."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset._core.text import shown
from openset.cli._plugins import OWN, resolving
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from openset._core.labels import LabelWords
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
UnknownLabelOption = Annotated[
    list[str] | None,
    typer.Option("--unknown-label", help="A label that means unknown, such as oos or 10; may be repeated."),
]
NegativeLabelOption = Annotated[
    list[str] | None, typer.Option("--negative-label", help="A label that means negative; may be repeated.")
]
KnownClassOption = Annotated[
    list[str] | None,
    typer.Option("--known-class", help="A class whose name looks like such a label, or like another class's."),
]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Write the results to this JSON file.")]
SkipCorruptOption = Annotated[bool, typer.Option("--skip-corrupt", help="Leave out images that cannot be decoded.")]
AgainstOption = Annotated[
    str,
    typer.Option("--against", help="Open-set samples to use: all, negative, unknown or the name of a group."),
]


def console() -> "Console":
    """Standard output, as wide as the terminal; wide enough for tables where there is none."""
    from openset._io.terminal import make_console

    probe = make_console()
    return probe if probe.is_terminal else make_console(width=120)


def say(text: str, *, err: bool = False) -> None:
    """A line of plain text."""
    typer.echo(shown(text), err=err)


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


@dataclass(frozen=True)
class Reading:
    """How scores files are to be read: the options that every command on them has."""

    score: str | None = None
    background: bool = False
    fit: Path | None = None
    unknown_label: list[str] | None = None
    negative_label: list[str] | None = None
    known_class: list[str] | None = None

    @property
    def words(self) -> "LabelWords":
        """What labels mean beside the usual."""
        from openset._core.labels import LabelWords

        return LabelWords.of(self.unknown_label, self.negative_label, self.known_class)

    def read(self, path: Path) -> "Scores":
        """Scores from a file."""
        from openset.scores import Scores

        return Scores.read(
            path,
            score=self.score,
            background=self.background,
            fit=self.fit,
            unknown_label=self.unknown_label,
            negative_label=self.negative_label,
            known_classes=self.known_class,
        )


def show_notes(given: "Mapping[Path, Scores]") -> None:
    """What in the files does not fit together."""
    from rich.markup import escape

    for file, scores in given.items():
        for note in scores.notes:
            console().print(f"[yellow]Note[/yellow] ({escape(file.name)}): {escape(note)}")


@contextmanager
def naming_files(*files: Path) -> Iterator[None]:
    """Errors raised in here name these files, or a file in one of them."""
    try:
        yield
    except OpenSetError as error:
        if str(error).startswith(tuple(map(str, files))):
            raise
        raise OpenSetError(f"{' and '.join(map(str, files))}: {error}") from error


@contextmanager
def progress(text: str, total: int | None, *, unit: str = "") -> Iterator[Callable[[int], object]]:
    """A bar on standard error for long work; nothing where nobody watches. Without a `total`, steps are counted.

    With a `unit`, such as rows, their number per second is shown too.
    """
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    from openset._io.terminal import make_console

    class Speed(ProgressColumn):
        """Units per second."""

        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f} {unit}/s" if task.speed else "")

    watching = make_console(stderr=True)
    counting = (SpinnerColumn(), TextColumn("{task.description} {task.completed:,}"), TimeElapsedColumn())
    columns = [*(Progress.get_default_columns() if total is not None else counting), *([Speed()] if unit else [])]
    with Progress(*columns, console=watching, transient=True, disable=not watching.is_terminal) as bar:
        task = bar.add_task(text, total=total)
        yield lambda steps: bar.advance(task, steps)
