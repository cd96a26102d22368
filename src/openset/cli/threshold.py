"""`openset threshold`: choose an operating point on validation data, freeze it, apply it."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openset._core.numbers import exact, percent, percents
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
from openset.cli._scale import EngineOption, Scale, TempOption, in_memory
from openset.errors import OpenSetError, OpenSetWarning, check_share

if TYPE_CHECKING:
    from rich.table import Table

    from openset.operating import Origin, Rates, Threshold
    from openset.scale.source import Source
    from openset.scores import Scores

ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Apply a threshold that was chosen for another score, model or classes."),
]


def _list_rules(wanted: bool) -> None:
    """Every rule with what it needs, from its card."""
    if not wanted:
        return
    from rich.markup import escape

    from openset.operating import RULES

    made = table("rule", "open-set samples", "options", "meaning")
    for rule in RULES.values():
        needs = "needed" if rule.needs_open_set else "not needed"
        made.add_row(rule.example, needs, escape(", ".join(rule.options)), escape(rule.summary))
    for column in made.columns:
        column.justify = "left"
    console().print(made)
    raise typer.Exit


def command(
    validation: Annotated[
        str,
        typer.Argument(
            help="Validation scores: a file, or many by folder or pattern; or a threshold .json frozen before."
        ),
    ],
    rule: Annotated[
        str | None,
        typer.Option(
            "--rule", help="How to choose it: at_acceptance=0.95, or any other that --rules lists; name(option=value)."
        ),
    ] = None,
    apply: Annotated[
        str | None, typer.Option("--apply", help="Other scores to apply the frozen threshold to: a file, or many.")
    ] = None,
    unknown_share: Annotated[
        float | None,
        typer.Option(
            "--unknown-share",
            help="Fraction of unknowns expected in deployment: for rules that take it, and precision with --apply.",
        ),
    ] = None,
    against: AgainstOption = "all",
    score: ScoreOption = None,
    background: BackgroundOption = False,
    fit: FitOption = None,
    unknown_label: UnknownLabelOption = None,
    negative_label: NegativeLabelOption = None,
    known_class: KnownClassOption = None,
    force: ForceOption = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write the frozen threshold to this JSON file.")] = None,
    json: JsonOption = None,
    engine: EngineOption = None,
    temp: TempOption = None,
    rules: Annotated[
        bool, typer.Option("--rules", help="List the rules and exit.", callback=_list_rules, is_eager=True)
    ] = False,
) -> None:
    """Choose a threshold by rule on validation scores, freeze it, and see what it does to other scores.

    A sample is rejected iff its unknown score is above the threshold. A threshold belongs to the score, model and
    classes that it was chosen on; applied to others, the command stops and says what differs.

    Example: openset threshold val.parquet --rule at_acceptance=0.95 --out threshold.json --apply test.parquet
    Example: openset threshold 'logs/*.parquet' --rule at_fpr=0.01 --engine ray --temp /shared/scratch
    """
    from rich.markup import escape

    from openset._io.json_files import write_json
    from openset.operating.rule_card import parse_rule

    file = Path(validation)
    check_outputs(out, json, inputs=[file, None if apply is None else Path(apply), fit])
    reading = Reading(score, background, fit, unknown_label, negative_label, known_class)
    scale = Scale(engine, temp=temp)
    if unknown_share is not None:
        taken = rule is not None and "unknown_share" in parse_rule(rule)[0].parameters
        _check_share(unknown_share, used=apply is not None or taken)
    chosen_on = None
    if file.suffix.lower() == ".json":
        if rule is not None:
            raise OpenSetError(f"{validation} is a frozen threshold; a --rule needs validation scores instead.")
        frozen = read_threshold(file)
    else:
        if rule is None:
            raise OpenSetError("Say how to choose the threshold, for example --rule at_acceptance=0.95.")
        chosen_on = scale.read_one(validation, reading)
        with naming_files(file):
            frozen = scale.choose(chosen_on, rule, against, unknown_share)
    given = {} if chosen_on is None else {file: chosen_on}
    applied = precision = None
    notes = frozen.notes
    if apply is not None:
        applied_to = given[Path(apply)] = scale.read_one(apply, reading)
        with naming_files(Path(apply)):
            applied = scale.apply(applied_to, frozen, against=against, force=force)
            precision = None if unknown_share is None else _precision(applied, unknown_share, against)
        notes += [f"{apply}: {note}" for note in [*frozen.origin.notes_for(_origin(applied_to)), *applied.notes]]
    if out is not None:
        frozen.write(out)
    if json is not None:
        content: dict[str, Any] = {
            **frozen.as_json(),
            "unknown_share": unknown_share,
            "applied": None if applied is None else applied.as_json(),
            "known_precision": precision,
            "notes": notes,
        }
        optional = ("unknown_share", "applied", "known_precision")
        write_json(json, {key: value for key, value in content.items() if value is not None or key not in optional})
    show_notes(in_memory(given))
    # A frozen threshold keeps the shares; the accuracy can be given where the scores it was chosen on are at hand.
    chosen = frozen.achieved if chosen_on is None else scale.apply(chosen_on, frozen, against=against)
    _show(frozen, chosen, applied, "" if apply is None else Path(apply).name)
    screen = console()
    if precision is not None:
        screen.print(
            f"If {100 * (unknown_share or 0):.3g}\u00a0% of what arrives is unknown, {percent(precision)} of what is "
            "accepted is known."
        )
    for note in notes:
        screen.print(f"Note: {note}", style="yellow", highlight=False, markup=False)
    if out is not None:
        screen.print(f"Frozen in {escape(str(out))}.")


def _show(frozen: "Threshold", chosen: Mapping[str, float], applied: "Rates | None", name: str) -> None:
    from rich.markup import escape

    screen = console()
    made_for = frozen.origin.score_text
    screen.print(
        f"Threshold [bold]{exact(frozen.value)}[/bold] by rule {escape(frozen.rule)}, chosen on {frozen.n:,} samples"
        + (f", score {escape(made_for)}." if made_for else ".")
    )
    screen.print(_shares(chosen, applied, name))
    if applied is not None:
        screen.print(
            f"In brackets: {100 * applied.level:g} % intervals, exact (Clopper-Pearson).", style="dim", markup=False
        )


def read_threshold(path: Path) -> "Threshold":
    """A frozen threshold; what a warning would say of an old one is in its notes."""
    from openset.operating import Threshold

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OpenSetWarning)
        return Threshold.read(path)


def _shares(chosen: Mapping[str, float], applied: "Rates | None", name: str) -> "Table":
    """What becomes of each kind of sample; intervals where the threshold was not chosen on the samples."""
    from rich.markup import escape

    from openset.operating.rates import MEANING

    made = table("", "where chosen", *([] if applied is None else [escape(name)]))
    groups = [key for key in dict.fromkeys([*chosen, *(applied or {})]) if key.startswith("fpr@")]
    for key, meaning in (MEANING | {key: f"{key.partition('@')[2]} accepted" for key in groups}).items():
        cells = [percent(chosen[key]) if key in chosen else ""]
        if applied is not None:
            cells.append(with_interval(applied, key) if key in applied else "")
        if any(cells):
            made.add_row(escape(meaning), *map(escape, cells))
    return made


def with_interval(rates: "Rates", key: str) -> str:
    """`93.4 % [92.0 %, 94.1 %]`."""
    interval = rates.rates[key].interval
    return percents(interval.value, interval.low, interval.high)


def _check_share(unknown_share: float, *, used: bool) -> None:
    check_share("--unknown-share", "unknown_share", unknown_share, zero=True)
    if not used:
        from openset.operating import RULES

        takers = " or ".join(rule.name for rule in RULES.values() if "unknown_share" in rule.parameters)
        raise OpenSetError(
            f"--unknown-share is for --rule {takers}, and for the precision on the scores of --apply: give one of "
            "these, or leave it out."
        )


def _origin(rows: "Scores | Source") -> "Origin":
    from openset.operating import Origin
    from openset.scores import Scores

    return Origin.of(rows) if isinstance(rows, Scores) else Origin.known_by(rows.meta, rows.class_names)


def _precision(applied: "Rates", unknown_share: float, against: str) -> float:
    """Of accepted samples the fraction that is known, in deployment."""
    from openset._core.checks import require_both
    from openset._core.decisions import precision_at_share

    known, opened = (applied.rates[key].n if key in applied else 0 for key in ("acceptance", "fpr"))
    require_both(known, opened, against)
    return float(precision_at_share(applied["acceptance"], applied["fpr"], unknown_share))
