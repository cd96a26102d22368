"""Rows of two models side by side: counts of the pairs that add up, for tests of the difference of the models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from openset._core import sorting
from openset._core.arithmetic import whole_squares
from openset._core.cells import Cells
from openset._core.folds import Fold
from openset._core.kinds import FIRST_OPEN, RIGHT, WRONG, OpenKind, chosen_kinds
from openset.errors import OpenSetError
from openset.scale.counting import Counted, Plan
from openset.scale.rows import Rows
from openset.scale.source import Part, Source, read_ids, read_rows

Ints = NDArray[np.int64]
Array = NDArray[np.float64]
_MOST_GROUPS, _FEWEST_GROUPS = 256, 64
_ENTRIES = 1 << 24
"""Numbers that are kept for all groups of a model, about."""


def parts_of_both(first: Source, second: Source) -> list[tuple[Part, Part]]:
    """The rows of both, in their order, in parts that hold the same ones, however the files are divided."""
    if first.n_rows != second.n_rows:
        raise OpenSetError(
            f"The two models were not run on the same samples: {first.name} has {first.n_rows:,} rows, {second.name} "
            f"{second.n_rows:,}."
        )
    ends = [np.cumsum([part.rows for part in one.parts]) for one in (first, second)]
    borders = np.unique(np.concatenate(([0], *ends)))
    return [
        (_slice(first, ends[0], start, stop), _slice(second, ends[1], start, stop))
        for start, stop in pairwise(borders.tolist())
    ]


def _slice(source: Source, ends: NDArray[np.intp], start: int, stop: int) -> Part:
    place = int(np.searchsorted(ends, start, side="right"))
    part = source.parts[place]
    return replace(part, first=part.first + start - (int(ends[place]) - part.rows), rows=stop - start)


@dataclass(frozen=True, eq=False)
class Side:
    """What is known of one model before its rows are paired with those of the other."""

    source: Source
    plan: Plan
    counted: Counted

    def cell_of_bins(self) -> Ints:
        """The cell of each fine bin."""
        return np.searchsorted(self.counted.cell_starts, self.plan.coarse, side="right") - 1

    def seen(self, against: str, *, right: bool) -> tuple[Ints, Ints, Ints, Ints]:
        """What the samples of each bin see of the other kind, twice, if ties count half, and by how much it may differ.

        A known sees the open-set samples above it, an open-set sample the knowns (the correct ones, if `right`) below.
        The scores of a bin count as tied; they are where it holds one score alone.
        """
        fine, tied = self.counted.fine, self.counted.tied
        opened = fine[:, FIRST_OPEN:][:, chosen_kinds(self.counted.kinds, against)].sum(axis=1)
        hits = fine[:, RIGHT] if right else fine[:, RIGHT] + fine[:, WRONG]
        above = 2 * opened.sum() - (2 * np.cumsum(opened) - opened)
        below = 2 * np.cumsum(hits) - hits
        return above, np.where(tied, 0, opened), below, np.where(tied, 0, hits)


@dataclass(frozen=True)
class DeLongSums:
    """Differences of what the samples of one kind see, under the one model and the other: sums, in whole numbers."""

    total: int = 0
    squares: int = 0
    doubt: int = 0
    """Sum of squares of what each difference may be off by."""

    @classmethod
    def of(cls, differences: Ints, doubts: Ints) -> "DeLongSums":
        """Of some samples."""
        once = np.ones(len(differences))
        squares, doubt = (whole_squares(once, np.abs(one).astype(np.float64)) for one in (differences, doubts))
        return cls(int(differences.sum()), squares, doubt)

    def __add__(self, other: "DeLongSums") -> "DeLongSums":
        return DeLongSums(self.total + other.total, self.squares + other.squares, self.doubt + other.doubt)

    def errors(self, n: int, n_other: int) -> tuple[float, float]:
        """Standard error of the mean of the differences, and by how much it may be off, of n samples."""
        if n < 2:
            return 0.0, 0.0
        unit = 4 * n * (n - 1) * n_other**2  # in halves of samples of the other kind
        return max((n * self.squares - self.total**2) / (n * unit), 0.0) ** 0.5, (self.doubt / unit) ** 0.5


@dataclass(frozen=True, eq=False)
class Paired:
    """What is kept of any number of paired rows."""

    delong: tuple[tuple[DeLongSums, DeLongSums], ...]
    """Of knowns and of open-set samples; for OpenAUC, then for AUROC."""
    tables: tuple[NDArray[np.int64], NDArray[np.int64]]
    """Of each model, (groups, cells, kinds, K): the rows, dealt out to groups at random."""
    class_totals: Ints
    """(groups, K)."""

    def __add__(self, other: "Paired") -> "Paired":
        sums = tuple((one[0] + two[0], one[1] + two[1]) for one, two in zip(self.delong, other.delong, strict=True))
        first, second = (one + two for one, two in zip(self.tables, other.tables, strict=True))
        return Paired(sums, (first, second), self.class_totals + other.class_totals)


@dataclass(frozen=True, eq=False)
class Pair:
    """Count the rows of a part of both models."""

    sides: tuple[Side, Side]
    against: str
    n_groups: int
    seed: int

    def __call__(self, task: tuple[int, tuple[Part, Part]]) -> Paired:
        """Of a part with its number."""
        place, parts = task
        first, second = (read_rows(part, side.source) for part, side in zip(parts, self.sides, strict=True))
        _check_same(first, second, parts, ids=all(side.source.has_ids for side in self.sides))
        rows = (first, second)
        kinds = [_kinds_in(side.counted.kinds, one) for side, one in zip(self.sides, rows, strict=True)]
        bins = [
            side.plan.bins.place(sorting.order_keys(one.score))[0] for side, one in zip(self.sides, rows, strict=True)
        ]
        n_classes = self.sides[0].counted.n_classes
        stratum = np.where(first.label >= 0, first.label, n_classes + kinds[0])
        group = deal(stratum, self.n_groups, np.random.default_rng([self.seed, place]))
        tables = []
        for side, one, kind, number in zip(self.sides, rows, kinds, bins, strict=True):
            shape = (self.n_groups, len(side.counted.cell_starts), FIRST_OPEN + len(side.counted.kinds), n_classes)
            entry = group * shape[1] + side.cell_of_bins().take(number)
            entry *= shape[2]
            entry += kind
            entry *= shape[3]
            entry += one.prediction
            tables.append(np.bincount(entry, minlength=int(np.prod(shape))).reshape(shape))
        known = first.label >= 0
        totals = np.bincount(group[known] * n_classes + first.label[known], minlength=self.n_groups * n_classes)
        return Paired(
            tuple(self._delong(kinds, bins, right=right) for right in (True, False)),
            (tables[0], tables[1]),
            totals.reshape(self.n_groups, n_classes),
        )

    def _delong(
        self, kinds: Sequence[Ints], bins: Sequence[NDArray[np.int32]], *, right: bool
    ) -> tuple[DeLongSums, DeLongSums]:
        chosen = np.append([False, False], chosen_kinds(self.sides[0].counted.kinds, self.against))
        known, opened = kinds[0] < FIRST_OPEN, chosen.take(kinds[0])
        found: list[list[Ints]] = [[], [], [], []]
        for side, kind, number in zip(self.sides, kinds, bins, strict=True):
            above, above_doubt, below, below_doubt = side.seen(self.against, right=right)
            counts = (kind[known] == RIGHT) if right else np.ones(int(known.sum()), dtype=np.bool_)
            at_known, at_open = number[known], number[opened]
            found[0].append(above.take(at_known) * counts)
            found[1].append(above_doubt.take(at_known) * counts)
            found[2].append(below.take(at_open))
            found[3].append(below_doubt.take(at_open))
        return (
            DeLongSums.of(found[0][0] - found[0][1], found[1][0] + found[1][1]),
            DeLongSums.of(found[2][0] - found[2][1], found[3][0] + found[3][1]),
        )


def _kinds_in(kinds: tuple[OpenKind, ...], rows: Rows) -> Ints:
    """The kind of each row, numbered as all rows of the model number them."""
    own = [0, 1, *(FIRST_OPEN + kinds.index(one) if one in kinds else 0 for one in rows.kinds)]
    return np.array(own, dtype=np.int64).take(rows.kind(slice(None)))


def _check_same(first: Rows, second: Rows, parts: tuple[Part, Part], *, ids: bool) -> None:
    """The rows of both are the same samples."""
    if ids:
        differ = (read_ids(parts[0]).cast(str) != read_ids(parts[1]).cast(str)).fill_null(value=False).to_numpy()
        _stop_at(differ, parts, "are different samples by their ids: sort both models' files alike")
    differ = first.label != second.label
    _stop_at(differ, parts, "have different labels: both models must have the same samples in the same order")
    if first.group is not None and second.group is not None:
        names = [np.array(one.names)[one.group] for one in (first, second)]
        _stop_at((names[0] != names[1]) & (first.label < 0), parts, "are in different groups")


def _stop_at(differ: NDArray[np.bool_], parts: tuple[Part, Part], what: str) -> None:
    if differ.any():
        row = int(differ.argmax())
        one, other = (f"{part.file}, {part.where(row)}" for part in parts)
        raise OpenSetError(f"{one}, and {other}, {what}.")


# ---- resamples -----------------------------------------------------------------------------------------------------


def deal(stratum: Ints, n_groups: int, rng: np.random.Generator) -> Ints:
    """A group for each row, at random, so that every group gets as many rows of each stratum, as far as it goes.

    >>> np.bincount(deal(np.array([0, 0, 1, 1]), 2, np.random.default_rng(0))).tolist()
    [2, 2]
    """
    shuffled = rng.permutation(len(stratum))
    order = shuffled[np.argsort(stratum[shuffled].astype(np.uint32), kind="stable")]
    sizes = np.bincount(stratum)
    rank = np.arange(len(stratum)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    group = np.empty(len(stratum), dtype=np.int64)
    group[order] = (rank + np.repeat(rng.integers(0, n_groups, len(sizes)), sizes)) % n_groups
    return group


def groups_for(sides: Sequence[Side]) -> int:
    """How many groups: more tell a spread better, 256 to 4 %, and 64 to 9 %."""
    entries = max(
        len(side.counted.cell_starts) * (FIRST_OPEN + len(side.counted.kinds)) * side.counted.n_classes
        for side in sides
    )
    return int(np.clip(_ENTRIES // entries, _FEWEST_GROUPS, _MOST_GROUPS))


def resampled_pairs(
    paired: Paired, sides: Sequence[Side], folds: Sequence[tuple[Fold, str]], *, n_resamples: int, seed: int
) -> Array:
    """(resamples, folds) how the difference of the models changes where the groups are drawn anew, with replacement."""
    rng = np.random.default_rng(seed)
    bases = [side.counted.cells(side.plan) for side in sides]
    tables = [table.reshape(len(table), -1).astype(np.float64) for table in paired.tables]
    found = np.empty((n_resamples, len(folds)))
    start = [base.values(folds) for base in bases]
    for number, weights in enumerate(_weights(paired, sides[0], folds, n_resamples, rng)):
        totals = (weights @ paired.class_totals).astype(np.int64)
        values = []
        for base, table, at_first in zip(bases, tables, start, strict=True):
            counts = np.rint(weights @ table).astype(np.int64).reshape(base.counts.shape)
            drawn = Cells(counts, base.kinds, totals, base.tied, base.tops)
            values.append(drawn.values(folds) - at_first)
        found[number] = values[0] - values[1]
    return found


def _weights(
    paired: Paired, side: Side, folds: Sequence[tuple[Fold, str]], n: int, rng: np.random.Generator
) -> Iterator[Array]:
    """How often each group is drawn; never so that no known, or no open-set sample, is left."""
    n_groups = len(paired.class_totals)
    there = [paired.class_totals.sum(axis=1)]
    for against in dict.fromkeys(against for _, against in folds):
        chosen = chosen_kinds(side.counted.kinds, against)
        there.append(paired.tables[0][:, :, FIRST_OPEN:][:, :, chosen].sum(axis=(1, 2, 3)))
    for _ in range(n):
        weights = np.zeros(n_groups)
        while not all((weights @ one) > 0 for one in there):
            weights = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups)).astype(np.float64)
        yield weights
