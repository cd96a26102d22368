"""Attempts to make a detector look better by making it worse: none may succeed in verdict, gate or comparison."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest

from detection_sets import make_found, make_truth
from openset.detection.comparison import compare
from openset.detection.gate import check_detection_bars, parse_detection_bar
from openset.detection.measure.evaluation import evaluate_data
from openset.detection.measure.sets import arrange
from openset.detection.metrics import metric_values
from openset.detection.verdict import verdict
from openset.errors import OpenSetError

CLASSES = ("ant", "bee", "cow", "dog")
N_KNOWN, N_WILD = 150, 200


@pytest.fixture(scope="module")
def honest():
    """A fair detector: finds most objects, is unsure of the rest, and takes some unknown things for known ones."""
    random = np.random.default_rng(7)
    objects, found, wild_found = [], [], []
    for image in range(N_KNOWN):
        for place in range(2):
            kind = CLASSES[int(random.integers(len(CLASSES)))]
            box = [60 * place, 0, 40, 40]
            objects.append((image, kind, box))
            if random.random() < 0.9:
                found.append((image, kind, [box[0] + 2, 2, 40, 38], float(random.beta(5, 2))))
        found += [
            (image, CLASSES[int(random.integers(4))], [150, 150, 30, 30], float(random.beta(1, 6)))
            for _ in range(int(random.poisson(4)))
        ]
    for image in range(N_WILD):
        for _ in range(1 + int(random.poisson(4))):
            kind, sure = (CLASSES[0], 4.4) if random.random() < 0.6 else (CLASSES[int(random.integers(4))], 6)
            wild_found.append((image, kind, [0, 0, 30, 30], float(random.beta(1.3, sure))))
    known = make_truth(objects, n_images=N_KNOWN, classes=CLASSES)
    wild = make_truth([], n_images=N_WILD, classes=("elk",), source="wild")
    return arrange(known, make_found(found, classes=CLASSES), wild, make_found(wild_found, classes=CLASSES))


def changed(data, known=None, wild=None):
    """The data with other detections."""
    return replace(data, known_found=known or data.known_found, wild_found=wild or data.wild_found)


def where(found, mask):
    return found.select(np.flatnonzero(mask))


def both(data, change):
    return changed(data, change(data.known_found), change(data.wild_found))


def drop_classes(data):
    return both(data, lambda found: where(found, found.category < 2))


def drop_one_class(data):
    return both(data, lambda found: where(found, found.category > 0))


def drop_known_images(data):
    return changed(data, known=where(data.known_found, data.known_found.image % 3 > 0))


def drop_wild_images(data):
    return changed(data, wild=where(data.wild_found, data.wild_found.image % 2 > 0))


def raise_scores(data):
    return both(data, lambda found: replace(found, score=found.score**0.3))


def raise_scores_to_the_top(data):
    return both(data, lambda found: replace(found, score=np.minimum(found.score + 0.5, 1.0)))


def lower_scores(data):
    return both(data, lambda found: replace(found, score=found.score * 0.6))


def cut_at_a_score(data):
    return both(data, lambda found: where(found, found.score >= 0.75))


def cut_hard(data):
    return both(data, lambda found: where(found, found.score >= 0.93))


def shift_classes(data):
    return both(data, lambda found: replace(found, category=(found.category + 1) % len(CLASSES)))


def duplicate(data):
    return both(data, lambda found: found.select(np.repeat(np.arange(len(found)), 2)))


def duplicate_on_known_images(data):
    return changed(data, known=data.known_found.select(np.repeat(np.arange(len(data.known_found)), 2)))


def add_false_detections_on_known_images(data):
    found = data.known_found
    noise = replace(found, box=found.box + np.array([200, 200, 0, 0]), score=np.full(len(found), 0.99))
    names = ("image", "category", "box", "score")
    more = replace(found, **{name: np.concatenate([getattr(found, name), getattr(noise, name)]) for name in names})
    return changed(data, known=more)


def split_a_wild_image(data):
    """The wild image with most false detections becomes two, of other names, with half of them each."""
    found = data.wild_found
    most = int(np.bincount(found.image).argmax())
    own = np.flatnonzero(found.image == most)
    image = found.image.copy()
    image[own[: len(own) // 2]] = data.wild.n_images
    wild = replace(
        data.wild,
        image_ids=(*data.wild.image_ids, data.wild.n_images),
        file_names=(*data.wild.file_names, "copy.png"),
    )
    return replace(data, wild=wild, wild_found=replace(found, image=image))


ATTACKS = (
    drop_classes,
    drop_one_class,
    drop_known_images,
    drop_wild_images,
    raise_scores,
    raise_scores_to_the_top,
    lower_scores,
    cut_at_a_score,
    cut_hard,
    shift_classes,
    duplicate,
    duplicate_on_known_images,
    add_false_detections_on_known_images,
    split_a_wild_image,
)
RECALLS = (0.1, 0.3, 0.5)


def evaluated(data):
    """The result, or nothing where the attack left no class that reaches a recall, which ends the command."""
    with contextlib.suppress(OpenSetError):
        return evaluate_data(data, recalls=RECALLS, bootstrap=0)
    with pytest.raises(OpenSetError, match="None of the 4 classes reaches recall"):
        evaluate_data(data, recalls=RECALLS, bootstrap=0)
    return None


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_verdict_becomes_better(honest, attack):
    before = verdict(evaluate_data(honest, recalls=RECALLS, bootstrap=0))
    after = evaluated(attack(honest))
    assert after is None or verdict(after).rank >= before.rank


def bars_around(result, missed):
    """A gate that the result would just pass, but for one bar that it just misses."""
    signs = {"awi": "<=", "fp_per_1000": "<=", "slope": "<="}
    bars = []
    for one in metric_values(result):
        if one.name not in ("awi", "fp_per_1000", "precision", "precision_open", "map", "recall", "worst_recall"):
            continue
        options = ", ".join(f"{key}={value}" for key, value in one.params.items())
        sign = signs.get(one.name, ">=")
        slack = 1e-9 if one.name != missed else -0.02 * abs(one.value)
        level = one.value + slack if sign == "<=" else one.value - slack
        bars.append(parse_detection_bar(f"{one.name}({options}){sign}{level!r}"))
    return bars


def passes(result, bars):
    return all(one.reached for one in check_detection_bars(result, bars))


@pytest.mark.parametrize("missed", ["awi", "fp_per_1000", "precision", "precision_open", "map"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_gate_opens(honest, attack, missed):
    before = evaluate_data(honest, recalls=RECALLS, bootstrap=0)
    assert passes(before, bars_around(before, "nothing"))
    bars = bars_around(before, missed)
    assert not passes(before, bars)
    after = evaluated(attack(honest))
    if after is not None and after.lost_recalls:  # which leaves no value to hold against the bars there
        with pytest.raises(OpenSetError, match="no such value"):
            passes(after, bars)
    elif after is not None:
        assert not passes(after, bars)


@pytest.mark.parametrize("missed", ["fp_per_1000", "precision", "precision_open", "recall"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_gate_opens_at_frozen_thresholds(honest, attack, missed):
    frozen = np.full(len(CLASSES), 0.55)
    before = evaluate_data(honest, thresholds=frozen, bootstrap=0)
    assert passes(before, bars_around(before, "nothing"))
    bars = bars_around(before, missed)
    after = evaluate_data(attack(honest), thresholds=frozen, bootstrap=0)
    assert not passes(after, bars)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_comparison_is_won(honest, attack):
    if attack is split_a_wild_image:
        for pair in ((honest, attack(honest)), (attack(honest), honest)):
            with pytest.raises(OpenSetError, match="must be measured on the same wild images"):
                compare(*pair, recalls=RECALLS, bootstrap=60)
        return
    found = compare(honest, attack(honest), recalls=RECALLS, bootstrap=60)
    assert found.better != 2, found.conclusion(["honest", "attacked"])
    turned = compare(attack(honest), honest, recalls=RECALLS, bootstrap=60)
    assert turned.better != 1


def test_what_loses_classes_loses_the_comparison(honest):
    for attack in (
        drop_classes,
        cut_hard,
        shift_classes,
        duplicate_on_known_images,
        add_false_detections_on_known_images,
    ):
        found = compare(honest, attack(honest), recalls=RECALLS, bootstrap=60)
        assert found.reasons, attack
        assert "They cannot be told apart" not in found.conclusion(["honest", "attacked"])


def call_a_class_difficult(data):
    """Objects of the class that makes most false detections need not be found any more."""
    known = data.known
    return replace(data, known=replace(known, ignore=known.ignore | (known.category == 0)))


def test_a_class_that_is_not_tested_is_no_class_without_false_detections(honest):
    """Without an object there is no threshold at a recall, and what the class does on wild images drops out."""
    result, other = (evaluate_data(data, bootstrap=0) for data in (honest, call_a_class_difficult(honest)))
    assert other.operating[1].total.fp_per_1000.value < 0.8 * result.operating[1].total.fp_per_1000.value
    assert other.operating[1].untested == ("ant",)
    assert verdict(other).rank > verdict(result).rank
    assert "not tested on ant: without an object to find" in str(verdict(other)).lower()
    bars = [parse_detection_bar("fp_per_1000<=1e9")]
    assert passes(result, bars)
    assert not passes(other, bars)
    assert all(one.reached for one in check_detection_bars(other, bars, allow_unreached=True))
    frozen = evaluate_data(call_a_class_difficult(honest), thresholds=np.full(len(CLASSES), 0.55), bootstrap=0)
    same = evaluate_data(honest, thresholds=np.full(len(CLASSES), 0.55), bootstrap=0)
    assert frozen.operating[0].untested == ()
    assert frozen.operating[0].total.fp_per_1000 == same.operating[0].total.fp_per_1000


def test_a_few_missing_wild_results_are_noticed(honest):
    """Where every image has two detections or more, ten of 200 without any are a twentieth of the rate."""
    found = duplicate(honest).wild_found
    assert not evaluate_data(changed(honest, wild=found), bootstrap=0).silence.suspicious
    assert evaluate_data(changed(honest, wild=where(found, found.image >= 10)), bootstrap=0).silence.suspicious


def test_missing_wild_results_lose_the_comparison(honest):
    """Wild images without results have no false detections, which must not speak for the detector."""
    found = compare(honest, drop_wild_images(honest), recalls=[0.3], bootstrap=60)
    assert (2, "has wild results that are probably not complete") in found.reasons
    assert found.better != 2


def test_missing_wild_results_are_noticed(honest):
    result = evaluate_data(drop_wild_images(honest), bootstrap=0)
    assert result.silence.suspicious
    assert any("the wild results are probably not complete" in note for note in result.notes)
    assert verdict(result).sentences[0].startswith("cannot be judged: 100 of 200 wild images have no detection at all")
    assert not evaluate_data(honest, bootstrap=0).silence.suspicious


def test_a_detector_that_is_rightly_silent_is_not_suspected(honest):
    """Cut at a score, most wild images fall silent, but then others have just one detection."""
    result = evaluate_data(cut_at_a_score(honest), recalls=[0.1], bootstrap=0)
    assert result.silence.wild > 100
    assert not result.silence.suspicious


def test_an_image_that_stands_twice_is_refused(honest):
    """Two ids for one file would halve the false detections per image."""
    names = list(honest.wild.file_names)
    names[1] = names[0]
    with pytest.raises(OpenSetError, match=r"wild has the image file '0.png' 2 times, with the ids 0, 1"):
        arrange(honest.known, honest.known_found, replace(honest.wild, file_names=tuple(names)), honest.wild_found)
