"""Files that are well formed and may not mean what they say: corners for sizes, everything twice, scores in percent."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from openset.detection.read.coco import Detections, Floats, GroundTruth, Ints

_BEYOND, _MANY = 0.05, 0.1
"""A box that ends so far beyond its image (of its side), and the fraction of such boxes that no detector has."""
_TWICE = 0.01


def doubts_about(truth: GroundTruth, found: Detections) -> Iterator[str]:
    """What the objects and the detections on some images look like."""
    for source, what, image, box in (
        (truth.source, "objects", truth.image, truth.box),
        (found.source, "detections", found.image, found.box),
    ):
        n = _n_beyond(truth.sizes, image, box)
        if n > _MANY * len(box):
            yield (
                f"{n:,} of {len(box):,} {what} of {source} reach beyond their images: a box is x, y, width and height; "
                "if these are corners, convert them first"
            )
    rows = np.column_stack([truth.image, truth.category, truth.box])
    yield from _twice(rows, truth.source, "objects (same image, class and box)")
    rows = np.column_stack([found.image, found.category, found.box, found.score])
    yield from _twice(rows, found.source, "detections (same image, class, box and score)")


def doubts_about_scales(known: Detections, wild: Detections) -> Iterator[str]:
    """Scores in percent beside scores up to 1: thresholds of the one say nothing about the other."""
    high, low = sorted((known, wild), key=lambda one: -one.score.max(initial=0))
    if len(low) and high.score.max() > 1 >= low.score.max():
        yield (
            f"the scores of {high.source} reach {high.score.max():g} and those of {low.source} only "
            f"{low.score.max():g}: if they are not on the same scale, nothing here holds"
        )


def _n_beyond(sizes: Floats | None, image: Ints, box: Floats) -> int:
    if sizes is None or not len(box):
        return 0
    size = sizes[image]
    return int(((box[:, :2] + box[:, 2:] > (1 + _BEYOND) * size) & (size > 0)).any(axis=1).sum())


def _twice(rows: NDArray[np.float64], source: str, what: str) -> Iterator[str]:
    """Equal rows have equal sums of their scrambled bits; others have so by a chance of one in ten billion."""
    bits = np.ascontiguousarray(rows + 0.0).view(np.uint64)  # + 0.0: negative zero is zero
    factors = np.random.default_rng(0).integers(2**62, 2**63, rows.shape[1], dtype=np.uint64) | np.uint64(1)
    mixed = ((bits ^ (bits >> np.uint64(31))) * factors).sum(axis=1, dtype=np.uint64)
    mixed.sort()
    n = int((mixed[1:] == mixed[:-1]).sum())
    if n > _TWICE * len(rows):
        yield f"{n:,} of {len(rows):,} {what} of {source} are there more than once"
