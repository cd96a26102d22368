"""The whole evaluation: a case worked out on paper, slow textbook versions, pycocotools, and properties."""

import contextlib
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from detection_sets import data_file, make_found, make_truth, pencil_case, random_set, random_wild
from detection_textbook import coco_objects, iou_by_hand, match_slowly
from openset.detection import Detections, evaluate_open_set
from openset.detection.gallery import truths_of
from openset.detection.measure.evaluation import evaluate_data
from openset.detection.measure.intervals import awi_draws
from openset.detection.measure.matching import highest_per_image, match
from openset.detection.measure.ranking import at_recall, average_precision, needed, precision_table, rank
from openset.detection.measure.resampling import AtRecalls, Draw, draws
from openset.detection.measure.sets import arrange, wilderness_levels
from openset.detection.read.coco import read_ground_truth
from openset.detection.read.names import similar_classes
from openset.detection.read.results import read_shared_detections
from openset.errors import OpenSetError

VARIANTS = ("paper", "macro", "official")


# ---- on paper ------------------------------------------------------------------------------------------------------


def test_pencil_case():
    """Recall .5 of a needs 2 of 4: the threshold is .7, which accepts the duplicate with the same score: TP 2, FP 2.

    Of four wild images .95, .7 and .8 are accepted, FPo 3, so two of them have 1.5 on average; the first two have 2.
    b reaches no recall: its .99 never counts.
    """
    result = evaluate_open_set(*pencil_case(), recalls=[0.5], variant=VARIANTS, ratios=[0.5, 1.0], bootstrap=0)
    paper, macro, official = result.wilderness
    assert (paper.variant, macro.variant, official.variant) == VARIANTS
    [point] = result.operating
    assert point.thresholds == {"a": 0.7}
    assert point.unreached == paper.unreached == ("b",)
    assert (point.total.n_true, point.total.n_false, point.total.n_open) == (2, 2, 3)
    assert paper.n_open == (1.5, 3)
    assert official.n_open == (2, 3)
    assert paper.impact == macro.impact == (1.5 / 4, 3 / 4)
    assert paper.per_class == {"a": (0.375, 0.75)}
    assert paper.awi == 0.5625
    assert paper.slope == pytest.approx(0.75)
    assert point.total.fp_per_1000.value == 750
    assert point.total.recall.value == 2 / 6  # the objects of b are not found
    assert point.total.precision_open.value == pytest.approx(2 / 7)
    # interpolated: known alone 2/3; with 2 wild images 2/4; with 4 wild images 2/5 (the wild .7 comes after the known)
    assert official.impact == pytest.approx([(2 / 3) / (2 / 4) - 1, (2 / 3) / (2 / 5) - 1])
    [errors] = result.errors
    assert errors.closed_set == (2, 2, 0, 0, 0, 0, 0)  # correct; too loose and duplicate
    # on the elephant (IoU .5) and the zebra; on an image without annotations
    assert errors.open_set == (2, 2, 0, 0, 2, 0, 1)
    assert errors.per_class == {"a": (2, 2, 0, 0, 2, 0, 1)}
    assert errors.percent(errors.open_set)[0] == pytest.approx(200 / 7)
    assert result.confusion.columns == ("a", "b", "elephant", "zebra")
    assert result.confusion.counts == ((4, 0, 1, 1), (0, 0, 0, 0))
    means = result.mean_average_precision
    # a at recalls 0, .1, .2: 1; .3, .4, .5: 2/3; .6, .7: 3/5; above: 0. b: 0.
    assert means.known["voc_11_point"] == pytest.approx((3 * 1 + 3 * 2 / 3 + 2 * 3 / 5) / 11 / 2)
    assert means.known["all_point"] == pytest.approx((1 + 2 / 3 + 3 / 5) / 4 / 2)
    # with 4 wild images: 1/2, 2/5, 3/8, all-point
    assert means.wild["all_point"] == pytest.approx((1 / 2 + 2 / 5 + 3 / 8) / 4 / 2)
    # OWOD: for a the recall nearest .8 is .75, at the 5th known detection: all of .95 .9 .8 .8 .7 .7 .6 come before or
    # at it (the wild .7 is on an image without annotations), and 1 of them (the zebra's) has an IoU above .5 with an
    # unknown. b never finds anything, so the first.
    assert result.owod.a_ose == 2  # the zebra, and b on the elephant
    assert result.owod.wi == pytest.approx((1 + 1) / (7 + 1))
    assert result.owod.u_recall is None
    assert result.owod.n_unknown == 2


def test_every_kind_of_error_by_hand():
    """Objects: a, b (similar to a), c (not similar); one detection of a for each kind."""
    classes = ("a", "b", "c")
    known = make_truth(
        [(0, "a", [0, 0, 10, 10]), (0, "b", [100, 0, 10, 10]), (0, "c", [200, 0, 10, 10])], classes=classes
    )
    known_found = make_found(
        [
            (0, "a", [0, 0, 10, 10], 0.9),
            (0, "a", [0, 0, 10, 10], 0.9),  # duplicate
            (0, "a", [0, 0, 10, 30], 0.9),  # IoU 1/3
            (0, "a", [100, 0, 10, 100], 0.9),  # IoU exactly .1 with b
            (0, "a", [200, 0, 10, 10], 0.9),
            (0, "a", [300, 0, 10, 10], 0.9),
            (0, "a", [0, 0, 10, 101], 0.9),  # IoU just below .1
        ],
        classes=classes,
    )
    wild = make_truth([(0, "elk", [0, 0, 10, 10])], classes=("elk",))
    wild_found = make_found([(0, "a", [0, 0, 10, 100], 0.9), (0, "a", [0, 0, 10, 101], 0.9)], classes=classes)
    result = evaluate_open_set(known, known_found, wild, wild_found, recalls=[1], similar=[["a", "b"]], bootstrap=0)
    assert result.errors[0].closed_set == (1, 2, 1, 1, 0, 2, 0)
    assert result.errors[0].open_set == (1, 2, 1, 1, 1, 3, 0)
    assert result.confusion.counts[0] == (3, 1, 1, 1)


def test_confusions_are_with_objects_not_with_crowds():
    """All but the first lie wholly in a crowd; they are about an object if they have an IoU of .9 with one as well."""
    crowd, classes = [0, 0, 100, 100], ("a", "b", "c")
    known = make_truth(
        [(0, "b", [150, 0, 10, 10]), (0, "a", [0, 0, 10, 10]), (0, "c", crowd, "crowd")], classes=classes
    )
    known_found = make_found([(0, "b", [150, 0, 10, 10], 0.5), (0, "b", [0, 0, 9, 10], 0.9)], classes=classes)
    wild = make_truth([(0, "elk", [0, 0, 10, 10]), (0, "hay", crowd, "crowd")], classes=("elk", "hay"))
    wild_found = make_found([(0, "b", [0, 0, 9, 10], 0.9), (0, "b", [70, 70, 9, 10], 0.9)], classes=classes)
    result = evaluate_open_set(known, known_found, wild, wild_found, recalls=[1], bootstrap=0)
    assert result.confusion.counts[1] == (1, 1, 0, 1, 0)
    assert truths_of(wild, wild_found) == ["elk", ""]


@pytest.mark.parametrize(("moved", "called"), [(-1, "a"), (0, "a"), (1, "unknown")])
def test_a_detection_is_about_the_object_it_overlaps_most_or_the_known_one_of_two_equal(moved, called):
    """Object a to the left, an unknown to the right, and a detection of b across the border between them."""
    classes = ("a", "b", "unknown")
    known = make_truth(
        [(0, "a", [0, 0, 10, 10]), (0, "unknown", [10, 0, 10, 10]), (0, "b", [90, 0, 10, 10])], classes=classes
    )
    found = make_found([(0, "b", [5 + moved, 0, 10, 10], 0.9), (0, "b", [90, 0, 10, 10], 0.8)], classes=classes)
    wild = make_truth([], classes=("elk",))
    result = evaluate_open_set(known, found, wild, make_found([], classes=classes), recalls=[1], bootstrap=0)
    row = dict(zip(result.confusion.columns, result.confusion.counts[1], strict=True))
    assert row == {"a": 0, "elk": 0, "unknown": 0} | {"b": 1, called: 1}


def test_equal_notes_on_two_results_are_both_given():
    known, wild = (
        {"images": [{"id": i}], "categories": [{"id": 1, "name": name}]} for i, name in ((1, "cat"), (2, "elk"))
    )
    box = {"category_id": 1, "bbox": [0, 0, 9, 9], "score": 0.5}
    known["annotations"] = [{"image_id": 1, **box}]
    results = [[{"image_id": i, **box}, {"image_id": i, **box, "category_id": 9}] for i in (1, 2)]
    notes = evaluate_open_set(known, results[0], wild, results[1], bootstrap=0, drop_other_classes=True).notes
    printed = "1 detections of 1 other classes were left out of"
    assert notes[:2] == (f"{printed} known_dt", f"{printed} wild_dt")


def test_no_interval_is_nothing_with_a_note():
    """The one object is on one of ten images, and the only draw misses it."""
    known, found = make_truth([(0, "a", [0, 0, 9, 9])], n_images=10), make_found([(0, "a", [0, 0, 9, 9], 0.5)])
    wild = make_truth([], n_images=10, classes=("elk",), source="wild")
    for seed in range(20):
        result = evaluate_open_set(known, found, wild, make_found([]), recalls=[0.5], bootstrap=1, seed=seed)
        if result.wilderness[0].awi_low is None:
            break
    assert (result.wilderness[0].awi_low, result.wilderness[0].awi_high) == (None, None)
    assert (
        "there is no interval at recall 0.5, where no class has an object in any of the 1 draws of images"
        in result.notes
    )
    json.dumps(result.to_json(), allow_nan=False)


def test_only_too_few_wild_images_are_told():
    assert wilderness_levels(4, 4).note == ""
    assert wilderness_levels(4, 3).note.startswith("there are only 3 wild images for 4 known ones")
    assert (wilderness_levels(4, 3).reference_ratio, wilderness_levels(4, 9).reference_ratio) == (0.75, 1)


def test_every_level_has_a_wild_image():
    """Of 4 known images a tenth is none, which is no level; two tenths are one."""
    assert wilderness_levels(4, 2).ratios == (0.2, 0.3, 0.4, 0.5)
    assert wilderness_levels(4, 2).n_wild.tolist() == [1, 1, 2, 2]
    with pytest.raises(OpenSetError, match=r"ratio 0\.1 comes to no wild image with 4 known images: give a larger one"):
        wilderness_levels(4, 2, [0.1, 0.5])


def test_difficult_objects_and_crowds_do_not_count():
    known, known_found, wild, wild_found = pencil_case()
    plain = evaluate_open_set(known, known_found, wild, wild_found, recalls=[0.5], bootstrap=0)
    more = make_truth([(3, "a", [200, 0, 10, 10], "ignore"), (3, "a", [300, 0, 90, 10], "crowd")], n_images=4)
    both = replace(
        known,
        **{
            name: np.concatenate([getattr(known, name), getattr(more, name)])
            for name in ("image", "category", "box", "ignore", "crowd")
        },
    )
    extra = make_found([(3, "a", [200, 0, 10, 10], 0.99), (3, "a", [310, 0, 10, 10], 0.99)])
    found = replace(
        known_found,
        **{
            name: np.concatenate([getattr(known_found, name), getattr(extra, name)])
            for name in ("image", "category", "box", "score")
        },
    )
    result = evaluate_open_set(both, found, wild, wild_found, recalls=[0.5], bootstrap=0)
    assert result.wilderness == plain.wilderness
    assert result.errors == plain.errors
    assert result.confusion == plain.confusion
    assert result.mean_average_precision == plain.mean_average_precision


def test_the_word_unknown_is_a_refusal_not_a_class():
    """A detector that calls the elephant "unknown": U-Recall 1 of 2, and nothing else changes."""
    known, known_found, wild, wild_found = pencil_case()
    plain = evaluate_open_set(known, known_found, wild, wild_found, recalls=[0.5], bootstrap=0)
    known = replace(known, class_names=("a", "b", "Unknown"), class_ids=(0, 1, 2))
    refusal = make_found([(0, "b", [0, 0, 10, 10], 0.4), (1, "b", [0, 0, 10, 10], 0.4)])
    refusal = replace(refusal, category=np.array([2, 2]))
    found = replace(
        wild_found,
        **{
            name: np.concatenate([getattr(wild_found, name), getattr(refusal, name)])
            for name in ("image", "category", "box", "score")
        },
    )
    result = evaluate_open_set(known, known_found, wild, found, recalls=[0.5], bootstrap=0)
    assert result.owod.u_recall == 0.5
    assert result.wilderness == plain.wilderness
    assert result.errors == plain.errors


def test_unknown_objects_annotated_on_known_images():
    known, known_found, wild, wild_found = pencil_case()
    known = replace(known, class_names=("a", "b", "unknown"), class_ids=(0, 1, 2))
    category = known.category.copy()
    category[3] = 2  # the object of image 3, which a detection of a overlaps by 1/3
    result = evaluate_open_set(
        replace(known, category=category), known_found, wild, wild_found, recalls=[0.5], bootstrap=0
    )
    assert result.errors[0].closed_set == (2, 1, 0, 0, 1, 0, 0)
    assert result.confusion.columns == ("a", "b", "elephant", "zebra", "unknown")
    assert result.confusion.counts[0] == (3, 0, 1, 1, 1)
    assert result.owod.n_unknown == 3


# ---- textbook versions ---------------------------------------------------------------------------------------------


def curve_slowly(truth, found, fate, c, wild=(), n_wild=0):
    """Scores with fates of class c by falling score: known images first, then file order."""
    rows = [
        (-found.score[d], 0, d, fate["correct"][d])
        for d in range(len(found))
        if found.category[d] == c and not fate["ignored"][d]
    ]
    if n_wild:
        rows += [
            (-wild.score[d], 1, d, False) for d in range(len(wild)) if wild.category[d] == c and wild.image[d] < n_wild
        ]
    rows.sort(key=lambda row: row[:3])
    points, hits = [], 0
    n_objects = sum(
        truth.category[g] == c and not truth.ignore[g] and not truth.crowd[g] for g in range(len(truth.image))
    )
    for i, row in enumerate(rows, 1):
        hits += row[3]
        points.append((hits / n_objects if n_objects else 0.0, hits / i, -row[0]))
    return n_objects, points


def impact_slowly(known, found, wild_found, recall, variant, n_wild, *, fate, n_all):
    counts, closed, opened = [], [], []
    for c in range(known.n_classes):
        n_objects, points = curve_slowly(known, found, fate, c)
        reached = [point for point in points if n_objects and point[0] >= recall]
        if not reached:
            continue
        threshold = reached[0][2]
        accepted = sum(point[2] >= threshold for point in points)
        n_open = sum(wild_found.category[d] == c and wild_found.score[d] >= threshold for d in range(len(wild_found)))
        n_open *= n_wild / n_all  # on average over all orders of the wild images
        counts.append((n_open, accepted))
        closed.append(max(point[1] for point in reached))
        _, points = curve_slowly(known, found, fate, c, wild_found, n_wild)
        opened.append(max(point[1] for point in points if point[0] >= recall))
    if variant == "official":
        return np.mean(closed) / np.mean(opened) - 1
    if variant == "macro":
        return np.mean([n_open / accepted for n_open, accepted in counts])
    return sum(n_open for n_open, _ in counts) / sum(accepted for _, accepted in counts)


@pytest.mark.parametrize("rule", ["voc", "coco", "agnostic"])
@pytest.mark.parametrize("seed", range(8))
def test_variants_equal_brute_force(seed, rule):
    known, found = random_set(seed)
    wild, wild_found = random_wild(seed)
    recalls = [0.1, 0.3, 0.5]
    result = evaluate_open_set(
        known, found, wild, wild_found, recalls=recalls, variant=VARIANTS, matching=rule, bootstrap=0
    )
    assert result.wilderness[0].ratios == tuple(k / 10 for k in range(1, 17))  # 20 wild for 12 known images
    fate = match_slowly(known, found, rule, 0.5)
    for row in result.wilderness:
        slow = [
            impact_slowly(known, found, wild_found, row.recall, row.variant, round(ratio * 12), fate=fate, n_all=20)
            for ratio in row.ratios
        ]
        assert row.impact == pytest.approx(slow, rel=1e-9, abs=1e-12)
        assert row.awi == pytest.approx(np.mean(slow))


def errors_slowly(known, found, wild, wild_found, thresholds, similar, n_wild):
    fate = match_slowly(known, found, "voc", 0.5)
    annotated = set(wild.image.tolist())
    counts, table = [0] * 7, np.zeros((known.n_classes, known.n_classes + wild.n_classes), int)
    for d in range(len(found)):
        c = found.category[d]
        if found.score[d] < thresholds[c] or fate["ignored"][d]:
            continue
        iou = {
            g: iou_by_hand(found.box[d], known.box[g], known.crowd[g])
            for g in range(len(known.image))
            if known.image[g] == found.image[d]
        }
        near = [g for g in iou if iou[g] >= 0.1]
        if fate["correct"][d]:
            kind = 0
        elif any(known.category[g] == c for g in near):
            kind = 1
        elif any(similar[c, known.category[g]] for g in near):
            kind = 2
        else:
            kind = 3 if near else 5
        counts[kind] += 1
        near = [g for g in near if not known.crowd[g]]
        if near:
            table[c, c if kind == 0 else known.category[max(near, key=lambda g: (iou[g], -g))]] += 1
    for d in range(len(wild_found)):
        c = wild_found.category[d]
        if wild_found.score[d] < thresholds[c] or wild_found.image[d] >= n_wild:
            continue
        iou = {
            g: iou_by_hand(wild_found.box[d], wild.box[g], wild.crowd[g])
            for g in range(len(wild.image))
            if wild.image[g] == wild_found.image[d]
        }
        near = [g for g in iou if iou[g] >= 0.1]
        counts[6 if wild_found.image[d] not in annotated else 4 if near else 5] += 1
        near = [g for g in near if not wild.crowd[g]]
        if near:
            table[c, known.n_classes + wild.category[max(near, key=lambda g: (iou[g], -g))]] += 1
    return tuple(counts), table


@pytest.mark.parametrize("seed", range(10))
def test_errors_and_confusion_equal_brute_force(seed):
    known, found = random_set(seed, classes=("cat", "dog", "car"))
    wild, wild_found = random_wild(seed)
    wild = wild.select(np.flatnonzero(wild.image != seed))
    result = evaluate_open_set(known, found, wild, wild_found, recalls=[0.3], bootstrap=0)
    thresholds = [result.operating[0].thresholds.get(name, math.inf) for name in known.class_names]
    similar = similar_classes(known.class_names)
    assert similar.sum() == 2
    counts, table = errors_slowly(known, found, wild, wild_found, thresholds, similar, 12)
    assert result.errors[0].open_set == counts
    assert np.array_equal(result.confusion.counts, table)


def voc_eval_slowly(truth, found, fate, how):
    """Mean average precision as the VOC development kit describes it."""
    out = []
    for c in range(truth.n_classes):
        n_objects, points = curve_slowly(truth, found, fate, c)
        if not n_objects:
            continue
        if how == "voc_11_point":
            out.append(np.mean([max((p for r, p, _ in points if r >= k / 10), default=0) for k in range(11)]))
        else:
            area, last = 0.0, 0.0
            for i, (r, _, _) in enumerate(points):
                area += (r - last) * max(p for _, p, _ in points[i:])
                last = r
            out.append(area)
    return np.mean(out)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("how", ["voc_11_point", "all_point"])
def test_average_precision_equals_the_textbook(seed, how):
    known, found = random_set(seed)
    wild, wild_found = random_wild(seed)
    result = evaluate_open_set(known, found, wild, wild_found, recalls=[0.1], bootstrap=0)
    slow = voc_eval_slowly(known, found, match_slowly(known, found, "voc", 0.5), how)
    assert result.mean_average_precision.known[how] == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_101_points_equal_pycocotools(seed):
    pytest.importorskip("pycocotools")
    from pycocotools.cocoeval import COCOeval

    truth, found = random_set(seed, soft=0.0, n_detections=200)
    truth.crowd[:] = np.random.default_rng(seed).random(len(truth.crowd)) < 0.2
    found = found.select(np.argsort(found.image, kind="stable"))  # pycocotools breaks ties by image
    for bar in (0.5, 0.75):
        found = highest_per_image(found, 100)
        ranked = rank(truth, found, match(truth, found, matching="coco", iou=bar))
        table = precision_table(ranked, found.select(np.zeros(0, int)), np.array([0]))
        ours = average_precision(table)["coco_101_point"][ranked.n_objects > 0].mean()
        with contextlib.redirect_stdout(io.StringIO()):
            outside = COCOeval(*coco_objects(truth, found), "bbox")
            outside.params.iouThrs = np.array([bar])
            outside.evaluate()
            outside.accumulate()
        precision = outside.eval["precision"][0, :, :, 0, 2]
        assert ours == pytest.approx(precision[:, precision[0] > -1].mean(), abs=1e-12)


def test_a_perfect_detector_has_average_precision_1():
    truth, _ = random_set(0, soft=0.0)
    score = np.linspace(0.1, 0.9, len(truth.image))
    found = Detections("found", truth.image, truth.category, truth.box, score)
    wild = make_truth([], n_images=3, classes=("elk",))
    result = evaluate_open_set(truth, found, wild, make_found([]), recalls=[1.0], matching="coco", bootstrap=0)
    assert set(result.mean_average_precision.known.values()) == {1.0}


# ---- real data -----------------------------------------------------------------------------------------------------


def test_yolov2_on_voc_2007(voc):
    """11-point mAP .721 with difficult objects ignored, equal to a textbook loop over images."""
    truth, found = voc
    matches = match(truth, found)
    ranked = rank(truth, found, matches)
    table = precision_table(ranked, found.select(np.zeros(0, int)), np.array([0]))
    ours = average_precision(table)["voc_11_point"][:, 0]
    assert ours.mean() == pytest.approx(0.721, abs=0.002)
    textbook = []
    for c in range(truth.n_classes):
        objects = {}
        for g in np.flatnonzero(truth.category == c):
            objects.setdefault(int(truth.image[g]), []).append([truth.box[g], bool(truth.ignore[g]), False])
        rows = np.flatnonzero(found.category == c)
        hits, misses, curve = 0, 0, []
        n_objects = sum(not one[1] for ones in objects.values() for one in ones)
        for d in rows[np.argsort(-found.score[rows], kind="stable")]:
            best, best_iou = None, 0.0
            for one in objects.get(int(found.image[d]), []):
                iou = iou_by_hand(found.box[d], one[0])
                if iou > best_iou:
                    best, best_iou = one, iou
            if best is not None and best_iou >= 0.5:
                if best[1]:
                    continue
                hits, misses = hits + (not best[2]), misses + best[2]
                best[2] = True
            else:
                misses += 1
            curve.append((hits / n_objects, hits / (hits + misses)))
        recall, precision = np.array(curve).T
        textbook.append(np.mean([precision[recall >= k / 10].max(initial=0) for k in range(11)]))
    assert ours == pytest.approx(np.array(textbook), abs=1e-12)


def test_wild_test_with_six_animals_hidden(voc):
    from openset.detection.split import split_classes

    truth, _ = voc
    hidden = {"bird", "cat", "cow", "dog", "horse", "sheep"}
    split = split_classes(truth, [name for name in truth.class_names if name not in hidden])
    assert (split.known.n_images, split.wild.n_images) == (3970, 982)
    file = data_file("voc2007_test_yolov2.json.gz")
    result = evaluate_open_set(split.known, file, split.wild, drop_other_classes=True, bootstrap=0)
    assert result.wilderness[1].ratios == (0.1, 0.2)
    assert result.owod.n_unknown == 1454
    assert f"13428 detections of 6 other classes were left out of {file}" in result.notes


# ---- properties ----------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), factor=st.floats(0.1, 10))
def test_properties(seed, factor):
    known, found = random_set(seed, n_images=6, n_objects=20, n_detections=60)
    wild, wild_found = random_wild(seed, n_images=9)

    def run(found, wild_found, variants=VARIANTS):
        return evaluate_open_set(known, found, wild, wild_found, recalls=[0.1], variant=variants, bootstrap=0)

    plain = run(found, wild_found)
    for row in plain.wilderness:
        assert min(row.impact) >= -1e-12
        if row.variant != "official":  # counts can only grow with more images, and so does their ratio
            assert (np.diff(row.impact) >= 0).all()
    scaled = run(replace(found, score=found.score * factor), replace(wild_found, score=wild_found.score * factor))
    order = np.random.default_rng(seed).permutation(len(wild_found))
    shuffled = run(found, wild_found.select(order))
    for row, other, third in zip(plain.wilderness, scaled.wilderness, shuffled.wilderness, strict=True):
        assert row.impact == pytest.approx(other.impact)
        assert row.impact == pytest.approx(third.impact)
    silent = run(found, wild_found.select(np.zeros(0, int)))
    assert all(row.awi == 0 and row.slope == 0 for row in silent.wilderness)
    assert all(point.total.fp_per_1000.value == 0 < point.total.fp_per_1000.high for point in silent.operating)
    assert silent.mean_average_precision.known == silent.mean_average_precision.wild
    twice = run(found, wild_found.select(np.repeat(np.arange(len(wild_found)), 2)), ["paper", "macro"])
    for row, double in zip(plain.wilderness, twice.wilderness, strict=False):
        assert double.awi == pytest.approx(2 * row.awi)


@settings(max_examples=200, deadline=None)
@given(n=st.integers(1, 10_000), recall=st.floats(0.001, 1))
@example(n=100, recall=0.07)  # .07 x 100 is a little more than 7 in floating point
@example(n=3, recall=1 / 3)
def test_needed_is_the_smallest_count(n, recall):
    k = int(needed(np.array([n]), recall)[0])
    assert k / n >= recall
    assert k == 1 or (k - 1) / n < recall


def test_thresholds_at_a_recall_equal_a_scan():
    for seed in range(20):
        known, found = random_set(seed)
        ranked = rank(known, found, match(known, found))
        for recall in (0.05, 0.4, 0.9):
            thresholds = at_recall(ranked, recall)
            fate = match_slowly(known, found, "voc", 0.5)
            for c in range(known.n_classes):
                _, points = curve_slowly(known, found, fate, c)
                reached = [one for one in points if one[0] >= recall]
                assert thresholds[c] == (reached[0][2] if reached else math.inf)


# ---- intervals -----------------------------------------------------------------------------------------------------


def resample_slowly(known, found, wild, wild_found, rows, wild_rows):
    """The data set that a draw stands for, with every drawn image copied out."""

    def copy(truth, found, rows):
        objects = [np.flatnonzero(truth.image == row) for row in rows]
        detections = [np.flatnonzero(found.image == row) for row in rows]
        new_truth = truth.select(np.concatenate(objects))
        new_truth = replace(
            new_truth,
            image=np.repeat(np.arange(len(rows)), [len(one) for one in objects]),
            image_ids=tuple(range(len(rows))),
            file_names=tuple("" for _ in rows),
        )
        new_found = found.select(np.concatenate(detections))
        return new_truth, replace(new_found, image=np.repeat(np.arange(len(rows)), [len(one) for one in detections]))

    return (*copy(known, found, rows), *copy(wild, wild_found, wild_rows))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("frozen", [False, True])
def test_draws_equal_evaluating_the_drawn_images(variant, frozen):
    """Weights must do what copying the drawn images does; scores are distinct, so only copies tie."""
    if frozen and variant == "official":
        pytest.skip("official has no frozen thresholds")
    known, found = random_set(5, n_images=20, n_objects=120, n_detections=300, levels=10**6, soft=0.1)
    wild, wild_found = random_wild(5, levels=10**6)
    data = arrange(known, found, wild, wild_found)
    ranked = rank(known, found, match(known, found))
    levels = wilderness_levels(20, 20)
    chosen = [(recall, at_recall(ranked, recall)) for recall in (0.3, 0.1, 0.6)]
    if frozen:
        chosen = [(None, np.array([0.2, np.inf, 0.5]))]
    drawn = awi_draws(data, ranked, levels, chosen, [variant], n=12, seed=3)[variant]
    asked = not frozen and variant != "official"
    among = AtRecalls(data, ranked, [recall for recall, _ in chosen]).wild_images if asked else None
    n_same = 0
    for i, draw in enumerate(draws(20, 20, 12, 3, among=among)):
        rows, wild_rows = np.repeat(np.arange(20), draw.known.astype(int)), draw.whole().wild
        assert len(rows) == len(wild_rows) == 20
        copied = arrange(*resample_slowly(known, found, wild, wild_found, rows, wild_rows))
        recalls = [recall for recall, _ in chosen]
        options = {"thresholds": chosen[0][1]} if frozen else {"recalls": recalls}
        result = evaluate_data(copied, variant=variant, bootstrap=0, **options)
        for row in result.wilderness:
            place = recalls.index(row.recall)
            if not frozen and set(row.unreached) != set(names_unreached(known, chosen[place][1])):
                continue  # over other classes than the draws, which keep to those of the data
            n_same += 1
            assert drawn[i, place] == pytest.approx(row.awi, abs=1e-9), variant
    assert n_same >= 10


def test_what_is_asked_of_a_draw_does_not_change_how_often_images_are_drawn():
    """Every image once on average, with the variance 1 - 1/n, and as many as there are in each draw."""
    some = np.array([1, 4, 5, 6])
    times = np.array([draw.whole().wild_times for draw in draws(3, 12, 4000, 5, among=some)])
    assert (times.sum(axis=1) == 12).all()
    assert np.abs(times.mean(axis=0) - 1).max() < 0.06
    assert np.abs(times.var(axis=0) - 11 / 12).max() < 0.1
    asked = next(draws(3, 12, 1, 5, among=some))
    assert np.isin(asked.wild, some).all()
    assert asked.n_wild == 12
    assert not np.isin(asked.left_out.drawn(), some).any()
    assert not len(next(draws(3, 12, 1, 5, among=some[:0])).wild)


def names_unreached(truth, thresholds):
    return [name for name, value in zip(truth.class_names, thresholds, strict=True) if not np.isfinite(value)]


def test_a_class_that_misses_a_recall_in_a_draw_accepts_all_it_has():
    """a is found on both images, b on one of two: where only its other image is drawn, b accepts its one detection."""
    box = [0, 0, 9, 9]
    known = make_truth([(0, "a", box), (1, "a", box), (0, "b", [50, 0, 9, 9]), (1, "b", [50, 0, 9, 9])], n_images=2)
    found = make_found(
        [(0, "a", box, 0.9), (1, "a", box, 0.8), (0, "b", [50, 0, 9, 9], 0.7), (1, "b", [0, 50, 9, 9], 0.6)]
    )
    wild = make_truth([], n_images=1, classes=("elk",), source="wild")
    data = arrange(known, found, wild, make_found([(0, "b", box, 0.65), (0, "a", box, 0.85)]))
    ranked = rank(known, found, match(known, found))
    count = AtRecalls(data, ranked, [0.5])
    only_second = count(Draw(np.array([0.0, 2.0]), np.array([0])))
    assert only_second.defined.tolist() == [True, True]
    assert only_second.true.tolist() == [[2, 0]]
    assert only_second.accepted.tolist() == [[2, 2]]
    assert only_second.open.tolist() == [[1, 1]]
    both = count(Draw(np.ones(2), np.array([0])))
    assert (both.true.tolist(), both.accepted.tolist(), both.open.tolist()) == ([[1, 1]], [[1, 1]], [[0, 0]])


def test_blocks_of_correct_detections_give_the_same_as_one_run():
    """A class of many objects, so that recalls are reached in different blocks, and thresholds far from the end."""
    random = np.random.default_rng(0)
    boxes = [(i, "a", [20 * j, 0, 9, 9]) for i in range(60) for j in range(8)]
    known = make_truth([*boxes, (0, "b", [500, 0, 9, 9])], n_images=60)
    found = make_found(
        [(i, "a", box if random.random() < 0.8 else [0, 90, 9, 9], float(random.random())) for i, _, box in boxes]
        + [(0, "b", [500, 0, 9, 9], 0.5)]
    )
    wild = make_truth([], n_images=50, classes=("elk",), source="wild")
    wild_found = make_found(
        [
            (int(i), "a", [0, 0, 9, 9], float(s))
            for i, s in zip(random.integers(50, size=90), random.random(90), strict=True)
        ]
    )
    data = arrange(known, found, wild, wild_found)
    ranked = rank(known, found, match(known, found))
    fast, whole = AtRecalls(data, ranked, [0.5, 0.05, 0.3]), AtRecalls(data, ranked, [0.5, 0.05, 0.3], whole=True)
    for draw in draws(60, 50, 50, 1):
        one, two = fast(draw), whole(draw)
        weights = draw.known[found.image[ranked.rows]]
        for name in ("true", "accepted", "open", "defined"):
            assert np.array_equal(getattr(one, name), getattr(two, name)), name
        for j, recall in enumerate((0.5, 0.05, 0.3)):
            n_objects = draw.known[known.image[known.category == 0]].sum()
            total = np.cumsum(weights[ranked.starts[0] : ranked.starts[1]] * ranked.correct[: ranked.starts[1]])
            place = int(np.argmax(total / n_objects >= recall))
            assert one.true[j, 0] == total[place]
            threshold = ranked.score[place]
            assert one.accepted[j, 0] == weights[: place + 1].sum()
            assert one.open[j, 0] == draw.wild_times[wild_found.image[wild_found.score >= threshold]].sum()


def test_interval_brackets_the_value_and_repeats():
    known, found = random_set(1, n_images=60, n_objects=200, n_detections=600)
    wild, wild_found = random_wild(1, n_images=80, n_detections=100)
    runs = [
        evaluate_open_set(known, found, wild, wild_found, recalls=[0.3], bootstrap=200, seed=s).wilderness[0]
        for s in (0, 0, 1)
    ]
    assert runs[0].awi_low < runs[0].awi < runs[0].awi_high
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


# ---- what is refused -----------------------------------------------------------------------------------------------


def test_names_that_differ_by_a_sign_are_two_classes():
    """c# is known and c++ is wild: neither hides the other."""
    _, known_found, _, wild_found = pencil_case()
    known = replace(pencil_case()[0], class_names=("c#", "b"))
    wild = replace(pencil_case()[2], class_names=("c++", "zebra"))
    result = evaluate_open_set(known, known_found, wild, wild_found, recalls=[0.5], bootstrap=0)
    assert result.wilderness[0].unreached == ("b",)


def test_a_known_class_on_wild_images_is_refused_under_any_name():
    known, known_found, wild, wild_found = pencil_case()
    known = replace(known, class_names=("aeroplane", "b"))
    wild = replace(wild, class_names=("airplane", "zebra"))
    with pytest.raises(
        OpenSetError,
        match=r"1 objects of class 'airplane', which is the known class 'aeroplane'.*for example 0",
    ):
        evaluate_open_set(known, known_found, wild, wild_found)


def test_a_known_class_that_is_only_listed_is_fine():
    known, known_found, wild, wild_found = pencil_case()
    wild = replace(wild, class_names=("elephant", "zebra", "a"), class_ids=(0, 1, 2))
    assert evaluate_open_set(known, known_found, wild, wild_found, recalls=[0.5], bootstrap=0).owod.n_unknown == 2


def test_undefined_is_loud():
    case = pencil_case()
    with pytest.raises(OpenSetError, match=r"None of the 2 classes reaches recall 0\.8"):
        evaluate_open_set(*case, recalls=[0.8], bootstrap=0)
    with pytest.raises(OpenSetError, match=r"'recall' must be in \(0, 1\], got 30. Did you mean 0.3"):
        evaluate_open_set(*case, recalls=[30])
    with pytest.raises(OpenSetError, match="Did you mean 'official'"):
        evaluate_open_set(*case, variant="offical")
    for ratio in (math.nan, math.inf, -math.inf):
        with pytest.raises(OpenSetError, match=f"ratio {ratio} is not possible with 4 known and 4 wild images"):
            evaluate_open_set(*pencil_case(), recalls=[0.5], ratios=[ratio])
    with pytest.raises(OpenSetError, match="'bootstrap' must be 0 or more, got -3"):
        evaluate_open_set(*pencil_case(), recalls=[0.5], bootstrap=-3)
    with pytest.raises(OpenSetError, match="'seed' must be 0 or more, got -1"):
        evaluate_open_set(*pencil_case(), recalls=[0.5], bootstrap=5, seed=-1)
    with pytest.raises(OpenSetError, match="ratio 2 is not possible with 4 known and 4 wild images: the largest is 1"):
        evaluate_open_set(*case, ratios=[2])
    with pytest.raises(OpenSetError, match="no object to find: 0 objects"):
        evaluate_open_set(make_truth([]), *case[1:])
    with pytest.raises(OpenSetError, match="None of the 2 classes reaches"):
        evaluate_open_set(case[0], make_found([]), case[2], case[3])


def test_few_wild_images_give_one_level_and_a_note():
    known, known_found, _, _ = pencil_case()
    known = replace(known, image_ids=tuple(range(40)), file_names=("",) * 40)
    wild = make_truth([], n_images=2, classes=("elk",))
    result = evaluate_open_set(
        known, known_found, wild, make_found([(1, "a", [0, 0, 1, 1], 0.9)]), recalls=[0.5], bootstrap=0
    )
    assert result.wilderness[0].ratios == (2 / 40,)
    assert result.wilderness[0].impact == (1 / 4,)
    assert any("only 2 wild images" in note for note in result.notes)


def test_results_say_where_they_come_from():
    first, again, other = (
        evaluate_open_set(*case, recalls=[0.5], bootstrap=0, seed=7)
        for case in (pencil_case(), pencil_case(), (*pencil_case()[:3], pencil_case()[3].select(np.arange(4))))
    )
    assert first == again
    assert first.fingerprint != other.fingerprint
    assert (first.settings["seed"], first.settings["matching"], first.files["wild"]) == (7, "voc", "wild")
    assert first.to_json()["provenance"]["openset"]


def test_json_has_the_documented_keys_and_no_nan():
    content = evaluate_open_set(*pencil_case(), recalls=[0.5], bootstrap=20).to_json()
    text = json.dumps(content, allow_nan=False)
    assert json.loads(text)["schema"] == 2
    assert {"schema", "metrics", "map", "operating", "wilderness", "errors", "confusion", "owod"} <= set(content)
    assert {"recall", "variant", "ratios", "impact", "awi", "awi_low", "awi_high", "slope"} <= set(
        content["wilderness"][0]
    )
    [point] = content["operating"]
    assert (point["unreached"], point["classes"]["a"]["threshold"]) == (["b"], 0.7)
    assert point["total"]["fp_per_1000"]["value"] == 750
    for one in content["metrics"]:
        assert list(one) == ["name", "params", "against", "value", "low", "high"]
    named = {(one["name"], one["params"].get("recall")): one for one in content["metrics"]}
    assert named["fp_per_1000", 0.5]["high"] > 750 > named["fp_per_1000", 0.5]["low"]
    assert named["unreached", 0.5]["value"] == 1


def test_object_versus_background_by_hand():
    known = make_truth([(i, "a", [0, 0, 10, 10]) for i in range(3)], n_images=3)
    found = make_found(
        [(0, "a", [0, 0, 10, 10], 0.9), (1, "a", [0, 0, 10, 10], 0.3), (2, "a", [50, 0, 10, 10], 0.9)],
        background=[0.1, 0.7, 0.0],
    )
    wild = make_truth([], classes=("elk",))
    result = evaluate_open_set(known, found, wild, make_found([]), recalls=[0.5], bootstrap=0)
    assert set(result.background) == {"a"}
    row = result.background["a"]  # differences .8 and -.4; the third detection is wrong
    assert (row.n, row.share_background_higher) == (2, 0.5)
    assert (row.mean, row.sd) == pytest.approx((0.2, 0.6))
    assert row.histogram[18] + row.histogram[17] == 1
    assert row.histogram[6] + row.histogram[5] == 1
    assert sum(row.histogram) == 2
    assert evaluate_open_set(*pencil_case(), recalls=[0.5], bootstrap=0).background is None


def test_silence_on_every_wild_image_is_pointed_out(tmp_path):
    import json

    from openset.detection import evaluate_open_set

    known = {
        "images": [{"id": 1}, {"id": 2}],
        "categories": [{"id": 1, "name": "car"}],
        "annotations": [{"id": i, "image_id": i, "category_id": 1, "bbox": [0, 0, 10, 10]} for i in (1, 2)],
    }
    wild = {
        "images": [{"id": 1}, {"id": 2}],
        "categories": [{"id": 7, "name": "cow"}],
        "annotations": [{"id": i, "image_id": i, "category_id": 7, "bbox": [0, 0, 10, 10]} for i in (1, 2)],
    }
    claims = [{"image_id": i, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 0.9} for i in (1, 2)]
    for name, content in {"kg": known, "wg": wild, "kd": claims, "wd": [], "wd2": claims[:1]}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    paths = {name: tmp_path / f"{name}.json" for name in ("kg", "wg", "kd", "wd", "wd2")}
    silent = evaluate_open_set(paths["kg"], paths["kd"], paths["wg"], paths["wd"], bootstrap=0)
    assert any("not one detection on the wild images" in note for note in silent.notes)
    heard = evaluate_open_set(paths["kg"], paths["kd"], paths["wg"], paths["wd2"], bootstrap=0)
    assert not any("not one detection" in note for note in heard.notes)


def test_a_limit_of_detections_is_told_and_no_limit_is_not():
    golden = Path(__file__).parents[1] / "golden"
    known, wild = read_ground_truth(golden / "known.json"), read_ground_truth(golden / "wild.json")
    on_known, on_wild = read_shared_detections(golden / "found.json", known, wild)
    limited, whole = (evaluate_open_set(known, on_known, wild, on_wild, max_detections=most) for most in (1, None))
    assert any("only the 1 highest detections of an image and class are kept" in note for note in limited.notes)
    assert not any("highest detections of an image" in note for note in whole.notes)
