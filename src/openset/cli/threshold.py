"""`openset threshold`: choose an operating point on validation data, freeze it, apply it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.cli._console import (
    AgainstOption,
    BackgroundOption,
    FitOption,
    JsonOption,
    KnownClassOption,
    NegativeLabelOption,
    Reading,
    ScoreOption,
    UnknownLabelOption,
    console,
    naming_files,
    show_notes,
    table,
)
from openset.cli._outputs import check_outputs
from openset.errors import OpenSetError, check_share

if TYPE_CHECKING:
    from rich.table import Table

    from openset.operating import Threshold
    from openset.scores import Scores

_MEANING = {
    "acceptance": "knowns accepted",
    "ccr": "knowns accepted and right",
    "accuracy_on_accepted": "accuracy on accepted knowns",
    "fpr": "open-set samples accepted",
    "fpr_negative": "negatives accepted",
    "fpr_unknown": "unknowns accepted",
}


def command(
    validation: Annotated[Path, typer.Argument(help="Validation scores; or a threshold .json frozen before.")],
    rule: Annotated[
        str | None,
        typer.Option(
            "--rule",
            help="at_fpr=0.1, at_acceptance=0.95, best_f=macro, best_youden=macro, min_cost=10, conformal=0.05",
        ),
    ] = None,
    apply: Annotated[
        Path | None, typer.Option("--apply", help="Other scores to apply the frozen threshold to.")
    ] = None,
    unknown_share: Annotated[
        float | None,
        typer.Option(
            "--unknown-share",
            help="Share of unknowns expected in deployment: for min_cost, and precision with --apply.",
        ),
    ] = None,
    against: AgainstOption = "all",
    score: ScoreOption = None,
    background: BackgroundOption = False,
    fit: FitOption = None,
    unknown_label: UnknownLabelOption = None,
    negative_label: NegativeLabelOption = None,
    known_class: KnownClassOption = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the frozen threshold to this JSON file.")] = None,
    json: JsonOption = None,
) -> None:
    """Choose a threshold by rule on validation scores, freeze it, and see what it does to other scores.

    A sample is rejected iff its unknown score is above the threshold.

    Example: openset threshold val.parquet --rule at_acceptance=0.95 --out threshold.json --apply test.parquet
    """
    from dataclasses import asdict

    from rich.markup import escape

    from openset._io.json_files import write_json
    from openset.operating import Threshold, choose, takes

    check_outputs(out, json, inputs=[validation, apply, fit])
    reading = Reading(score, background, fit, unknown_label, negative_label, known_class)
    if unknown_share is not None:
        _check_share(unknown_share, used=apply is not None or (rule is not None and takes(rule, "unknown_share")))
    chosen_on = None
    if validation.suffix.lower() == ".json":
        if rule is not None:
            raise OpenSetError(f"{validation} is a frozen threshold; a --rule needs validation scores instead.")
        frozen = Threshold.read(validation)
    else:
        if rule is None:
            raise OpenSetError("Say how to choose the threshold, for example --rule at_acceptance=0.95.")
        chosen_on = reading.read(validation)
        with naming_files(validation):
            frozen = choose(chosen_on, rule, against=against, unknown_share=unknown_share)
    given = {} if chosen_on is None else {validation: chosen_on}
    applied = precision = None
    if apply is not None:
        applied_to = given[apply] = reading.read(apply)
        with naming_files(apply):
            applied = frozen.apply(applied_to, against=against)
            precision = None if unknown_share is None else _precision(applied_to, frozen, unknown_share, against)
    if out is not None:
        frozen.write(out)
    if json is not None:
        content = {**asdict(frozen), "unknown_share": unknown_share, "applied": applied, "known_precision": precision}
        write_json(json, {key: value for key, value in content.items() if value is not None})
    screen = console()
    show_notes(given)
    screen.print(
        f"Threshold [bold]{_exact(frozen.value)}[/bold] by rule {escape(frozen.rule)}, chosen on {frozen.n:,} samples"
        + (f", score {escape(str(chosen_on.meta['score']))}." if chosen_on and "score" in chosen_on.meta else ".")
    )
    # A frozen threshold keeps the shares; the accuracy can be told where the scores it was chosen on are at hand.
    columns = {"where chosen": frozen.achieved if chosen_on is None else frozen.apply(chosen_on, against=against)}
    if apply is not None and applied is not None:
        columns[apply.name] = applied
    screen.print(_shares(columns))
    if precision is not None:
        screen.print(
            f"If {100 * (unknown_share or 0):.3g}% of what arrives is unknown, {precision:.1%} of what is accepted is "
            "known."
        )
    if out is not None:
        screen.print(f"Frozen in {escape(str(out))}.")


def _exact(value: float) -> str:
    """As few digits as tell it from all other numbers: rounded, it would lie on the other side of some score."""
    import numpy as np

    with np.errstate(over="ignore"):
        single = np.float32(value)
    return str(single if float(single) == value else np.float64(value))


def _shares(columns: dict[str, dict[str, float]]) -> "Table":
    """What becomes of each kind of sample, one column for each set of scores."""
    from rich.markup import escape

    made = table("", *map(escape, columns))
    for key, meaning in _MEANING.items():
        if any(key in shares for shares in columns.values()):
            made.add_row(meaning, *(f"{shares[key]:.1%}" if key in shares else "" for shares in columns.values()))
    return made


def _check_share(unknown_share: float, *, used: bool) -> None:
    check_share("--unknown-share", "unknown_share", unknown_share, zero=True)
    if not used:
        raise OpenSetError(
            "--unknown-share is for --rule min_cost, and for the precision on the scores of --apply: give one of "
            "these, or leave it out."
        )


def _precision(scores: "Scores", frozen: "Threshold", unknown_share: float, against: str) -> float:
    from openset.metrics import known_precision

    return known_precision(
        scores.labels,
        scores.predictions,
        scores.unknown_score,
        threshold=frozen.value,
        unknown_share=unknown_share,
        against=against,
        groups=scores.groups,
    )
