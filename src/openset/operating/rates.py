"""What a threshold does to samples: fractions with exact intervals, one for each kind of open-set sample."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import NEGATIVE, RESERVED_GROUPS, Bools, Ints, open_mask
from openset._core.kinds import OpenKind, against_choices, chosen_kinds
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


_CHOSEN_HERE = (
    "These are the samples that the threshold was chosen on, so that the fractions are better than on new ones and the "
    "intervals promise nothing: apply it to samples that had no part in choosing it."
)


@dataclass(frozen=True, eq=False)  # as a mapping: equal to any with the same fractions
class Rates(Shown, Mapping[str, float]):
    """The fractions at a threshold by key; `rates` has their intervals.

    Keys: `acceptance`, `ccr` and `accuracy_on_accepted` of the knowns, where there are any; `fpr` of the open-set
    samples that were asked for; of all of them also `fpr_negative` and `fpr_unknown`, and `fpr@GROUP` for each group;
    `operational_accuracy`, where there are both: knowns accepted and classified correctly, open-set samples rejected.
    """

    rates: Mapping[str, Rate]
    level: float = 0.95
    chosen_here: bool = False
    """Whether these are the very samples that the threshold was chosen on."""

    def __getitem__(self, key: str) -> float:
        return self.rates[key].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.rates)

    def __len__(self) -> int:
        return len(self.rates)

    @property
    def notes(self) -> list[str]:
        """What to know before relying on the threshold, from what it does here."""
        found = [_CHOSEN_HERE] if self.chosen_here else []
        if idle := notes_on(self.get("acceptance"), self.get("fpr"), "here"):
            return [*found, *idle]
        passed = [rate.against for rate in self.rates.values() if rate.name == "fpr" and rate.value >= NEARLY_ALL]
        return found + [
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


@dataclass(frozen=True)
class Decided:
    """How many samples of each kind there are, and how many of them a threshold accepts: two parts add up."""

    known: int = 0
    accepted: int = 0
    """Accepted knowns,"""
    right: int = 0
    """of which so many are predicted as their own class."""
    open: Mapping[OpenKind, tuple[int, int]] = field(default_factory=dict)
    """Open-set samples of each kind, and the accepted ones."""

    @classmethod
    def of(cls, labels: Ints, predictions: Ints, accepted: Bools, groups: NDArray[Any] | None = None) -> "Decided":
        """Of samples in memory."""
        known = labels >= 0
        taken = known & accepted
        opened, found = ~known, {}
        names, place = np.zeros(1, dtype=np.str_), np.zeros(int(opened.sum()), dtype=np.int64)
        if groups is not None and opened.any():
            names, place = np.unique(groups[opened], return_inverse=True)
        code = 2 * place + (NEGATIVE - labels[opened].astype(np.int64))
        sizes = np.bincount(code)
        kept = np.bincount(code[accepted[opened]], minlength=len(sizes))
        for one in np.flatnonzero(sizes).tolist():
            found[OpenKind(NEGATIVE - one % 2, str(names[one // 2]))] = int(sizes[one]), int(kept[one])
        right = int((taken & (predictions == labels)).sum())
        return cls(int(known.sum()), int(taken.sum()), right, found)

    def __add__(self, other: "Decided") -> "Decided":
        kinds = sorted({*self.open, *other.open}, key=lambda kind: (kind.group, -kind.label))
        pairs = {kind: (self.open.get(kind, (0, 0)), other.open.get(kind, (0, 0))) for kind in kinds}
        return Decided(
            self.known + other.known,
            self.accepted + other.accepted,
            self.right + other.right,
            {kind: (one[0] + two[0], one[1] + two[1]) for kind, (one, two) in pairs.items()},
        )

    def rates(self, *, against: str = "all", level: float = 0.95) -> Rates:
        """The fractions."""
        counted = {
            "acceptance": ("acceptance", "all", self.accepted, self.known),
            "ccr": ("ccr", "all", self.right, self.known),
            "accuracy_on_accepted": ("accuracy_on_accepted", "all", self.right, self.accepted),
        }
        for part in [against] if against != "all" else against_choices(tuple(self.open)):
            n, accepted = self._asked(part)
            counted[_key(part, against)] = ("fpr", part, accepted, n)
        n, accepted = self._asked(against)
        if self.known and n:
            decided = self.right + n - accepted
            counted["operational_accuracy"] = ("operational_accuracy", against, decided, self.known + n)
        made = {key: Rate(name, part, count, n, level) for key, (name, part, count, n) in counted.items() if n}
        return Rates(made, level)

    def _asked(self, against: str) -> tuple[int, int]:
        """Open-set samples that `against` names, and the accepted ones."""
        chosen = chosen_kinds(tuple(self.open), against)
        found = [both for both, is_chosen in zip(self.open.values(), chosen, strict=True) if is_chosen]
        return sum(n for n, _ in found), sum(accepted for _, accepted in found)


def rates_of(scores: Scores, rejected: Bools, *, against: str = "all", level: float = 0.95) -> Rates:
    """What becomes of the samples if those are `rejected`."""
    open_mask(scores.labels, against, scores.groups)  # says which groups there are
    return Decided.of(scores.labels, scores.predictions, ~rejected, scores.groups).rates(against=against, level=level)


def _key(part: str, asked: str) -> str:
    return "fpr" if part == asked else f"fpr_{part}" if part in RESERVED_GROUPS else f"fpr@{part}"
