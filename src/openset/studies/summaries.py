"""Metric values out of what a run has left: its summary, or its results file."""

from collections.abc import Mapping
from typing import Any

from openset.errors import OpenSetError
from openset.evaluation import Result
from openset.metrics import METRICS


def find_result(summary: Mapping[str, Any], metric: str, against: str = "", **params: Any) -> Result | None:
    """A metric value against `against`, by default the unknowns alone where there are negatives too.

    Of several with these `params`, the one without others.

    >>> entry = {"name": "auroc", "params": {}, "against": "all", "value": 0.9, "low": 0.8, "high": 0.95}
    >>> find_result({"metrics": [entry]}, "auroc").value
    0.9
    """
    wanted = [against] if against else ["unknown", "all"]
    for part in wanted if METRICS[metric].sees_open_set else ["all"]:
        found = [
            entry
            for entry in summary["metrics"]
            if entry["name"] == metric
            and entry["against"] == part
            and all(entry["params"].get(name) == value for name, value in params.items())
        ]
        if found:
            best = min(found, key=lambda entry: len(entry["params"]))
            value, low, high = best["value"], best.get("low"), best.get("high")
            return Result(metric, best["params"], part, float(value), low, high)
    return None


def result_of(summary: Mapping[str, Any], metric: str, against: str = "") -> Result:
    """The same; a summary without it is an error."""
    found = find_result(summary, metric, against)
    if found is None:
        raise OpenSetError(f"The runs have no '{metric}' against {against or 'unknown or all'}.")
    return found


def value_of(summary: Mapping[str, Any], metric: str, against: str = "") -> float:
    """The number alone."""
    return result_of(summary, metric, against).value
