"""Thresholds chosen on rows that do not fit into memory, and applied to such rows."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from openset._core.checks import require_both
from openset._core.decisions import is_rejected
from openset._core.kinds import FIRST_OPEN, chosen_kinds
from openset.errors import OpenSetError
from openset.operating import Origin, Rates, Threshold
from openset.operating.picks import FIRST
from openset.operating.rates import Decided
from openset.operating.rules import finite, needs_knowns, needs_open_set, settled_rule
from openset.operating.threshold import made_now
from openset.scale.engines import ENGINES
from openset.scale.orders import live_ranges
from openset.scale.passes import count_all, fold_all
from openset.scale.ranges import RANGE_ROWS, Ranges
from openset.scale.source import Part, Source, read_rows
from openset.scale.store import Store

CHOOSING = 3
"""How often every row is worked on where a threshold is chosen, for a bar of progress."""


def origin_of(source: Source) -> Origin:
    """What the files tell of their scores."""
    return Origin.known_by(source.meta, source.class_names)


def choose_from(
    source: Source,
    rule: str,
    *,
    against: str = "all",
    unknown_share: float | None = None,
    engine: str = "local",
    workers: int | None = None,
    temp: Path | None = None,
    progress: Callable[[int], object] | None = None,
    range_rows: int = RANGE_ROWS,
) -> Threshold:
    """What `openset.operating.choose` gives for the same rows, to the last bit, from files of any size."""
    card, given = settled_rule(rule, against, unknown_share)
    if card.pick is None:
        raise OpenSetError(f"The rule '{card.name}' needs all rows in memory: choose it on fewer rows, in one file.")
    options = {name: value for name, value in given.items() if name != "against"}
    looked_at = str(given.get("against", "all"))
    text_options = {name: value for name, value in given.items() if name != card.value.name}
    rule_text = card.text(given.get(card.value.name, card.value.default), **text_options)
    pick = card.pick(**options)
    advance = progress or (lambda _: None)
    with ExitStack() as stack:
        store = stack.enter_context(Store(source, temp))
        runner = stack.enter_context(ENGINES[engine](workers))
        plan, counted = count_all(source, runner, store, advance)
        counted = counted.settled(0 if source.class_names is None else len(source.class_names))
        n_known, n = int(counted.class_totals.sum()), counted.n_rows
        if card.needs_open_set and n == n_known:
            raise needs_open_set(rule, n)
        if not n_known and not card.needs_open_set:
            raise needs_knowns(card.name, n)
        chosen = chosen_kinds(counted.kinds, looked_at)
        n_open = int(counted.fine[:, FIRST_OPEN:][:, chosen].sum())
        if card.needs_open_set:
            require_both(n_known, n_open, looked_at)
        asked: list[tuple[Any, str]] = [(pick, looked_at), (FIRST, looked_at)]
        ranges = Ranges.planned(counted, plan, counted.n_classes, range_rows)
        live = live_ranges(counted, plan, asked, ranges.starts)
        parts, _ = fold_all(source, runner, store, ranges, counted, asked, live, None, advance)
    found, first = (fold.picked(one[place] for one in parts) for place, fold in enumerate((pick, FIRST)))
    assert first is not None
    if found is None:  # too few knowns for the rule: nothing is rejected
        value = float(np.finfo(np.float64 if source.wide else np.float32).max)
        achieved = {"acceptance": 1.0, "ccr": int(counted.fine[:, 0].sum()) / n_known}
        achieved |= {"fpr": 1.0} if n_open else {}
    else:
        value = finite(found, first, rule_text)
        achieved = {"acceptance": found.known / n_known, "ccr": found.right / n_known}
        achieved |= {"fpr": found.open / n_open} if n_open else {}
    made = {**made_now(samples=(n_known, n - n_known)), "data": source.fingerprint}
    size = n_known + n_open if card.needs_open_set else n_known
    return Threshold(value, rule_text, achieved, size, origin_of(source), made)


@dataclass(frozen=True, eq=False)
class _Decide:
    """Decide about the rows of a part, and count."""

    source: Source
    threshold: Threshold

    def __call__(self, part: Part) -> Decided:
        rows = read_rows(part, self.source)
        limits = self.threshold.limits(rows.prediction, self.source.class_names)
        groups = None if rows.group is None else np.array(rows.names)[rows.group]
        return Decided.of(rows.label, rows.prediction, ~is_rejected(rows.score, limits), groups)


def apply_to(
    source: Source,
    threshold: Threshold,
    *,
    against: str = "all",
    force: bool = False,
    engine: str = "local",
    workers: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Rates:
    """What `Threshold.apply` gives for the same rows, from files of any size, which are read once."""
    if not force:
        threshold.check(origin_of(source))
    total = Decided()
    with ENGINES[engine](workers) as runner:
        for place, decided in runner.run(_Decide(source, threshold), source.parts):
            total += decided
            if progress is not None:
                progress(source.parts[place].rows)
    return replace(total.rates(against=against), chosen_here=threshold.made.get("data") == source.fingerprint)
