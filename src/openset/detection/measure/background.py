"""Object versus background: whether a detector's own background class could reject what is not an object."""

from dataclasses import dataclass

import numpy as np

from openset.detection.measure.matching import Matches
from openset.detection.read.coco import Detections
from openset.errors import OpenSetError


@dataclass(frozen=True)
class ObjectVersusBackground:
    """p_i - p_b over the correct detections of one class (Table 3 and Fig. 8 of the paper)."""

    n: int
    mean: float
    sd: float
    """Population standard deviation."""
    share_background_higher: float
    """Fraction of correct detections that "reject when background wins" would throw away."""
    histogram: tuple[int, ...]
    """Counts in 20 equal bins from -1 to 1; the last one includes 1."""


def object_versus_background(
    class_names: tuple[str, ...], found: Detections, matches: Matches
) -> dict[str, ObjectVersusBackground]:
    """Statistics per class that has a correct detection; needs `background_score` in the results."""
    if found.background_score is None:
        raise OpenSetError(f"{found.source} has no background_score, which object-versus-background statistics need.")
    out = {}
    difference = found.score - found.background_score
    for c, name in enumerate(class_names):
        values = difference[matches.correct & (found.category == c)]
        if len(values):
            counts, _ = np.histogram(values.clip(-1, 1), bins=20, range=(-1, 1))
            out[name] = ObjectVersusBackground(
                n=len(values),
                mean=float(values.mean()),
                sd=float(values.std()),
                share_background_higher=float((values < 0).mean()),
                histogram=tuple(counts.tolist()),
            )
    return out
