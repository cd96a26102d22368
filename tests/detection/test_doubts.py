"""Well-formed files that may not mean what they say: a note tells."""

import numpy as np
import pytest

from openset.detection.measure.sets import load

N = 20


def truth(first, **changed):
    images = [{"id": first + n, "width": 100, "height": 100} for n in range(N)]
    objects = [
        {"id": n, "image_id": first + n, "category_id": 1, "bbox": [20 + n, 30, 40, 40 - n]} | changed for n in range(N)
    ]
    return {"images": images, "annotations": objects, "categories": [{"id": 1, "name": "cat"}]}


def found(first, *, corners=False, times=1.0):
    boxes = [[20 + n, 30, 40, 40 - n] for n in range(N)]
    if corners:
        boxes = [[x, y, x + w, y + h] for x, y, w, h in boxes]
    return [
        {"image_id": first + n, "category_id": 1, "bbox": box, "score": times * (0.9 - 0.01 * n)}
        for n, box in enumerate(boxes)
    ]


def notes(known=None, known_found=None, wild_found=None):
    wild = {**truth(100), "annotations": [], "categories": []}
    return load(known or truth(0), known_found or found(0), wild, wild_found or found(100)).notes


def test_nothing_is_told_of_ordinary_files():
    assert notes() == ()
    unsized = truth(0)
    for image in unsized["images"]:
        del image["width"], image["height"]
    assert notes(unsized, found(0, corners=True)) == ()
    assert notes(known_found=[], wild_found=[]) == ()


@pytest.mark.parametrize("which", ["known_found", "wild_found"])
def test_corners_where_sizes_are_meant(which):
    first = 0 if which == "known_found" else 100
    (note,) = notes(**{which: found(first, corners=True)})
    assert note.startswith(f"7 of 20 detections of {which.replace('found', 'dt')} reach beyond their images")
    few = found(first)
    few[0]["bbox"] = few[1]["bbox"] = [90, 30, 40, 40]
    assert notes(**{which: few}) == ()  # two of twenty, as a detector may have
    few[2]["bbox"] = [30, 90, 10, 16]
    assert notes(**{which: few})[0].startswith("3 of 20")
    few[2]["bbox"] = [30, 90, 10, 15]  # five in a hundred is rounding
    assert notes(**{which: few}) == ()


def test_objects_have_corners_too():
    assert "of 20 objects of ground truth reach beyond" in notes(truth(0, bbox=[60, 60, 70, 70]))[0]


@pytest.mark.parametrize("field", [None, "bbox", "score", "image_id"])
def test_what_is_there_twice(field):
    rows = found(0)
    other = {"bbox": [1, 1, 4, 4.5], "score": 0.123, "image_id": 7}
    again = {**rows[3], **({} if field is None else {field: other[field]})}
    told = notes(known_found=[*rows, again])
    assert told == (
        ("1 of 21 detections (same image, class, box and score) of known_dt are there more than once",)
        if field is None
        else ()
    )


def test_objects_that_are_there_twice():
    twice = truth(0)
    twice["annotations"] += [{**one, "id": one["id"] + N} for one in twice["annotations"]]
    assert notes(twice) == ("20 of 40 objects (same image, class and box) of ground truth are there more than once",)


def test_random_boxes_are_hardly_ever_taken_for_equal_ones():
    rng = np.random.default_rng(0)
    rows = [
        {"image_id": int(image), "category_id": 1, "bbox": [int(x), 10, 20, 20], "score": 0.5}
        for image, x in zip(rng.permutation(N).repeat(50), np.tile(np.arange(50), N), strict=True)
    ]
    assert notes(known_found=rows) == ()


@pytest.mark.parametrize(("known", "wild", "told"), [(100, 1, True), (1, 100, True), (100, 100, False), (1, 1, False)])
def test_scores_in_percent_beside_fractions(known, wild, told):
    given = notes(known_found=found(0, times=known), wild_found=found(100, times=wild))
    assert any(" reach 90 and those of " in note for note in given) is told
