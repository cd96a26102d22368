"""Files read some rows at a time hold what they hold when read whole."""

import numpy as np
import polars as pl
import pytest

from openset import Scores
from openset._core.labels import LabelWords
from openset._io import score_stream
from openset._io.npz_rows import NpzRows
from openset._io.score_files import read_columns
from openset._io.score_stream import PARTS, open_stream
from openset.errors import OpenSetError
from samples import random_dataset


@pytest.fixture
def few_rows(monkeypatch):
    """Seven rows at a time, so that small files are cut."""
    monkeypatch.setattr(score_stream, "_MOST_ROWS", 7)
    monkeypatch.setattr(score_stream, "_LEAST_ROWS", 1)


def stored(batches, part):
    return np.concatenate([getattr(batch.columns, part) for batch in batches])


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "npz"])
def test_pieces_hold_what_the_whole_holds(tmp_path, few_rows, ending):
    labels, predictions, score = random_dataset(40, dtype=np.float32)
    ids = [f"={n}" for n in range(40)]
    Scores(labels, predictions, score, np.full((40, 5), 0.2), ids=ids).write(tmp_path / f"s.{ending}")
    stream = open_stream(tmp_path / f"s.{ending}")
    assert stream.parts == {"predictions", "unknown_score", "probabilities", "ids"}
    assert stream.single == (ending in ("parquet", "npz"))
    batches = list(stream.batches(stream.parts))
    whole = read_columns(tmp_path / f"s.{ending}", LabelWords())
    for part in ("predictions", "unknown_score", "probabilities"):
        assert np.array_equal(stored(batches, part), getattr(whole, part)), part
    assert pl.concat([batch.ids for batch in batches]).to_list() == ids
    assert np.concatenate([batch.rows for batch in batches]).tolist() == list(range(40))
    if ending == "npz":
        assert [len(batch.rows) for batch in batches] == [7, 7, 7, 7, 7, 5]
    assert all(batch.columns.labels is None for batch in batches)


def test_only_what_is_asked_for_is_read(tmp_path):
    Scores(*random_dataset(20), np.full((20, 5), 0.2)).write(tmp_path / "s.parquet")
    (batch,) = open_stream(tmp_path / "s.parquet").batches({"unknown_score"})
    assert [part for part in PARTS if getattr(batch.columns, part, None) is not None] == ["unknown_score"]


def test_empty_rows_keep_the_numbers_of_the_others(tmp_path, few_rows):
    (tmp_path / "s.csv").write_text("prediction,unknown_score\n0,0.1\n,\n1,0.2\n")
    batches = list(open_stream(tmp_path / "s.csv").batches(PARTS))
    assert np.concatenate([batch.rows for batch in batches]).tolist() == [0, 2]
    (tmp_path / "s.csv").write_text("prediction,unknown_score\n0,0.1\n,\n1,x\n")
    with pytest.raises(OpenSetError, match=r"s\.csv: unknown_score is 'x' in line 4; it must be a number"):
        list(open_stream(tmp_path / "s.csv").batches(PARTS))


def test_the_row_of_a_later_piece_is_named(tmp_path, few_rows):
    rows = "".join(f"0,{n}\n" for n in range(20))
    (tmp_path / "s.csv").write_text(f"prediction,unknown_score\n{rows}0,nan\n")
    with pytest.raises(OpenSetError, match="in line 22"):
        list(open_stream(tmp_path / "s.csv").batches(PARTS))
    score = np.arange(20.0)
    score[17] = np.inf
    pl.DataFrame({"prediction": [0] * 20, "unknown_score": score}).write_parquet(tmp_path / "s.parquet")
    with pytest.raises(OpenSetError, match="row 17"):
        list(open_stream(tmp_path / "s.parquet").batches(PARTS))


def test_archives_are_read_row_by_row_whatever_their_order(tmp_path):
    values = np.arange(24.0).reshape(8, 3)
    arrays = {"by_rows": values, "by_columns": np.asfortranarray(values), "empty": np.array([""] * 8)}
    np.savez_compressed(tmp_path / "a.npz", **arrays)
    rows = NpzRows.open(tmp_path / "a.npz")
    assert rows.arrays["by_columns"].by_columns
    found = list(rows.batches(list(arrays), 3))
    assert [len(one["empty"]) for one in found] == [3, 3, 2]
    for name in ("by_rows", "by_columns"):
        assert np.array_equal(np.concatenate([one[name] for one in found]), values)


def test_archives_that_cannot_be_read_say_so(tmp_path):
    file = tmp_path / "a.npz"
    np.savez(file, predictions=np.zeros(3, int), unknown_score=np.zeros(4))
    with pytest.raises(OpenSetError, match="differ in length .predictions 3, unknown_score 4"):
        list(open_stream(file).batches(PARTS))
    np.savez(file, predictions=np.zeros(0, int), unknown_score=np.zeros(0))
    with pytest.raises(OpenSetError, match="has no samples"):
        list(open_stream(file).batches(PARTS))
    np.savez(file, predictions=np.array([None, 1], dtype=object))
    with pytest.raises(OpenSetError, match="pickled Python objects"):
        open_stream(file)
    np.savez(file, predictions=np.zeros(3000, int), unknown_score=np.zeros(3000))
    file.write_bytes(file.read_bytes()[:-900])
    with pytest.raises(OpenSetError, match=r"a\.npz is not"):
        list(open_stream(file).batches(PARTS))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.csv", b"prediction,unknown_score\n", "has column names but no rows"),
        ("s.csv", b"", "is empty"),
        ("s.csv", "prediction,unknown_score\nK\xe4fer,0.1\n".encode("latin-1"), "is not a text file in UTF-8"),
        ("s.csv", "prediction,unknown_score\n0,0.1\n".encode("utf-16"), "is not a text file in UTF-8"),
        ("s.csv", b"prediction,Prediction,unknown_score\n0,0,0.1\n", "has the column 'prediction' twice"),
        ("s.parquet", b"PAR1 nothing PAR1", "is not a readable Parquet file"),
        ("s.xlsx", b"x", "cannot read '.xlsx'; use .parquet"),
    ],
)
def test_files_that_cannot_be_read_say_so(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(OpenSetError, match=message):
        list(open_stream(tmp_path / name).batches(PARTS))
