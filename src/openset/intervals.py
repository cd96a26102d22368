"""How certain a result is: DeLong for AUROC and OpenAUC, stratified bootstrap for the rest, paired tests, splits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from openset._core.alignment import align
from openset._core.arithmetic import whole_squares
from openset._core.checks import check_lengths, open_mask
from openset._core.counts import Counts, Tally
from openset._core.decisions import amid_ties, twice_area
from openset._core.folds import Several
from openset._core.fractions import exact_ends
from openset._core.resampling import (
    Request,
    bootstrap_values,
    check_resamples,
    evaluator,
    restore_spread,
    spread_corrections,
)
from openset._core.shown import Shown
from openset.errors import OpenSetError, check_share
from openset.metrics import METRICS, Metric
from openset.scores import Scores

Array = NDArray[np.float64]
Method = Literal["delong", "exact", "bootstrap", "splits"]


_ROUNDING = 1e-12  # resampled values that are equal may differ by so much


@dataclass(frozen=True)
class Interval:
    """A metric value and the range it may plausibly lie in."""

    value: float
    low: float
    high: float
    level: float = 0.95
    method: Method = "delong"
    sd: float | None = None
    """Standard error (one data set) or standard deviation (over splits, each the mean of its seeds)."""


@dataclass(frozen=True)
class Comparison(Shown):
    """Two models on the same samples; `difference` is the first minus the second."""

    metric: str
    first: Interval
    second: Interval
    difference: Interval
    p_value: float
    n: int
    params: Mapping[str, Any] = field(default_factory=dict)
    against: str = "all"

    @property
    def clear(self) -> bool:
        """Whether the two can be told apart: the p-value is below 1 - level."""
        return self.p_value < 1 - self.difference.level

    @property
    def first_is_better(self) -> bool:
        """Whether the difference speaks for the first model, clear or not."""
        return (self.difference.value > 0) == (METRICS[self.metric].better == "higher")


# ---- DeLong --------------------------------------------------------------------------------------------------------


def _hits(counts: Tally, *, right: bool) -> Array:
    """Accepted knowns that count: the correct ones for OpenAUC, all of them for AUROC."""
    return counts.right if right else counts.known


def _seen_from_known(counts: Tally) -> Array:
    """For a known at each distinct score: fraction of open-set samples above it, ties half."""
    share = amid_ties(counts.open, -1 / counts.n_open)
    share += 1
    return share


def _seen_from_open(counts: Tally, hits: Array) -> Array:
    """For an open-set sample at each distinct score: fraction of all knowns that count and lie below it, ties half."""
    return amid_ties(hits, 1 / counts.n_known)


def delong_fold(*, right: bool) -> Several:
    """Value, and what its variance is made of, as a fold: sums of squares of counts, in whole numbers.

    A correct known sees the open-set samples above it, an open-set sample the correct knowns below it, ties half; all
    are counted in halves. A misclassified known has kernel 0 with every open-set sample; it enters through the mean and
    the size.
    """

    def gather(run: Tally) -> tuple[int, int, int]:
        hits, steps = _hits(run, right=right), np.diff(run.open)
        above = 2 * run.n_open - (run.open[:-1] + run.open[1:])
        return (
            twice_area(steps, hits),
            whole_squares(np.diff(hits), above),
            whole_squares(steps, hits[:-1] + hits[1:]),
        )

    def join(parts: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
        return tuple(map(sum, zip(*parts, strict=True)))

    def variance(sums: tuple[int, int, int], counts: Tally) -> float:
        """Knowns and open-set samples are drawn independently (DeLong et al., 1988)."""
        total, from_known, from_open = sums
        n_known, n_open = int(counts.n_known), int(counts.n_open)
        known = (n_known * from_known - total**2) / (4 * n_known**2 * n_open**2 * max(n_known - 1, 1))
        opened = (n_open * from_open - total**2) / (4 * n_known**2 * n_open**2 * max(n_open - 1, 1))
        return known + opened

    return Several(gather=gather, joined=join, value=variance)


def _logit_interval(value: float, variance: float, n_pairs: float, level: float) -> Interval:
    """Interval on the logit scale, which never leaves [0, 1]; an exact one-sided bound where all pairs agree.

    Among the pairs there are m = min(knowns, open-set samples) that share no sample, so they are independent, each
    correct with probability `value`. If every pair is correct, so are these m, which has probability value**m.
    """
    if value in (0.0, 1.0):
        return _all_alike(value, n_pairs, level)
    if n_pairs < 2:  # one sample of a kind says nothing about how samples of that kind differ
        return Interval(value, 0.0, 1.0, level, "exact", None)
    if variance <= 0:  # every pair has the same value, as with constant scores
        return Interval(value, value, value, level, "delong", 0.0)
    error = variance**0.5
    reach = NormalDist().inv_cdf((1 + level) / 2) * error / (value * (1 - value))
    centre = np.log(value / (1 - value))
    low, high = 1 / (1 + np.exp(-(centre - reach))), 1 / (1 + np.exp(-(centre + reach)))
    return Interval(value, float(low), float(high), level, "delong", error)


def _all_alike(value: float, n: float, level: float) -> Interval:
    """Exact one-sided bound of a fraction that is 0 or 1 among n independent cases; nothing is known without one."""
    bound = (1 - level) ** (1 / n) if n else 0.0
    low, high = (bound, 1.0) if value == 1.0 else (0.0, 1.0 - bound)
    return Interval(value, low, high, level, "exact", 0.0)


def clopper_pearson(count: int, n: int, *, level: float = 0.95) -> Interval:
    """Exact interval of a fraction, `count` of `n`: the true one lies outside with probability 1 - `level` at most.

    >>> interval = clopper_pearson(0, 10)
    >>> interval.low, round(interval.high, 4)
    (0.0, 0.3085)
    """
    check_share("clopper_pearson", "level", level, one=False)
    if not 0 <= count <= n or n < 1:
        raise OpenSetError(f"clopper_pearson: {count} of {n} is no fraction.")
    low, high = exact_ends(count, n, level)
    return Interval(count / n, float(low), float(high), level, "exact", None)


def delong(scores: Scores, metric: str = "open_auc", *, against: str = "all", level: float = 0.95) -> Interval:
    """Interval of AUROC or OpenAUC from the variance of their pair kernel.

    OpenAUC is the mean over pairs of [known correct] * [open-set score higher]; its components carry the randomness of
    being correct as well as that of the ranking.

    >>> scores = Scores([0, 1, 0, -2, -2, -2], [0, 1, 1, 0, 0, 1], [0.1, 0.2, 0.6, 0.5, 0.7, 0.9])
    >>> interval = delong(scores)
    >>> round(interval.value, 3), round(interval.low, 3), round(interval.high, 3)
    (0.667, 0.096, 0.974)
    """
    if METRICS[metric].interval != "delong":
        able = " and ".join(f"'{name}'" for name, card in METRICS.items() if card.interval == "delong")
        raise OpenSetError(f"delong: works for {able}, not for '{metric}'; use bootstrap.")
    check_share("delong", "level", level, one=False)
    return delong_of(METRICS[metric], scores.counts(against), level=level)


def delong_of(card: Metric, counts: Counts, *, level: float = 0.95) -> Interval:
    """DeLong's interval from counts already made."""
    variance = delong_fold(right=card.uses_predictions)(counts)
    return delong_interval(card.of(counts), variance, counts, level=level)


def delong_interval(value: float, variance: float, counts: Tally, *, level: float = 0.95) -> Interval:
    """DeLong's interval of AUROC or OpenAUC from its variance."""
    return _logit_interval(value, variance, min(counts.n_known, counts.n_open), level)


def _sample_components(counts: Counts, *, right: bool) -> tuple[Array, Array]:
    """The mean kernel of each known (0 where it does not count) and of each open-set sample, in input order."""
    ranking = counts.ranking
    group = np.zeros(len(ranking.score), dtype=np.int64)
    group[ranking.ends[:-1] + 1] = 1
    np.cumsum(group, out=group)
    from_known = _seen_from_known(counts)[group] * (ranking.right if right else ranking.known)
    from_open = _seen_from_open(counts, _hits(counts, right=right))[group]
    back = np.argsort(ranking.order)
    component, known = np.where(ranking.known, from_known, from_open)[back], ranking.known[back]
    return component[known], component[~known]


# ---- bootstrap -----------------------------------------------------------------------------------------------------


def percentile_intervals(
    scores: Scores, requests: Sequence[Request], values: Array, resampled: Array, level: float
) -> list[Interval]:
    """Percentile intervals of each request; where no resample differs, what so many samples leave open."""
    sizes = np.bincount(scores.labels[scores.labels >= 0], minlength=scores.n_classes)
    parts = dict.fromkeys(request.against for request in requests if request.metric.sees_open_set)
    n_open = {part: int(open_mask(scores.labels, part, scores.groups).sum()) for part in parts}
    lost = spread_corrections(scores, requests)
    return intervals_of(requests, values, resampled, level, lost=lost, sizes=sizes, n_open=n_open)


def intervals_of(
    requests: Sequence[Request],
    values: Array,
    resampled: Array,
    level: float,
    *,
    lost: Array,
    sizes: NDArray[np.integer[Any]],
    n_open: Mapping[str, int],
) -> list[Interval]:
    """Percentile intervals from the factors by which spreads are too small, and the numbers of samples.

    `sizes` are the knowns of each class, `n_open` the open-set samples that each `against` names.
    """
    found = _percentiles(values, resampled, level, lost, [r.metric.span for r in requests])
    for place, (request, value) in enumerate(zip(requests, values.tolist(), strict=True)):
        share_of_knowns = request.metric.source == "counts" and not request.metric.sees_open_set
        if share_of_knowns and value in (0.0, 1.0):
            # As many of each class count for a mean over classes, as the smallest of them has.
            n = len(sizes) * sizes.min() if request.params.get("balanced") else sizes.sum()
            found[place] = _all_alike(value, float(n), level)
        elif found[place].high - found[place].low <= _ROUNDING:
            n = min(sizes.sum(), n_open[request.against]) if request.metric.sees_open_set else sizes.sum()
            found[place] = _widened(found[place], float(n), request.metric.span)
    return found


def _widened(found: Interval, n: float, span: tuple[float, float]) -> Interval:
    """An interval of no width, in which no resample differed, with what n independent cases leave open.

    If none of n cases differs, up to a fraction 1 - (1 - level)**(1 / n) of all cases may (the rule of three). These
    move a mean over cases by at most that fraction of the way to either end of its range.

    >>> widened = _widened(Interval(1.0, 1.0, 1.0), 3, (0.0, 1.0))
    >>> round(widened.low, 3), widened.high
    (0.368, 1.0)
    """
    share = 1 - (1 - found.level) ** (1 / n)
    low, high = found.value - share * (found.value - span[0]), found.value + share * (span[1] - found.value)
    return Interval(found.value, low, high, found.level, "exact", found.sd)


def _percentiles(
    values: Array, resampled: Array, level: float, lost: Array, spans: Sequence[tuple[float, float]]
) -> list[Interval]:
    tail = (1 - level) / 2
    computable = np.isfinite(lost)
    resampled = restore_spread(resampled, np.where(computable, lost, 1.0))
    lows, highs = np.quantile(resampled, [tail, 1 - tail], axis=0)
    sds = resampled.std(axis=0, ddof=1)
    return [
        # Resamples repeat samples, which makes rare classes look purer: all may lie on one side of the value itself.
        Interval(
            float(value),
            max(min(float(low), float(value)), least),
            min(max(float(high), float(value)), most),
            level,
            "bootstrap",
            float(sd),
        )
        if known
        else Interval(float(value), least, most, level, "exact", None)
        for value, low, high, sd, known, (least, most) in zip(values, lows, highs, sds, computable, spans, strict=True)
    ]


def bootstrap(
    scores: Scores,
    metric: str = "open_auc",
    *,
    against: str = "all",
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    **params: Any,
) -> Interval:
    """Percentile interval of any metric from resamples in which each known class and open-set group keeps its size.

    >>> scores = Scores([0, 1, 0, -2, -2, -2], [0, 1, 1, 0, 0, 1], [0.1, 0.2, 0.6, 0.5, 0.7, 0.9])
    >>> interval = bootstrap(scores, "ccr_at_fpr", fpr=0.1)
    >>> round(interval.value, 3), round(interval.low, 3), interval.high
    (0.667, 0.087, 1.0)
    """
    check_share("bootstrap", "level", level, one=False)
    check_resamples("bootstrap", n_resamples)
    requests = [Request(METRICS[metric], params, against)]
    values = evaluator(scores, requests)
    resampled = bootstrap_values([values], scores, n_resamples=n_resamples, seed=seed)[0]
    return percentile_intervals(scores, requests, values(None), resampled, level)[0]


# ---- two models ----------------------------------------------------------------------------------------------------


def compare(
    first: Scores,
    second: Scores,
    metric: str = "open_auc",
    *,
    against: str = "all",
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    **params: Any,
) -> Comparison:
    """Difference of two models on the same samples, with its interval and two-sided p-value.

    AUROC and OpenAUC: DeLong's paired test. Every other metric: the same bootstrap resamples for both models.

    >>> labels = [0, 1, 0, -2, -2, -2]
    >>> good = Scores(labels, [0, 1, 0, 0, 0, 1], [0.1, 0.2, 0.3, 0.5, 0.7, 0.9])
    >>> poor = Scores(labels, [0, 1, 1, 0, 0, 1], [0.1, 0.2, 0.6, 0.5, 0.7, 0.9])
    >>> result = compare(good, poor)
    >>> round(result.difference.value, 3), round(result.p_value, 3)
    (0.333, 0.317)
    """
    check_share("compare", "level", level, one=False)
    check_resamples("compare", n_resamples)
    first, second = align(first, second)
    card = METRICS[metric]
    if card.has_delong(params):
        return _compare_delong(first, second, metric, params, against, level)
    requests = [Request(card, params, against)]
    evaluators = [evaluator(scores, requests) for scores in (first, second)]
    a, b = bootstrap_values(evaluators, first, n_resamples=n_resamples, seed=seed)
    values = [evaluate(None) for evaluate in evaluators]
    lost = float(spread_corrections(first, requests)[0])
    difference, p_value = resampled_difference(
        card, float(values[0][0] - values[1][0]), (a - b)[:, 0], lost=lost, level=level
    )
    return Comparison(
        metric,
        percentile_intervals(first, requests, values[0], a, level)[0],
        percentile_intervals(second, requests, values[1], b, level)[0],
        difference,
        p_value,
        len(first.counts(against).ranking.score),
        params,
        against,
    )


def resampled_difference(
    card: Metric, gap: float, resampled: Array, *, lost: float, level: float
) -> tuple[Interval, float]:
    """Interval and p-value of a difference of two models from its values (resamples,) on the same resamples.

    `lost`: the factor by which their spread is too small.
    """
    width = card.span[1] - card.span[0]
    found = _percentiles(np.array([gap]), resampled[:, None], level, np.array([lost]), [(-width, width)])[0]
    spread = restore_spread(resampled, lost) if np.isfinite(lost) else np.zeros(len(resampled))
    # Twice the smaller fraction of resamples on either side of zero, counting the data itself, never exactly 0.
    tail = min(np.count_nonzero(spread <= 0), np.count_nonzero(spread >= 0))
    return found, float(min(1.0, 2 * (tail + 1) / (len(resampled) + 1)))


def delong_difference(gap: float, error: float, n_pairs: float, *, level: float) -> tuple[Interval, float]:
    """Interval and p-value of a difference of two models from its standard error.

    `n_pairs`: the smaller number of knowns and open-set samples.
    """
    if n_pairs < 2:  # one sample of a kind says nothing about how samples of that kind differ
        return Interval(gap, -1.0, 1.0, level, "exact", None), 1.0
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    # Without spread, all of the pairs that share no sample agree on which model is better: a sign test of these.
    sign_test = 1.0 if gap == 0 else min(1.0, 2 * 0.5**n_pairs)
    p_value = 2 * NormalDist().cdf(-abs(gap) / error) if error > 0 else sign_test
    return Interval(gap, max(gap - reach, -1.0), min(gap + reach, 1.0), level, "delong", error), p_value


def _compare_delong(
    first: Scores, second: Scores, metric: str, params: Mapping[str, Any], against: str, level: float
) -> Comparison:
    right = METRICS[metric].uses_predictions
    both = [scores.counts(against) for scores in (first, second)]
    (known_a, open_a), (known_b, open_b) = (_sample_components(counts, right=right) for counts in both)
    variance = _mean_variance(known_a - known_b) + _mean_variance(open_a - open_b)
    value_a, value_b = (METRICS[metric].of(counts) for counts in both)
    gap = value_a - value_b
    difference, p_value = delong_difference(gap, variance**0.5, min(len(known_a), len(open_a)), level=level)
    intervals = [delong_of(METRICS[metric], counts, level=level) for counts in both]
    n = len(both[0].ranking.score)
    return Comparison(metric, intervals[0], intervals[1], difference, p_value, n, params, against)


def _mean_variance(values: Array) -> float:
    return float(values.var(ddof=1) / len(values)) if len(values) > 1 else 0.0


# ---- several splits ------------------------------------------------------------------------------------------------


def over_splits(values: Sequence[float], *, splits: Sequence[Any] | None = None, level: float = 0.95) -> Interval:
    """Mean over splits, its Student-t interval, and the standard deviation over splits (`sd`).

    `splits` names the split of each value where splits were run with several seeds: seeds of a split share its classes
    and images, so its mean is one observation, or the interval would be too narrow. Of one split alone, over its seeds.

    >>> spread = over_splits([0.90, 0.92, 0.94])
    >>> round(spread.value, 3), round(spread.sd, 3), round(spread.low, 3)
    (0.92, 0.02, 0.87)
    >>> over_splits([0.1, 0.3, 0.8], splits=["a", "a", "b"]).value
    0.5
    """
    check_share("over_splits", "level", level, one=False)
    observed = split_means(values, splits)
    if len(observed) < 2:
        raise OpenSetError(f"over_splits: a mean and its spread need two or more values, got {len(observed)}.")
    from scipy.stats import t

    mean, sd = float(observed.mean()), float(observed.std(ddof=1))
    reach = float(t.ppf((1 + level) / 2, len(observed) - 1)) * sd / len(observed) ** 0.5
    return Interval(mean, mean - reach, mean + reach, level, "splits", sd)


def split_means(values: Sequence[float], splits: Sequence[Any] | None = None) -> Array:
    """The mean of each split, in order of appearance; of one split alone, its values.

    >>> split_means([0.1, 0.3, 0.8], ["a", "a", "b"]).tolist()
    [0.2, 0.8]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not len(array):
        raise OpenSetError(f"over_splits: give one value for each run, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise OpenSetError("over_splits: a value is NaN or infinite.")
    if splits is None:
        return array
    check_lengths(values=array, splits=splits)
    places = {split: place for place, split in enumerate(dict.fromkeys(splits))}
    if len(places) == 1:
        return array
    numbers = np.array([places[split] for split in splits])
    return np.asarray(np.bincount(numbers, weights=array) / np.bincount(numbers))
