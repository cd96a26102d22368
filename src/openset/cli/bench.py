"""`openset bench`: train methods against each other, over splits and seeds."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from openset.cli._console import JsonOption, SkipCorruptOption, console, say, show_table
from openset.cli._grid import (
    CpusOption,
    DryRunOption,
    EngineOption,
    GpusOption,
    RetriesOption,
    ShardOption,
    SlurmOption,
    read_execution,
    read_tuned,
    run_and_report,
    show_plan,
)
from openset.cli._outputs import FiguresOption, ReportOption, check_outputs, say_written, write_tables
from openset.cli._plugins import OWN, resolving
from openset.cli.train import DataRootOption, SetOption, TunedOption

if TYPE_CHECKING:
    from openset.results.views.runs import BenchRow
    from openset.studies.bench import Vary
    from openset.studies.cell import Cell

    Done = Sequence[tuple[Cell, Mapping[str, Any]]]

_Key = TypeVar("_Key")


def command(
    protocols: Annotated[str, typer.Option("--protocols", "-p", help="Names, separated by commas.")] = "digits",
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            "-m",
            help=f"Names, separated by commas; 'all' for every method; {OWN}.",
            callback=resolving("openset.methods", "METHODS"),
        ),
    ] = "maxlogit,openauc",
    splits: Annotated[
        str | None, typer.Option("--splits", help="Numbers or ranges: 0-4 or 0,2; else up to five that there are.")
    ] = None,
    seeds: Annotated[str, typer.Option("--seeds", help="Numbers or ranges: 0-2 or 0,7.")] = "0",
    recipe: Annotated[str | None, typer.Option("--recipe", "-r", help="Recipe for all runs.")] = None,
    settings: SetOption = None,
    vary: Annotated[
        str | None,
        typer.Option("--vary", help="A field and its values, one run each: method.weight=0.05,0.1,0.2."),
    ] = None,
    tuned: TunedOption = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the runs and tables.")] = Path("runs"),
    report: ReportOption = None,
    figures: FiguresOption = None,
    json: JsonOption = None,
    data_root: DataRootOption = None,
    skip_corrupt: SkipCorruptOption = False,
    engine: EngineOption = "local",
    shard: ShardOption = None,
    dry_run: DryRunOption = False,
    cpus_per_cell: CpusOption = 1,
    gpus_per_cell: GpusOption = 0.0,
    retries: RetriesOption = 3,
    slurm: SlurmOption = None,
) -> None:
    """Train a grid of methods, protocols, splits and seeds; tables of mean and standard deviation.

    Runs that are there are not done again, interrupted ones resume, and a failed one does not stop the others.

    Example: openset bench --protocols digits --methods softmax,maxlogit,openauc --splits 0-4 --seeds 0-2
    Example: openset bench --methods openauc --vary method.weight=0.05,0.1,0.2,0.4 --figures figures
    Example: openset bench --methods all --engine ray --gpus-per-cell 0.25
    """
    from openset._io.json_files import write_json
    from openset.cli._numbers import names, numbers
    from openset.methods import METHODS
    from openset.results.provenance import provenance
    from openset.studies import bench, bench_tables
    from openset.studies.plan import make_plan

    execution = read_execution(engine, shard, dry_run, cpus_per_cell, gpus_per_cell, retries, slurm)
    read_files = [Path(text) for text in (recipe, *names(protocols)) if text]
    check_outputs(report, json, folder=figures, inputs=[*read_files, *([tuned] if tuned else [])])
    given = None if tuned is None else read_tuned(tuned, names(protocols), settings, {"method.name": methods})
    varied = None if vary is None else bench.Vary.parse(vary)
    cells = bench.make_grid(
        names(protocols),
        list(METHODS) if methods == "all" else names(methods),
        None if splits is None else numbers(splits, "--splits"),
        numbers(seeds, "--seeds"),
        out,
        recipe=recipe,
        overrides=settings or (),
        data_root=None if data_root is None else str(data_root),
        vary=varied,
        given=given,
    )
    if dry_run:
        show_plan(make_plan(cells, shard=execution.shard), out)
        return
    outcomes = run_and_report(cells, out, execution, bench.TITLES, on_corrupt="skip" if skip_corrupt else "stop")
    done = [(one.cell, one.summary) for one in outcomes if one.summary is not None]
    failed = [(one.cell, one.reason) for one in outcomes if one.summary is None]
    screen = console()
    rows = bench.tabulate(done)
    made = bench_tables.bench_table(rows)
    write_tables(out / "bench.tex", out / "bench.md", out / "bench.csv", [made], bench_tables.bench_lines(rows))
    write_json(out / "bench_failed.json", [{"run": str(cell.folder), "reason": reason} for cell, reason in failed])
    origin = provenance()
    if json is not None:
        write_json(json, as_json(done, failed, origin))
    show_table(made)
    screen.print(f"Tables: {out}/bench.md, bench.tex, bench.csv", highlight=False, markup=False)
    if report is not None:
        from openset.present.page import bench_page, write_page

        write_page(report, bench_page(_dots(done), origin=origin))
    say_written(report, figures, [] if figures is None else _draw(done, figures, varied))
    if failed:
        say(f"{len(failed)} of {len(cells)} runs failed; reasons are in {out}/bench_failed.json.", err=True)
        raise typer.Exit(1)


def as_json(done: "Done", failed: "Sequence[tuple[Cell, str]]", origin: Mapping[str, str]) -> dict[str, Any]:
    """Mean and spread of every row of the tables, the folders of its runs, and what failed."""
    from openset.studies.bench import tabulate
    from openset.studies.summaries import result_of

    return {
        "schema": 1,
        "groups": [
            {
                "protocol": row.protocol,
                "method": row.method,
                "runs": [str(cell.folder) for cell, _ in runs],
                "metrics": [
                    {"name": name, "params": {}, "against": result_of(runs[0][1], name).against, **spread.as_json()}
                    for name, spread in row.spreads.items()
                ],
            }
            for row, runs in zip(
                tabulate(done), _by(done, lambda cell: (cell.key.protocol, cell.key.name)).values(), strict=True
            )
        ],
        "failed": [{"run": str(cell.folder), "reason": reason} for cell, reason in failed],
        "provenance": dict(origin),
    }


def _dots(done: "Done") -> "list[BenchRow]":
    """OpenAUC of the single runs, by protocol and row of the tables."""
    from openset.results.views.runs import BenchRow
    from openset.studies.summaries import value_of

    return [
        BenchRow(
            protocol,
            name,
            [value_of(summary, "open_auc") for _, summary in runs],
            [cell.config.split for cell, _ in runs],
        )
        for (protocol, name), runs in _by(done, lambda cell: (cell.key.protocol, cell.key.name)).items()
    ]


def _draw(done: "Done", folder: Path, varied: "Vary | None") -> list[Path]:
    """The dots, confidence over epochs where there were negatives, and what the field that varies does."""
    from openset.present import plots
    from openset.results.spread import spread_of
    from openset.results.views.runs import GammaLog, Sensitivity, TrainingLog
    from openset.studies.summaries import value_of

    made = {"bench": plots.bench(_dots(done))}
    several = len({cell.key.protocol for cell, _ in done}) > 1
    confidence = {}
    for (name, protocol), runs in _by(done, lambda cell: (cell.key.name, cell.key.protocol)).items():
        logs = [TrainingLog.read(cell.folder / "log.csv") for cell, _ in runs]
        log = GammaLog.mean(logs, [cell.config.split for cell, _ in runs])
        if log is not None:
            confidence[f"{name}, {protocol}" if several else name] = log
    if confidence:
        made["gamma-over-epochs"] = plots.gamma_over_epochs(confidence)
    if varied is not None:
        found = {}
        for (method, protocol), runs in _by(done, lambda cell: (cell.key.method, cell.key.protocol)).items():
            spreads = {
                value: spread_of([value_of(s, "open_auc") for _, s in same], [cell.config.split for cell, _ in same])
                for value, same in sorted(_by(runs, lambda cell: float(cell.value or 0.0)).items())
            }
            found[f"{method}, {protocol}"] = Sensitivity(list(spreads), list(spreads.values()))
        made["sensitivity"] = plots.sensitivity(found, setting=varied.field)
    return [path for name, figure in made.items() for path in plots.save(figure, folder / name)]


def _by(done: "Done", key: "Callable[[Cell], _Key]") -> "dict[_Key, Done]":
    """Runs that have the same key, in the order of the grid."""
    groups: dict[_Key, list[tuple[Cell, Mapping[str, Any]]]] = {}
    for cell, summary in done:
        groups.setdefault(key(cell), []).append((cell, summary))
    return {**groups}
