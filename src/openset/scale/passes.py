"""The two passes over the rows: counts of all parts, then exact contributions of ranges of scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.cells import Cells
from openset._core.checks import Bools
from openset._core.folds import Fold
from openset.scale.cells import CellPieces, join_cells
from openset.scale.counting import Counted, Plan, count_rows
from openset.scale.engines import Engine
from openset.scale.ranges import Ranges, RangeTask, fold_range, sort_part
from openset.scale.source import Part, Source, changed, read_rows, sample_rows
from openset.scale.states import Totals
from openset.scale.store import Store

Ints = NDArray[np.int64]
Advance = Callable[[int], object]


@dataclass(frozen=True, eq=False)
class _Count:
    """Count one part."""

    source: Source
    plan: Plan

    def __call__(self, part: Part) -> Counted:
        return count_rows(read_rows(part, self.source), self.plan)


def count_all(source: Source, engine: Engine, store: Store, advance: Advance) -> tuple[Plan, Counted]:
    """One pass: the counts of all rows."""
    plan = Plan.fitted(sample_rows(source))
    total, done = store.load_counts()
    advance(sum(source.parts[place].rows for place in done))
    left = [place for place in range(len(source.parts)) if place not in done]
    for number, counted in engine.run(_Count(source, plan), [source.parts[place] for place in left]):
        total = counted if total is None else total + counted
        done.add(left[number])
        store.save_counts(total, sorted(done))
        advance(source.parts[left[number]].rows)
    assert total is not None
    store.save_counts(total, sorted(done), now=True)
    return plan, total


@dataclass(frozen=True, eq=False)
class _Sort:
    """Sort one part on disk."""

    source: Source
    ranges: Ranges
    store: Store

    def __call__(self, place: int) -> tuple[Ints, Ints]:
        rows = read_rows(self.source.parts[place], self.source)
        if max(rows.label.max(), rows.prediction.max()) >= self.ranges.n_classes:
            raise changed(self.source.parts[place].file)
        cuts, classes = sort_part(rows, self.ranges, self.store.rows_file(place))
        self.store.save_sorted(place, cuts, classes)
        return cuts, classes


@dataclass(frozen=True, eq=False)
class _Fold:
    """Count one range."""

    ranges: Ranges
    totals: Totals
    asked: Sequence[tuple[Fold, str]]
    passed: Ints | None

    def __call__(self, task: RangeTask) -> tuple[list[Any], CellPieces | None]:
        return fold_range(task, self.ranges, self.totals, self.asked, self.passed)


def fold_all(
    source: Source,
    engine: Engine,
    store: Store,
    ranges: Ranges,
    counted: Counted,
    asked: Sequence[tuple[Fold, str]],
    live: Bools,
    passed: Ints | None,
    advance: Advance,
) -> tuple[list[list[Any]], Cells | None]:
    """Two more steps: the contributions to every fold, in the order of the ranges, and cells for resamples.

    `live` (ranges, folds): whether a range can matter to a fold.
    """
    n_parts = len(source.parts)
    store.check_room(source.n_rows * ranges.dtype.itemsize)
    cuts: list[Ints | None] = [None] * n_parts
    classes = np.zeros((ranges.n, ranges.n_kinds, ranges.n_classes), dtype=np.int64)
    for place, part in enumerate(source.parts):
        found = store.load_sorted(place, ranges.dtype.itemsize)
        if found is not None:
            cuts[place] = found[0]
            classes += found[1]
            advance(part.rows)
    left = [place for place in range(n_parts) if cuts[place] is None]
    for number, (own, more) in engine.run(_Sort(source, ranges, store), left):
        cuts[left[number]] = own
        classes += more
        advance(source.parts[left[number]].rows)
    below = np.cumsum(classes, axis=0) - classes
    if not np.array_equal(classes.sum(axis=0), counted.classes.sum(axis=0)):
        raise changed(source.name)
    borders = np.array(cuts)  # (parts, ranges + 1)
    tasks = [
        RangeTask(
            number,
            tuple(
                (str(store.rows_file(place)), int(start), int(stop - start))
                for place, (start, stop) in enumerate(borders[:, number : number + 2])
            ),
            below[number],
            tuple(np.flatnonzero(live[number]).tolist()),
        )
        for number in range(ranges.n)
    ]
    contributions: list[list[Any]] = [[] for _ in tasks]
    pieces: list[CellPieces | None] = [None] * len(tasks)
    work = _Fold(ranges, Totals(classes.sum(axis=(0, 2)), counted.class_totals), asked, passed)
    for number, (parts, cells) in engine.run(work, tasks):
        contributions[number], pieces[number] = parts, cells
        advance(sum(rows for _, _, rows in tasks[number].parts))
    made = None if passed is None else join_cells(pieces, ranges.kinds, counted.class_totals)
    return contributions, made
