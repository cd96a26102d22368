"""`openset tune`: choose a setting on held-out known classes, never on the test data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openset.cli._console import JsonOption, SkipCorruptOption, console, show_table
from openset.cli._grid import (
    CpusOption,
    DryRunOption,
    EngineOption,
    GpusOption,
    RetriesOption,
    ShardOption,
    SlurmOption,
    read_execution,
    run_and_report,
    show_plan,
)
from openset.cli._outputs import check_outputs
from openset.cli._plugins import OWN, parse_metrics, resolving
from openset.cli.train import DataRootOption, SetOption

if TYPE_CHECKING:
    from openset.studies.bench import Vary


def command(
    recipe: Annotated[str | None, typer.Argument(help="A YAML recipe, or the name of a bundled one.")] = None,
    vary: Annotated[
        str, typer.Option("--vary", help="The field to choose, and its values: method.weight=0.05,0.1.")
    ] = "",
    protocol: Annotated[
        str | None, typer.Option("--protocol", "-p", help="Protocol to choose for; else that of the recipe.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            help=f"Method; else that of the recipe; {OWN}.",
            callback=resolving("openset.methods", "METHODS"),
        ),
    ] = None,
    split: Annotated[int, typer.Option("--split", min=0, help="Split of the protocol.")] = 0,
    stand_ins: Annotated[
        int, typer.Option("--stand-ins", min=1, max=100, help="How many choices of classes to hold out.")
    ] = 3,
    seeds: Annotated[str, typer.Option("--seeds", help="Numbers or ranges: 0-2 or 0,7.")] = "0",
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            help=f"What to choose by, such as 'ccr_at_fpr(fpr=0.1)' (see: openset metrics), {OWN}.",
            callback=resolving("openset.metrics", "METRICS"),
        ),
    ] = "open_auc",
    settings: SetOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Runs and the choice.  [default: runs/tune/PROTOCOL]")
    ] = None,
    data_root: DataRootOption = None,
    skip_corrupt: SkipCorruptOption = False,
    engine: EngineOption = "local",
    shard: ShardOption = None,
    dry_run: DryRunOption = False,
    cpus_per_cell: CpusOption = 1,
    gpus_per_cell: GpusOption = 0.0,
    retries: RetriesOption = 3,
    slurm: SlurmOption = None,
    json: JsonOption = None,
) -> None:
    """Choose a setting on known classes that are held out as stand-ins for unknowns; test data is never opened.

    Every value is trained on every stand-in; runs that are there are not done again. The choice and its evidence go to
    OUT/choice.json, which `openset train` and `openset bench` take with --tuned.

    Example: openset tune fast/digits --vary method.weight=0.05,0.1,0.2
    Example: openset tune fast/cifar10 --vary method.name=maxlogit,scaled,openauc --stand-ins 3 --seeds 0-1
    """
    from openset._io.json_files import write_json
    from openset.cli._numbers import numbers
    from openset.errors import OpenSetError
    from openset.metrics import METRICS, titled
    from openset.studies import tune
    from openset.studies.bench import Vary
    from openset.studies.cell import protocol_name
    from openset.studies.grid import Shard
    from openset.studies.plan import make_plan
    from openset.train.config import read_config

    execution = read_execution(engine, shard, dry_run, cpus_per_cell, gpus_per_cell, retries, slurm)
    check_outputs(json, inputs=[Path(one) for one in (recipe, protocol) if one])
    ((name, params),) = parse_metrics([metric])
    title = titled(METRICS[name], params)
    if not vary:
        raise OpenSetError("Say what to choose: --vary method.weight=0.05,0.1,0.2.")
    varied = Vary.parse(vary, words=True)
    protocol = protocol or read_config(recipe, settings or ()).protocol
    out = out or Path("runs/tune") / protocol_name(protocol)
    cells = tune.tuning_grid(
        recipe,
        protocol,
        varied,
        out,
        split=split,
        n_stand_ins=stand_ins,
        seeds=numbers(seeds, "--seeds"),
        method=method,
        overrides=settings or (),
        data_root=None if data_root is None else str(data_root),
    )
    if dry_run:
        show_plan(make_plan(cells, shard=execution.shard), out)
        return
    outcomes = run_and_report(cells, out, execution, {metric: title}, on_corrupt="skip" if skip_corrupt else "stop")
    if execution.shard != Shard():
        console().print("Run this again without --shard when all parts are done: it then chooses.")
        return
    choice = tune.choose(varied, tune.trials(varied, outcomes, metric), metric)
    whole = tune.document(choice, outcomes, protocol=protocol, split=split, recipe=recipe, overrides=settings or ())
    for file in filter(None, (out / "choice.json", json)):
        write_json(file, whole)
    _show(varied, whole, title)
    screen = console()
    screen.print(f"Written: {out / 'choice.json'}; use it with --tuned.", highlight=False, markup=False)
    if whole["failed"]:
        typer.echo(f"{len(whole['failed'])} of {len(cells)} runs failed; the file names them.", err=True)
        raise typer.Exit(1)


def _show(vary: "Vary", choice: dict[str, Any], title: str) -> None:
    """The values with what they reached, the chosen one marked."""
    from openset._core.numbers import difference, mean_and_sd, number
    from openset.results.spread import spread_of
    from openset.results.table import Cell, Table

    places = [one["stand_in"] for one in choice["stand_ins"]]
    rows: list[list[Cell | str]] = []
    for one in choice["values"]:
        found = {at: [run["value"] for run in one["runs"] if run["stand_in"] == at] for at in places}
        gap, mean, chosen = one["chosen_minus_this"], one["mean"], one["value"] == choice["chosen"]
        between = "" if gap is None else difference(gap["value"], gap["low"], gap["high"])
        rows.append(
            [
                str(one["value"]),
                Cell("" if mean is None else mean_and_sd(mean["value"], mean["sd"]), best=chosen),
                *("" if not values else number(spread_of(values).value) for values in found.values()),
                "chosen" if chosen else between,
            ]
        )
    head = [vary.field, "mean ± sd", *(f"stand-in {at}" for at in places), "chosen minus this"]
    held = " ".join(
        f"Stand-in {one['stand_in']} holds out {', '.join(one['held_out'])}." for one in choice["stand_ins"]
    )
    show_table(Table(head, rows, title=f"{title} on stand-ins", note=held))
    screen = console()
    screen.print(choice["reason"], highlight=False, markup=False)
    for note in choice["notes"]:
        screen.print(f"Note: {note}", style="dim", highlight=False, markup=False)
