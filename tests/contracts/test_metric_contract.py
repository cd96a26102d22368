"""What must hold for every metric, whoever adds it."""

import inspect

import numpy as np
import pytest

from openset._core.counts import count
from openset.errors import OpenSetError
from openset.metrics import METRICS, Confidences, titled
from openset.posthoc import softmax
from samples import random_dataset

CASES = [(name, params) for name, card in METRICS.items() for params in card.variants]
OVER_SCORES = [case for case in CASES if METRICS[case[0]].uses_scores and METRICS[case[0]].source == "counts"]


def arguments(name, data):
    labels, predictions, score = data
    card = METRICS[name]
    if card.source == "probabilities":
        return labels, softmax(np.eye(5)[predictions] - score[:, None] / 10)
    return [labels, *([predictions] if card.uses_predictions else []), *([score] if card.uses_scores else [])]


def value(name, params, data):
    found = METRICS[name].function(*arguments(name, data), **{k: v for k, v in params.items() if k != "part"})
    return getattr(found, params["part"]) if "part" in params else found


@pytest.mark.parametrize(("name", "params"), CASES)
def test_the_function_and_the_shared_kernel_agree_and_stay_in_range(name, params):
    data = random_dataset(400, decimals=1)
    card = METRICS[name]
    if card.source == "counts":
        shared = card.of(count(*data), **params)
    else:
        shared = card.of(Confidences(*arguments(name, data)), **params)
    found = value(name, params, data)
    assert type(found) is float
    assert found == pytest.approx(shared, abs=1e-12)
    assert card.span[0] <= found <= card.span[1]


@pytest.mark.parametrize(("name", "params"), CASES)
def test_sample_order_and_number_types_do_not_matter(name, params):
    data = random_dataset(400, decimals=1)
    order = np.random.default_rng(1).permutation(400)
    expected = value(name, params, data)
    assert value(name, params, [part[order] for part in data]) == pytest.approx(expected, abs=1e-12)
    narrow = data[0].astype(np.int8), data[1].astype(np.uint8), data[2]
    assert value(name, params, narrow) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "params"), CASES)
def test_repeating_the_data_changes_nothing_unless_the_card_says_so(name, params):
    data = random_dataset(300, decimals=1)
    twice = [np.concatenate((part, part)) for part in data]
    same = value(name, params, twice) == pytest.approx(value(name, params, data), abs=1e-12)
    assert same is METRICS[name].invariant_to_repeats


@pytest.mark.parametrize(("name", "params"), OVER_SCORES)
def test_rescaling_the_scores_upwards_changes_nothing(name, params):
    labels, predictions, score = random_dataset(400, decimals=1)
    expected = value(name, params, (labels, predictions, score))
    for changed in (score * 1e9 + 5, np.exp(score), score**3):
        assert value(name, params, (labels, predictions, changed)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", list(METRICS))
def test_data_comes_first_and_options_by_name_only(name):
    parameters = list(inspect.signature(METRICS[name].function).parameters.values())
    data = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    assert data[0] == "labels"
    assert set(data) <= {"labels", "predictions", "unknown_score", "probabilities"}
    assert all(p.default is not p.empty or p.name in ("fpr", "max_fpr", "threshold", "unknown_share")
               for p in parameters if p.kind is p.KEYWORD_ONLY)  # fmt: skip


@pytest.mark.parametrize("name", list(METRICS))
def test_the_documentation_says_what_it_means_and_shows_an_example(name):
    text = inspect.getdoc(METRICS[name].function)
    assert ">>>" in text
    assert METRICS[name].summary.endswith((".", ")")) or len(METRICS[name].summary) > 20
    for params in METRICS[name].variants:
        assert "{" not in titled(METRICS[name], params)


@pytest.mark.parametrize(("name", "params"), OVER_SCORES)
def test_only_knowns_and_only_unknowns_are_errors_that_count(name, params):
    _, predictions, score = random_dataset(50)
    for only, found in (
        (np.zeros(50, int), "Found 50 known samples and 0"),
        (np.full(50, -2), "Found 0 known samples"),
    ):
        with pytest.raises(OpenSetError, match=found):
            value(name, params, (only, predictions, score))


@pytest.mark.parametrize(("name", "params"), OVER_SCORES)
def test_a_constant_score_has_a_defined_value(name, params):
    labels, predictions, _ = random_dataset(50)
    assert np.isfinite(value(name, params, (labels, predictions, np.full(50, 3.0))))


@pytest.mark.parametrize(("name", "params"), OVER_SCORES)
@pytest.mark.parametrize("against", ["all", "negative", "unknown", "far"])
def test_against_equals_leaving_the_other_samples_out(name, params, against):
    labels, predictions, score = random_dataset(400, decimals=1)
    groups = np.where(np.arange(400) % 3 == 0, "far", "near")
    keep = {
        "all": labels < 0,
        "negative": labels == -1,
        "unknown": labels == -2,
        "far": (labels < 0) & (groups == "far"),
    }[against] | (labels >= 0)
    function = METRICS[name].function
    extra = {"n_classes": 5} if "n_classes" in inspect.signature(function).parameters else {}
    whole = function(*arguments(name, (labels, predictions, score)), **params, **extra, against=against, groups=groups)
    part = function(*arguments(name, [a[keep] for a in (labels, predictions, score)]), **params, **extra)
    assert whole == pytest.approx(part, abs=1e-12)


@pytest.mark.parametrize(("name", "params"), CASES)
def test_the_size_of_the_runs_does_not_matter(name, params, monkeypatch):
    data = random_dataset(400, decimals=2)
    expected = value(name, params, data)
    for size in (1, 7, 64):
        monkeypatch.setattr("openset._core.sorting.CHUNK", size)
        assert value(name, params, data) == pytest.approx(expected, abs=1e-12)
