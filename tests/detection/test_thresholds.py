"""Thresholds: by hand, against a scan of every threshold, frozen and applied."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from detection_sets import make_found, pencil_case, random_set, random_wild
from openset.detection.choosing import best_f_beta, choose
from openset.detection.measure.evaluation import evaluate_data, evaluate_open_set
from openset.detection.measure.operating import operate
from openset.detection.measure.ranking import matched
from openset.detection.measure.sets import arrange, load
from openset.detection.thresholds import Thresholds, frozen_for, with_frozen_notes
from openset.errors import OpenSetError


def ready(*case):
    data = arrange(*case)
    return data, matched(data)[1]


def scan(data, ranked, c, n_wild):
    """Every threshold of a class with its precision and recall, highest first."""
    rows = [i for i in range(len(ranked.rows)) if data.known_found.category[ranked.rows[i]] == c]
    wild = data.wild_found
    out = []
    for t in sorted({ranked.score[i] for i in rows}, reverse=True):
        taken = [i for i in rows if ranked.score[i] >= t]
        true = sum(ranked.correct[i] for i in taken)
        n_open = sum(wild.category[d] == c and wild.image[d] < n_wild and wild.score[d] >= t for d in range(len(wild)))
        recall = true / ranked.n_objects[c] if ranked.n_objects[c] else 0
        out.append((t, true / (len(taken) + n_open), recall, n_open))
    return out


def f_beta(precision, recall, beta):
    total = recall + beta**2 * precision
    return (1 + beta**2) * precision * recall / total if total else 0.0


def test_f_beta_by_hand():
    """Class a, no wild images: thresholds .9 (P 1, R 1/4), .7 (P 2/4, R 2/4), .6 (P 3/5, R 3/4)."""
    data, ranked = ready(*pencil_case())
    rows = best_f_beta(data, ranked, beta=1)
    assert [row.ratio for row in rows] == [0, 0.25, 0.5, 0.75, 1]
    assert {row.class_name for row in rows} == {"a"}  # b has no correct detection
    assert (rows[0].threshold, rows[0].precision, rows[0].recall) == (0.6, 3 / 5, 3 / 4)
    assert rows[0].f_score == pytest.approx(2 * 0.6 * 0.75 / 1.35)
    # all wild images: .9 (1/2, 1/4), .7 (2/7, 2/4: the wild .7 counts), .6 (3/9, 3/4)
    assert (rows[-1].threshold, rows[-1].precision) == (0.6, pytest.approx(3 / 9))
    half = best_f_beta(data, ranked, beta=0.1)[0]
    assert (half.threshold, half.precision, half.recall) == (0.9, 1, 0.25)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("beta", [0.5, 1, 1.5])
def test_f_beta_equals_a_scan(seed, beta):
    data, ranked = ready(*random_set(seed), *random_wild(seed))
    for row in best_f_beta(data, ranked, beta=beta):
        c = data.known.class_names.index(row.class_name)
        points = scan(data, ranked, c, round(row.ratio * 12))
        best = max(points, key=lambda point: (f_beta(point[1], point[2], beta), point[0]))
        assert row.f_score == pytest.approx(f_beta(best[1], best[2], beta))
        assert (row.threshold, row.precision, row.recall) == pytest.approx(best[:3])


@pytest.mark.parametrize("seed", range(6))
def test_precision_rule_takes_the_largest_recall_that_keeps_it(seed):
    data, ranked = ready(*random_set(seed, n_detections=60), *random_wild(seed))
    chosen = choose(data, ranked, "precision=0.4", ratio=0.5)
    for c, name in enumerate(data.known.class_names):
        good = [point for point in scan(data, ranked, c, 6) if point[1] >= 0.4 and point[2] > 0]
        if good:
            recall = max(point[2] for point in good)
            assert chosen.thresholds[name] == max(point[0] for point in good if point[2] == recall)
        else:
            assert chosen.thresholds[name] is None
    assert chosen.rule == "precision=0.4 at wilderness ratio 0.5"


@pytest.mark.parametrize("per_thousand", [0, 50, 400, 10**6])
def test_wild_budget_is_kept_and_used_up(per_thousand):
    data, ranked = ready(*random_set(2), *random_wild(2))
    n_allowed = per_thousand * 20 // 1000
    chosen = choose(data, ranked, f"wild_fp={per_thousand}")
    [t] = set(chosen.thresholds.values())
    scores = data.wild_found.score
    assert (scores >= t).sum() <= n_allowed
    lower = scores[scores < t]
    assert not len(lower) or (scores >= lower.max()).sum() > n_allowed
    assert chosen.achieved.fp_per_1000.value <= per_thousand
    each = choose(data, ranked, f"wild_fp_per_class={per_thousand}")
    for c, name in enumerate(data.known.class_names):
        own = scores[data.wild_found.category == c]
        assert (own >= each.thresholds[name]).sum() <= n_allowed
        lower = own[own < each.thresholds[name]]
        assert not len(lower) or (own >= lower.max()).sum() > n_allowed


def test_frozen_and_applied_to_other_data(tmp_path):
    data, ranked = ready(*pencil_case())
    chosen = choose(data, ranked, "recall=0.5")
    assert chosen.thresholds == {"a": 0.7, "b": None}
    assert chosen.n == {"known": 4, "wild": 4, "objects": 6}
    chosen.write(tmp_path / "t.json")
    content = json.loads((tmp_path / "t.json").read_text())
    assert (content["kind"], content["schema"], content["classes"]) == ("detection thresholds", 2, ["a", "b"])
    assert (content["matching"], content["iou"], content["files"]["known"]) == ("voc", 0.5, "truth")
    again = Thresholds.read(tmp_path / "t.json")
    assert again == chosen
    point = operate(data, ranked, again.for_classes(("a", "b"), "here"))
    a, b = point.classes["a"], point.classes["b"]
    assert a.threshold == 0.7
    assert (a.recall.value, a.precision.value, a.precision_open.value) == (0.5, 0.5, pytest.approx(2 / 7))
    assert (a.fp_per_1000.value, a.n_missed, a.n_open) == (750, 2, 3)
    assert (b.threshold, b.recall.value, b.precision.value) == (None, 0, None)
    assert (point.total.recall.value, point.total.precision.value) == (2 / 6, 2 / 4)
    assert (point.unreached, point.worst_recall) == (("b",), 0)
    assert again.for_classes(("b", "a"), "here").tolist() == [math.inf, 0.7]


def test_thresholds_of_other_classes_or_conditions_are_refused(tmp_path):
    data, ranked = ready(*pencil_case())
    chosen = choose(data, ranked, "recall=0.5")
    with pytest.raises(OpenSetError, match="are of other classes than here, which has no 'b'"):
        chosen.for_classes(("a",), "here")
    with pytest.raises(OpenSetError, match="chosen with matching voc, and this is matching coco: give --matching voc"):
        frozen_for(data, chosen, matching="coco", iou=0.5)
    with pytest.raises(OpenSetError, match=r"chosen with iou 0.5, and this is iou 0.7: give --iou 0.5, or --force"):
        frozen_for(data, chosen, matching="voc", iou=0.7)
    assert frozen_for(data, chosen, matching="coco", iou=0.7, force=True).tolist() == [0.7, math.inf]
    old = {"schema": 1, "rule": "recall=0.5", "thresholds": {"a": 0.7, "b": None}, "achieved": {}, "n": {"known": 4}}
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert frozen_for(data, tmp_path / "old.json", matching="coco", iou=0.9).tolist() == [0.7, math.inf]


def test_thresholds_remember_how_many_detections_were_kept(tmp_path):
    data, ranked = ready(*pencil_case())
    chosen = choose(data, ranked, "recall=0.5", max_detections=100)
    chosen.write(tmp_path / "t.json")
    assert Thresholds.read(tmp_path / "t.json") == chosen
    with pytest.raises(
        OpenSetError,
        match="with at most 100 detections of an image and class, and these are all detections: give --max-detections",
    ):
        frozen_for(data, chosen, matching="voc", iou=0.5)
    with pytest.raises(OpenSetError, match="these are at most 1 detection: give --max-detections 100, or --force"):
        evaluate_open_set(*pencil_case(), thresholds=chosen, max_detections=1, bootstrap=0)
    for wanted in ({"max_detections": 100}, {"force": True}):
        assert frozen_for(data, chosen, matching="voc", iou=0.5, **wanted).tolist() == [0.7, math.inf]
    with pytest.raises(OpenSetError, match="with all detections .* are at most 5 detections: leave out --max-det"):
        frozen_for(data, choose(data, ranked, "recall=0.5"), matching="voc", iou=0.5, max_detections=5)


@pytest.mark.parametrize("value", ["0", "true", "2.5", '"100"'])
def test_a_damaged_limit_is_refused(tmp_path, value):
    data, ranked = ready(*pencil_case())
    file = tmp_path / "t.json"
    choose(data, ranked, "recall=0.5").write(file)
    file.write_text(file.read_text().replace('"max_detections": null', f'"max_detections": {value}'))
    with pytest.raises(OpenSetError, match="t.json: max_detections must be a whole number from 1, or null for all"):
        Thresholds.read(file)


def test_a_file_that_does_not_say_kept_all_detections(tmp_path):
    """The option was not there when such files were written."""
    data, ranked = ready(*pencil_case())
    file = tmp_path / "t.json"
    choose(data, ranked, "recall=0.5").write(file)
    content = json.loads(file.read_text())
    del content["max_detections"]
    file.write_text(json.dumps(content))
    assert frozen_for(data, file, matching="voc", iou=0.5).tolist() == [0.7, math.inf]
    with pytest.raises(OpenSetError, match="chosen with all detections"):
        frozen_for(data, file, matching="voc", iou=0.5, max_detections=1)


def test_evaluation_at_frozen_thresholds(tmp_path):
    """Everything at .65 for a and nothing of b: TP 2, FP 2, and .95, .7, .8 on wild images."""
    known, found, wild, wild_found = pencil_case()
    frozen = Thresholds("by hand", {"a": 0.65, "b": None}, None, {}, "voc", 0.5)
    result = evaluate_open_set(known, found, wild, wild_found, thresholds=frozen, bootstrap=50)
    [point] = result.operating
    assert (point.recall, point.name) == (None, "frozen thresholds")
    assert (point.total.n_true, point.total.n_false, point.total.n_open) == (2, 2, 3)
    assert point.unreached == ("b",)
    assert result.wilderness[0].impact[-1] == 0.75
    assert result.wilderness[0].awi_low <= result.wilderness[0].awi <= result.wilderness[0].awi_high
    assert result.errors[0].open_set == (2, 2, 0, 0, 2, 0, 1)
    assert result.confusion.counts[0] == (4, 0, 1, 1)
    with pytest.raises(OpenSetError, match="'official' is defined by a recall"):
        evaluate_open_set(known, found, wild, wild_found, thresholds=frozen, variant="official")


def test_thresholds_that_accept_nothing_have_no_impact():
    data, _ = ready(*pencil_case())
    result = evaluate_data(data, thresholds=np.array([2.0, 2.0]), bootstrap=10)
    assert result.wilderness == ()
    assert result.operating[0].total.precision.value is None
    assert result.operating[0].unreached == ("a", "b")
    assert result.operating[0].total.fp_per_1000.value == 0


def test_thresholds_applied_to_the_data_they_come_from_are_pointed_out():
    data, ranked = ready(*pencil_case())
    chosen = choose(data, ranked, "recall=0.5")
    result = evaluate_data(data, thresholds=frozen_for(data, chosen, matching="voc", iou=0.5), bootstrap=0)
    noted = with_frozen_notes(result, chosen, "t.json")
    assert "t.json was chosen on these very data" in noted.notes[-1]
    assert noted.settings["rule"] == "recall=0.5"
    other = replace(chosen, fingerprint="x")
    assert with_frozen_notes(result, other, "t.json").notes == result.notes


def test_without_wild_images():
    known, known_found, _, _ = pencil_case()
    data = load(known, known_found)
    ranked = matched(data)[1]
    chosen = choose(data, ranked, "recall=0.5")
    assert chosen.thresholds == {"a": 0.7, "b": None}
    assert chosen.achieved.fp_per_1000.value is None
    assert chosen.achieved.precision_open.value is None
    assert set(chosen.files) == {"known", "known_found"}
    with pytest.raises(OpenSetError, match="give wild images"):
        choose(data, ranked, "wild_fp=1")


def test_bad_rules_are_named(tmp_path):
    data, ranked = ready(*pencil_case())
    for rule, words in [
        ("recal=0.3", "Did you mean 'recall'"),
        ("recall", r"needs a number, as in 'recall=0\.3'"),
        ("recall=30", r"Did you mean 0\.3"),
        ("recall=0.9", "No class satisfies the rule 'recall=0.9'"),
        ("wild_fp=-1", "must be 0 or more"),
        ("f_beta=0", "must be a positive number"),
        ("f_beta=1e200", "must be a positive number of at most 1e.06, got 1e.200"),
    ]:
        with pytest.raises(OpenSetError, match=words):
            choose(data, ranked, rule)
    for ratio in (3, -0.01, math.nan, math.inf):
        with pytest.raises(OpenSetError, match=f"ratio {ratio} is not possible"):
            choose(data, ranked, "precision=0.5", ratio=ratio)
    (tmp_path / "t.json").write_text('{"thresholds": {"a": "x"}}')
    with pytest.raises(OpenSetError, match="is not a file of thresholds"):
        Thresholds.read(tmp_path / "t.json")
    chosen = choose(data, ranked, "recall=0.5")
    with pytest.raises(OpenSetError, match="have no class 'c' of here"):
        chosen.for_classes(("a", "c"), "here")


def test_frozen_thresholds_go_to_the_very_class_they_were_chosen_for():
    frozen = Thresholds("by hand", {"c#": 0.1, "c++": 0.2, "motor-bike": 0.3, "motorbike": 0.4}, None, {})
    names = ("c++", "motor-bike", "c#", "motorbike")
    assert frozen.for_classes(names, "here").tolist() == [0.2, 0.3, 0.1, 0.4]


def test_empty_detections_have_no_operating_point():
    known, _, wild, _ = pencil_case()
    data = arrange(known, make_found([]), wild, make_found([]))
    with pytest.raises(OpenSetError, match="No class satisfies"):
        choose(data, matched(data)[1], "recall=0.5")
    assert np.isfinite(choose(data, matched(data)[1], "wild_fp=1").thresholds["a"])


@pytest.mark.parametrize("value", ["NaN", "Infinity"])
def test_a_threshold_that_is_no_number_is_refused(tmp_path, value):
    """No score is at least NaN, so the class would be lost without a word."""
    file = tmp_path / "t.json"
    Thresholds("by hand", {"cat": 0.5}, None, {"known": 1}).write(file)
    content = file.read_text().replace("0.5", value).replace('"schema": 2', '"schema": 1')
    file.write_text(content)
    with pytest.raises(OpenSetError, match=r"t.json: the threshold of class 'cat' is (nan|inf); it must be finite"):
        Thresholds.read(file)
