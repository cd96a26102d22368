"""`openset apply`: a class or "unknown" for samples without labels, by a frozen threshold."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset._core.numbers import exact, percents
from openset.cli._console import BackgroundOption, JsonOption, ScoreOption, console, progress, table
from openset.cli._outputs import check_outputs
from openset.cli._scale import EngineOption, found_files
from openset.cli.threshold import ForceOption, read_threshold

if TYPE_CHECKING:
    from openset.operating.applying import Applied
    from openset.operating.decisions import Decider

_SHOWN = 20
FittedOption = Annotated[
    Path | None,
    typer.Option(
        "--fit",
        "--fitted",
        help="For scores that learn, beside outputs: training outputs (.npz), or a saved fit (.safetensors).",
    ),
]


def command(
    threshold: Annotated[Path, typer.Argument(help="A frozen threshold; see: openset threshold --out.")],
    files: Annotated[
        list[str],
        typer.Argument(
            help="Scores or outputs (logits), with or without labels: .parquet, .csv, .npz; folders and patterns too."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Write the decisions to this file: .csv, .tsv, .parquet or .json; with --engine, to a new folder, a "
            "Parquet file for each file.",
        ),
    ] = None,
    score: ScoreOption = None,
    fit: FittedOption = None,
    background: BackgroundOption = False,
    force: ForceOption = False,
    json: JsonOption = None,
    engine: EngineOption = None,
) -> None:
    """Decide about samples without labels: a class, or "unknown" if the unknown score is above the threshold.

    Files of outputs are scored by the score that the threshold was chosen for. Each decision comes with its unknown
    score and its margin, threshold minus score: below 0 for the unknown. Files of any length are read in pieces.

    Example: openset apply threshold.json today.parquet --out decisions.csv
    Example: openset apply threshold.json 'logs/*.parquet' --out decisions.parquet
    Example: openset apply threshold.json logs/ --out decisions --engine ray
    Example: openset apply threshold.json outputs.npz --fit train.npz --out decisions.parquet
    """
    from openset._io.json_files import write_json
    from openset._io.table_sinks import check_sink
    from openset.operating.applying import SCHEMA, apply_to_files
    from openset.scale.applying import apply_on

    paths = found_files(files)
    check_outputs(out, json, inputs=[threshold, *paths, fit])
    if out is not None and engine is None:
        check_sink(out)
    decider = make_decider(threshold, score, fit, background=background, force=force)
    with progress("Deciding", None) as advance:
        if engine is not None:
            applied = apply_on(decider, paths, out, engine=engine, progress=advance)
        else:
            applied = apply_to_files(decider, paths, out, shown=_SHOWN if out is None else 0, progress=advance)
    if json is not None:
        write_json(json, {"schema": SCHEMA, "threshold": decider.threshold.as_json(), **applied.as_json()})
    _show(applied, decider, out)


def make_decider(threshold: Path, score: str | None, fit: Path | None, *, background: bool, force: bool) -> "Decider":
    """What decides, from the options that `apply` and `watch` share."""
    from openset.operating.decisions import Decider
    from openset.reading import NO_WORDS, read_fit

    frozen = read_threshold(threshold)
    trained = None if fit is None else read_fit(fit, background, NO_WORDS)
    return Decider(frozen, score, trained, background, force)


def _show(applied: "Applied", decider: "Decider", out: Path | None) -> None:
    from rich.markup import escape

    screen = console()
    if applied.first.height:
        made = table(*applied.first.columns)
        for row in applied.first.iter_rows(named=True):
            cells = (f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values())
            made.add_row(*map(escape, cells), style="yellow" if row["margin"] < 0 else "")
        screen.print(made)
        if applied.n > applied.first.height:
            screen.print(f"... and {applied.n - applied.first.height:,} more; write them all with --out.")
    for one in applied.files if len(applied.files) > 1 else ():
        screen.print(f"{one.file}: {_counted(one.n_unknown, one.n)}", highlight=False, markup=False)
    rate, frozen = applied.unknown, decider.threshold
    screen.print(
        f"{_counted(rate.count, rate.n)}, {percents(rate.value, rate.interval.low, rate.interval.high)}, by the "
        f"threshold {exact(frozen.value)} ({frozen.rule}).",
        highlight=False,
        markup=False,
    )
    for note in applied.notes:
        screen.print(f"Note: {note}", style="yellow", highlight=False, markup=False)
    if out is not None:
        screen.print(f"The decisions are in {out}.", soft_wrap=True, highlight=False, markup=False)


def _counted(n_unknown: int, n: int) -> str:
    return f"{n_unknown:,} of {n:,} samples are unknown"
