"""Files that are counted part by part against the same rows in memory: the same bits, and bounds that hold."""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openset import Scores, evaluate, evaluation
from openset.errors import OpenSetError
from openset.scale import counting, passes, ranges
from openset.scale.evaluation import evaluate_source
from openset.scale.source import open_source
from samples import datasets, random_dataset

SMALL = {"range_rows": 5, "workers": 2}


@pytest.fixture(autouse=True)
def from_counts(monkeypatch):
    """In memory, too, resamples are drawn from counts, however few rows there are."""
    monkeypatch.setattr(evaluation, "LARGE", 0)


def compared(found, memory):
    """All that must be equal: everything but the fingerprint, which is of the counts."""
    return replace(found, fingerprint="") == replace(memory, fingerprint="")


def in_folder(folder, **options):
    return evaluate_source(open_source(str(folder), part_rows=10), **SMALL, **options)


def assert_bounds_hold(found, memory):
    for bound, exact in zip(found.results, memory.results, strict=True):
        assert (bound.name, bound.params, bound.against) == (exact.name, exact.params, exact.against)
        assert bound.least <= exact.value <= bound.most, (bound, exact)
        assert bound.least <= bound.value <= bound.most


def write(folder, columns, parts):
    table = pl.DataFrame(columns)
    for part in range(min(parts, len(table))):
        table[part::parts].write_parquet(folder / f"{part}.parquet", row_group_size=4)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=datasets(), parts=st.integers(1, 4))
def test_exact_values_are_those_in_memory_and_bounds_contain_them(dtype, data, parts):
    labels, predictions, score = (np.array(one) for one in data)
    score = score.astype(dtype)
    memory = evaluate(Scores(labels, predictions, score), n_resamples=5)
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), {"label": labels, "prediction": predictions, "unknown_score": score}, parts)
        exact = in_folder(name, mode="exact", n_resamples=5)
        bounds = in_folder(name, mode="bounds", n_resamples=5)
    assert compared(exact, memory)
    assert_bounds_hold(bounds, memory)


@pytest.mark.parametrize("decimals", [None, 2, 0])
@pytest.mark.parametrize("n_classes", [1, 5, 40])
def test_many_rows_with_groups(write_parts, decimals, n_classes):
    labels, predictions, score = random_dataset(3000, n_classes=n_classes, decimals=decimals, dtype=np.float32)
    groups = np.where(labels < 0, np.array(["", "far", "near"])[np.arange(3000) % 3], "")
    memory = evaluate(Scores(labels, predictions, score, groups=groups), n_resamples=20)
    assert "near" in memory.against
    folder = write_parts(labels, predictions, score, groups, group_rows=100)
    source = open_source(str(folder), part_rows=500)
    exact = evaluate_source(source, mode="exact", n_resamples=20, range_rows=400, workers=2)
    assert compared(exact, memory)
    assert_bounds_hold(evaluate_source(source, mode="bounds", n_resamples=20), memory)


@pytest.mark.parametrize("table", [1 << 7, 1 << 10])
def test_ranges_that_cannot_matter_are_left_out_and_change_nothing(write_parts, monkeypatch, table):
    """Few coarse bins, each with many scores: in most ranges no best value and no reading can lie."""
    monkeypatch.setattr(counting, "_TABLE", table)
    made, wanted = [], ranges.fold_range
    monkeypatch.setattr(passes, "fold_range", lambda task, *rest: made.append(task) or wanted(task, *rest))
    labels, predictions, score = random_dataset(2000, n_classes=5, dtype=np.float32)
    memory = evaluate(Scores(labels, predictions, score), n_resamples=5)
    source = open_source(str(write_parts(labels, predictions, score, group_rows=200)))
    found = evaluate_source(source, mode="exact", n_resamples=5, range_rows=100, workers=1)
    assert compared(found, memory)
    n_folds = {len(one.wanted) for one in made}
    assert len(made) > 10
    assert min(n_folds) < max(n_folds)


def test_scores_that_float32_cannot_tell_apart(write_parts):
    labels, predictions, score = random_dataset(400)
    close = 1 + score * 1e-12  # distinct as float64, all alike as float32
    assert len(np.unique(close.astype(np.float32))) == 1
    memory = evaluate(Scores(labels, predictions, close), n_resamples=5)
    folder = write_parts(labels, predictions, close)
    assert compared(in_folder(folder, mode="exact", n_resamples=5), memory)
    assert_bounds_hold(in_folder(folder, mode="bounds", n_resamples=5), memory)


@pytest.mark.parametrize("score", ["constant", "zeros of both signs", "huge and tiny", "two values"])
def test_odd_scores(write_parts, score):
    labels, predictions, usual = random_dataset(300)
    rng = np.random.default_rng(1)
    values = {
        "constant": np.full(300, 0.25),
        "zeros of both signs": np.where(rng.random(300) < 0.5, -0.0, 0.0) + (usual > 0.5),
        "huge and tiny": np.sign(usual) * 10 ** rng.uniform(-40, 38, 300),
        "two values": (usual > 0) * 1.0,
    }[score].astype(np.float32)
    memory = evaluate(Scores(labels, predictions, values), n_resamples=5)
    folder = write_parts(labels, predictions, values)
    assert compared(in_folder(folder, mode="exact", n_resamples=5), memory)
    assert_bounds_hold(in_folder(folder, mode="bounds", n_resamples=5), memory)


def test_with_one_score_in_each_bin_the_bounds_are_the_value(write_parts):
    labels, predictions, score = random_dataset(500, decimals=1, dtype=np.float32)
    memory = evaluate(Scores(labels, predictions, score), intervals=False)
    source = open_source(str(write_parts(labels, predictions, score)))
    found = evaluate_source(source, mode="bounds", intervals=False)
    for bound, exact in zip(found.results, memory.results, strict=True):
        assert bound.most - bound.least < 1e-12, bound
        assert bound.value == pytest.approx(exact.value, abs=1e-12)
    assert found.tied_pairs == pytest.approx(memory.tied_pairs, abs=1e-15)


@pytest.mark.slow
def test_neither_workers_nor_files_nor_their_order_change_a_bit(write_parts, tmp_path):
    labels, predictions, score = random_dataset(2000, dtype=np.float32)
    one = in_folder(write_parts(labels, predictions, score, parts=1, name="one"), mode="exact", n_resamples=5)
    folder = write_parts(labels, predictions, score, parts=7, name="seven")
    for workers in (1, 3):
        found = evaluate_source(open_source(str(folder)), mode="exact", n_resamples=5, workers=workers, range_rows=90)
        assert compared(found, one)
    bounds = in_folder(folder, mode="bounds", n_resamples=5)
    renamed = tmp_path / "renamed"
    renamed.mkdir()
    for place, file in enumerate(sorted(folder.iterdir())):
        shutil.copy(file, renamed / f"{9 - place}.parquet")
    assert in_folder(renamed, mode="bounds", n_resamples=5) == bounds


def test_classes_that_only_the_names_tell_of(tmp_path):
    labels, predictions, score = random_dataset(300, n_classes=3)
    scores = Scores(labels, predictions, score, class_names=["ant", "bee", "cat", "dog", "eel"])
    scores.write(tmp_path / "a.parquet")
    found = in_folder(tmp_path, mode="exact", n_resamples=5)
    assert compared(found, evaluate(scores, n_resamples=5))
    assert found.n_classes == 5
    assert "2 of 5 known classes have no test sample" in found.notes[0]


def test_options_of_ones_own(write_parts):
    labels, predictions, score = random_dataset(300)
    also = [("ccr_at_fpr", {"fpr": 0.05}, None), ("open_set_f_score", {"threshold": 0.3}, None)]
    memory = evaluate(Scores(labels, predictions, score), also=also, n_resamples=5)
    folder = write_parts(labels, predictions, score)
    assert compared(in_folder(folder, mode="exact", also=also, n_resamples=5), memory)
    with pytest.raises(OpenSetError, match="threshold of your own has no bounds: use --exact"):
        in_folder(folder, mode="bounds", also=also)
    with pytest.raises(OpenSetError, match="brier_score needs all rows in memory"):
        in_folder(folder, also=[("brier_score", {}, None)])


def test_only_one_kind_of_samples_is_an_error(write_parts):
    folder = write_parts([0, 1, 1], [0, 1, 1], [0.1, 0.2, 0.3])
    with pytest.raises(OpenSetError, match="Found 3 known samples and 0 open-set samples"):
        in_folder(folder)
