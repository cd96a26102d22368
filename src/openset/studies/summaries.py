"""Metric values out of what a run has left: its summary, or its results file."""

from collections.abc import Mapping
from typing import Any

from openset import evaluation
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


def value_of(summary: Mapping[str, Any], metric: str, against: str = "") -> float:
    """The number alone; a summary without it is an error."""
    found = find_result(summary, metric, against)
    if found is None:
        raise OpenSetError(f"The runs have no '{metric}' against {against or 'unknown or all'}.")
    return found.value
