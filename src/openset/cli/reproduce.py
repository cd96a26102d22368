"""`openset reproduce`: tables and figures of the papers, ours beside the published ones."""

from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    resumable,
    show_plan,
)
from openset.cli._outputs import check_outputs
from openset.cli.train import DataRootOption, SetOption

if TYPE_CHECKING:
    from openset.reproduction.findings import Report


def command(
    name: Annotated[str, typer.Argument(help="What to reproduce; 'list' shows every name and what it needs.")] = "list",
    scale: Annotated[
        str,
        typer.Option(
            "--scale", help="smoke: minutes, needs nothing; cpu: real data, fast recipes; paper: as published."
        ),
    ] = "smoke",
    protocols: Annotated[str, typer.Option("--protocols", "-p", help="Only these, separated by commas.")] = "",
    methods: Annotated[str, typer.Option("--methods", "-m", help="Only these, separated by commas.")] = "",
    splits: Annotated[str, typer.Option("--splits", help="Only these: 0-1 or 0,2.")] = "",
    seeds: Annotated[str, typer.Option("--seeds", help="Seeds: 0 or 0-2.")] = "0",
    settings: SetOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run folders and reports.  [default: runs/reproduce/SCALE]")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="One small file per finished cell.  [default: results; smoke: OUT/results]"),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Run nothing: tables from the results that are there.")] = False,
    keep_changed: Annotated[
        bool, typer.Option("--keep-changed", help="Use results of recipes that have changed since.")
    ] = False,
    known_gt: Annotated[Path | None, typer.Option(help="Detection: ground truth of the known images.")] = None,
    wild_gt: Annotated[Path | None, typer.Option(help="Detection: ground truth of the wild images.")] = None,
    known_dt: Annotated[
        list[str] | None, typer.Option(help="Detection: results on known images, NAME=FILE; once per detector.")
    ] = None,
    wild_dt: Annotated[
        list[str] | None, typer.Option(help="Detection: results on wild images, NAME=FILE; once per detector.")
    ] = None,
    dt: Annotated[
        list[str] | None, typer.Option(help="Detection: results on both kinds of image, NAME=FILE; once per detector.")
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
    """Reproduce a table or figure of the papers, and put ours beside the published one.

    What is finished is not run again, so an interrupted study resumes where it stopped.

    Example: openset reproduce openauc/table2 --scale cpu --protocols cifar10 --methods openauc --splits 0
    """
    from openset._io.json_files import write_json
    from openset.cli._numbers import names, numbers
    from openset.cli._training import training_bar
    from openset.errors import OpenSetError, check_choice
    from openset.reproduction import SCALES, Options, reproduce, writing
    from openset.reproduction.catalog import find
    from openset.reproduction.study import DryRun

    detectors = _detectors(known_gt, wild_gt, known_dt or [], wild_dt or [], dt or [])
    check_outputs(json, inputs=[file for one in detectors.values() for file in astuple(one)])
    if name == "list":
        _list(json)
        return
    entry = find(name)
    check_choice("reproduce", "--scale", scale, SCALES)
    if scale not in entry.needs:
        raise OpenSetError(f"{name} has no scale '{scale}': choose from {', '.join(entry.needs)}.")
    execution = read_execution(engine, shard, dry_run and not show, cpus_per_cell, gpus_per_cell, retries, slurm)
    screen = console()
    if not show:
        screen.print(
            f"[bold]{name}[/bold]: {entry.title}\nNeeds at scale {scale}: {entry.needs[scale]}.", highlight=False
        )
    place = out or Path("runs/reproduce") / scale
    options = Options(
        scale=scale,
        out=place,
        results=results or (place / "results" if scale == "smoke" else Path("results")),
        protocols=names(protocols),
        methods=names(methods),
        splits=numbers(splits, "--splits") if splits else (),
        seeds=numbers(seeds, "--seeds"),
        overrides=settings or (),
        data_root=None if data_root is None else str(data_root),
        on_corrupt="skip" if skip_corrupt else "stop",
        show=show,
        keep_changed=keep_changed,
        execution=execution,
        detectors=detectors,
        tell=lambda text: screen.print(text, style="dim", highlight=False, markup=False, soft_wrap=True),
        watch=training_bar,
    )
    try:
        with resumable():
            report = reproduce(name, options)
    except DryRun as planned:
        show_plan(planned.plan, place)
        return
    if execution.dry_run:
        screen.print(f"{name} has no cells to train.")
        return
    if show:
        say(writing.markdown(report, level=3).removesuffix("\n"))
    else:
        _show(report)
        files = writing.write(report, place / name)
        options.tell(f"Written: {', '.join(map(str, [*files, *report.figures]))}")
    if json is not None:
        write_json(json, writing.as_json(report))
    if report.failures:
        say(f"{len(report.failures)} cells failed; the report names them.", err=True)
        raise typer.Exit(1)


def _list(json: Path | None) -> None:
    from openset._io.json_files import write_json
    from openset.reproduction import ENTRIES, SCALES
    from openset.results.table import Table

    content: list[dict[str, Any]] = []
    for entry in ENTRIES.values():
        needs = {scale: str(entry.needs[scale]) if scale in entry.needs else "-" for scale in SCALES}
        content.append({"name": entry.name, "title": entry.title, "needs": needs})
    rows = [[one["name"], one["title"], *one["needs"].values()] for one in content]
    show_table(Table(["name", "what it is", *(f"needs: {scale}" for scale in SCALES)], rows, align="lllll"))
    if json is not None:
        write_json(json, {"schema": 1, "entries": content})


def _show(report: "Report") -> None:
    from openset.reproduction.writing import findings_text, sheet

    screen = console()
    for limit in report.before:
        screen.print(limit, highlight=False, markup=False, soft_wrap=True)
    for one in report.tables:
        show_table(sheet(one))
    for claim in report.claims:
        colour = {True: "green", False: "red", None: "yellow"}[claim.holds]
        screen.print(f"[{colour}]{claim.verdict}[/{colour}]: ", end="")
        screen.print(f'"{claim.text}" ({claim.source}): {findings_text(claim)}', markup=False, highlight=False)
    for note in report.notes:
        screen.print(f"Note: {note}", style="dim", highlight=False, markup=False, soft_wrap=True)


def _detectors(
    known_gt: Path | None, wild_gt: Path | None, known_dt: list[str], wild_dt: list[str], both: list[str]
) -> dict[str, Any]:
    from openset.errors import OpenSetError
    from openset.reproduction.options import Detector

    if not (known_gt or wild_gt or known_dt or wild_dt or both):
        return {}
    if known_gt is None or wild_gt is None:
        raise OpenSetError("Detection needs --known-gt and --wild-gt, and results: --known-dt and --wild-dt, or --dt.")
    known, wild, one = _named(known_dt, "--known-dt"), _named(wild_dt, "--wild-dt"), _named(both, "--dt")
    if set(known) != set(wild) or set(known) & set(one) or not (known or one):
        raise OpenSetError("Give every detector either --dt, or --known-dt and --wild-dt under the same name.")
    return {
        **{name: Detector(known_gt, wild_gt, file, wild[name]) for name, file in known.items()},
        **{name: Detector(known_gt, wild_gt, file) for name, file in one.items()},
    }


def _named(words: list[str], option: str) -> dict[str, Path]:
    """`yolo=results.json`, or just a file, which then gives the name."""
    from openset.errors import OpenSetError

    found: dict[str, Path] = {}
    for word in words:
        name, sign, file = word.partition("=")
        path = Path(file if sign else word)
        name = name if sign else path.name.partition(".")[0]
        if name in found:
            raise OpenSetError(f"{option}: there are two detectors named '{name}'; write NAME=FILE.")
        found[name] = path
    return found
