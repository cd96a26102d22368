"""Two models on the same rows, which do not fit into memory: the differences of `openset.compare`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from openset._core.kinds import FIRST_OPEN, chosen_kinds
from openset._core.resampling import Request
from openset.errors import OpenSetError
from openset.evaluation import Evaluation, Result, check_options, resamples_for
from openset.intervals import Comparison, Interval, Method, delong_difference, resampled_difference
from openset.metrics import METRICS
from openset.scale.engines import ENGINES, Engine
from openset.scale.evaluation import evaluate_counted
from openset.scale.pairing import Pair, Paired, Side, groups_for, parts_of_both, resampled_pairs
from openset.scale.passes import count_all
from openset.scale.ranges import RANGE_ROWS
from openset.scale.source import Source
from openset.scale.store import Store

COMPARING = 7
"""How often a row is worked on, for a bar of progress: three times for each model, once for both together."""


def compare_sources(
    first: Source,
    second: Source,
    metrics: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    against: str = "all",
    n_resamples: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    engine: str = "local",
    workers: int | None = None,
    temp: Path | None = None,
    progress: Callable[[int], object] | None = None,
    range_rows: int = RANGE_ROWS,
) -> tuple[list[Comparison], list[Evaluation]]:
    """What `openset.compare` gives for the same rows, paired in their order; and both models' evaluations.

    Values and their differences are exact. The standard error of DeLong's test is taken where scores of one bin count
    as tied, plus the most that it can be off by then, so that no interval is narrower than the exact one. The other
    differences have resamples of groups of rows.
    """
    check_options(against, n_resamples, level)
    _check_names(first, second)
    parts = parts_of_both(first, second)
    advance = progress or (lambda _: None)
    with ExitStack() as stack:
        runner = stack.enter_context(ENGINES[engine](workers))
        stores = [stack.enter_context(Store(source, temp)) for source in (first, second)]
        sides = _sides((first, second), runner, stores, advance)
        wanted = n_resamples or resamples_for(first.n_rows)
        work = Pair((sides[0], sides[1]), against, groups_for(sides), seed)
        paired: Paired | None = None
        for number, one in runner.run(work, list(enumerate(parts))):
            paired = one if paired is None else paired + one
            advance(parts[number][0].rows)
        assert paired is not None
        evaluations = [
            evaluate_counted(
                side.source,
                side.plan,
                side.counted,
                runner,
                store,
                against=None if against == "all" else [against],
                also=[(name, params, against) for name, params in metrics],
                mode="exact",
                intervals=True,
                n_resamples=wanted,
                level=level,
                seed=seed,
                progress=advance,
                range_rows=range_rows,
            )
            for side, store in zip(sides, stores, strict=True)
        ]
    made = _Differences(sides, paired, evaluations, against, wanted, level, seed)
    return made.of([Request(METRICS[name], params, against) for name, params in metrics]), evaluations


def _check_names(first: Source, second: Source) -> None:
    if first.class_names is not None and second.class_names is not None and first.class_names != second.class_names:
        raise OpenSetError(
            f"{first.name} and {second.name} name or number their classes differently: write the files anew, with the "
            "same class names in the same order."
        )


def _sides(
    sources: Sequence[Source], runner: Engine, stores: Sequence[Store], advance: Callable[[int], object]
) -> list[Side]:
    """The counts of each model, with the classes that either of them names."""
    found = [
        Side(source, *count_all(source, runner, store, advance)) for source, store in zip(sources, stores, strict=True)
    ]
    named = [len(source.class_names) for source in sources if source.class_names is not None]
    n_classes = max(*named, 0, *(side.counted.n_classes for side in found))
    return [replace(side, counted=side.counted.settled(n_classes)) for side in found]


@dataclass(frozen=True, eq=False)
class _Differences:
    sides: Sequence[Side]
    paired: Paired
    evaluations: Sequence[Evaluation]
    against: str
    n_resamples: int
    level: float
    seed: int

    def of(self, requests: Sequence[Request]) -> list[Comparison]:
        """The difference in each metric."""
        resampled = [request for request in requests if not request.metric.has_delong(request.params)]
        for request in resampled:
            assert request.metric.fold is not None  # evaluated by now
        folds = [(r.metric.fold(**r.params), self.against) for r in resampled if r.metric.fold is not None]
        changes = resampled_pairs(self.paired, self.sides, folds, n_resamples=self.n_resamples, seed=self.seed)
        found = []
        for request in requests:
            one, other = (_result(evaluation, request) for evaluation in self.evaluations)
            gap = one.value - other.value
            if request.metric.has_delong(request.params):
                difference, p_value = self._delong(gap, right=request.metric.uses_predictions)
            else:
                n_groups = len(self.paired.class_totals)
                difference, p_value = resampled_difference(
                    request.metric,
                    gap,
                    gap + changes[:, resampled.index(request)],
                    lost=(n_groups / (n_groups - 1)) ** 0.5,
                    level=self.level,
                )
            found.append(
                Comparison(
                    request.metric.name,
                    self._interval(one, request),
                    self._interval(other, request),
                    difference,
                    p_value,
                    sum(self._sizes),
                    request.params,
                    self.against,
                )
            )
        return found

    @property
    def _sizes(self) -> tuple[int, int]:
        """Knowns, and the open-set samples that are looked at."""
        counted = self.sides[0].counted
        chosen = chosen_kinds(counted.kinds, self.against)
        return int(counted.class_totals.sum()), int(counted.fine[:, FIRST_OPEN:][:, chosen].sum())

    def _delong(self, gap: float, *, right: bool) -> tuple[Interval, float]:
        n_known, n_open = self._sizes
        known, opened = self.paired.delong[0 if right else 1]
        errors = np.array([known.errors(n_known, n_open), opened.errors(n_open, n_known)])
        error, doubt = np.sqrt((errors**2).sum(axis=0)).tolist()
        return delong_difference(gap, error + doubt, min(n_known, n_open), level=self.level)

    def _interval(self, result: Result, request: Request) -> Interval:
        assert result.low is not None
        assert result.high is not None
        method: Method = "delong" if request.metric.has_delong(request.params) else "bootstrap"
        return Interval(result.value, result.low, result.high, self.level, method)


def _result(evaluation: Evaluation, request: Request) -> Result:
    return evaluation.find(request.metric.name, against=request.against, **request.params)
