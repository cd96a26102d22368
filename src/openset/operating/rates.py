"""What a threshold does to samples: fractions with exact intervals, one for each kind of open-set sample."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from openset._core.checks import RESERVED_GROUPS, Bools, open_mask
from openset._core.shown import Shown
from openset.intervals import Interval, clopper_pearson
from openset.operating.notes import NEARLY_ALL, notes_on
from openset.scores import Scores

MEANING = {
    "acceptance": "knowns accepted",
    "ccr": "knowns accepted and correct (CCR)",
    "accuracy_on_accepted": "accuracy on accepted knowns",
    "operational_accuracy": "all decided correctly (OOSA)",
    "fpr": "open-set samples accepted (FPR)",
    "fpr_negative": "negatives accepted",
    "fpr_unknown": "unknowns accepted",
}
"""What the fractions at a threshold are called for people, in the order that they are shown in."""


@dataclass(frozen=True)
class Rate:
    """`count` of `n` samples, with the exact interval of that fraction (Clopper and Pearson)."""

    name: str
    against: str
    """Which open-set samples it is of; "all" for fractions of knowns."""
    count: int
    n: int
    level: float = 0.95

    @property
    def value(self) -> float:
        """The fraction."""
        return self.count / self.n

    @cached_property
    def interval(self) -> Interval:
        """The fraction with its interval."""
        return clopper_pearson(self.count, self.n, level=self.level)

    def as_json(self) -> dict[str, Any]:
        """As every command writes a metric value, with the counts behind it."""
        return {
            "name": self.name,
            "params": {},
            "against": self.against,
            "value": self.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "count": self.count,
            "n": self.n,
        }


@dataclass(frozen=True, eq=False)  # as a mapping: equal to any with the same fractions
class Rates(Shown, Mapping[str, float]):
    """The fractions at a threshold by key; `rates` has their intervals.

    Keys: `acceptance`, `ccr` and `accuracy_on_accepted` of the knowns, where there are any; `fpr` of the open-set
    samples that were asked for; of all of them also `fpr_negative` and `fpr_unknown`, and `fpr@GROUP` for each group;
    `operational_accuracy`, where there are both: knowns accepted and classified correctly, open-set samples rejected.
    """

    rates: Mapping[str, Rate]
    level: float = 0.95

    def __getitem__(self, key: str) -> float:
        return self.rates[key].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.rates)

    def __len__(self) -> int:
        return len(self.rates)

    @property
    def notes(self) -> list[str]:
        """What to know before relying on the threshold, from what it does here."""
        found = notes_on(self.get("acceptance"), self.get("fpr"), "here")
        if found:
            return found
        passed = [rate.against for rate in self.rates.values() if rate.name == "fpr" and rate.value >= NEARLY_ALL]
        return [
            f"The threshold accepts at least {NEARLY_ALL:.0%} of '{part}': these open-set samples it hardly rejects, "
            "although it does reject others. See whether another score tells them apart."
            for part in passed
        ]

    def as_json(self) -> dict[str, Any]:
        """The fractions by key, then each with its interval."""
        return {
            **self,
            "level": self.level,
            "interval": "exact (Clopper-Pearson)",
            "rates": [rate.as_json() for rate in self.rates.values()],
        }


def rates_of(scores: Scores, rejected: Bools, *, against: str = "all", level: float = 0.95) -> Rates:
    """What becomes of the samples if those are `rejected`."""
    known, accepted = scores.labels >= 0, ~rejected
    right = known & (scores.predictions == scores.labels)
    counted: dict[str, tuple[str, str, Bools, Bools]] = {
        "acceptance": ("acceptance", "all", accepted, known),
        "ccr": ("ccr", "all", accepted & right, known),
        "accuracy_on_accepted": ("accuracy_on_accepted", "all", right, known & accepted),
    }
    for part in [against] if against != "all" else scores.against_choices():
        counted[_key(part, against)] = ("fpr", part, accepted, open_mask(scores.labels, part, scores.groups))
    asked = open_mask(scores.labels, against, scores.groups)
    if known.any() and asked.any():
        decided = (accepted & right) | (rejected & asked)
        counted["operational_accuracy"] = ("operational_accuracy", against, decided, known | asked)
    made = {}
    for key, (name, part, which, among) in counted.items():
        n = int(among.sum())
        if n:
            made[key] = Rate(name, part, int((which & among).sum()), n, level)
    return Rates(made, level)


def _key(part: str, asked: str) -> str:
    return "fpr" if part == asked else f"fpr_{part}" if part in RESERVED_GROUPS else f"fpr@{part}"
