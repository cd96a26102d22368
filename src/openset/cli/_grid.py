"""What commands that run grids share: where the cells run, which part of them, and what would be run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.cli._console import console, table
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.studies.grid import Execution
    from openset.studies.plan import Plan

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
    int, typer.Option("--retries", min=0, help="Ray, Slurm: how often a training whose worker died goes on elsewhere.")
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


def show_plan(plan: "Plan", out: Path) -> None:
    """The cells and what would become of them."""
    from rich.markup import escape

    made = table("cell", "what is left", "about hours")
    made.columns[1].justify = "left"
    for step in plan.steps:
        hours = "" if not step.epochs else "?" if step.seconds is None else f"{step.seconds / 3600:.2f}"
        made.add_row(escape(step.cell.key.title), escape(step.state), hours)
    screen = console()
    screen.print(made)
    screen.print(plan.summary(), highlight=False)
    screen.print(f"Nothing was run. Run folders: {out}/", highlight=False, markup=False)
