"""What the page's scripts draw: curves thinned to what can be seen, and values at the thresholds of the slider."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._io.sample_contents import SampleContents
from openset.curves import oscr_of, roc_of
from openset.operating import Threshold
from openset.present.page.pack import COARSE, differences, finite, shares
from openset.present.page.samples import sample_lists
from openset.results.views import Details, Steps, details_at, score_histogram, steps_of, thin
from openset.results.views.steps import FROZEN, MARKS, MAX_STEPS, UNKNOWN_SHARES
from openset.scores import Scores

CHART_WIDTH, CHART_HEIGHT = 640, 480
"""The largest a chart is drawn, in pixels of the page; style and scripts keep to it."""
TOLERANCE = 0.25
"""In the same pixels: half a pixel of a screen that has two for each of them."""
COLOURS = 8
_STEP_NUMBERS = 600_000
_DETAIL_NUMBERS = 1_500_000
"""How many numbers of each kind a page may hold, which keeps it far below 6 MB however many models there are."""


def payload(
    names: Sequence[str],
    models: Sequence[Scores],
    parts: Sequence[Sequence[str]],
    ranks: Sequence[int],
    frozen: Sequence[Threshold | None] | None = None,
    contents: SampleContents | None = None,
) -> dict[str, Any]:
    """Everything that moves. `parts`: kinds of open-set samples of each model; `ranks`: their places by OpenAUC."""
    thresholds = list(frozen or [None] * len(models))
    lists, shown, note = sample_lists(models, contents)
    n_details = sum(len(own) for own in parts)
    all_parts = list(dict.fromkeys(part for own in parts for part in own))
    columns = 3 + max(len(own) for own in parts) * (1 + len(UNKNOWN_SHARES))
    n_steps = int(np.clip(_STEP_NUMBERS // (columns * len(models)), 101, MAX_STEPS))
    class_sets: list[tuple[str, ...]] = []
    made: list[dict[str, Any]] = []
    most = max(int((scores.labels < 0).sum()) for scores in models)
    log_min = float(min(10.0 ** np.floor(np.log10(1 / most)), 0.1))
    for name, scores, own, rank, kept, worst in zip(names, models, parts, ranks, thresholds, lists, strict=True):
        classes = tuple(scores.class_name(label) for label in range(scores.n_classes))
        one_for_all = kept if kept is not None and kept.per_class is None else None  # the slider has one value
        steps = steps_of(scores, against=own, n_steps=n_steps, frozen=one_for_all and one_for_all.value)
        colour = len(made) if len(models) <= COLOURS else rank
        made.append(
            {
                "name": name,
                "colour": colour if colour < COLOURS else None,
                "classes": _place(class_sets, classes),
                **_steps(steps),
                **_curves(scores, own, log_min),
                "histogram": _histogram(scores),
                "frozen": one_for_all and {"value": one_for_all.value, "rule": one_for_all.rule},
                "details": {part: _details(scores, steps, part, n_details, class_sets) for part in own},
                "samples": worst,
            }
        )
    return {
        "models": made,
        "class_sets": class_sets,
        "parts": all_parts,
        "unknown_shares": list(UNKNOWN_SHARES),
        "log_min": log_min,
        "contents": shown,
        "contents_note": note,
    }


def _steps(steps: Steps) -> dict[str, Any]:
    return {
        "thresholds": finite(steps.thresholds),
        "marks": dict(steps.marks),
        "acceptance": shares(steps.acceptance),
        "ccr": shares(steps.ccr),
        "accuracy": shares(steps.accuracy),
        "fpr": {part: shares(values) for part, values in steps.fpr.items()},
        "precision": {part: [shares(row) for row in rows] for part, rows in steps.precision.items()},
    }


def _curves(scores: Scores, parts: Sequence[str], log_min: float) -> dict[str, Any]:
    found: dict[str, Any] = {"oscr": {}, "oscr_log": {}, "roc": {}}
    for part in parts:
        counts = scores.counts(part)
        oscr, roc = oscr_of(counts), roc_of(counts)
        found["oscr"][part] = curve(oscr.fpr, oscr.ccr)
        found["oscr_log"][part] = curve(oscr.fpr, oscr.ccr, log_min=log_min)
        found["roc"][part] = curve(roc.fpr, roc.tpr)
    return found


def curve(x: NDArray[np.float64], y: NDArray[np.float64], *, log_min: float | None = None) -> list[list[int]]:
    """The visible points of a curve of fractions, on a linear or a logarithmic axis, in millionths."""
    across = x if log_min is None else 1 - np.log10(np.maximum(x, log_min)) / np.log10(log_min)
    kept = thin(across * CHART_WIDTH, y * CHART_HEIGHT, tolerance=TOLERANCE)
    return [shares(x[kept]), shares(y[kept])]


def _histogram(scores: Scores) -> dict[str, Any]:
    made = score_histogram(scores)
    return {
        "low": float(made.edges[0]),
        "high": float(made.edges[-1]),
        "shares": {kind: [round(float(share), 5) for share in values] for kind, values in made.shares.items()},
        "groups": {part: [round(float(share), 5) for share in values] for part, values in made.groups.items()},
        "beyond": made.beyond,
    }


def _details(
    scores: Scores, steps: Steps, against: str, n_details: int, class_sets: list[tuple[str, ...]]
) -> dict[str, Any]:
    """Classes at as many of the slider's thresholds as there is room for, evenly spread; named ones always."""
    n_open = 2 if scores.open_classes is None else len(np.unique(scores.open_classes))
    size = 5 * scores.n_classes + 4 * n_open
    size += (scores.n_classes + n_open) * (scores.n_classes + 1) if max(scores.n_classes, n_open) <= 50 else 0
    room = max(_DETAIL_NUMBERS // (size * n_details), 1)
    even = np.linspace(0, len(steps) - 1, min(room, len(steps)))[room == 1 :].round().astype(np.int64)
    named = [steps.marks[name] for name in (next(iter(MARKS)), FROZEN) if name in steps.marks]
    places = np.unique(np.append(even, named))
    found = details_at(scores, steps.thresholds[places], against=against)
    some = np.where(found.total > 0, found.total, np.nan)
    return {
        "steps": differences(places),
        "total": found.total.tolist(),
        "accuracy": shares(found.right_unrejected / some, COARSE),
        "rejected": differences(found.total - found.accepted),
        "lost": shares(1 - found.accepted / some, COARSE),
        "ccr": shares(found.right / some, COARSE),
        "intruders": differences(found.intruders),
        "open_classes": _place(class_sets, found.open_names),
        "open_total": found.open_total.tolist(),
        "open_accepted": differences(found.open_accepted),
        "open_share": shares(found.open_accepted / found.open_total, COARSE),
        "taken_for": differences(found.taken_for),
        "taken": differences(found.taken),
        "matrix": _matrix(found),
    }


def _place(class_sets: list[tuple[str, ...]], names: tuple[str, ...]) -> int:
    """Models mostly share their classes, so the names are kept once."""
    if names not in class_sets:
        class_sets.append(names)
    return class_sets.index(names)


def _matrix(found: Details) -> list[list[int]] | None:
    """Per threshold the cells that changed since the last one: place, change, place, change, ..."""
    if found.matrix is None:
        return None
    cells = found.matrix.reshape(len(found.thresholds), -1)
    changes = np.diff(cells, axis=0, prepend=np.zeros((1, cells.shape[1]), dtype=np.int64))
    rows = []
    for change in changes:
        places = np.flatnonzero(change)
        rows.append(np.stack([np.diff(places, prepend=0), change[places]], axis=1).ravel().tolist())
    return rows
