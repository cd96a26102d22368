"""The paper's comparison of families, on one backbone: small detectors trained on drawn scenes."""

from collections.abc import Sequence
from pathlib import Path

from openset.errors import OpenSetError
from openset.reproduction import claims_elephant as claims
from openset.reproduction.drawing import draw
from openset.reproduction.findings import Claim, Line, Report, Table, Value
from openset.reproduction.options import Options
from openset.reproduction.published import published
from openset.reproduction.study import DryRun
from openset.results.spread import spread_of
from openset.studies.detector_families import (
    FAMILIES,
    RECALLS,
    DetectorCell,
    Settings,
    Trained,
    families_grid,
    families_plan,
    trained_families,
)
from openset.studies.grid import Execution, run_grid
from openset.studies.running import Outcome

NAME = "elephant/families"
_SMOKE = Settings(steps=50, batch=8, n_train=100, n_known=40, n_wild=40)
_PAIRS = (
    ("one versus rest", "background class"),
    ("objectness", "background class"),
    ("objectness", "one versus rest"),
    ("dropout sampling", "background class"),
)
_BEFORE = (
    (
        "Small detectors on drawn scenes: four shapes are learnt, five others are wild. All families have the same "
        "backbone, anchors and training; only the head differs, and dropout sampling averages ten passes of the head "
        "with a background class."
    ),
    (
        "The paper's detectors differ in much more than their family, so values cannot be compared, only which family "
        "is affected more."
    ),
)


def reproduce(options: Options) -> Report:
    """Average Wilderness Impact by family, over seeds, and differences of families trained on the same scenes."""
    folder: Path = options.results / "elephant" / "families" / options.scale
    settings = _SMOKE if options.scale == "smoke" else Settings()
    cells = families_grid(folder, options.out / "runs" / "families", options.seeds, settings)
    failed = [] if options.show else _run(cells, options)
    found = trained_families(cells)
    if failed and not found:
        raise OpenSetError(failed[0].reason)
    if not found:
        raise OpenSetError(f"{folder} has no results of seeds {', '.join(map(str, options.seeds))}: leave out --show.")
    differences = [
        (first, second, recall, difference(found, first, second, recall))
        for first, second in _PAIRS
        for recall in RECALLS
    ]
    drawn = draw(options, NAME, "impact-of-families", "impact_of_families", _means(found))
    return Report(
        NAME,
        "Wilderness Impact by family of detectors",
        options.scale,
        [_impact(found), _differences(differences)],
        _claims({(a, b, recall): value for a, b, recall, value in differences}),
        figures=drawn,
        before=_BEFORE,
        failures=[f"{one.cell.key.title}: {one.reason}" for one in failed],
    )


def _run(cells: Sequence[DetectorCell], options: Options) -> list[Outcome[DetectorCell]]:
    """Train what is missing; what failed."""
    execution = options.execution or Execution()
    if execution.dry_run:
        raise DryRun(families_plan(cells, execution.shard))

    def take(outcome: Outcome[DetectorCell]) -> None:
        seconds = (outcome.summary or {}).get("seconds", 0.0)
        options.tell(f"{outcome.cell.key.title}: {outcome.reason or f'{seconds / 60:.1f} minutes'}")

    done = {cell.key for cell in cells if cell.is_finished}
    outcomes = run_grid(cells, execution.executor(tell=options.tell), tell=take, shard=execution.shard, done=done)
    return [one for one in outcomes if one.summary is None]


def _claims(differences: claims.Differences) -> list[Claim]:
    return [
        claims.heads_without_background_are_hit_harder(differences),
        claims.objectness_is_hit_most(differences),
        claims.sampling_is_worse(differences),
    ]


def difference(found: Sequence[Trained], first: str, second: str, recall: float) -> Value | None:
    """AWI of one family minus that of another, paired by seed, with Student's interval; None without any seed."""
    own, other = _by_seed(found, first, recall), _by_seed(found, second, recall)
    return _value([own[seed] - other[seed] for seed in own if seed in other])


def _by_seed(found: Sequence[Trained], family: str, recall: float) -> dict[int, float]:
    key = f"{recall:g}"
    return {one.seed: one.awi[key] for one in found if one.family == family and key in one.awi}


def _value(values: Sequence[float]) -> Value | None:
    if not values:
        return None
    spread = spread_of(values)
    return Value(spread.value, low=spread.low, high=spread.high)


def _mean(values: Sequence[float]) -> Value | None:
    return Value(spread_of(values).value) if values else None


def _means(found: Sequence[Trained]) -> dict[str, list[tuple[float, Value]]]:
    """By family: recall and mean AWI."""
    means: dict[str, list[tuple[float, Value]]] = {}
    for family in FAMILIES:
        for recall in RECALLS:
            value = _value(list(_by_seed(found, family.title, recall).values()))
            if value is not None:
                means.setdefault(family.title, []).append((recall, value))
    return means


def _impact(found: Sequence[Trained]) -> Table:
    paper = published("elephant")["table2"]
    lines = []
    for family in FAMILIES:
        own = [one for one in found if one.family == family.title]
        for recall in RECALLS:
            key = f"{recall:g}"
            beside = None
            if recall in paper["recalls"]:
                beside = Value(paper["rows"][family.published][paper["recalls"].index(recall)])
            lost = sorted({name for one in own for name in one.unreached.get(key, ())})
            lines.append(
                Line(
                    {"family": family.title, "recall": key, "seeds": str(len(own))},
                    _value(list(_by_seed(found, family.title, recall).values())),
                    beside,
                    {
                        "false per 1,000 wild": _mean([one.fp_per_1000[key] for one in own if key in one.fp_per_1000]),
                        "mAP": _mean([one.average_precision for one in own]),
                    },
                    f"{', '.join(lost)} not reached with every seed" if lost else "",
                    compare=False,
                )
            )
    title = (
        "Average Wilderness Impact, mean over seeds with 95 % interval; published: the paper's detector of the family"
    )
    return Table(title, lines, percent=False, digits=3)


def _differences(rows: Sequence[tuple[str, str, float, Value | None]]) -> Table:
    lines = [
        Line({"difference of": f"{first} - {second}", "recall": f"{recall:g}"}, value)
        for first, second, recall, value in rows
    ]
    title = "Differences of AWI between families, paired by seed, 95 % interval"
    return Table(title, lines, percent=False, digits=3, signed=True)
