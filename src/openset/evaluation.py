"""Every metric of one model in one call, with intervals and hints."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from openset._core.resampling import Request, bootstrap_values, evaluator
from openset._core.shown import Shown
from openset._io.frames import make_frame
from openset.errors import OpenSetError, check_share, did_you_mean
from openset.intervals import delong_of, percentile_intervals
from openset.metrics import METRICS, Metric, describe, titled
from openset.scores import Scores


@dataclass(frozen=True)
class Result:
    """A metric value with its interval (None if intervals were not asked for)."""

    name: str
    params: Mapping[str, Any]
    against: str
    value: float
    low: float | None
    high: float | None

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
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Result":
        """What `as_json` wrote."""
        low, high = (None if content[end] is None else float(content[end]) for end in ("low", "high"))
        name = METRICS[content["name"]].name
        return cls(name, dict(content["params"]), str(content["against"]), float(content["value"]), low, high)


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
        card = METRICS[name]
        where = against if card.sees_open_set else "all"
        for result in self.results:
            if result.name == name and result.against == where and _fits(card, result.params, params):
                return result
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


def _fits(card: Metric, params: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a metric with `params` is one with `wanted`, where options that `wanted` leaves out may be any."""
    options = card.options(params)
    return all(options.get(name) == value for name, value in wanted.items())


def evaluate(
    scores: Scores,
    *,
    against: str | Sequence[str] | None = None,
    also: Iterable[tuple[str, Mapping[str, Any], str | None]] = (),
    headline: bool = False,
    intervals: bool = True,
    n_resamples: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
) -> Evaluation:
    """Every metric that these scores allow, for every `against` (by default all that the data divides into).

    AUROC and OpenAUC have DeLong intervals, everything else percentile intervals of a stratified bootstrap with
    `n_resamples` resamples: 1,000, or fewer for more than 20,000 samples, but at least 200.

    `also` are further metrics, as (name, options, against): with options of one's own, such as `("ccr_at_fpr",
    {"fpr": 0.05}, None)`, for every `against` or for one alone. With `headline`, only the few metrics that sum up a
    model, and those.

    >>> scores = Scores([0, 1, 0, -2, -2], [0, 1, 1, 0, 1], [0.1, 0.2, 0.6, 0.5, 0.9])
    >>> evaluate(scores).find("open_auc").value.__round__(3)
    0.667
    """
    check_share("evaluate", "level", level, one=False)
    if n_resamples is not None and n_resamples < 2:
        raise OpenSetError(f"evaluate: 'n_resamples' must be at least 2, got {n_resamples}.")
    if against is not None and not against:
        raise OpenSetError(
            "evaluate: 'against' is empty; leave it out, or name 'all', 'negative', 'unknown' or a group."
        )
    chosen = [against] if isinstance(against, str) else list(dict.fromkeys(against or scores.against_choices()))
    requests = [
        Request(card, params, part)
        for part in chosen
        for card in METRICS.values()
        if card.source == "counts" or scores.probabilities is not None
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
    compute = evaluator(scores, requests)
    values = compute(None)
    n_resamples = resamples_for(len(scores)) if n_resamples is None else n_resamples
    ranges: list[tuple[float | None, float | None]] = [(None, None)] * len(requests)
    if intervals:
        resampled = bootstrap_values([compute], scores, n_resamples=n_resamples, seed=seed, progress=progress)[0]
        ranges = [(found.low, found.high) for found in percentile_intervals(scores, requests, values, resampled, level)]
        for place, request in enumerate(requests):
            if request.metric.interval == "delong" and not request.params:
                right = request.metric.uses_predictions
                found = delong_of(scores.counts(request.against), right=right, level=level)
                ranges[place] = (found.low, found.high)
    results = tuple(
        Result(
            request.metric.name,
            request.params,
            request.against if request.metric.sees_open_set else "all",
            float(value),
            low,
            high,
        )
        for request, value, (low, high) in zip(requests, values, ranges, strict=True)
    )
    counts = scores.counts(chosen[0])
    tied = counts.tied_pairs
    return Evaluation(
        results=results,
        against=tuple(chosen),
        notes=tuple(hints(scores, results, tied)),
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


def resamples_for(n_samples: int) -> int:
    """1,000 resamples, fewer where one takes long, never under 200."""
    return int(np.clip(20_000_000 // n_samples, 200, 1000))


def _why_below_chance(scores: Scores) -> str:
    """A score that openset made points the way it should; one of unknown origin may not."""
    if scores.meta.get("score"):
        return (
            "open-set samples look more familiar to the model than known ones do. The score points the correct way: "
            "train longer, or try another one (see: openset scores)."
        )
    return "the score seems to point the wrong way. Higher must mean more unknown; negate it if it is a confidence."


def hints(scores: Scores, results: Sequence[Result], tied_pairs: float) -> list[str]:
    """What the user should know before believing the results."""
    found = list(scores.notes)
    if scores.unknown_score.min() == scores.unknown_score.max():
        found.append("Every sample has the same unknown score: all pairs are tied, and nothing can be told apart.")
    elif tied_pairs > 0.05:
        found.append(f"{tied_pairs:.0%} of the pairs of a known and an open-set sample have equal scores (rounded?).")
    found += [
        f"AUROC against {result.against} is {result.value:.3f}: {_why_below_chance(scores)}"
        for result in results
        if result.name == "auroc" and (result.high if result.high is not None else result.value) < 0.5
    ]
    known = scores.labels[scores.labels >= 0]
    missing = scores.n_classes - len(np.unique(known))
    if missing:
        found.append(f"{missing} of {scores.n_classes} known classes have no test sample; class means count them as 0.")
    return found
