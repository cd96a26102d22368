"""Results of a study: one small file per finished cell, so that it goes on from a clean checkout too."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openset._io.json_files import read_json, write_json
from openset.errors import OpenSetError
from openset.reproduction.findings import Value
from openset.results.provenance import cpu_model

HEADLINE = ("closed_set_accuracy", "auroc", "open_auc")


@dataclass(frozen=True)
class Key:
    """Which cell of which study."""

    name: str
    scale: str
    protocol: str
    method: str
    split: int
    seed: int
    variant: str = ""
    """A setting that differs from the recipe, such as `weight0.2`."""

    @property
    def file(self) -> Path:
        """Place of its results below the results folder."""
        stem = f"split{self.split}-seed{self.seed}"
        stem = f"{self.variant}-{stem}" if self.variant else stem
        return Path(self.name) / self.scale / self.protocol / self.method / f"{stem}.json"

    @property
    def title(self) -> str:
        """For people."""
        wording = f"{self.protocol} {self.method} split {self.split} seed {self.seed}"
        return f"{wording} {self.variant}" if self.variant else wording


@dataclass(frozen=True)
class Finished:
    """A results file, read."""

    key: Key
    content: Mapping[str, Any]

    def value(self, metric: str, against: str = "", **params: Any) -> Value:
        """A figure with its interval; without `against`, the one against unknowns alone where there are negatives."""
        for entry in self.content["metrics"]:
            fits = all(entry["params"].get(name) == wanted for name, wanted in params.items())
            if entry["name"] == metric and fits and (not against or entry["against"] == against):
                return Value(float(entry["value"]), low=entry["low"], high=entry["high"])
        raise OpenSetError(
            f"The results of {self.key.title} have no figure '{metric}' {against}; delete {self.key.file}."
        )

    @property
    def minutes(self) -> float:
        """Minutes of training."""
        return float(self.content["seconds"]) / 60


def fingerprint(plain: Mapping[str, Any], defaults: Mapping[str, Any], indifferent: Sequence[str] = ()) -> str:
    """Sixteen digits that change when a recipe does; fields at their default do not count, so new ones change nothing.

    >>> fingerprint({"seed": 0, "lr": 0.1}, {"seed": 0}) == fingerprint({"lr": 0.1}, {})
    True
    """
    wording = {
        name: value
        for name, value in _flat(plain).items()
        if name not in indifferent and (name not in (usual := _flat(defaults)) or usual[name] != value)
    }
    return hashlib.sha256(json.dumps(wording, sort_keys=True).encode()).hexdigest()[:16]


def _flat(plain: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in plain.items():
        found |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return found


def read_result(results: Path, key: Key) -> Finished | None:
    """What is stored of a cell, whatever recipe it was made by; None if nothing is."""
    file = results / key.file
    if not file.exists():
        return None
    content = read_json(file)
    try:
        entries = [(one["name"], one["params"], one["against"], one["value"]) for one in content["metrics"]]
        numbers = [content["seconds"], *(one["value"] for one in content["metrics"])]
        numbers += [end for one in content["metrics"] for end in (one["low"], one["high"]) if end is not None]
        plain = all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers)
        complete = bool(entries) and isinstance(content["recipe_fingerprint"], str) and plain
    except (KeyError, TypeError) as error:
        raise OpenSetError(
            f"{file} is not a results file: {error} is missing; delete it to run the cell again."
        ) from error
    if not complete:
        raise OpenSetError(f"{file} is not a results file; delete it to run the cell again.")
    return Finished(key, content)


def write_result(
    results: Path,
    key: Key,
    summary: Mapping[str, Any],
    *,
    recipe: str,
    recipe_fingerprint: str,
    keep: Sequence[str] = HEADLINE,
    trained_for: str = "",
) -> Finished:
    """Write the results of a finished run."""
    against = {entry["against"] for entry in summary["metrics"]}
    # Where a protocol also has negatives, the figures against unknowns alone come first.
    order = ["unknown", "all", *sorted(against - {"unknown", "all"})]
    kept = [entry for entry in summary["metrics"] if entry["name"] in keep and not entry["params"].get("balanced")]
    origin = summary["provenance"]
    content = {
        "schema": 1,
        "name": key.name,
        "scale": key.scale,
        "protocol": key.protocol,
        "method": key.method,
        "split": key.split,
        "seed": key.seed,
        **({"variant": key.variant} if key.variant else {}),
        "metrics": sorted(kept, key=lambda entry: (keep.index(entry["name"]), order.index(entry["against"]))),
        "epochs": summary["epochs"],
        "seconds": summary["seconds"],
        **({"trained_for": trained_for} if trained_for else {}),
        "recipe": recipe,
        "recipe_fingerprint": recipe_fingerprint,
        "data": summary["data"],
        "hardware": {"cpu": cpu_model(), "cores": os.cpu_count(), "device": summary["device"]},
        "versions": dict(origin),
    }
    write_json(results / key.file, content)
    return Finished(key, content)


def seeds_found(results: Path, name: str, scale: str) -> set[int]:
    """Seeds of the results files that are there."""
    found = (results / name / scale).rglob("*-seed*.json")
    numbers = (file.stem.rpartition("-seed")[2] for file in found)
    return {int(number) for number in numbers if number.isdigit()}
