"""Each claim holds on figures that bear it out, fails on figures that do not, and is open where figures are missing."""

import inspect

import pytest

from openset.reproduction import claims_elephant, claims_imagenet, claims_openauc
from openset.reproduction.findings import Value
from openset.reproduction.published import published

RISING = {"unknown_recall": [1.0, 0.96, 0.5, 0.0], "F": [0.0, 0.4, 0.8, 0.9]}
FLAT = {"unknown_recall": [1.0, 0.96, 0.5, 0.0], "F": [0.0, 0.85, 0.86, 0.9]}
GOOD = {"softmax": 0.5, "background": 0.6, "entropic": 0.7}
AWI = {"faster-rcnn": [0.02, 0.1], "retinanet": [0.05, 0.2], "dropout": [0.03, 0.3]}


def three_answers(*pairs):
    """Differences of families: clear ones, one that points the other way, and one whose interval contains 0."""
    clear = {(*pair, recall): Value(0.1, low=0.05, high=0.2) for pair in pairs for recall in (0.1, 0.3, 0.5)}
    last = list(clear)[-1]
    return (
        (clear,),
        ({**clear, last: Value(-0.1, low=-0.2, high=-0.01)},),
        ({**clear, last: Value(0.1, low=-0.01, high=0.2)},),
    )


CASES = {
    "best_everywhere": (({"a": {"openauc": 0.9, "x": 0.8}},), ({"a": {"openauc": 0.8, "x": 0.8}},), ({},)),
    "acc_auc_inferior": (({"a": {"openauc": 0.9, "acc_auc": 0.8}},), ({"a": {"openauc": 0.8, "acc_auc": 0.9}},), ({},)),
    "best_on_each": (({"easy": {"openauc": 0.9, "x": 0.8}},), ({"hard": {"openauc": 0.7, "x": 0.8}},), ({},)),
    "metrics_fall": (({"a": RISING},), ({"a": FLAT},), ({},)),
    "best_nacc_catches_few": (({"a": 0.05},), ({"a": 0.05, "b": 0.6},), ({},)),
    "weight_helps": (({0.0: 0.8, 0.1: 0.9},), ({0.0: 0.8, 0.1: 0.9, 0.2: 0.7},), ({0.1: 0.9},)),
    "small_weight_is_best": (({0.1: 0.8, 0.2: 0.9, 0.3: 0.7},), ({0.1: 0.8, 0.6: 0.9},), ({0.1: 0.9},)),
    "large_weight_hurts": (({0.1: 0.9, 0.3: 0.8, 0.6: 0.7},), ({0.1: 0.7, 0.3: 0.8, 0.6: 0.9},), ({0.1: 0.9},)),
    "f_score_cannot_tell": (({"x": (0.01, 0.1)},), ({"x": (0.1, 0.01)},), ({},)),
    "grows_on_little_data": (
        ({"a": {1.0: Value(0.0), 0.1: Value(0.02, low=0.01, high=0.03)}},),
        ({"a": {1.0: Value(0.02), 0.1: Value(0.0, low=-0.01, high=0.01)}},),
        ({"a": {1.0: Value(0.0), 0.1: Value(0.0, low=-0.01, high=0.01)}},),
    ),
    "longer_is_better": (([(5, 0.8), (10, 0.9)],), ([(5, 0.9), (10, 0.8)],), ([(5, 0.9)],)),
    "similar_closed_set": (({"a": 0.7, "b": 0.72}, ""), ({"a": 0.7, "b": 0.8}, ""), ({}, "")),
    "better_on_negatives": ((GOOD, ""), ({**GOOD, "background": 0.4}, ""), ({"softmax": 0.5}, "")),
    "entropic_beats_background": ((GOOD, ""), ({**GOOD, "background": 0.8}, ""), ({"softmax": 0.5}, "")),
    "gain_is_lost_on_unknowns": (
        (GOOD, dict.fromkeys(GOOD, 0.5), ""),
        (dict.fromkeys(GOOD, 0.5), GOOD, ""),
        ({}, {}, ""),
    ),
    "knowns_grow_confident": (({"a": [0.1, 0.9]}, ""), ({"a": [0.9, 0.1]}, ""), ({"a": [0.5]}, "")),
    "entropic_stays_low": (
        ({"softmax": [0.5], "background": [0.6], "entropic": [0.9]}, ""),
        ({"softmax": [0.5], "background": [0.9], "entropic": [0.6]}, ""),
        ({"softmax": [0.5]}, ""),
    ),
    "entropic_suppresses": (
        ({"softmax": 0.5, "background": 0.4, "entropic": 0.1}, ""),
        ({"softmax": 0.5, "background": 0.05, "entropic": 0.1}, ""),
        ({}, ""),
    ),
    "softmax_is_sure": (({"softmax": 0.5, "background": 0.4, "entropic": 0.1}, ""), (GOOD, ""), ({}, "")),
    "wild_images_cost_precision": (({"a": (0.8, 0.7)},), ({"a": (0.8, 0.8)},), ({},)),
    "impact_grows_with_recall": (({"a": [0.1, 0.3]},), ({"a": [0.3, 0.1]},), ({"a": [0.1]},)),
    "one_stage_is_hit_harder": ((AWI,), ({**AWI, "yolov2": [0.01, 0.3]},), ({"yolov2": [0.1, 0.2]},)),
    "dropout_is_worse": ((AWI,), ({**AWI, "dropout": [0.01, 0.3]},), ({"dropout": [0.1, 0.2]},)),
    "impact_grows_with_wilderness": (({"a": [0.1, 0.3]},), ({"a": [0.1, 0.1]},), ({},)),
    "errors_rise": (({"a": (0.1, 0.2)},), ({"a": (0.1, 0.1)},), ({},)),
    "yolo_is_worst": (
        ({"yolov2": (0.1, 0.3), "b": (0.1, 0.2)},),
        ({"yolov2": (0.1, 0.2), "b": (0.1, 0.3)},),
        ({"yolov2": (0.1, 0.2)},),
    ),
    "confused_within_family": (("yolo", 8, 10, 0.4), ("yolo", 8, 10, 0.9), ("yolo", 0, 0, 0.0)),
    "background_often_wins": (({"a": 0.2, "b": 0.0},), ({"a": 0.01},), ({},)),
    "thresholds_do_not_carry_over": (("a", {1.0: [0.5, 0.6]}), ("a", {1.0: [0.5, 0.5]}), ("a", {})),
    "heads_without_background_are_hit_harder": three_answers(
        ("one versus rest", "background class"), ("objectness", "background class")
    ),
    "objectness_is_hit_most": three_answers(("objectness", "one versus rest")),
    "sampling_is_worse": three_answers(("dropout sampling", "background class")),
    "unknowns_grow_with_recall": (({"a": [0.1, 0.3]},), ({"a": [0.3, 0.1]},), ({},)),
}
MODULES = (claims_openauc, claims_imagenet, claims_elephant)


def claim(name):
    return next(getattr(module, name) for module in MODULES if hasattr(module, name))


@pytest.mark.parametrize("name", CASES)
def test_a_claim_can_hold_fail_and_stay_open(name):
    holds, fails, missing = CASES[name]
    assert claim(name)(*holds).holds is True
    assert claim(name)(*fails).holds is False
    assert claim(name)(*missing).holds is None


def test_one_seed_does_not_tell_families_apart():
    [[clear], _, _] = three_answers(("dropout sampling", "background class"))
    assert claims_elephant.sampling_is_worse({key: Value(0.1) for key in clear}).holds is None
    assert claims_elephant.sampling_is_worse(dict.fromkeys(clear)).holds is None


def test_every_claim_has_a_case():
    functions = {
        name
        for module in MODULES
        for name, one in vars(module).items()
        if inspect.isfunction(one) and one.__module__ == module.__name__ and not name.startswith("_")
    }
    assert functions == set(CASES)


def test_what_the_papers_say_against_what_they_print():
    told = published("elephant")
    assert claims_elephant.wild_images_cost_precision({k: tuple(v) for k, v in told["table1"]["rows"].items()}).holds
    impact = told["table2"]["rows"]
    assert claims_elephant.impact_grows_with_recall(impact).holds
    assert claims_elephant.one_stage_is_hit_harder(impact).holds
    assert claims_elephant.dropout_is_worse(impact).holds
    columns = {float(beta): column["threshold"] for beta, column in told["table4"]["beta"].items()}
    assert claims_elephant.thresholds_do_not_carry_over("a", columns).holds


def test_published_f_scores_follow_from_precision_and_recall():
    for beta, column in published("elephant")["table4"]["beta"].items():
        if beta == "0.5":  # printed without the denominator
            continue
        square = float(beta) ** 2
        for f_score, precision, recall in zip(column["f_score"], column["precision"], column["recall"], strict=True):
            p, r = precision / 100, recall / 100
            assert (1 + square) * p * r / (r + square * p) == pytest.approx(f_score, abs=0.011)


@pytest.mark.parametrize(
    ("paper", "path", "value"),
    [
        ("elephant", ("table1", "rows", "yolov2"), [75.89, 67.54]),
        ("elephant", ("table2", "rows", "faster-rcnn"), [0.0195, 0.0382, 0.0971]),
        ("elephant", ("table3", "rows", "diningtable"), [0.264, 0.6867]),
        ("imagenet", ("table1", "rows", "imagenet-p2", "negative", "samples"), [31794, 7949, 1550]),
        ("openauc", ("table4", "open_auc", "openauc"), [80.2, 76.1, 72.5]),
        ("openauc", ("table4", "accuracy", "arpl+"), 85.9),
        ("openauc", ("table5", "error_at_tpr", "gcpl"), [37.0, 46.8, 51.3]),
        ("openauc", ("table5", "f_micro", "maxlogit"), [83.3, 81.6, 81.4]),
        ("openauc", ("table1", "rows", "normalized accuracy"), [True, True, False, True]),
    ],
)
def test_transcribed_numbers(paper, path, value):
    found = published(paper)
    for step in path:
        found = found[step]
    assert found == value
