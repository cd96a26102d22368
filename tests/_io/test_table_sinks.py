"""Tables that are written some rows at a time."""

import json

import polars as pl
import pytest

from openset._io.table_sinks import write_batches
from openset._io.tables import read_table
from openset.errors import OpenSetError

SCHEMA = {"id": pl.String, "decision": pl.Categorical, "score": pl.Float32}
ROWS = {"id": ["=1+1", "line\u2028break\n\x85"], "decision": ["@cat", "unknown"], "score": [0.1, 2.0]}


def pieces(n=3, failing=None):
    for number in range(n):
        if failing is not None and number == n - 1:
            raise failing
        yield pl.DataFrame(ROWS, schema=SCHEMA)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "json"])
def test_what_is_written_is_read_back(tmp_path, ending):
    file = tmp_path / f"d.{ending}"
    write_batches(file, pieces(), SCHEMA, name="decisions", metadata={"schema": 1})
    if ending == "json":
        content = json.loads(file.read_text())
        assert content["schema"] == 1
        found = pl.DataFrame(content["decisions"])
    else:
        found = read_table(file)
    assert found["id"].to_list() == ROWS["id"] * 3
    assert found["decision"].cast(pl.String).to_list() == ROWS["decision"] * 3
    assert (
        found["score"].cast(pl.Float64).cast(pl.Float32).to_list()
        == pl.Series([0.1, 2] * 3, dtype=pl.Float32).to_list()
    )
    if ending == "csv":
        assert file.read_text().splitlines()[1].startswith("'=1+1,'@cat,")


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
@pytest.mark.parametrize("failing", [OpenSetError("row 3 is wrong"), KeyboardInterrupt(), MemoryError("no")])
def test_a_failure_in_the_middle_leaves_nothing(tmp_path, ending, failing):
    file = tmp_path / f"d.{ending}"
    file.write_text("before")
    with pytest.raises(type(failing)) as caught:
        write_batches(file, pieces(failing=failing), SCHEMA)
    assert caught.value is failing
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(OpenSetError, match=r"use a name that ends in \.csv, \.tsv, \.parquet, \.json"):
        write_batches(tmp_path / "d.xlsx", pieces(), SCHEMA)


def test_no_rows_are_valid_json(tmp_path):
    write_batches(tmp_path / "d.json", [], SCHEMA, name="decisions")
    assert json.loads((tmp_path / "d.json").read_text()) == {"decisions": []}
