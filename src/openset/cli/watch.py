"""`openset watch`: the fraction of unknowns over time, with an alarm."""

from pathlib import Path
from typing import Annotated

import typer

from openset.cli._console import BackgroundOption, JsonOption, ScoreOption, console, progress, show_table
from openset.cli._outputs import ReportOption, check_outputs, say_written
from openset.cli.apply import FittedOption, make_decider
from openset.cli.threshold import ForceOption
from openset.errors import OpenSetError, need

_SHOWN = 30


def command(
    threshold: Annotated[Path, typer.Argument(help="A frozen threshold; see: openset threshold --out.")],
    files: Annotated[
        list[Path], typer.Argument(help="Scores or outputs, the oldest first: .parquet, .csv, .npz; labels not needed.")
    ],
    time: Annotated[str | None, typer.Option("--time", help="Column of times: windows are stretches of time.")] = None,
    every: Annotated[str, typer.Option("--every", help="With --time, how long a window is: 1d, 12h, 30m.")] = "1d",
    window: Annotated[
        int | None,
        typer.Option("--window", min=1, help="Samples in a window; else one per file, 1000 of a single file."),
    ] = None,
    unknown_share: Annotated[
        float, typer.Option("--unknown-share", help="Fraction of unknowns that is expected and no reason for alarm.")
    ] = 0.0,
    alpha: Annotated[float, typer.Option("--alpha", help="Largest chance of ever raising a false alarm.")] = 0.01,
    score: ScoreOption = None,
    fit: FittedOption = None,
    background: BackgroundOption = False,
    force: ForceOption = False,
    json: JsonOption = None,
    report: ReportOption = None,
    figure: Annotated[Path | None, typer.Option("--figure", help="Draw it into this file: .png or .pdf.")] = None,
) -> None:
    """Watch the fraction of unknowns over time, and raise an alarm where it is above what validation promised.

    The alarm is valid however often one looks: while nothing changes, the chance of ever raising it is at most --alpha.
    Exit code 1 on alarm.

    Example: openset watch threshold.json monday.parquet tuesday.parquet wednesday.parquet
    Example: openset watch threshold.json log.parquet --time seen_at --every 1h --report watch.html
    """
    from openset._io.json_files import write_json
    from openset.operating.watching import SCHEMA, watch_files
    from openset.results.watch_tables import watch_table, watch_verdict

    check_outputs(json, report, figure, inputs=[threshold, *files, fit])
    if time is not None and window is not None:
        raise OpenSetError("Windows are either stretches of --time or --window samples: give one of the two.")
    if figure is not None:
        need("Drawing figures", "matplotlib")
        if figure.suffix.lower() not in (".png", ".pdf"):
            raise OpenSetError(f"Cannot draw into {figure}: use a name that ends in .png or .pdf.")
    decider = make_decider(threshold, score, fit, background=background, force=force)
    with progress("Deciding", None) as advance:
        watched = watch_files(
            decider,
            files,
            time=time,
            every=every,
            rows=window,
            unknown_share=unknown_share,
            alpha=alpha,
            progress=advance,
        )
    if json is not None:
        write_json(json, {"schema": SCHEMA, "threshold": decider.threshold.as_json(), **watched.as_json()})
    if report is not None:
        from openset.present.page.page import write_page
        from openset.present.page.watching import watch_page

        write_page(report, watch_page(watched))
    if figure is not None:
        from openset.present.plots.style import save
        from openset.present.plots.watching import unknowns_over_time

        save(unknowns_over_time(watched), figure.with_suffix(""), formats=[figure.suffix[1:].lower()])
    screen = console()
    show_table(watch_table(watched, last=_SHOWN))
    if len(watched.windows) > _SHOWN:
        screen.print(
            f"The last {_SHOWN} of {len(watched.windows)} windows; all are in --json and --report.", style="dim"
        )
    style = "bold red" if watched.alarm else "green"
    screen.print(watch_verdict(watched), style=style, highlight=False, markup=False)
    for note in watched.notes:
        screen.print(f"Note: {note}", style="yellow", highlight=False, markup=False)
    say_written(report)
    if watched.alarm is not None:
        raise typer.Exit(1)
