"""Resamples in which each known class and each group of open-set samples keeps its size, and metrics on them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset._core.cells import Cells
from openset._core.checks import open_mask
from openset._core.counts import Counts
from openset._core.folds import Fold
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.metrics import Confidences, Metric
    from openset.scores import Scores

Array = NDArray[np.float64]
_BLOCK = 64  # resamples drawn at once,
_CELLS = 1 << 21  # or fewer, so that there are no more weights than these: 50 MB while they are drawn


@dataclass(frozen=True)
class Request:
    """A metric with its options and the open-set samples it looks at."""

    metric: "Metric"
    params: Mapping[str, Any]
    against: str = "all"


def evaluator(scores: "Scores", requests: Sequence[Request]) -> Callable[[Array | None], Array]:
    """A function from sample weights (input order; None = every sample once) to the values of all requests.

    The sort is done once, here; each call only adds up weights.
    """
    parts = {against: scores.counts(against) for against in dict.fromkeys(r.against for r in requests)}
    confidences = scores.confidences if any(r.metric.source == "probabilities" for r in requests) else None

    def values(weights: Array | None) -> Array:
        made = parts
        beliefs = confidences
        if weights is not None:
            made = {name: replace(part, weights=weights[part.ranking.order]) for name, part in parts.items()}
            beliefs = None if confidences is None else confidences.reweighted(weights)
        return np.array([_value(request, made[request.against], beliefs) for request in requests])

    return values


def _value(request: Request, counts: Counts, confidences: "Confidences | None") -> float:
    if request.metric.source == "counts":
        return request.metric.of(counts, **request.params)
    against = {"against": request.against} if request.metric.sees_open_set else {}
    return request.metric.of(confidences, **request.params, **against)


def draw_weights(scores: "Scores", n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """(n, samples) resampling weights; each known class, and each group of open-set samples, keeps its number."""
    order, first, size = scores.strata
    places = (rng.random((n, len(order))) * size).astype(np.int64)
    places += first + len(order) * np.arange(n)[:, None]
    drawn = np.bincount(places.ravel(), minlength=n * len(order)).reshape(n, len(order))
    weights = np.empty((n, len(order)))
    weights[:, order] = drawn
    return weights


def draw_blocks(scores: "Scores", n: int, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """The rows of `draw_weights`, some at a time: as many as fit, and always the same ones."""
    block = max(1, min(_BLOCK, _CELLS // len(scores)))
    for start in range(0, n, block):
        yield draw_weights(scores, min(block, n - start), rng)


def bootstrap_values(
    evaluators: Sequence[Callable[[Array | None], Array]],
    scores: "Scores",
    *,
    n_resamples: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> list[Array]:
    """Values (resamples, requests) of each evaluator on the same resamples of the samples of `scores`."""
    rng = np.random.default_rng(seed)
    rows: list[list[Array]] = [[] for _ in evaluators]
    for block in draw_blocks(scores, n_resamples, rng):
        for weights in block:
            for values, found in zip(evaluators, rows, strict=True):
                found.append(values(weights))
        if progress is not None:
            progress(len(block))
    return [np.array(found) for found in rows]


def cell_values(
    cells: Cells,
    asked: Sequence[tuple[Fold, str]],
    *,
    n_resamples: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> Array:
    """Values (resamples, folds) on resamples of counts, less what they are on the counts themselves."""
    rng = np.random.default_rng(seed)
    base = cells.values(asked)
    found = np.empty((n_resamples, len(asked)))
    for number in range(n_resamples):
        found[number] = cells.resample(rng).values(asked) - base
        if progress is not None:
            progress(1)
    return found


def check_resamples(function: str, n_resamples: int) -> None:
    """A spread needs two resamples, or more."""
    if n_resamples < 2:
        raise OpenSetError(f"{function}: 'n_resamples' must be at least 2, got {n_resamples}.")


def spread_correction(scores: "Scores", against: str | None) -> float:
    """Factor by which spreads of resamples are too small: the larger one of knowns and of the open set.

    `against` names the open-set samples that are looked at, None says that there are none.
    A stratum of m samples shows (m - 1) / m of its variance, so with n samples in k strata the variance is n / (n - k)
    times what resamples show. With one sample in each nothing is known, and the factor is infinite.
    """
    order, first, _ = scores.strata
    stratum = np.empty_like(first)
    stratum[order] = first
    parts = [scores.labels >= 0]
    if against is not None:
        parts.append(open_mask(scores.labels, against, scores.groups))
    return spread_factor([(int(part.sum()), len(np.unique(stratum[part]))) for part in parts])


def spread_factor(sizes: Sequence[tuple[int, int]]) -> float:
    """`spread_correction` from the numbers of samples, and of strata, of knowns and of the open set."""
    return max((n / (n - k)) ** 0.5 if n > k else np.inf for n, k in sizes)


def spread_corrections(scores: "Scores", requests: Sequence[Request]) -> Array:
    """The factor of each request."""
    looks_at = [r.against if r.metric.sees_open_set else None for r in requests]
    factors = {against: spread_correction(scores, against) for against in dict.fromkeys(looks_at)}
    return np.array([factors[against] for against in looks_at])


def restore_spread(resampled: Array, factor: float | Array) -> Array:
    """Resampled values (resamples first) with the spread that small strata took from them."""
    mean = resampled.mean(axis=0)
    return np.asarray(mean + factor * (resampled - mean))
