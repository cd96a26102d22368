"""Thresholds chosen on, and applied to, files that are counted part by part: the same as in memory, to the last bit."""

import numpy as np
import pytest

from openset import Scores
from openset.errors import OpenSetError
from openset.operating import RULES, Threshold, choose
from openset.scale.source import open_source
from openset.scale.thresholds import apply_to, choose_from
from samples import random_dataset

RULE_TEXTS = [
    *(rule.example for rule in RULES.values()),
    "at_fpr=0",
    "at_fpr=1",
    "at_acceptance=1",
    "best_f=micro",
    "best_youden=micro",
    "best_accuracy=0.99",
    "min_cost(false_accept=1000, unknown_share=0.9)",
    "conformal=0.0001",
]


@pytest.fixture(params=[None, 1], ids=["distinct", "tied"])
def rows(request):
    labels, predictions, score = random_dataset(3000, n_classes=5, decimals=request.param, dtype=np.float32)
    groups = np.where(labels < 0, np.array(["far", "near"])[np.arange(3000) % 2], "")
    return labels, predictions, score, groups


def sources(folder):
    return open_source(str(folder), part_rows=500)


def same(found, memory):
    assert found.as_json() | {"made": 0} == memory.as_json() | {"made": 0}
    assert found.made["samples"] == memory.made["samples"]


@pytest.mark.parametrize("rule", RULE_TEXTS)
@pytest.mark.parametrize("against", ["all", "unknown", "near"])
def test_every_rule_chooses_what_it_chooses_in_memory(write_parts, rows, rule, against):
    labels, predictions, score, groups = rows
    memory = choose(Scores(labels, predictions, score, groups=groups), rule, against=against)
    source = sources(write_parts(labels, predictions, score, groups, group_rows=100))
    same(choose_from(source, rule, against=against, range_rows=170, workers=2), memory)


@pytest.mark.parametrize("rule", ["at_acceptance=0.9", "conformal=0.1"])
def test_knowns_alone(write_parts, rule):
    labels, predictions, score = random_dataset(500, dtype=np.float64)
    labels = np.maximum(labels, 0)
    source = sources(write_parts(labels, predictions, score, group_rows=100))
    same(choose_from(source, rule, range_rows=70), choose(Scores(labels, predictions, score), rule))
    with pytest.raises(OpenSetError, match="needs open-set samples, and all 500 are known"):
        choose_from(source, "at_fpr=0.1")


def test_open_set_samples_alone(write_parts):
    source = sources(write_parts([-1, -2], [0, 0], [0.1, 0.2]))
    with pytest.raises(OpenSetError, match="at_acceptance: found 0 known samples among 2"):
        choose_from(source, "at_acceptance=0.9")


def test_a_threshold_for_each_class_is_chosen_in_memory(write_parts):
    with pytest.raises(OpenSetError, match="is chosen on rows in memory"):
        choose_from(sources(write_parts(*random_dataset(60))), "conformal(alpha=0.1, per_class=true)")


@pytest.mark.parametrize("against", ["all", "unknown", "near"])
@pytest.mark.parametrize("rule", ["at_acceptance=0.9", "conformal(alpha=0.1, per_class=true)"])
def test_the_rates_of_a_threshold_are_those_in_memory(write_parts, rows, rule, against):
    labels, predictions, score, groups = rows
    scores = Scores(labels, predictions, score, groups=groups)
    frozen = choose(scores, rule)
    found = apply_to(sources(write_parts(labels, predictions, score, groups, group_rows=100)), frozen, against=against)
    assert found.as_json() == frozen.apply(scores, against=against).as_json()


def test_a_threshold_of_another_score_is_refused(write_parts):
    labels, predictions, score = random_dataset(60)
    folder = write_parts(labels, predictions, score)
    other = Scores(labels, predictions, score, meta={"score": {"name": "energy", "params": {}}})
    other.write(folder / "0.parquet")
    own = Threshold(
        0.5,
        "by hand",
        {},
        0,
        choose(
            Scores(labels, predictions, score, meta={"score": {"name": "msp", "params": {}}}), "at_acceptance=0.9"
        ).origin,
    )
    source = open_source(str(folder / "0.parquet"))
    with pytest.raises(OpenSetError, match="it was chosen for the score msp, and this is energy"):
        apply_to(source, own)
    assert apply_to(source, own, force=True)["acceptance"] > 0
