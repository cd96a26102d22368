"""`openset threshold`: choose an operating point on validation data, freeze it, apply it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.cli._console import (
    AgainstOption,
    BackgroundOption,
    FitOption,
    JsonOption,
    ScoreOption,
    console,
    read,
    table,
)
from openset.cli._outputs import check_outputs
from openset.errors import OpenSetError, check_share

if TYPE_CHECKING:
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
    out: Annotated[Path | None, typer.Option("--out", help="Write the frozen threshold to this JSON file.")] = None,
    json: JsonOption = None,
) -> None:
    """Choose a threshold by rule on validation scores, freeze it, and see what it does to other scores.

    A sample is rejected iff its unknown score is above the threshold.

    Example: openset threshold val.parquet --rule at_acceptance=0.95 --out threshold.json --apply test.parquet
    """
    from dataclasses import asdict

    from rich.markup import escape

    from openset.files import write_json
    from openset.operating import Threshold, choose, takes

    check_outputs(out, json, inputs=[validation, apply, fit])
    if unknown_share is not None:
        check_share("--unknown-share", "unknown_share", unknown_share, zero=True)
        if apply is None and (rule is None or not takes(rule, "unknown_share")):
            raise OpenSetError(
                "--unknown-share is for --rule min_cost, and for the precision on the scores of --apply: give one of "
                "these, or leave it out."
            )
    chosen_on = None
    if validation.suffix.lower() == ".json":
        if rule is not None:
            raise OpenSetError(f"{validation} is a frozen threshold; a --rule needs validation scores instead.")
        frozen = Threshold.read(validation)
    else:
        if rule is None:
            raise OpenSetError("Say how to choose the threshold, for example --rule at_acceptance=0.95.")
        chosen_on = read(validation, score, background, fit)
        frozen = choose(chosen_on, rule, against=against, unknown_share=unknown_share)
    applied_to = None if apply is None else read(apply, score, background, fit)
    applied = None if applied_to is None else frozen.apply(applied_to)
    precision = None if applied_to is None or unknown_share is None else _precision(applied_to, frozen, unknown_share)
    if out is not None:
        frozen.write(out)
    if json is not None:
        content = {**asdict(frozen), "unknown_share": unknown_share, "applied": applied, "known_precision": precision}
        write_json(json, {key: value for key, value in content.items() if value is not None})
    screen = console()
    screen.print(
        f"Threshold [bold]{frozen.value:.6g}[/bold] by rule {escape(frozen.rule)}, chosen on {frozen.n:,} samples"
        + (f", score {escape(str(chosen_on.meta['score']))}." if chosen_on and "score" in chosen_on.meta else ".")
    )
    # A frozen threshold keeps the shares; the accuracy can be told where the scores it was chosen on are at hand.
    where_chosen = frozen.achieved if chosen_on is None else {**frozen.apply(chosen_on), **frozen.achieved}
    made = table("", "where chosen", *([] if apply is None else [escape(apply.name)]))
    for key, meaning in _MEANING.items():
        cells = [where_chosen, *([] if applied is None else [applied])]
        if any(key in cell for cell in cells):
            made.add_row(meaning, *(f"{cell[key]:.1%}" if key in cell else "" for cell in cells))
    screen.print(made)
    if precision is not None:
        screen.print(
            f"If {unknown_share:.0%} of what arrives is unknown, {precision:.1%} of what is accepted is known."
        )
    if out is not None:
        screen.print(f"Frozen in {escape(str(out))}.")


def _precision(scores: "Scores", frozen: "Threshold", unknown_share: float) -> float:
    from openset.metrics import known_precision

    return known_precision(
        scores.labels,
        scores.predictions,
        scores.unknown_score,
        threshold=frozen.value,
        unknown_share=unknown_share,
    )
