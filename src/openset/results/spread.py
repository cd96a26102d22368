"""Mean and spread of a metric over splits and seeds: the one way they are computed."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from openset._core.numbers import counted, mean_and_sd
from openset.evaluation import Evaluation
from openset.intervals import over_splits, split_means

MEANING = (
    "± is the standard deviation over splits; the seeds of a split are averaged first, as they are not independent."
)


@dataclass(frozen=True)
class Spread:
    """Mean over splits. Of one run there is a mean alone; of one split it is over its seeds."""

    value: float
    sd: float | None
    """Standard deviation over splits, each of them the mean of its seeds."""
    low: float | None
    high: float | None
    n: int
    """Runs."""
    n_splits: int
    observed: tuple[float, ...]
    """What counts as one observation each: the means of the splits."""

    @property
    def text(self) -> str:
        """`.912 ± .010`."""
        return mean_and_sd(self.value, self.sd)

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval and 0 lies outside it: of a difference, whether its sign is told."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    @property
    def counted(self) -> str:
        """`5 splits`, `5 splits, 10 runs`, `4 seeds`."""
        if self.n_splits == self.n or self.n_splits > 1:
            return counted(self.n_splits, "split") + (f", {self.n} runs" if self.n > self.n_splits else "")
        return counted(self.n, "seed")

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "observed"}


def spread_of(values: Sequence[float], splits: Sequence[Hashable] | None = None, *, level: float = 0.95) -> Spread:
    """Mean, standard deviation and interval of one value per run; `splits` names the split of each.

    Without `splits` every run is one of its own.

    >>> found = spread_of([0.90, 0.92, 0.93, 0.95], splits=[0, 0, 1, 1])
    >>> found.text, found.counted, found.n
    ('.925 ± .021', '2 splits, 4 runs', 4)
    """
    n_splits = len(values) if splits is None else len(set(splits))
    observed = tuple(split_means(values, splits).tolist())
    if len(observed) == 1:
        return Spread(observed[0], None, None, None, len(values), n_splits, observed)
    found = over_splits(values, splits=splits, level=level)
    return Spread(found.value, found.sd, found.low, found.high, len(values), n_splits, observed)


@dataclass(frozen=True)
class MetricSpread:
    """A metric over splits."""

    name: str
    params: Mapping[str, Any]
    against: str
    spread: Spread

    def as_json(self) -> dict[str, Any]:
        """As every command writes a metric value, and its spread."""
        return {"name": self.name, "params": dict(self.params), "against": self.against, **self.spread.as_json()}


def spreads_of(evaluations: Sequence[Evaluation], splits: Sequence[Hashable] | None = None) -> tuple[MetricSpread, ...]:
    """The spread of each metric that all evaluations have; one may lack probabilities or negatives."""
    first, *others = evaluations
    keys = [{(r.name, r.against, str(r.params)) for r in one.results} for one in others]
    shared = [r for r in first.results if all((r.name, r.against, str(r.params)) in found for found in keys)]
    found = []
    for one in shared:
        values = [other.find(one.name, against=one.against, **one.params).value for other in evaluations]
        found.append(MetricSpread(one.name, one.params, one.against, spread_of(values, splits)))
    return tuple(found)
