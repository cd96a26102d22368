"""Known and wild images from one annotated data set: hide some classes, and images that show only those are wild."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from openset._io.json_files import write_json
from openset._io.text_files import text_lines
from openset.detection.read.coco import Detections, GroundTruth
from openset.detection.read.names import Names, is_unknown
from openset.detection.read.results import read_detections
from openset.errors import OpenSetError, did_you_mean


@dataclass(frozen=True, eq=False)
class Split:
    """Ground truth of known images (known classes only) and of wild images (no known object), and what is left out."""

    known: GroundTruth
    wild: GroundTruth
    known_rows: Any
    """Positions of the known images in the original."""
    wild_rows: Any
    hidden_on_known: int
    """Annotations of hidden classes on known images: left out."""
    n_mixed: int
    """Images with known and hidden objects."""
    mixed_dropped: bool
    unknown_kept: bool
    """Whether hidden objects on known images are kept as objects of the class "unknown"."""
    n_empty: int
    """Wild images without any annotation."""


def find_classes(truth: GroundTruth, names: Sequence[str]) -> list[int]:
    """Positions of classes by name; another data set's word for a class will do."""
    classes = Names(truth.class_names, truth.source)
    found = set()
    for name in names:
        place = classes.find(name)
        if place is None:
            raise OpenSetError(f"{truth.source} has no class {name!r}. {did_you_mean(name, truth.class_names)}")
        found.add(place)
    return sorted(found)


def split_classes(
    truth: GroundTruth, known: Sequence[str], *, drop_mixed: bool = False, keep_unknown: bool = False
) -> Split:
    """Divide images by whether they show an object of a known class, difficult and crowds included.

    Images with known and hidden objects are known images; their hidden objects are left out, or, with `drop_mixed`,
    the images are. With `keep_unknown` hidden objects stay on known images, as objects of the class "unknown".
    """
    if drop_mixed and keep_unknown:
        raise OpenSetError(
            "Images with known and hidden objects can be left out, or their hidden objects kept, not both."
        )
    chosen = find_classes(truth, known)
    if len(chosen) == truth.n_classes:
        raise OpenSetError(f"All {truth.n_classes} classes of {truth.source} would be known: hide at least one.")
    if not chosen:
        raise OpenSetError("Name at least one known class.")
    is_known = np.isin(truth.category, chosen)
    shows_known = np.zeros(truth.n_images, dtype=bool)
    shows_known[truth.image[is_known]] = True
    shows_hidden = np.zeros(truth.n_images, dtype=bool)
    shows_hidden[truth.image[~is_known]] = True
    mixed = shows_known & shows_hidden
    known_images = np.flatnonzero(shows_known & ~mixed if drop_mixed else shows_known)
    wild_images = np.flatnonzero(~shows_known)
    for images, kind in ((known_images, "known"), (wild_images, "wild")):
        if not len(images):
            raise OpenSetError(
                f"{truth.source}: no image would be {kind} ({int(shows_known.sum())} of {truth.n_images} images show a "
                "known class): choose other classes."
            )
    hidden = [i for i in range(truth.n_classes) if i not in set(chosen)]
    return Split(
        known=_part(_with_unknown(truth, hidden), known_images, [*chosen, truth.n_classes])
        if keep_unknown
        else _part(truth, known_images, chosen),
        wild=_part(truth, wild_images, hidden),
        known_rows=known_images,
        wild_rows=wild_images,
        hidden_on_known=int((~is_known & shows_known[truth.image]).sum()),
        n_mixed=int(mixed.sum()),
        mixed_dropped=drop_mixed,
        unknown_kept=keep_unknown,
        n_empty=int((~shows_known & ~shows_hidden).sum()),
    )


def _with_unknown(truth: GroundTruth, hidden: list[int]) -> GroundTruth:
    """The same objects, those of hidden classes under one more class, "unknown"."""
    if any(is_unknown(name) for name in truth.class_names):
        raise OpenSetError(f"{truth.source} has a class for unknown objects already: leave out --keep-unknown.")
    numbers = [one for one in truth.class_ids if isinstance(one, int)]
    return replace(
        truth,
        class_ids=(*truth.class_ids, max(numbers) + 1 if numbers else "unknown"),
        class_names=(*truth.class_names, "unknown"),
        category=np.where(np.isin(truth.category, hidden), truth.n_classes, truth.category),
    )


def _part(truth: GroundTruth, images: Any, classes: list[int]) -> GroundTruth:
    """Some images with the objects of some classes."""
    new_image, new_class = np.full(truth.n_images, -1), np.full(truth.n_classes, -1)
    new_image[images], new_class[classes] = np.arange(len(images)), np.arange(len(classes))
    part = replace(
        truth,
        image_ids=tuple(truth.image_ids[i] for i in images),
        file_names=tuple(truth.file_names[i] for i in images),
        class_ids=tuple(truth.class_ids[i] for i in classes),
        class_names=tuple(truth.class_names[i] for i in classes),
        image=new_image[truth.image],
        category=new_class[truth.category],
        sizes=None if truth.sizes is None else truth.sizes[images],
    )
    return part.select(np.flatnonzero((part.image >= 0) & (part.category >= 0)))


def read_names(text: str) -> list[str]:
    """Class names separated by commas, or one per line in a file, where a name may hold a comma."""
    names = text_lines(Path(text)) if "," not in text and _is_file(text) else text.split(",")
    return [name.strip() for name in names if name.strip()]


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for the name of a file, so it is that of a class
        return False


def write_split(parts: Split, truth: GroundTruth, results: Any, out: str | Path) -> list[str]:
    """Write known.json, wild.json and, for `results`, known_dt.json and wild_dt.json; says what was done."""
    folder, names = Path(out), ["known.json", "wild.json"]
    if results is not None:  # read first: a mistake there must not leave half of the output
        found = read_detections(results, truth)
        names += ["known_dt.json", "wild_dt.json"]
    write_json(folder / "known.json", coco_dict(parts.known))
    write_json(folder / "wild.json", coco_dict(parts.wild))
    known, wild = parts.known, parts.wild
    wording = []
    wording.append(f"Known: {known.n_images} images, {len(known.image)} objects of {known.n_classes} classes.")
    wording.append(f"Wild: {wild.n_images} images, {len(wild.image)} objects of {wild.n_classes} hidden classes.")
    if parts.n_empty:
        wording.append(f"{parts.n_empty} of the wild images have no annotation at all.")
    if parts.mixed_dropped:
        wording.append(f"Left out: {parts.n_mixed} images that show known and hidden objects.")
    elif parts.unknown_kept:
        wording.append(
            f"Kept: {parts.hidden_on_known} objects of hidden classes on {parts.n_mixed} known images, as 'unknown'."
        )
    else:
        wording.append(
            f"Left out: {parts.hidden_on_known} objects of hidden classes on {parts.n_mixed} known images, where "
            "detections on them count as false."
        )
    if results is not None:
        wording += _write_results(parts, truth, found, folder)
    wording.append(f"Wrote {', '.join(str(folder / name) for name in names)}")
    return wording


def _write_results(parts: Split, truth: GroundTruth, found: Detections, folder: Path) -> list[str]:
    names = [name for name in parts.known.class_names if name in truth.class_names]
    known_class = np.isin(np.arange(truth.n_classes), find_classes(truth, names))
    wording = []
    keep = known_class[found.category]
    for name, rows in (("known", parts.known_rows), ("wild", parts.wild_rows)):
        part = found.select(np.flatnonzero(keep & np.isin(found.image, rows)))
        write_json(folder / f"{name}_dt.json", coco_results(part, truth, truth))
        wording.append(f"Detections on {name} images: {len(part)}.")
    wording.append(f"Left out: {int((~keep).sum())} detections of hidden classes.")
    return [*wording, *(f"Note: {note}." for note in found.notes)]


def coco_dict(truth: GroundTruth) -> dict[str, Any]:
    """Ground truth as a COCO object."""
    sizes = np.zeros((truth.n_images, 2)) if truth.sizes is None else truth.sizes
    images = []
    for one, name, (width, height) in zip(truth.image_ids, truth.file_names, sizes.tolist(), strict=True):
        size = {"width": _whole(width), "height": _whole(height)} if width and height else {}
        images.append({"id": one, "file_name": name, **size})
    annotations = [
        {
            "id": i,
            "image_id": truth.image_ids[image],
            "category_id": truth.class_ids[category],
            "bbox": [_whole(number) for number in box],
            "area": _whole(box[2] * box[3]),
            "iscrowd": int(crowd),
            "ignore": int(ignore),
        }
        for i, (image, category, box, crowd, ignore) in enumerate(
            zip(
                truth.image.tolist(),
                truth.category.tolist(),
                truth.box.tolist(),
                truth.crowd.tolist(),
                truth.ignore.tolist(),
                strict=True,
            ),
            1,
        )
    ]
    categories = [{"id": one, "name": name} for one, name in zip(truth.class_ids, truth.class_names, strict=True)]
    return {"images": images, "annotations": annotations, "categories": categories}


def coco_results(found: Detections, images: GroundTruth, classes: GroundTruth) -> list[dict[str, Any]]:
    """Detections as COCO results."""
    rows = [
        {
            "image_id": images.image_ids[image],
            "category_id": classes.class_ids[category],
            "bbox": [_whole(number) for number in box],
            "score": score,
        }
        for image, category, box, score in zip(
            found.image.tolist(),
            found.category.tolist(),
            found.box.tolist(),
            found.score.tolist(),
            strict=True,
        )
    ]
    if found.background_score is not None:
        for row, value in zip(rows, found.background_score.tolist(), strict=True):
            row["background_score"] = value
    return rows


def _whole(number: float) -> float | int:
    return int(number) if number == int(number) else number
