"""What may be wrong with one file among many: a sentence that names the file, and the row where there is one."""

import numpy as np
import polars as pl
import pytest

from openset._io.parquet_files import is_many
from openset.errors import OpenSetError
from openset.scale import passes
from openset.scale.evaluation import evaluate_source
from openset.scale.source import open_source, read_rows
from samples import random_dataset


@pytest.fixture
def folder(write_parts):
    return write_parts(*random_dataset(60, dtype=np.float32), parts=3, group_rows=5)


def rewrite(file, **columns):
    pl.read_parquet(file).with_columns(**columns).write_parquet(file, row_group_size=5)


def test_what_is_one_model(folder, tmp_path, monkeypatch):
    assert is_many(str(folder))
    assert is_many(f"{folder}/*.parquet")
    assert not is_many(f"{folder}/0.parquet")
    (tmp_path / "a[1].parquet").touch()
    assert not is_many(str(tmp_path / "a[1].parquet"))  # a name is a name
    assert len(open_source(f"{folder}/[01].parquet").files) == 2


def test_parts_are_runs_of_whole_groups_of_rows_unless_a_group_is_too_large(folder):
    parts = open_source(str(folder), part_rows=10).parts
    assert [(part.first, part.rows) for part in parts] == [(0, 10), (10, 10)] * 3
    parts = open_source(str(folder), part_rows=2).parts[:3]
    assert [(part.first, part.rows) for part in parts] == [(0, 1), (1, 2), (3, 2)]
    assert sum(part.rows for part in open_source(str(folder), part_rows=7).parts) == 60


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nowhere/*.parquet", "Nothing matches '.*nowhere/.*': put the pattern in quotes"),
        ("empty", "is a folder without .parquet files"),
        ("texts/*", "a.csv is not a .parquet file"),
    ],
)
def test_nothing_to_read(tmp_path, text, sentence):
    (tmp_path / "empty").mkdir()
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.csv").write_text("label\n")
    with pytest.raises(OpenSetError, match=sentence):
        open_source(str(tmp_path / text))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"unknown_score": pl.col("unknown_score").cast(pl.Float64)},
            "1.parquet has unknown_score as float64, .*0.parquet",
        ),
        ({"group": pl.lit("far")}, "1.parquet has other columns than .*0.parquet"),
        ({"label": pl.lit("cat")}, "1.parquet: column 'label' holds String"),
        ({"unknown_score": pl.lit("x")}, "1.parquet: column 'unknown_score' holds String"),
    ],
)
def test_a_file_of_another_schema(folder, columns, sentence):
    rewrite(folder / "1.parquet", **columns)
    with pytest.raises(OpenSetError, match=sentence):
        open_source(str(folder))


def test_a_file_without_a_column(folder):
    pl.read_parquet(folder / "2.parquet").drop("prediction").write_parquet(folder / "2.parquet")
    with pytest.raises(OpenSetError, match="2.parquet: there is no column 'prediction'"):
        open_source(str(folder))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("unknown_score", np.nan, r"1.parquet: unknown_score is nan in row 12 \(row group 2\)"),
        ("unknown_score", np.inf, r"1.parquet: unknown_score is inf in row 12 \(row group 2\)"),
        ("unknown_score", None, r"1.parquet: unknown_score is missing in row 12 \(row group 2\)"),
        ("label", -3, r"1.parquet: Label -3 in row 12 \(row group 2\)"),
        ("prediction", -1, r"1.parquet: Prediction -1 in row 12 \(row group 2\)"),
    ],
)
def test_a_bad_row_is_named(folder, name, value, sentence):
    place = pl.int_range(pl.len()) == 12
    kind = pl.read_parquet_schema(folder / "1.parquet")[name]
    rewrite(folder / "1.parquet", **{name: pl.when(place).then(pl.lit(value, dtype=kind)).otherwise(pl.col(name))})
    with pytest.raises(OpenSetError, match=sentence):
        evaluate_source(open_source(str(folder), part_rows=10))


def test_a_file_that_is_cut_off(folder):
    file = folder / "1.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(OpenSetError, match="1.parquet is not a readable Parquet file, or it is cut off"):
        open_source(str(folder))


@pytest.mark.parametrize("about", ["{", "[" * 100_000, "1" * 5000, '{"class_names": ["\\ud800"]}'])
def test_what_a_file_tells_of_itself_may_be_damaged(folder, about):
    file = folder / "1.parquet"
    pl.read_parquet(file).write_parquet(file, metadata={"openset": about})
    with pytest.raises(OpenSetError, match="1.parquet: its 'openset' entry"):
        open_source(str(folder))


def test_rows_are_counted_once_also_where_a_link_leads_round(folder):
    (folder / "round").symlink_to(".")
    assert open_source(f"{folder}/**/*.parquet").n_rows == 60
    assert open_source(str(folder)).n_rows == 60


def test_folders_that_are_named_like_files_are_looked_into(folder):
    inner = folder / "more.parquet"
    inner.mkdir()
    (folder / "1.parquet").rename(inner / "1.parquet")
    assert open_source(str(folder)).n_rows == 60


def test_a_file_that_changes_between_the_passes(folder, monkeypatch):
    source = open_source(str(folder), part_rows=10)
    file = folder / "1.parquet"

    def changing(*given):
        found = counted(*given)
        table = pl.read_parquet(file)
        table.with_columns(prediction=pl.col("prediction").reverse()).write_parquet(file, row_group_size=5)
        return found

    counted = passes.count_all
    monkeypatch.setattr("openset.scale.evaluation.count_all", changing)
    with pytest.raises(OpenSetError, match="1.parquet changed while it was being evaluated"):
        evaluate_source(source, mode="exact")
    # Neither size nor time tells: the counts do.
    monkeypatch.setattr("openset._io.parquet_files._OnDisk.state", lambda *_: (1, 1))
    with pytest.raises(OpenSetError, match="changed while it was being evaluated"):
        evaluate_source(open_source(str(folder), part_rows=10), mode="exact")


def test_a_file_that_is_gone(folder):
    source = open_source(str(folder))
    (folder / "0.parquet").unlink()
    with pytest.raises(OpenSetError, match="0.parquet is gone"):
        read_rows(source.parts[0], source)


def test_a_group_with_a_reserved_name(write_parts):
    labels, predictions, score = random_dataset(30)
    folder = write_parts(labels, predictions, score, np.where(labels < 0, "negative", ""))
    with pytest.raises(OpenSetError, match="A group cannot be called 'negative'"):
        evaluate_source(open_source(str(folder)))
