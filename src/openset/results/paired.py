"""Paired tests of several models on the same samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from openset.errors import OpenSetError
from openset.intervals import Comparison, Interval, compare
from openset.metrics import METRICS, titled
from openset.scores import Scores


@dataclass(frozen=True)
class Paired:
    """One metric of two models on the same samples."""

    first: str
    second: str
    comparison: Comparison
    p_value: float
    """Corrected for the number of tests where the best of several models is tested against the others."""

    @property
    def title(self) -> str:
        """Name of the metric, for people."""
        return titled(METRICS[self.comparison.metric], self.comparison.params)

    @property
    def clear(self) -> bool:
        """Whether the two can be told apart."""
        return replace(self.comparison, p_value=self.p_value).clear

    @property
    def meaning(self) -> str:
        """In words."""
        if not self.clear:
            return "no difference beyond chance"
        return f"{self.first if self.comparison.first_is_better else self.second} is better"

    def as_json(self) -> dict[str, Any]:
        """As every command writes a metric value, here of the difference, with what it is the difference of."""
        found = self.comparison
        return {
            "models": [self.first, self.second],
            "name": found.metric,
            "params": dict(found.params),
            "against": found.against,
            "value": found.difference.value,
            "low": found.difference.low,
            "high": found.difference.high,
            "p_value": self.p_value,
            "p_uncorrected": found.p_value,
            "n": found.n,
            "first": asdict(found.first),
            "second": asdict(found.second),
            "difference": asdict(found.difference),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Paired":
        """What `as_json` wrote."""
        first, second = map(str, content["models"])
        found = Comparison(
            METRICS[content["name"]].name,
            Interval(**content["first"]),
            Interval(**content["second"]),
            Interval(**content["difference"]),
            p_value=float(content["p_uncorrected"]),
            n=int(content["n"]),
            params=dict(content["params"]),
            against=str(content["against"]),
        )
        return cls(first, second, found, float(content["p_value"]))


def paired_tests(
    metrics: Sequence[tuple[str, Mapping[str, Any]]],
    names: Sequence[str],
    first: Scores,
    second: Scores,
    *,
    against: str,
    n_resamples: int,
    seed: int,
    progress: Callable[[int], object],
) -> list[Paired]:
    """Several metrics of two models, by name and options; the p-values are those of single tests."""
    found = []
    for name, params in metrics:
        made = compare(first, second, name, against=against, n_resamples=n_resamples, seed=seed, **params)
        found.append(Paired(names[0], names[1], made, made.p_value))
        progress(1)
    return found


def against_best(names: Sequence[str], models: Sequence[Scores], best: int, *, against: str = "all") -> list[Paired]:
    """DeLong's paired test of OpenAUC and AUROC, one model against every other that saw the same samples.

    The p-values are those of Holm's correction, because there are several, and `best`, the place of the one, may have
    been chosen by the same data.
    """
    found = []
    for place, (name, scores) in enumerate(zip(names, models, strict=True)):
        if place == best:
            continue
        for card in METRICS.values():
            if card.interval != "delong":
                continue
            try:
                made = compare(models[best], scores, card.name, against=against)
            except OpenSetError:  # not the same samples: there is nothing to pair
                break
            found.append(Paired(names[best], name, made, made.p_value))
    corrected = holm([paired.p_value for paired in found])
    return [Paired(one.first, one.second, one.comparison, p) for one, p in zip(found, corrected, strict=True)]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[place]))
        corrected[place] = largest
    return corrected
