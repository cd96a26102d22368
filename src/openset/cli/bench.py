"""`openset bench`: methods against each other, over splits and seeds."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openset.cli._console import console, table
from openset.cli._outputs import FiguresOption, ReportOption, check_outputs, say_written
from openset.cli.train import DataRootOption, SetOption

if TYPE_CHECKING:
    from openset.train.bench import Cell


def command(
    protocols: Annotated[str, typer.Option("--protocols", "-p", help="Names, separated by commas.")] = "digits",
    methods: Annotated[
        str, typer.Option("--methods", "-m", help="Names, separated by commas; 'all' for every method.")
    ] = "maxlogit,openauc",
    splits: Annotated[str, typer.Option("--splits", help="Numbers or ranges: 0-4 or 0,2.")] = "0-4",
    seeds: Annotated[str, typer.Option("--seeds", help="Numbers or ranges: 0-2 or 0,7.")] = "0",
    recipe: Annotated[str | None, typer.Option("--recipe", "-r", help="Recipe for all runs.")] = None,
    settings: SetOption = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the runs and tables.")] = Path("runs"),
    report: ReportOption = None,
    figures: FiguresOption = None,
    data_root: DataRootOption = None,
) -> None:
    """Train a grid of methods, protocols, splits and seeds; tables of mean and standard deviation.

    Runs that are there are not done again, broken-off ones go on, and a failed one does not stop the others.

    Example: openset bench --protocols digits --methods softmax,maxlogit,openauc --splits 0-4 --seeds 0-2
    """
    from openset.cli._numbers import names, numbers
    from openset.cli._training import training_bar
    from openset.errors import OpenSetError
    from openset.files import write_json, write_text
    from openset.methods import METHODS
    from openset.train import bench, bench_tables
    from openset.train.interrupt import Interrupted

    check_outputs(report, folder=figures)
    cells = bench.make_grid(
        names(protocols),
        list(METHODS) if methods == "all" else names(methods),
        numbers(splits, "--splits"),
        numbers(seeds, "--seeds"),
        out,
        recipe=recipe,
        overrides=settings or (),
        data_root=None if data_root is None else str(data_root),
    )
    screen = console()
    screen.print(f"{len(cells)} runs, into {out}/")
    count = 0

    def tell(cell: "Cell", summary: dict[str, Any] | None, trouble: str) -> None:
        nonlocal count
        count += 1
        name = f"{count}/{len(cells)} {cell.folder.relative_to(out)}"
        if summary is None:
            screen.print(f"{name}: [red]failed[/red]: {trouble}", highlight=False)
        else:
            values = "  ".join(
                f"{title} {bench.value_of(summary, metric):.3f}" for metric, title in bench.TITLES.items()
            )
            screen.print(f"{name}: {values}", highlight=False)

    try:
        with training_bar(cells[0].config, "Bench") as watch:
            done, failed = bench.run_grid(cells, tell=tell, watch=lambda _: watch)
    except (Interrupted, KeyboardInterrupt):
        typer.echo("Stopped; all is saved. Run the same command again to go on.", err=True)
        raise typer.Exit(130) from None
    if not done:
        raise OpenSetError(f"All {len(failed)} runs failed; the first: {failed[0][1]}")
    rows = bench.tabulate(done)
    for suffix, text in (
        ("md", bench_tables.markdown(rows)),
        ("tex", bench_tables.latex(rows)),
        ("csv", bench_tables.comma_separated(rows)),
    ):
        write_text(out / f"bench.{suffix}", text)
    write_json(out / "bench_failed.json", [{"run": str(cell.folder), "reason": reason} for cell, reason in failed])
    made = table("protocol", "method", "runs", *bench.TITLES.values(), title="Mean ± standard deviation, percent")
    made.columns[1].justify = "left"
    for row in rows:
        texts = [
            f"[bold]{bench_tables.cell_text(row, metric)}[/bold]"
            if bench_tables.is_best(row, metric, rows)
            else bench_tables.cell_text(row, metric)
            for metric in bench.COLUMNS
        ]
        made.add_row(row.protocol, row.method, str(row.n), *texts)
    screen.print(made)
    screen.print("Against unknowns alone where a protocol also has negatives; bold: best of the protocol.", style="dim")
    screen.print(f"Tables: {out}/bench.md, bench.tex, bench.csv", highlight=False)
    say_written(report, figures, _show_runs(done, report, figures))
    if failed:
        typer.echo(f"{len(failed)} of {len(cells)} runs failed; reasons are in {out}/bench_failed.json.", err=True)
        raise typer.Exit(1)


def _show_runs(
    done: "Sequence[tuple[Cell, Mapping[str, Any]]]", report: Path | None, figures: Path | None
) -> list[Path]:
    """The page and the dot plot of OpenAUC, one dot per method, from the single runs."""
    from openset.train.bench import value_of
    from openset.views.runs import BenchRow

    if report is None and figures is None:
        return []
    values: dict[tuple[str, str], list[float]] = {}
    for cell, summary in done:
        values.setdefault((cell.protocol, cell.method), []).append(value_of(summary, "open_auc"))
    rows = [BenchRow(protocol, method, found) for (protocol, method), found in values.items()]
    if report is not None:
        from openset.report import bench_page, write_page

        write_page(report, bench_page(rows))
    if figures is None:
        return []
    from openset import plots

    return plots.save(plots.bench(rows), figures / "bench")
