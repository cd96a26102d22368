"""Files on an object store: the same results as from a disk, and only what is needed is fetched."""

import shutil
import sys

import numpy as np
import polars as pl
import pytest

from openset._io import parquet_files
from openset.errors import OpenSetError
from openset.scale.evaluation import evaluate_source
from openset.scale.source import open_source, read_rows
from samples import random_dataset
from scale.s3_server import serving


@pytest.fixture
def bucket(tmp_path, monkeypatch, write_parts):
    """A bucket with three files in logs/2026/, and what was asked of the server."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'openset[stores]'")
    folder = write_parts(*random_dataset(300, dtype=np.float32), parts=3, group_rows=20)
    shutil.copytree(folder, tmp_path / "stores" / "bucket" / "logs" / "2026")
    (tmp_path / "stores" / "bucket" / "logs" / "readme.txt").write_text("hello")
    for name, value in (("AWS_ACCESS_KEY_ID", "me"), ("AWS_SECRET_ACCESS_KEY", "mine"), ("AWS_REGION", "us-east-1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with serving(tmp_path / "stores") as (address, asked):
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        parquet_files._on_store.cache_clear()
        yield tmp_path / "stores" / "bucket", asked, folder
        parquet_files._on_store.cache_clear()


@pytest.mark.parametrize(
    "text", ["s3://bucket/logs/2026/*.parquet", "s3://bucket/logs/", "s3://bucket/logs/*/?.parquet"]
)
def test_the_same_results_as_from_a_disk(bucket, text):
    options = {"mode": "exact", "n_resamples": 5, "range_rows": 50}
    found = evaluate_source(open_source(text, part_rows=30), **options)
    assert found.results == evaluate_source(open_source(str(bucket[2])), **options).results


def test_only_what_is_needed_is_fetched(bucket):
    lake, asked, _ = bucket
    file = lake / "logs" / "2026" / "0.parquet"
    table = pl.read_parquet(file).with_columns(note=pl.Series([f"{place:020000d}" for place in range(100)]))
    table.write_parquet(file, row_group_size=10, compression="uncompressed", statistics=False)
    source = open_source("s3://bucket/logs/2026/0.parquet", part_rows=10)
    asked.clear()
    rows = read_rows(source.parts[3], source)
    assert len(rows) == 10
    spans = [span.removeprefix("bytes=").split("-") for _, _, span in asked if span]
    assert spans
    assert sum(int(last) - int(first) + 1 for first, last in spans) < file.stat().st_size / 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("s3://bucket/logs/2027/*.parquet", "Nothing matches 's3://bucket/logs/2027/[*].parquet'"),
        ("s3://bucket/logs/*.txt", "readme.txt is not a .parquet file"),
        ("s3://other/logs", "Nothing matches|cannot be read|There is no"),
        ("ftp://bucket/logs", "addresses that begin with s3:// and gs:// are read"),
    ],
)
def test_nothing_to_read(bucket, text, sentence):
    with pytest.raises(OpenSetError, match=sentence):
        open_source(text)


def test_a_file_that_is_cut_off(bucket):
    file = bucket[0] / "logs" / "2026" / "1.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(
        OpenSetError, match="s3://bucket/logs/2026/1.parquet is not a readable Parquet file, or it is cut"
    ):
        open_source("s3://bucket/logs/2026/")


def test_a_file_that_changes_and_one_that_goes(bucket):
    source = open_source("s3://bucket/logs/2026/")
    first, second, _ = sorted((bucket[0] / "logs" / "2026").iterdir())
    shutil.copy(bucket[2] / "2.parquet", first)
    first.write_bytes(first.read_bytes() + b" ")
    with pytest.raises(OpenSetError, match="0.parquet changed while it was being evaluated"):
        read_rows(source.parts[0], source)
    second.unlink()
    with pytest.raises(OpenSetError, match="1.parquet is gone"):
        read_rows(source.parts[1], source)


def test_a_nan_is_named(bucket):
    file = bucket[0] / "logs" / "2026" / "2.parquet"
    table = pl.read_parquet(file)
    score = table["unknown_score"].to_list()
    score[33] = float("nan")
    table.with_columns(unknown_score=pl.Series(score, dtype=pl.Float32)).write_parquet(file, row_group_size=20)
    with pytest.raises(OpenSetError, match=r"s3://.*2.parquet: unknown_score is nan in row 33 \(row group 1\)"):
        evaluate_source(open_source("s3://bucket/logs/2026/"))


def test_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    parquet_files._on_store.cache_clear()
    with pytest.raises(
        OpenSetError, match=r"Reading from an object store needs pyarrow: pip install 'openset\[stores\]'"
    ):
        open_source("s3://bucket/logs")
