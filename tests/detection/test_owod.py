"""OWOD's own metrics: by hand and against a loop over detections."""

from dataclasses import replace

import numpy as np
import pytest

from detection_sets import make_found, make_truth, pencil_case, random_set, random_wild
from detection_textbook import iou_by_hand, match_slowly
from openset.detection import evaluate_open_set
from openset.detection.measure.errors import KINDS
from openset.detection.measure.owod import owod
from openset.detection.measure.ranking import matched
from openset.detection.measure.sets import arrange


def owod_slowly(known, found, wild, wild_found, recall):
    fate = match_slowly(known, found, "voc", 0.5)
    annotated = set(wild.image.tolist())
    n_open = n_all = a_ose = 0
    for c in range(known.n_classes):
        rows = [(-found.score[d], 0, d) for d in range(len(found)) if found.category[d] == c]
        rows += [
            (-wild_found.score[d], 1, d)
            for d in range(len(wild_found))
            if wild_found.category[d] == c and wild_found.image[d] in annotated
        ]
        n_objects = int(((known.category == c) & known.counted).sum())
        hits, seen, opened, best = 0, 0, 0, None
        for _, is_wild, d in sorted(rows):
            if is_wild:
                near = [
                    iou_by_hand(wild_found.box[d], wild.box[g]) > 0.5
                    for g in range(len(wild.image))
                    if wild.image[g] == wild_found.image[d] and not wild.crowd[g]
                ]
                opened, seen = opened + any(near), seen + 1
            else:
                hits, seen = hits + fate["correct"][d], seen + (not fate["ignored"][d])
            distance = abs(hits / n_objects - recall)
            if best is None or distance < best[0]:
                best = (distance, opened, seen)
        a_ose += opened
        n_open, n_all = n_open + best[1], n_all + best[2]
    return n_open / n_all, a_ose


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("recall", [0.1, 0.3, 0.8])
def test_equals_a_loop(seed, recall):
    known, found, wild, wild_found = (*random_set(seed), *random_wild(seed))
    wild = wild.select(np.flatnonzero(wild.image % 3 > 0))  # every third image has no annotation
    case = (known, found, wild, wild_found)
    data = arrange(*case)
    result = owod(data, matched(data)[0], recall=recall)
    wi, a_ose = owod_slowly(*case, recall)
    assert a_ose > 0
    assert result.wi == pytest.approx(wi)
    assert result.a_ose == a_ose
    assert result.n_unknown == np.count_nonzero(case[2].counted)
    assert result.n_annotated == len(set(wild.image.tolist())) < wild.n_images


def with_unknown(wild_objects, refusals, *, n_wild=1):
    """One known object, which is found, and wild objects that the detector may call unknown."""
    classes = ("a", "unknown")
    known = make_truth([(0, "a", [0, 0, 9, 9])], classes=classes)
    wild = make_truth(wild_objects, n_images=n_wild, classes=("elk", "tusk"), source="wild")
    found = make_found([(0, "a", [0, 0, 9, 9], 0.9)], classes=classes)
    return known, found, wild, make_found(refusals, classes=classes)


def u_recall(*case, **options):
    return evaluate_open_set(*with_unknown(*case), recalls=[1.0], bootstrap=0, **options).owod.u_recall


def test_one_box_finds_one_of_two_nested_objects():
    nested = [(0, "elk", [0, 0, 10, 10]), (0, "tusk", [0, 0, 10, 9])]
    box = (0, "unknown", [0, 0, 10, 9.5], 0.5)
    assert u_recall(nested, [box]) == 0.5
    assert u_recall(nested, [box, box]) == 0.5  # both go to the object they overlap most
    assert u_recall(nested, [(0, "unknown", [0, 0, 10, 10], 0.5), (0, "unknown", [0, 0, 10, 9], 0.4)]) == 1.0


def test_an_overlap_of_one_half_is_not_enough():
    assert u_recall([(0, "elk", [0, 0, 10, 10])], [(0, "unknown", [0, 0, 10, 5], 0.5)]) == 0.0


def test_inclusive_pixels_add_one_to_each_side():
    """IoU 2x1 / 2x2 = .5 is not enough; with the last pixel inside it is 3x2 / 3x3."""
    objects, refusals = [(0, "elk", [0, 0, 2, 2])], [(0, "unknown", [0, 0, 2, 1], 0.5)]
    assert u_recall(objects, refusals) == 0.0
    assert u_recall(objects, refusals, inclusive_pixels=True) == 1.0
    result = evaluate_open_set(*with_unknown(objects, refusals), recalls=[1.0], bootstrap=0, inclusive_pixels=True)
    assert result.owod.inclusive_pixels


def test_inclusive_pixels_count_for_known_objects_too():
    """Known: 2x1 on 2x2 becomes 3x2 on 3x3, above the bar of .6; the claim on the elk is accepted before it."""
    known = make_truth([(0, "a", [0, 0, 2, 2])])
    found = make_found([(0, "a", [0, 0, 2, 1], 0.5)])
    wild = make_truth([(0, "elk", [0, 0, 9, 9])], classes=("elk",))
    claim = make_found([(0, "a", [0, 0, 9, 9], 0.9)])
    data = arrange(known, found, wild, claim)
    matches = matched(data, iou=0.6)[0]
    assert owod(data, matches, iou=0.6).wi == 1.0  # nothing is correct: the first detection alone
    assert owod(data, matches, iou=0.6, inclusive_pixels=True).wi == 0.5


def test_without_annotations_nothing_is_defined():
    known, found, _, wild_found = pencil_case()
    wild = make_truth([], n_images=4, classes=("elk",), source="wild")
    result = evaluate_open_set(known, found, wild, wild_found, recalls=[0.5], bootstrap=0)
    assert (result.owod.wi, result.owod.a_ose, result.owod.u_recall) == (None, None, None)
    assert (result.owod.n_unknown, result.owod.n_annotated) == (0, 0)
    [errors] = result.errors
    assert errors.n_annotated == 0
    assert errors.open_set[KINDS.index("unknown unknown") :] == (0, 0, 3)
    assert any("none of the 4 wild images has annotations" in note for note in result.notes)


def test_partly_annotated_images_are_measured_alone():
    """Pencil case: elephant on image 0, zebra on image 2; images 1 and 3 have no annotation."""
    result = evaluate_open_set(*pencil_case(), recalls=[0.5], bootstrap=0)
    assert result.owod.n_annotated == 2
    # a, up to its recall nearest .8, at .6: known .9 .8 .7 .7 .6 and wild .95 .8; b: only its first, on the elephant
    assert result.owod.wi == pytest.approx((1 + 1) / (7 + 1))
    [errors] = result.errors
    assert errors.n_annotated == 2
    assert errors.open_set == (2, 2, 0, 0, 2, 0, 1)
    assert any("2 of the 4 wild images have annotations" in note for note in result.notes)


def test_fully_annotated_images_without_objects_are_empty():
    result = evaluate_open_set(*pencil_case(), recalls=[0.5], bootstrap=0, fully_annotated=True)
    assert result.owod.n_annotated == 4
    assert result.owod.wi == pytest.approx((1 + 1) / (8 + 1))
    assert result.errors[0].open_set == (2, 2, 0, 0, 2, 1, 0)
    assert not any("annotations" in note for note in result.notes)


def test_crowds_alone_define_nothing():
    known, found, wild, wild_found = pencil_case()
    wild = replace(wild, crowd=np.ones_like(wild.crowd))
    result = evaluate_open_set(known, found, wild, wild_found, recalls=[0.5], bootstrap=0)
    assert (result.owod.wi, result.owod.a_ose) == (None, None)
