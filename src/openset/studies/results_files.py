"""Results of a study: one small file per finished cell, so that it resumes from a clean checkout too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openset._io.json_files import read_json, write_json
from openset.errors import OpenSetError
from openset.evaluation import HEADLINE, Result
from openset.results.provenance import processor
from openset.studies.key import Key
from openset.studies.summaries import find_result


@dataclass(frozen=True)
class ResultsFile:
    """Where the results of a cell are kept, beside those of the study's other cells, and what of them."""

    root: Path
    study: str
    """Such as `openauc/table2`."""
    scale: str
    recipe: str
    """Name of the recipe that the cell is trained by."""
    keep: Sequence[str] = HEADLINE
    """Metrics that are kept."""

    def path(self, key: Key) -> Path:
        """The file of a cell."""
        stem = f"split{key.split}-seed{key.seed}"
        stem = f"{key.variant}-{stem}" if key.variant else stem
        return self.root / self.study / self.scale / key.protocol / key.method / f"{stem}.json"

    def read(self, key: Key) -> "Finished | None":
        """What is stored of a cell, whatever recipe it was made by; None if nothing is."""
        file = self.path(key)
        if not file.exists():
            return None
        content = read_json(file)
        try:
            entries = [(one["name"], one["params"], one["against"], one["value"]) for one in content["metrics"]]
            made_by = isinstance(content["recipe_fingerprint"], str)
            numbers = [content["seconds"], *(one["value"] for one in content["metrics"])]
            numbers += [end for one in content["metrics"] for end in (one["low"], one["high"]) if end is not None]
            plain = all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers)
            complete = bool(entries) and made_by and plain
        except (KeyError, TypeError) as error:
            raise OpenSetError(
                f"{file} is not a results file: {error} is missing; delete it to run the cell again."
            ) from error
        if not complete:
            raise OpenSetError(f"{file} is not a results file; delete it to run the cell again.")
        return Finished(key, content, file)

    def write(
        self, key: Key, summary: Mapping[str, Any], *, recipe_fingerprint: str, trained_for: str = ""
    ) -> "Finished":
        """Write the results of a finished run."""
        against = {entry["against"] for entry in summary["metrics"]}
        # Where a protocol also has negatives, the values against unknowns alone come first.
        order = ["unknown", "all", *sorted(against - {"unknown", "all"})]
        kept = [
            entry for entry in summary["metrics"] if entry["name"] in self.keep and not entry["params"].get("balanced")
        ]
        content = {
            "schema": 1,
            "name": self.study,
            "scale": self.scale,
            "protocol": key.protocol,
            "method": key.method,
            "split": key.split,
            "seed": key.seed,
            **({"variant": key.variant} if key.variant else {}),
            "metrics": sorted(kept, key=lambda entry: (self.keep.index(entry["name"]), order.index(entry["against"]))),
            "epochs": summary["epochs"],
            "seconds": summary["seconds"],
            **({"trained_for": trained_for} if trained_for else {}),
            "recipe": self.recipe,
            "recipe_fingerprint": recipe_fingerprint,
            "data": summary["data"],
            "hardware": {**processor(), "device": summary["device"]},
            "versions": dict(summary["provenance"]),
        }
        write_json(self.path(key), content)
        return Finished(key, content, self.path(key))


@dataclass(frozen=True)
class Finished:
    """A results file, read."""

    key: Key
    content: Mapping[str, Any]
    file: Path

    def value(self, metric: str, against: str = "", **params: Any) -> Result:
        """A metric value with its interval; without `against`, the one against unknowns alone where there are any."""
        found = find_result(self.content, metric, against, **params)
        if found is None:
            raise OpenSetError(f"{self.file} has no '{metric}' {against}; delete it to run the cell again.")
        return found

    @property
    def minutes(self) -> float:
        """Minutes of training."""
        return float(self.content["seconds"]) / 60


def seeds_found(results: Path, study: str, scale: str) -> set[int]:
    """Seeds of the results files that are there."""
    found = (results / study / scale).rglob("*-seed*.json")
    numbers = (file.stem.rpartition("-seed")[2] for file in found)
    return {int(number) for number in numbers if number.isdigit()}
