"""Paired tests of several models on the same samples."""

from collections.abc import Sequence
from dataclasses import dataclass

from openset.errors import OpenSetError
from openset.intervals import Comparison, compare
from openset.metrics import METRICS, titled
from openset.scores import Scores


@dataclass(frozen=True)
class Paired:
    """One metric of two models on the same samples."""

    first: str
    second: str
    title: str
    comparison: Comparison
    p_value: float
    """Corrected for the number of tests where there are several."""

    @property
    def sure(self) -> bool:
        """Whether the two can be told apart."""
        return self.p_value < 0.05


def against_best(names: Sequence[str], models: Sequence[Scores], best: int, *, against: str = "all") -> list[Paired]:
    """DeLong's paired test of OpenAUC and AUROC, the best model against every other that saw the same samples.

    The p-values are those of Holm's correction, because the best of several is chosen by the same data.
    """
    found = []
    for name, scores in zip(names, models, strict=True):
        if scores is models[best]:
            continue
        for metric in ("open_auc", "auroc"):
            try:
                made = compare(models[best], scores, metric, against=against)
            except OpenSetError:  # not the same samples: there is nothing to pair
                break
            title = titled(METRICS[metric], {})
            found.append(Paired(names[best], name, title, made, made.p_value))
    corrected = holm([paired.p_value for paired in found])
    return [
        Paired(paired.first, paired.second, paired.title, paired.comparison, p)
        for paired, p in zip(found, corrected, strict=True)
    ]


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
