"""Every metric of one model in one call, with intervals and hints."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.cells import cells_of
from openset._core.numbers import number, percent
from openset._core.resampling import Request, bootstrap_values, cell_values, evaluator
from openset._core.shown import Shown
from openset._io.frames import make_frame
from openset.errors import OpenSetError, check_share, did_you_mean
from openset.intervals import delong_of, percentile_intervals
from openset.metrics import METRICS, Metric, describe, titled
from openset.scores import Scores

Array = NDArray[np.float64]
LARGE = 1_000_000
"""From so many rows on, resamples are drawn from counts of neighbouring scores, not from the rows."""


HEADLINE = tuple(name for name, card in METRICS.items() if card.headline and not card.variants[0])
"""The metrics that sum up a model and need no option: what tables of runs show."""
Also = tuple[str, Mapping[str, Any], str | None]
"""A further metric: its name, its options, and what it is measured against; None: everything."""
_SUSPICIOUS = 10  # samples of a class above every prediction
_OPTIONAL = ("least", "most")


@dataclass(frozen=True)
class Result:
    """A metric value with its interval (None if intervals were not asked for)."""

    name: str
    params: Mapping[str, Any]
    against: str
    value: float
    low: float | None
    high: float | None
    least: float | None = None
    most: float | None = None
    """The exact value is not below `least` and not above `most`; None where `value` is exact."""

    @property
    def title(self) -> str:
        """Name for people."""
        return titled(METRICS[self.name], self.params)

    def as_json(self) -> dict[str, Any]:
        """The form in which every command writes a metric value."""
        return {
            "name": self.name,
            "params": dict(self.params),
            "against": self.against,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            **({} if self.least is None else {"least": self.least, "most": self.most}),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Result":
        """What `as_json` wrote."""
        ends = (content.get(end) if end in _OPTIONAL else content[end] for end in ("low", "high", *_OPTIONAL))
        name = METRICS[content["name"]].name
        return cls(
            name,
            dict(content["params"]),
            str(content["against"]),
            float(content["value"]),
            *(None if end is None else float(end) for end in ends),
        )


@dataclass(frozen=True, repr=False)
class Evaluation(Shown):
    """All metrics of one model on one test set; `print` and notebooks show the headline metrics.

    >>> evaluate(Scores([0, 1, 0, -2, -2], [0, 1, 1, 0, 1], [0.1, 0.2, 0.6, 0.5, 0.9]), intervals=False)
    Evaluation(open_auc=0.667, 3 known, 2 open-set samples)
    """

    results: tuple[Result, ...]
    against: tuple[str, ...]
    """The open-set samples looked at, the most important first."""
    notes: tuple[str, ...]
    n_known: int
    n_negative: int
    n_unknown: int
    n_classes: int
    tied_pairs: float
    fingerprint: str
    level: float
    n_resamples: int
    seed: int
    meta: Mapping[str, Any]

    def __repr__(self) -> str:
        main = self.find("open_auc", against=self.against[0])
        n_open = self.n_negative + self.n_unknown
        return f"Evaluation({main.name}={main.value:.3f}, {self.n_known} known, {n_open} open-set samples)"

    def to_frame(self, library: str = "polars") -> Any:
        """Every metric value as a row of a data frame of polars, pandas or pyarrow.

        >>> scores = Scores([0, 1, 0, -2, -2], [0, 1, 1, 0, 1], [0.1, 0.2, 0.6, 0.5, 0.9])
        >>> evaluate(scores, intervals=False).to_frame().columns
        ['title', 'name', 'params', 'against', 'value', 'low', 'high']
        """
        rows = [{"title": one.title, **one.as_json(), "params": describe(one.params)} for one in self.results]
        names = ("title", "name", "params", "against", "value", "low", "high")
        return make_frame({name: [row[name] for row in rows] for name in names}, library)

    def find(self, name: str, *, against: str = "all", **params: Any) -> Result:
        """The first result of that name (and options, and against, where it depends on it)."""
        found = find_result(self.results, name, against, **params)
        if found is not None:
            return found
        have = [f"{r.name}@{r.against}" + (f" ({describe(r.params)})" if r.params else "") for r in self.results]
        wanted = f"{name}@{against}"
        raise KeyError(f"{wanted} {describe(params)}: {did_you_mean(wanted, have)}")

    def headline(self, against: str | None = None) -> list[Result]:
        """The few metrics that sum up a model, by default against the first of `self.against`."""
        where = against or self.against[0]
        return [self.find(name, against=where) for name, card in METRICS.items() if card.headline]

    def as_json(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "against": list(self.against),
            "n_known": self.n_known,
            "n_negative": self.n_negative,
            "n_unknown": self.n_unknown,
            "n_classes": self.n_classes,
            "tied_pairs": self.tied_pairs,
            "fingerprint": self.fingerprint,
            "level": self.level,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
            "notes": list(self.notes),
            "meta": dict(self.meta),
            "metrics": [result.as_json() for result in self.results],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Evaluation":
        """What `as_json` wrote."""
        return cls(
            results=tuple(map(Result.from_json, content["metrics"])),
            against=tuple(map(str, content["against"])),
            notes=tuple(map(str, content["notes"])),
            n_known=int(content["n_known"]),
            n_negative=int(content["n_negative"]),
            n_unknown=int(content["n_unknown"]),
            n_classes=int(content["n_classes"]),
            tied_pairs=float(content["tied_pairs"]),
            fingerprint=str(content["fingerprint"]),
            level=float(content["level"]),
            n_resamples=int(content["n_resamples"]),
            seed=int(content["seed"]),
            meta=dict(content["meta"]),
        )


def find_result(results: Iterable[Result], metric: str, against: str = "", **params: Any) -> Result | None:
    """The first result of a metric with these options, against `against` where it depends on that; None without one.

    Without `against`, the one against the unknowns alone where there are negatives too: unknowns were never seen.
    """
    card = METRICS[metric]
    mine = [one for one in results if one.name == metric and _fits(card, one.params, params)]
    parts = ([against] if against else ["unknown", "all"]) if card.sees_open_set else ["all"]
    return next((one for part in parts for one in mine if one.against == part), None)


def _fits(card: Metric, params: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a metric with `params` is one with `wanted`, where options that `wanted` leaves out may be any."""
    options = card.options(params)
    return all(options.get(name) == value for name, value in wanted.items())


def evaluate(
    scores: Scores,
    *,
    against: str | Sequence[str] | None = None,
    also: Iterable[Also] = (),
    headline: bool = False,
    intervals: bool = True,
    n_resamples: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
) -> Evaluation:
    """Every metric that these scores allow, for every `against` (by default all that the data divides into).

    AUROC and OpenAUC have DeLong intervals, everything else percentile intervals of a stratified bootstrap with
    `n_resamples` resamples: 1,000, or fewer for more than 20,000 samples, but at least 200. From 1,000,000 samples on
    the resamples are drawn from counts of samples with neighbouring scores, which takes the same time for any number.

    `also` are further metrics, as (name, options, against): with options of one's own, such as `("ccr_at_fpr",
    {"fpr": 0.05}, None)`, for every `against` or for one alone. With `headline`, only the few metrics that sum up a
    model, and those.

    >>> scores = Scores([0, 1, 0, -2, -2], [0, 1, 1, 0, 1], [0.1, 0.2, 0.6, 0.5, 0.9])
    >>> evaluate(scores).find("open_auc").value.__round__(3)
    0.667
    """
    check_options(against, n_resamples, level)
    chosen = [against] if isinstance(against, str) else list(dict.fromkeys(against or scores.against_choices()))
    requests = requests_for(chosen, also, headline=headline, probabilities=scores.probabilities is not None)
    compute = evaluator(scores, requests)
    values = compute(None)
    n_resamples = resamples_for(len(scores)) if n_resamples is None else n_resamples
    ranges: list[tuple[float | None, float | None]] = [(None, None)] * len(requests)
    if intervals:
        resampled = _resampled(scores, requests, values, n_resamples=n_resamples, seed=seed, progress=progress)
        ranges = [(found.low, found.high) for found in percentile_intervals(scores, requests, values, resampled, level)]
        for place, request in enumerate(requests):
            if request.metric.has_delong(request.params):
                found = delong_of(request.metric, scores.counts(request.against), level=level)
                ranges[place] = (found.low, found.high)
    results = results_of(requests, values.tolist(), ranges)
    counts = scores.counts(chosen[0])
    tied = counts.tied_pairs
    return Evaluation(
        results=results,
        against=tuple(chosen),
        notes=tuple(
            hints(
                (*scores.notes, *_never_predicted(scores)),
                results,
                tied,
                meta=scores.meta,
                constant=scores.unknown_score.min() == scores.unknown_score.max(),
                n_classes=scores.n_classes,
                n_present=len(np.unique(scores.labels[scores.labels >= 0])),
            )
        ),
        n_known=int((scores.labels >= 0).sum()),
        n_negative=int((scores.labels == -1).sum()),
        n_unknown=int((scores.labels == -2).sum()),
        n_classes=scores.n_classes,
        tied_pairs=tied,
        fingerprint=scores.fingerprint,
        level=level,
        n_resamples=n_resamples if intervals else 0,
        seed=seed,
        meta=scores.meta,
    )


def check_options(against: str | Sequence[str] | None, n_resamples: int | None, level: float) -> None:
    """Refuse options of `evaluate` that nothing can be computed with."""
    check_share("evaluate", "level", level, one=False)
    if n_resamples is not None and n_resamples < 2:
        raise OpenSetError(f"evaluate: 'n_resamples' must be at least 2, got {n_resamples}.")
    if against is not None and not against:
        raise OpenSetError(
            "evaluate: 'against' is empty; leave it out, or name 'all', 'negative', 'unknown' or a group."
        )


def requests_for(
    chosen: Sequence[str], also: Iterable[Also], *, headline: bool = False, probabilities: bool
) -> list[Request]:
    """Every metric with the options that its card names, against each of `chosen`, then those of `also`.

    With `headline` only the few that sum up a model, and those of `also`.
    """
    requests = [
        Request(card, params, part)
        for part in chosen
        for card in METRICS.values()
        if card.source == "counts" or probabilities
        if card.sees_open_set or part == chosen[0]
        for params in (card.variants[:1] if headline else card.variants)
        if card.headline or not headline
    ]
    for name, params, where in also:
        card = METRICS[name]
        for part in ([where] if where else chosen) if card.sees_open_set else chosen[:1]:
            there = (r for r in requests if r.metric is card and (r.against == part or not card.sees_open_set))
            if not any(_fits(card, request.params, params) for request in there):
                requests.append(Request(card, card.complete(params), part))
    return requests


def results_of(
    requests: Sequence[Request],
    values: Sequence[float],
    ranges: Sequence[tuple[float | None, float | None]],
    bounds: Sequence[tuple[float, float]] | None = None,
) -> tuple[Result, ...]:
    """The values with their intervals, and bounds where they are not exact."""
    certain: Sequence[tuple[float | None, float | None]] = bounds or [(None, None)] * len(requests)
    return tuple(
        Result(
            request.metric.name,
            request.params,
            request.against if request.metric.sees_open_set else "all",
            float(value),
            low,
            high,
            least,
            most,
        )
        for request, value, (low, high), (least, most) in zip(requests, values, ranges, certain, strict=True)
    )


def _resampled(
    scores: Scores,
    requests: Sequence[Request],
    values: Array,
    *,
    n_resamples: int,
    seed: int,
    progress: Callable[[int], object] | None,
) -> Array:
    """Values (resamples, requests): of the rows, or, where they are many, of their counts for all that counts tell."""
    folds = [None if r.metric.fold is None else r.metric.fold(**r.params) for r in requests]
    folded = np.array([fold is not None for fold in folds]) & (len(scores) >= LARGE)
    found = np.empty((n_resamples, len(requests)))
    if not folded.all():
        compute = evaluator(scores, [request for request, known in zip(requests, folded, strict=True) if not known])
        found[:, ~folded] = bootstrap_values([compute], scores, n_resamples=n_resamples, seed=seed, progress=progress)[
            0
        ]
        progress = None  # one bar for both
    if folded.any():
        asked = [(fold, r.against) for fold, r, known in zip(folds, requests, folded, strict=True) if fold and known]
        cells = cells_of(scores.ranking, scores.groups)
        changes = cell_values(cells, asked, n_resamples=n_resamples, seed=seed, progress=progress)
        found[:, folded] = values[folded] + changes
    return found


def resamples_for(n_samples: int) -> int:
    """1,000 resamples, fewer where one takes long, never under 200."""
    return int(np.clip(20_000_000 // n_samples, 200, 1000))


def _why_below_chance(meta: Mapping[str, Any]) -> str:
    """A score that openset made points the way it should; one of unknown origin may not."""
    if meta.get("score"):
        return (
            "open-set samples look more familiar to the model than known ones do. The score points the correct way: "
            "train longer, or try another one (see: openset scores)."
        )
    return "the score seems to point the wrong way. Higher must mean more unknown; negate it if it is a confidence."


def _never_predicted(scores: Scores) -> list[str]:
    """Of a number that stands for unknowns elsewhere, such as 255 or K, and was read as one more known class."""
    if scores.probabilities is not None or scores.class_names is not None:
        return []
    labels, n_samples = np.unique(scores.labels[scores.labels > scores.predictions.max()], return_counts=True)
    return [
        f"Label {label} of {n} samples is above every prediction and counts as a known class that is always "
        f"misclassified; if it marks unknowns, say so: --unknown-label {label}."
        for label, n in zip(labels.tolist(), n_samples.tolist(), strict=True)
        if n >= _SUSPICIOUS
    ]


def hints(
    notes: Sequence[str],
    results: Sequence[Result],
    tied_pairs: float,
    *,
    meta: Mapping[str, Any],
    constant: bool,
    n_classes: int,
    n_present: int,
) -> list[str]:
    """What the user should know before believing the results."""
    found = list(notes)
    if constant:
        found.append("Every sample has the same unknown score: all pairs are tied, and nothing can be told apart.")
    elif tied_pairs > 0.05:
        found.append(
            f"{percent(tied_pairs, 0)} of the pairs of a known and an open-set sample have equal scores (rounded?)."
        )
    found += [
        f"AUROC against {result.against} is {number(result.value)}: {_why_below_chance(meta)}"
        for result in results
        if result.name == "auroc" and (result.high if result.high is not None else result.value) < 0.5
    ]
    if n_present < n_classes:
        missing = n_classes - n_present
        found.append(f"{missing} of {n_classes} known classes have no test sample; class means count them as 0.")
    return found
