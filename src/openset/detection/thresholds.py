"""Frozen thresholds of a detector: a file that says which classes, which matching and which data it belongs to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from openset._io.json_files import read_json, write_json
from openset.detection.measure.operating import ClassPoint, as_point
from openset.detection.measure.result import OpenSetEvaluation
from openset.detection.measure.sets import OpenSetData
from openset.detection.read.coco import Floats
from openset.detection.read.names import Names
from openset.errors import OpenSetError, did_you_mean
from openset.results.provenance import provenance

KIND = "detection thresholds"


@dataclass(frozen=True)
class Thresholds:
    """A frozen operating point."""

    rule: str
    thresholds: Mapping[str, float | None]
    """By class: accept iff score >= threshold; None accepts nothing."""
    achieved: ClassPoint | None
    """All classes together, on the data the thresholds were chosen on; None if the file does not say."""
    n: Mapping[str, int]
    """Known images, wild images and objects they rest on."""
    matching: str | None = None
    """How detections were matched when they were chosen; None if the file does not say."""
    iou: float | None = None
    max_detections: int | None = None
    """How many detections of an image and class were kept; None for all, as in files that do not say."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What they were chosen on."""
    fingerprint: str | None = None
    """Of the data they were chosen on."""

    def write(self, path: str | Path) -> None:
        """Freeze as JSON."""
        content = {key: value for key, value in vars(self).items() if key != "achieved"}
        achieved = None if self.achieved is None else self.achieved.as_json()
        made = {"kind": KIND, "schema": 2, "classes": list(self.thresholds)}
        write_json(path, {**made, **content, "achieved": achieved, "provenance": provenance()})

    @classmethod
    def read(cls, path: str | Path) -> "Thresholds":
        """Read what `write` wrote; files of the first schema say less about themselves."""
        content = read_json(path)
        try:
            values = {str(name): _threshold(path, name, value) for name, value in content["thresholds"].items()}
            rule, n = str(content["rule"]), {str(name): int(count) for name, count in content["n"].items()}
            if content["schema"] == 1:
                return cls(rule, values, None, n)
            return cls(
                rule,
                values,
                as_point(content["achieved"]),
                n,
                str(content["matching"]),
                float(content["iou"]),
                _limit(path, content.get("max_detections")),
                {str(part): str(name) for part, name in content["files"].items()},
                str(content["fingerprint"]),
            )
        except OpenSetError:  # is a ValueError, and says more
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise OpenSetError(
                f"{path} is not a file of thresholds: make one with 'openset detect threshold'."
            ) from error

    def for_classes(self, names: Sequence[str], source: str) -> Floats:
        """One threshold per class of a ground truth, which must have the same classes."""
        frozen = Names(self.thresholds, "the thresholds")
        values = list(self.thresholds.values())
        found, used = [], set()
        for name in names:
            place = frozen.find(name)
            if place is None:
                raise OpenSetError(
                    f"The thresholds have no class {name!r} of {source}. {did_you_mean(name, self.thresholds)}"
                )
            used.add(place)
            value = values[place]
            found.append(np.inf if value is None else value)
        left = [name for place, name in enumerate(self.thresholds) if place not in used]
        if left:
            raise OpenSetError(
                f"The thresholds are of other classes than {source}, which has no {left[0]!r}"
                + (f" and {len(left) - 1} more of them" if len(left) > 1 else "")
                + ": choose thresholds for these classes, or use the ground truth they belong to."
            )
        return np.array(found)


def _threshold(path: str | Path, name: str, value: Any) -> float | None:
    """A number that scores can be compared with, or None, which accepts nothing."""
    number = None if value is None else float(value)
    if number is not None and not np.isfinite(number):
        raise OpenSetError(
            f"{path}: the threshold of class {name!r} is {number}; it must be finite, or null to accept none."
        )
    return number


def _limit(path: str | Path, value: Any) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise OpenSetError(f"{path}: max_detections must be a whole number from 1, or null for all, got {value!r:.40}.")
    return value


def frozen_for(
    data: OpenSetData,
    thresholds: "Thresholds | str | Path",
    *,
    matching: str,
    iou: float,
    max_detections: int | None = None,
    force: bool = False,
) -> Floats:
    """Frozen thresholds for the classes of some data, one number each; chosen under other conditions, they are refused.

    Recall and precision follow the matching, the IoU and how many detections are kept, so what was promised with one
    says nothing about another; `force` goes on.
    """
    frozen = thresholds if isinstance(thresholds, Thresholds) else Thresholds.read(thresholds)
    for name, chosen, now in (("matching", frozen.matching, matching), ("iou", frozen.iou, iou)):
        if chosen is not None and chosen != now and not force:
            raise OpenSetError(
                f"The thresholds were chosen with {name} {chosen}, and this is {name} {now}: give --{name} {chosen}, "
                "or --force to apply them all the same."
            )
    if frozen.matching is not None and frozen.max_detections != max_detections and not force:
        kept, do = _kept(frozen.max_detections), "leave out --max-detections"
        if frozen.max_detections is not None:
            do = f"give --max-detections {frozen.max_detections}"
        raise OpenSetError(
            f"The thresholds were chosen with {kept} of an image and class, and these are {_kept(max_detections)}: "
            f"{do}, or --force to apply them all the same."
        )
    return frozen.for_classes(data.known.class_names, data.known.source)


def _kept(most: int | None) -> str:
    return "all detections" if most is None else f"at most {most} detection{'s' if most > 1 else ''}"


def with_frozen_notes(result: OpenSetEvaluation, frozen: Thresholds, path: str | Path) -> OpenSetEvaluation:
    """A result at frozen thresholds, with where they come from, and what to know about that."""
    notes = result.notes
    if frozen.fingerprint == result.fingerprint:
        notes += (f"{path} was chosen on these very data, so the results are too good: apply it to other data",)
    elif frozen.matching is None:
        notes += (f"{path} is of an older kind that does not say what its thresholds were chosen on",)
    settings = {**result.settings, "thresholds": str(path), "rule": frozen.rule}
    return replace(result, notes=notes, settings=settings)
