"""Two models whose rows are counted part by part, against the same rows in memory."""

from itertools import pairwise

import numpy as np
import pytest

from openset import Scores, evaluation
from openset.errors import OpenSetError
from openset.intervals import compare
from openset.metrics import METRICS
from openset.scale.comparison import compare_sources
from openset.scale.pairing import deal, parts_of_both
from openset.scale.source import open_source
from samples import random_dataset

METRICS_ASKED = [(card.name, dict(card.variants[0])) for card in METRICS.values() if card.headline]


@pytest.fixture(autouse=True)
def from_counts(monkeypatch):
    """In memory, too, resamples are drawn from counts, however few rows there are."""
    monkeypatch.setattr(evaluation, "LARGE", 0)


def two_models(n, decimals=None, dtype=np.float32, groups=False):
    """A model, and another one that errs elsewhere, in part."""
    labels, predictions, score = random_dataset(n, n_classes=5, dtype=dtype)
    rng = np.random.default_rng(1)
    second = np.where(rng.random(n) < 0.1, rng.integers(0, 5, n), predictions)
    other = (score + 0.4 * rng.standard_normal(n)).astype(dtype)
    if decimals is not None:
        score, other = score.round(decimals), other.round(decimals)
    names = np.where(labels < 0, np.array(["far", "near"])[np.arange(n) % 2], "") if groups else None
    return (labels, predictions, score, names), (labels, second, other, names)


def in_folders(write_parts, models, parts=(3, 2)):
    """The rows in their order, divided otherwise for each model."""
    found = []
    for name, rows, n in zip(("a", "b"), models, parts, strict=True):
        cuts = np.linspace(0, len(rows[0]), n + 1).astype(int)
        for number, (start, stop) in enumerate(pairwise(cuts)):
            one = [None if column is None else column[start:stop] for column in rows]
            folder = write_parts(*one, parts=1, group_rows=100, name=f"{name}{number}")
            whole = folder.parent / name
            whole.mkdir(exist_ok=True)
            (folder / "0.parquet").rename(whole / f"{number}.parquet")
        found.append(open_source(str(folder.parent / name), part_rows=300))
    return found


def in_memory(models):
    return [Scores(*rows[:3], groups=rows[3]) for rows in models]


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("against", ["all", "unknown", "near"])
def test_values_and_delong_are_those_in_memory(write_parts, decimals, against):
    models = two_models(3000, decimals, groups=True)
    sources = in_folders(write_parts, models)
    found, evaluations = compare_sources(
        *sources, METRICS_ASKED, against=against, n_resamples=20, range_rows=400, workers=2
    )
    assert len(evaluations) == 2
    for one, (name, params) in zip(found, METRICS_ASKED, strict=True):
        memory = compare(*in_memory(models), name, against=against, n_resamples=20, **params)
        assert (one.metric, one.params, one.against, one.n) == (name, params, against, memory.n)
        assert one.first.value == memory.first.value
        assert one.second.value == memory.second.value
        assert one.difference.value == memory.difference.value
        if METRICS[name].has_delong(params):
            assert (one.first.low, one.first.high) == pytest.approx((memory.first.low, memory.first.high), abs=1e-12)
            exact = memory.difference.sd
            if decimals is None:  # scores of a bin count as tied, and what that can change is added
                assert exact <= one.difference.sd <= 1.01 * exact
                assert one.p_value >= memory.p_value
            else:
                assert one.difference.sd == pytest.approx(exact, rel=1e-9)
                assert one.p_value == pytest.approx(memory.p_value, rel=1e-6)


def test_the_spread_of_the_other_differences_is_that_in_memory(write_parts):
    models = two_models(20_000)
    asked = [one for one in METRICS_ASKED if not METRICS[one[0]].has_delong(one[1])]
    found, _ = compare_sources(*in_folders(write_parts, models), asked, n_resamples=400, seed=3)
    for one, (name, params) in zip(found, asked, strict=True):
        memory = compare(*in_memory(models), name, n_resamples=200, seed=3, **params)
        assert one.difference.sd == pytest.approx(memory.difference.sd, rel=0.3), name
        assert one.difference.low < one.difference.value < one.difference.high


def test_neither_workers_nor_the_files_of_one_model_change_a_bit(write_parts):
    models = two_models(2000)
    sources = in_folders(write_parts, models)
    wanted = compare_sources(*sources, METRICS_ASKED, n_resamples=10, workers=1)
    assert compare_sources(*sources, METRICS_ASKED, n_resamples=10, workers=3, range_rows=90) == wanted


def test_a_model_and_itself(write_parts):
    models = two_models(500)
    first, _ = in_folders(write_parts, models)
    found, _ = compare_sources(first, first, METRICS_ASKED, n_resamples=10)
    assert all(one.difference.value == 0 and one.p_value == 1 for one in found)


def test_a_class_that_one_model_never_names(write_parts):
    (labels, predictions, score, _), _ = models = two_models(400)
    labels = np.minimum(labels, 3)
    first, second = (labels, np.minimum(predictions, 3), score, None), (labels, predictions, -score, None)
    assert models
    found, _ = compare_sources(*in_folders(write_parts, (first, second)), METRICS_ASKED, n_resamples=10)
    for one, (name, params) in zip(found, METRICS_ASKED, strict=True):
        memory = compare(*in_memory((first, second)), name, n_resamples=10, **params)
        assert one.difference.value == memory.difference.value


def test_other_samples_are_refused(write_parts):
    (labels, predictions, score, groups), second = two_models(300, groups=True)
    turned = labels.copy()
    turned[[7, 8]] = labels[7] + 1, labels[8]
    with pytest.raises(OpenSetError, match=r"0.parquet, row 7 .* have different labels"):
        compare_sources(*in_folders(write_parts, ((turned, *second[1:]), second)), METRICS_ASKED)
    names = groups.copy()
    row = int(np.argmax(labels < 0))
    names[row] = "elsewhere"
    with pytest.raises(OpenSetError, match=f"row {row} .* are in different groups"):
        compare_sources(*in_folders(write_parts, ((labels, predictions, score, names), second)), METRICS_ASKED)
    fewer = tuple(column[:299] for column in second)
    with pytest.raises(OpenSetError, match="299 rows, .* 300"):
        compare_sources(*in_folders(write_parts, (fewer, second)), METRICS_ASKED)


def test_ids_that_differ_are_told(tmp_path):
    labels, predictions, score = random_dataset(60)
    ids = np.array([f"s{place}" for place in range(60)])
    for name in ("a", "b"):
        Scores(labels, predictions, score, ids=ids).write(tmp_path / f"{name}.parquet")
        ids = np.where(ids == "s41", "other", ids)
    sources = [open_source(str(tmp_path / f"{name}.parquet")) for name in ("a", "b")]
    with pytest.raises(OpenSetError, match=r"row 41 .* are different samples by their ids: sort both"):
        compare_sources(*sources, METRICS_ASKED)


def test_parts_hold_the_same_rows(write_parts):
    models = two_models(1000)
    sources = in_folders(write_parts, models, parts=(3, 7))
    pairs = parts_of_both(*sources)
    assert sum(one.rows for one, _ in pairs) == 1000
    assert all(one.rows == other.rows for one, other in pairs)
    assert len(pairs) >= 9


def test_groups_get_as_many_of_each_stratum():
    stratum = np.random.default_rng(0).integers(0, 4, 1000)
    group = deal(stratum, 10, np.random.default_rng(1))
    for one in range(4):
        sizes = np.bincount(group[stratum == one], minlength=10)
        assert sizes.max() - sizes.min() <= 1
