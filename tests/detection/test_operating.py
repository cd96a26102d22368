"""Operating points: by hand, against a scan of every threshold, frozen and applied."""

import json
import math

import numpy as np
import pytest

from detection_sets import make_found, pencil_case, random_set, random_wild
from openset.detection.measure.evaluation import matched
from openset.detection.measure.sets import arrange, load
from openset.detection.thresholds import Thresholds, apply, best_f_beta, choose
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
    assert chosen.achieved.fp_per_1000 <= per_thousand
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
    assert {"rule", "thresholds", "achieved", "n"} <= set(json.loads((tmp_path / "t.json").read_text()))
    again = Thresholds.read(tmp_path / "t.json")
    assert again == chosen
    rows, total = apply(data, ranked, again.for_classes(("a", "b"), "here"))
    assert rows["a"].threshold == 0.7
    assert (rows["a"].recall, rows["a"].precision, rows["a"].precision_open) == (0.5, 0.5, 2 / 7)
    assert rows["a"].fp_per_1000 == 750
    assert (rows["b"].threshold, rows["b"].recall, rows["b"].precision) == (None, 0, None)
    assert (total.recall, total.precision) == (2 / 6, 2 / 4)
    assert again.for_classes(("b",), "here").tolist() == [math.inf]


def test_without_wild_images():
    known, known_found, _, _ = pencil_case()
    data = load(known, known_found)
    ranked = matched(data)[1]
    chosen = choose(data, ranked, "recall=0.5")
    assert chosen.thresholds == {"a": 0.7, "b": None}
    assert chosen.achieved.fp_per_1000 is None
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
    _, point = apply(*ready(*pencil_case()), np.zeros(2))
    frozen = Thresholds("by hand", {"c#": 0.1, "c++": 0.2, "motor-bike": 0.3, "motorbike": 0.4}, point, {})
    names = ("c++", "motor-bike", "c#", "motorbike")
    assert frozen.for_classes(names, "here").tolist() == [0.2, 0.3, 0.1, 0.4]


def test_empty_detections_have_no_operating_point():
    known, _, wild, _ = pencil_case()
    data = arrange(known, make_found([]), wild, make_found([]))
    with pytest.raises(OpenSetError, match="No class satisfies"):
        choose(data, matched(data)[1], "recall=0.5")
    assert np.isfinite(choose(data, matched(data)[1], "wild_fp=1").thresholds["a"])
