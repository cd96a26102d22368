"""What commands that run grids share: where the cells run, which part of them, and what would be run."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openset.cli._console import console, say, show_table
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.studies.cell import Cell
    from openset.studies.choice import Setting
    from openset.studies.grid import Execution
    from openset.studies.plan import Plan, Step
    from openset.studies.running import Outcome

EngineOption = Annotated[
    str, typer.Option("--engine", help="Where cells run: local (this process), ray or slurm; see the page Grids.")
]
ShardOption = Annotated[
    str | None, typer.Option("--shard", help="Run one part of the cells: 1/4, 2/4, 3/4 or 4/4 for four machines.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show the cells, what is done and how long the rest may take; run nothing.")
]
CpusOption = Annotated[int, typer.Option("--cpus-per-cell", min=1, help="Ray, Slurm: cores for each training.")]
GpusOption = Annotated[
    float, typer.Option("--gpus-per-cell", min=0, help="Ray, Slurm: GPUs for each training; Ray also takes 0.25.")
]
RetriesOption = Annotated[
    int, typer.Option("--retries", min=0, help="Ray, Slurm: how often a training whose worker died is resumed.")
]
SlurmOption = Annotated[
    list[str] | None,
    typer.Option("--slurm", help="Slurm: a parameter of submitit, slurm_partition=gpu or timeout_min=600; repeatable."),
]


def read_execution(
    engine: str, shard: str | None, dry_run: bool, cpus: int, gpus: float, retries: int, slurm: list[str] | None
) -> "Execution":
    """What these options say; an engine that cannot be used here is named before any work."""
    from openset.studies.executors import EXECUTORS, Resources
    from openset.studies.grid import Execution, Shard

    EXECUTORS[engine].check()
    parameters = {}
    for word in slurm or ():
        name, sign, value = word.partition("=")
        if not sign or not name.strip().isidentifier():
            raise OpenSetError(f"--slurm '{word}' is not understood; write NAME=VALUE, such as slurm_partition=gpu.")
        parameters[name.strip()] = value.strip()
    part = Shard() if shard is None else Shard.parse(shard)
    return Execution(engine, Resources(cpus, gpus, retries, parameters), part, dry_run)


def read_tuned(
    file: Path, protocols: Sequence[str], settings: list[str] | None, given: Mapping[str, Any]
) -> "dict[str, Setting]":
    """What `openset tune` has chosen, to be set in the recipe; the user is told what it is."""
    from openset.studies.choice import read_choice

    choice = read_choice(file)
    fields = choice.fields(settings or (), given)
    console().print(choice.note(protocols), style="dim", highlight=False, markup=False, soft_wrap=True)
    return fields


@contextmanager
def resumable() -> Iterator[None]:
    """Work that Ctrl-C stops and the same command resumes."""
    from openset.train.interrupt import Interrupted

    try:
        yield
    except (Interrupted, KeyboardInterrupt):
        say("Stopped; checkpoints are saved. Run the same command again to resume.", err=True)
        raise typer.Exit(130) from None


def run_and_report(
    cells: "Sequence[Cell]", out: Path, execution: "Execution", titles: Mapping[str, str], *, on_corrupt: str
) -> "list[Outcome[Cell]]":
    """Run cells, saying what comes out: metrics by their `titles`. What other shards have finished is there too."""
    from rich.markup import escape

    from openset._core.numbers import counted, number
    from openset.cli._training import training_bar
    from openset.studies.grid import Shard, run_grid
    from openset.studies.running import Outcome
    from openset.studies.summaries import value_of

    screen = console()
    screen.print(f"{counted(len(cells), 'run')}, into {out}/", markup=False)
    count = 0

    def tell(outcome: "Outcome[Cell]") -> None:
        nonlocal count
        count += 1
        name = escape(f"{count}/{len(cells)} {outcome.cell.folder.relative_to(out)}")
        if outcome.summary is None:
            screen.print(f"{name}: [red]failed[/red]: {escape(outcome.reason)}", highlight=False)
            return
        values = "  ".join(f"{title} {number(value_of(outcome.summary, metric))}" for metric, title in titles.items())
        screen.print(f"{name}: {values}", highlight=False)

    executor = execution.executor(
        on_corrupt=on_corrupt,
        watch=lambda cell: training_bar(cell.config, cell.key.title),
        tell=lambda text: screen.print(text, style="dim", highlight=False, markup=False, soft_wrap=True),
    )
    with resumable():
        outcomes = {one.cell.key: one for one in run_grid(cells, executor, tell=tell, shard=execution.shard)}
    if execution.shard != Shard():
        others = [cell for cell in cells if cell.key not in outcomes and cell.is_finished]
        outcomes |= {cell.key: Outcome(cell, cell.run()) for cell in others}
        done = sum(one.summary is not None for one in outcomes.values())
        screen.print(f"{done} of {counted(len(cells), 'run')} are there.", highlight=False)
    if all(one.summary is None for one in outcomes.values()):
        reasons = [one.reason for one in outcomes.values()]
        what = f"All {len(reasons)} runs failed; the first: {reasons[0]}" if reasons else "This part has no runs to do."
        raise OpenSetError(what)
    return [outcomes[cell.key] for cell in cells if cell.key in outcomes]


def show_plan(plan: "Plan", out: Path) -> None:
    """The cells and what would become of them."""
    from openset.results.table import Table

    def hours(step: "Step") -> str:
        return "" if not step.epochs else "?" if step.seconds is None else f"{step.seconds / 3600:.2f}"

    rows = [[step.cell.key.title, step.state, hours(step)] for step in plan.steps]
    show_table(Table(["cell", "what is left", "about hours"], rows, align="llr"))
    screen = console()
    screen.print(plan.summary(), highlight=False)
    screen.print(f"Nothing was run. Run folders: {out}/", highlight=False, markup=False)
