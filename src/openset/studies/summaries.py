"""Metric values out of what a run has left: its summary, or its results file."""

from collections.abc import Mapping
from typing import Any

from openset import evaluation
from openset._core.calls import parse_call
from openset.errors import OpenSetError
from openset.evaluation import Result


def find_result(summary: Mapping[str, Any], metric: str, against: str = "", **params: Any) -> Result | None:
    """A metric value against `against`, by default the unknowns alone where there are negatives too.

    >>> entry = {"name": "auroc", "params": {}, "against": "all", "value": 0.9, "low": 0.8, "high": 0.95}
    >>> find_result({"metrics": [entry]}, "auroc").value
    0.9
    """
    own = (Result.from_json(entry) for entry in summary["metrics"] if entry["name"] == metric)
    return evaluation.find_result(own, metric, against, **params)


def result_of(summary: Mapping[str, Any], metric: str, against: str = "") -> Result:
    """The same, of a metric that may be written with its options; a summary without it is an error."""
    name, params = parse_call(metric)
    found = find_result(summary, name, against, **params)
    if found is None:
        raise OpenSetError(f"The runs have no '{metric}' against {against or 'unknown or all'}.")
    return found


def value_of(summary: Mapping[str, Any], metric: str, against: str = "") -> float:
    """The number alone."""
    return result_of(summary, metric, against).value
