"""The four inputs of an open-set evaluation, checked against one another, and how many wild images each level has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from openset._core.fingerprint import fingerprint
from openset.detection.measure.doubts import doubts_about, doubts_about_scales
from openset.detection.measure.matching import highest_per_image
from openset.detection.read.class_lists import FromZero, read_numbering
from openset.detection.read.coco import Bools, Detections, GroundTruth, Ints, read_ground_truth
from openset.detection.read.entries import three
from openset.detection.read.names import is_unknown, plain
from openset.detection.read.results import Leniency, read_detections, read_shared_detections
from openset.errors import OpenSetError


@dataclass(frozen=True, eq=False)
class OpenSetData:
    """Known and wild images with the claims of a detector, all in the classes of the known ground truth.

    A class named "unknown" is not a known class: its objects are annotated unknowns, and detections of it are
    refusals, not claims. They are kept apart.
    """

    known: GroundTruth
    known_found: Detections
    wild: GroundTruth
    wild_found: Detections
    unknown_on_known: GroundTruth
    """Annotated unknown objects on known images; usually none."""
    refused_known: Detections
    refused_wild: Detections
    fully_annotated: bool = False
    """Whether wild images without annotations show no object, as opposed to objects that nobody annotated."""

    @property
    def wild_annotated(self) -> Bools:
        """Wild images whose objects are annotated."""
        if self.fully_annotated:
            return np.ones(self.wild.n_images, dtype=bool)
        return np.bincount(self.wild.image, minlength=self.wild.n_images) > 0

    @property
    def has_unknown_class(self) -> bool:
        """Whether the detector can say "unknown"."""
        return self.unknown_on_known.n_classes > 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the results should know about the files; one file for both kinds of image says it once."""
        return tuple(
            dict.fromkeys(
                (
                    *self.known_found.notes,
                    *self.wild_found.notes,
                    *doubts_about(self.known, self.known_found),
                    *doubts_about(self.wild, self.wild_found),
                    *doubts_about_scales(self.known_found, self.wild_found),
                )
            )
        )


def load(
    known_gt: Any,
    known_dt: Any,
    wild_gt: Any = None,
    wild_dt: Any = None,
    *,
    allow_extra_images: bool = False,
    drop_other_classes: bool = False,
    fully_annotated: bool = False,
    classes: "Path | Sequence[str] | Mapping[Any, str] | None" = None,
) -> OpenSetData:
    """Read and check the inputs; without `wild_dt`, `known_dt` is one results file for both kinds of image.

    Without `wild_gt` there are no wild images. `fully_annotated`: wild images without annotations show no object.
    `classes` names the detector's classes by its own numbers, where those are not the ids of `known_gt`: a file, or
    names in their order.
    """
    known = read_ground_truth(known_gt)
    numbering = numbering_of(classes)
    lenient = Leniency(allow_extra_images, drop_other_classes)
    if wild_gt is None:
        found = read_detections(known_dt, known, lenient=lenient, called="known_dt", numbering=numbering)
        none = np.zeros(0, dtype=np.int64)
        no_images = replace(known, image_ids=(), file_names=(), class_ids=(), class_names=(), sizes=None).select(none)
        return arrange(known, found, no_images, found.select(none))
    wild = read_ground_truth(wild_gt)
    if wild_dt is None:
        known_found, wild_found = read_shared_detections(known_dt, known, wild, lenient=lenient, numbering=numbering)
    else:
        known_found = read_detections(known_dt, known, lenient=lenient, called="known_dt", numbering=numbering)
        wild_found = read_detections(wild_dt, wild, known, lenient=lenient, called="wild_dt", numbering=numbering)
    return replace(arrange(known, known_found, wild, wild_found), fully_annotated=fully_annotated)


def numbering_of(classes: "Path | Sequence[str] | Mapping[Any, str] | None") -> Mapping[Any, str] | None:
    """Names of a detector's classes by their numbers."""
    if classes is None or isinstance(classes, Mapping):
        return classes
    return read_numbering(Path(classes)) if isinstance(classes, str | Path) else FromZero.of(classes)


def load_wild(
    known_gt: Any, wild_gt: Any, wild_dt: Any, *, classes: "Path | Sequence[str] | Mapping[Any, str] | None" = None
) -> tuple[GroundTruth, GroundTruth, Detections]:
    """Detections of known classes on wild images alone, from a results file that may hold other rows too."""
    known, wild = read_ground_truth(known_gt), read_ground_truth(wild_gt)
    real = [i for i, name in enumerate(known.class_names) if not is_unknown(name)]
    _check_wild(known, [known.class_names[i] for i in real], wild)
    lenient = Leniency(extra_images=True, other_classes=True)
    found = read_detections(wild_dt, wild, known, lenient=lenient, numbering=numbering_of(classes))
    return _only_classes(known, real), wild, _of_classes(found, real, known.n_classes)


def arrange(known: GroundTruth, known_found: Detections, wild: GroundTruth, wild_found: Detections) -> OpenSetData:
    """Put the word "unknown" aside and make sure that wild images are wild."""
    real = [i for i, name in enumerate(known.class_names) if not is_unknown(name)]
    refusal = [i for i, name in enumerate(known.class_names) if is_unknown(name)]
    _check_wild(known, [known.class_names[i] for i in real], wild)
    for truth in (known, wild):
        _check_once(truth)
    n = known.n_classes
    claims, refusals = _of_classes(known_found, real, n), _of_classes(known_found, refusal, n)
    wild_claims, wild_refusals = _of_classes(wild_found, real, n), _of_classes(wild_found, refusal, n)
    truth = _only_classes(known, real)
    if not truth.counted.any():
        raise OpenSetError(
            f"{known.source} has no object to find: {len(known.image)} objects, {int(known.ignore.sum())} of them "
            f"difficult and {int(known.crowd.sum())} crowds."
        )
    return OpenSetData(
        known=truth,
        known_found=claims,
        wild=wild,
        wild_found=wild_claims,
        unknown_on_known=_only_classes(known, refusal),
        refused_known=refusals,
        refused_wild=wild_refusals,
    )


def _check_wild(known: GroundTruth, names: Sequence[str], wild: GroundTruth) -> None:
    """Objects of a known class, under any of its names, do not belong on wild images."""
    by_plain = {plain(name): name for name in names}
    for i, name in enumerate(wild.class_names):
        shown = wild.category == i
        if plain(name) in by_plain and shown.any():
            images = [wild.image_ids[j] for j in np.unique(wild.image[shown])]
            raise OpenSetError(
                f"{wild.source} has {int(shown.sum())} objects of class '{name}', which is the known class "
                f"'{by_plain[plain(name)]}' of {known.source}, on {len(images)} images, for example {three(images)}: "
                "wild images show no known object. Remove those images, or use 'openset detect split'."
            )


def _check_once(truth: GroundTruth) -> None:
    """An image that stands in a file twice, under two ids, would be counted as two images."""
    names = [name for name in truth.file_names if name]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        ids = [one for one, name in zip(truth.image_ids, truth.file_names, strict=True) if name == twice]
        raise OpenSetError(
            f"{truth.source} has the image file {twice!r} {len(ids)} times, with the ids {three(ids)}: rates per image "
            "would count it as several images. Give every image once."
        )


def _of_classes(found: Detections, classes: list[int], n_classes: int) -> Detections:
    """Detections of some classes, numbered anew in that order."""
    new = np.full(n_classes, -1)
    new[classes] = np.arange(len(classes))
    part = replace(found, category=new[found.category])
    return part if (part.category >= 0).all() else part.select(np.flatnonzero(part.category >= 0))


def _only_classes(truth: GroundTruth, classes: list[int]) -> GroundTruth:
    """Objects of some classes, numbered anew in that order; all images stay."""
    new = np.full(truth.n_classes, -1)
    new[classes] = np.arange(len(classes))
    part = replace(
        truth,
        class_ids=tuple(truth.class_ids[i] for i in classes),
        class_names=tuple(truth.class_names[i] for i in classes),
        category=new[truth.category],
    )
    return part.select(np.flatnonzero(part.category >= 0))


# ---- images without detections -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Silence:
    """Images without any detection, at any score."""

    known: int
    wild: int
    suspicious: bool
    """Whether so many wild images are silent, as the others speak, that their results are probably missing."""


def silence(data: OpenSetData) -> Silence:
    """Count silent images, and see whether wild images fall silent in a way that no score does.

    Where most images have several detections, images with none are about as rare as images with one. Many of the first
    and hardly any of the second mean that a detector was not run on them, or that their results were lost.
    """
    n_known, n_wild = (
        np.bincount(np.concatenate([found.image, refused.image]), minlength=truth.n_images)
        for truth, found, refused in (
            (data.known, data.known_found, data.refused_known),
            (data.wild, data.wild_found, data.refused_wild),
        )
    )
    none, one = int((n_wild == 0).sum()), int((n_wild == 1).sum())
    speaking = n_wild[n_wild > 0]
    several = len(speaking) > 0 and speaking.mean() >= 3
    return Silence(int((n_known == 0).sum()), none, bool(several and none > 3 + 5 * one))


# ---- wilderness levels ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Levels:
    """Wilderness ratios and the number of wild images of each: the first n in file order."""

    ratios: tuple[float, ...]
    n_wild: Ints
    reference_ratio: float
    """Ratio of the error diagnosis and of "mAP with wilderness": 1, or all wild images if there are fewer."""
    reference_n: int
    note: str = ""


def wilderness_levels(n_known: int, n_wild: int, ratios: Sequence[float] | None = None) -> Levels:
    """Steps of 0.1 up to n_wild / n_known, or the ratios a user names; n = round(ratio x known images), at least 1.

    >>> wilderness_levels(4952, 23008).ratios[-1]
    4.6
    """
    if ratios is None:
        steps = 10 * n_wild // n_known
        tenths = [step / 10 for step in range(1, steps + 1)]
        chosen = [ratio for ratio in tenths if round(ratio * n_known)] or [n_wild / n_known]
    else:
        chosen = sorted({float(ratio) for ratio in ratios})
        for ratio in chosen:
            if not 0 < ratio < np.inf or round(ratio * n_known) > n_wild:
                raise OpenSetError(
                    f"Wilderness ratio {ratio:g} is not possible with {n_known} known and {n_wild} wild images: "
                    f"the largest is {n_wild / n_known:.4g}."
                )
            if not round(ratio * n_known):
                raise OpenSetError(
                    f"Wilderness ratio {ratio:g} comes to no wild image with {n_known} known images: give a larger one."
                )
        if not chosen:
            raise OpenSetError("Give at least one wilderness ratio.")
    counts = np.array([round(ratio * n_known) for ratio in chosen], dtype=np.int64)
    reference = min(n_wild, n_known)
    note = ""
    if n_wild < n_known:
        note = (
            f"there are only {n_wild} wild images for {n_known} known ones, so errors, confusion and mAP with "
            f"wilderness are taken at ratio {n_wild / n_known:.3g}, not 1"
        )
    return Levels(tuple(chosen), counts, reference / n_known, reference, note)


# ---- what the data are ---------------------------------------------------------------------------------------------

_PARTS = ("known", "known_found", "wild", "wild_found")
_FIELDS = ("image", "category", "box", "score", "ignore", "crowd")


def input_files(data: OpenSetData) -> dict[str, str]:
    """Where each part was read from."""
    return {part: getattr(data, part).source for part in _PARTS}


def data_fingerprint(data: OpenSetData) -> str:
    """Of all that is measured."""
    return fingerprint([getattr(getattr(data, part), name, None) for part in _PARTS for name in _FIELDS])


def part_fingerprints(data: OpenSetData) -> dict[str, str]:
    """Of what is measured of each file."""
    return {part: fingerprint([getattr(getattr(data, part), name, None) for name in _FIELDS]) for part in _PARTS}


def limited(data: OpenSetData, max_detections: int | None) -> OpenSetData:
    """The data with at most so many detections of an image and class."""
    if max_detections is None:
        return data
    if max_detections < 1:
        raise OpenSetError(f"'max_detections' must be 1 or more, got {max_detections}.")
    return replace(
        data,
        known_found=highest_per_image(data.known_found, max_detections),
        wild_found=highest_per_image(data.wild_found, max_detections),
        refused_known=highest_per_image(data.refused_known, max_detections),
        refused_wild=highest_per_image(data.refused_wild, max_detections),
    )
