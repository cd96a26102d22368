"""The matcher, by hand, against slow loops, against pycocotools, and by property."""

import contextlib
import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detection_sets import make_found, make_truth, random_set
from detection_textbook import coco_objects, match_slowly
from openset.detection.measure.matching import MATCHINGS, highest_per_image, match, overlaps
from openset.errors import OpenSetError


def test_each_fate_by_hand():
    """One image: object a at 0..10, a difficult a at 100, a crowd of a at 200..300, object b at 0..8 wide."""
    truth = make_truth(
        [
            (0, "a", [0, 0, 10, 10]),
            (0, "a", [100, 0, 10, 10], "ignore"),
            (0, "a", [200, 0, 100, 10], "crowd"),
            (0, "b", [0, 0, 8, 10]),
        ]
    )
    found = make_found(
        [
            (
                0,
                "a",
                [0, 0, 10, 10],
                0.5,
            ),  # same score as the next: file order decides, so this one is correct
            (0, "a", [0, 0, 10, 10], 0.5),  # duplicate
            (0, "a", [101, 0, 10, 10], 0.9),  # on the difficult object: ignored
            (0, "a", [210, 0, 10, 10], 0.8),  # inside the crowd: ignored
            (0, "a", [0, 0, 10, 30], 0.7),  # IoU 1/3: wrong
            (0, "b", [0, 0, 10, 10], 0.6),  # IoU .8 with b, 1 with a
            (0, "b", [500, 0, 10, 10], 0.6),  # touches nothing
        ]
    )
    result = match(truth, found)
    assert result.correct.tolist() == [True, False, False, False, False, True, False]
    assert result.duplicate.tolist() == [False, True, False, False, False, False, False]
    assert result.ignored.tolist() == [False, False, True, True, False, False, False]
    assert result.object.tolist() == [0, 0, 1, -1, 0, 3, -1]
    assert result.iou == pytest.approx([1, 1, 9 / 11, 0, 1 / 3, 0.8, 0])
    agnostic = match(truth, found, matching="agnostic")
    assert agnostic.correct.tolist() == [True, False, False, False, False, False, False]
    assert agnostic.object[5] == 0


def test_coco_gives_the_second_detection_the_second_object():
    """Two objects side by side; both detections prefer the first. VOC: a duplicate. COCO: two correct."""
    truth = make_truth([(0, "a", [0, 0, 10, 10]), (0, "a", [0, 0, 10, 12])])
    found = make_found([(0, "a", [0, 0, 10, 10], 0.9), (0, "a", [0, 0, 10, 10], 0.8)])
    assert match(truth, found).duplicate.tolist() == [False, True]
    assert match(truth, found, matching="coco").correct.tolist() == [True, True]
    assert match(truth, found, matching="coco").object.tolist() == [0, 1]


@pytest.mark.parametrize("rule", MATCHINGS)
@pytest.mark.parametrize("seed", range(30))
def test_equals_the_slow_loop(rule, seed):
    truth, found = random_set(seed)
    for bar in (0.3, 0.5, 1.0):
        fast, slow = match(truth, found, matching=rule, iou=bar), match_slowly(truth, found, rule, bar)
        for name, values in slow.items():
            assert np.array_equal(getattr(fast, name), values), name


def test_blocks_of_pairs_join_without_a_seam(monkeypatch):
    truth, found = random_set(3)
    whole = overlaps(truth, found)
    monkeypatch.setattr("openset.detection.measure.matching._PAIRS_AT_ONCE", 7)
    parts = overlaps(truth, found)
    assert len(whole.iou) > 100
    for name in ("detection", "object", "iou"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))


@pytest.mark.parametrize("seed", range(10))
def test_coco_rule_equals_pycocotools(seed):
    """pycocotools knows crowds but overrides `ignore`, so difficult objects are left to the slow loop above."""
    pytest.importorskip("pycocotools")
    from pycocotools.cocoeval import COCOeval

    truth, found = random_set(seed, soft=0.0)
    random = np.random.default_rng(seed)
    truth.crowd[:] = random.random(len(truth.crowd)) < 0.2
    with contextlib.redirect_stdout(io.StringIO()):
        gt, dt = coco_objects(truth, found)
        outside = COCOeval(gt, dt, "bbox")
        outside.params.maxDets = [3]
        outside.evaluate()
    fate = {}
    for part in outside.evalImgs:
        if part is not None and part["aRng"] == outside.params.areaRng[0]:
            for d, m, ignored in zip(part["dtIds"], part["dtMatches"][0], part["dtIgnore"][0], strict=True):
                fate[d - 1] = (bool(m) and not ignored, bool(ignored))
    found = replace(found, background_score=np.arange(len(found), dtype=float))  # to know them again
    kept = highest_per_image(found, 3)
    ours = match(truth, kept, matching="coco")
    assert len(fate) > 50
    rows = kept.background_score.astype(int).tolist()
    assert sorted(rows) == sorted(fate)
    for place, d in enumerate(rows):
        assert fate[d] == (ours.correct[place], ours.ignored[place])


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rule=st.sampled_from(MATCHINGS),
    shift=st.floats(-100, 100),
    scale=st.sampled_from([0.5, 2, 8]),
)
def test_properties(seed, rule, shift, scale):
    truth, found = random_set(seed, n_images=4, n_objects=12, n_detections=30, levels=1000)
    found.score[:] += np.arange(len(found)) * 1e-9  # no ties, so that order cannot matter
    plain = match(truth, found, matching=rule)
    assert not (plain.correct & plain.duplicate).any()
    assert not (plain.correct & plain.ignored).any()
    assert not (plain.duplicate & plain.ignored).any()
    assert (plain.iou[plain.correct] >= 0.5).all()
    assert len(set(plain.object[plain.correct])) == plain.correct.sum()
    assert (truth.category[plain.object[plain.correct]] == found.category[plain.correct]).all()
    order = np.random.default_rng(seed).permutation(len(found))
    assert np.array_equal(match(truth, found.select(order), matching=rule).correct, plain.correct[order])
    found.box[:] *= scale
    truth.box[:] *= scale
    assert np.array_equal(match(truth, found, matching=rule).correct, plain.correct)
    found.score[:] = np.exp(found.score) + shift
    assert np.array_equal(match(truth, found, matching=rule).correct, plain.correct)


def test_nothing_found_and_nothing_to_find():
    truth, found = make_truth([(0, "a", [0, 0, 1, 1])]), make_found([(0, "a", [0, 0, 1, 1], 0.5)])
    for rule in MATCHINGS:
        assert len(match(truth, make_found([]), matching=rule).correct) == 0
        assert match(make_truth([]), found, matching=rule).correct.tolist() == [False]
        assert match(make_truth([]), found, matching=rule).object.tolist() == [-1]


def test_boxes_without_area_overlap_nothing():
    truth = make_truth([(0, "a", [0, 0, 0, 0])])
    assert match(truth, make_found([(0, "a", [0, 0, 0, 0], 0.5)])).iou.tolist() == [0]


def test_a_wrong_rule_is_named():
    with pytest.raises(OpenSetError, match=r"'matching' cannot be 'vco'. Did you mean 'voc'"):
        match(*random_set(0), matching="vco")
    with pytest.raises(OpenSetError, match=r"got 50. Did you mean 0.5"):
        match(*random_set(0), iou=50)
