"""The tables of evaluations and comparisons."""

import json
from collections.abc import Mapping, Sequence

from openset.evaluation import Evaluation, Result
from openset.results.numbers import interval
from openset.results.table import Cell, Table


def headline_table(
    names: Sequence[str],
    evaluations: Sequence[Evaluation],
    spreads: Mapping[str, Sequence[str]] | None = None,
    *,
    between: str = " ",
) -> Table:
    """One row per model with its headline metrics, then mean and standard deviation rows."""
    found = [evaluation.headline(evaluation.results[0].against) for evaluation in evaluations]
    return Table(
        ["Model", *(result.title for result in found[0])],
        [
            [name, *(value_cell(result, between=between) for result in results)]
            for name, results in zip(names, found, strict=True)
        ],
        [[name, *cells] for name, cells in (spreads or {}).items()],
    )


def value_cell(result: Result, *, between: str = " ") -> Cell:
    """A metric value with its interval."""
    return Cell(interval(result.value, result.low, result.high, between=between), result.value)


def metrics_table(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Table:
    """Every metric of every model in one line each."""
    return Table(
        ["model", "name", "params", "against", "value", "low", "high"],
        [
            [name, found.name, params_text(found.params), found.against, found.value, found.low, found.high]
            for name, evaluation in zip(names, evaluations, strict=True)
            for found in evaluation.results
        ],
    )


def params_text(params: Mapping[str, object]) -> str:
    """Options of a metric as JSON, nothing where there are none."""
    return json.dumps(dict(params), sort_keys=True) if params else ""
