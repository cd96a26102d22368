import struct
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from openset import Scores
from openset._io import parquet_pages
from openset._io.parquet_pages import PagesError, _Compact, check_pages
from openset.errors import OpenSetError

TABLE = pl.DataFrame(
    {
        "whole": range(5000),
        "text": [f"name {number % 37}" for number in range(5000)],
        "unique": [f"{number}" * 3 for number in range(5000)],
        "float": np.linspace(0, 1, 5000),
        "flag": [number % 3 == 0 for number in range(5000)],
        "list": [[number] * (number % 4) for number in range(5000)],
        "struct": [{"a": number, "b": "x" * (number % 5)} for number in range(5000)],
        "gaps": [None if number % 2 else number for number in range(5000)],
        "nothing": [None] * 5000,
        "long": ["y" * 3000] * 5000,
    },
    schema_overrides={"nothing": pl.Int32},
)


@pytest.mark.parametrize(
    ("chunk", "looked_at"),
    [({3: {4: 1}}, True), ({1: "elsewhere.parquet", 3: {4: 1}}, False), ({1: "elsewhere.parquet"}, False), ({}, False)],
)
def test_columns_in_other_files_and_encrypted_ones_are_not_looked_for_here(monkeypatch, chunk, looked_at):
    monkeypatch.setattr(parquet_pages, "_file_metadata", lambda _: {4: [{1: [chunk, {3: {4: 2}}]}]})
    assert list(parquet_pages._columns(None)) == [*([{4: 1}] if looked_at else []), {4: 2}]


@pytest.mark.parametrize("compression", ["uncompressed", "zstd", "snappy", "lz4", "gzip", "brotli"])
@pytest.mark.parametrize("options", [{}, {"row_group_size": 700}, {"data_page_size": 512}, {"statistics": "full"}])
def test_what_polars_writes_is_fine(tmp_path, compression, options):
    TABLE.write_parquet(tmp_path / "a.parquet", compression=compression, **options)
    check_pages(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"data_page_version": "2.0"},
        {"use_dictionary": False, "compression": "none"},
        {"dictionary_pagesize_limit": 64, "data_page_size": 256},
        {"write_page_index": True, "write_page_checksum": True},
        {"version": "1.0", "row_group_size": 100},
        {"use_byte_stream_split": ["float"], "use_dictionary": False},
    ],
)
def test_what_arrow_writes_is_fine(tmp_path, options):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = TABLE.to_arrow()
    parquet.write_table(table, tmp_path / "a.parquet", **options)
    check_pages(tmp_path / "a.parquet")
    parquet.write_table(table.slice(0, 0), tmp_path / "none.parquet", **options)
    check_pages(tmp_path / "none.parquet")


def test_a_dictionary_may_have_more_words_than_there_are_rows(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    words = arrow.DictionaryArray.from_arrays([0, 1], [f"word {number}" for number in range(100)])
    parquet.write_table(arrow.table({"a": words}), tmp_path / "a.parquet")
    check_pages(tmp_path / "a.parquet")


HEADERS = """
import sys
from pathlib import Path
from openset import OpenSetError, Scores
from openset._io.parquet_pages import _columns

folder = Path(sys.argv[1])
whole = (folder / "a.parquet").read_bytes()
with (folder / "a.parquet").open("rb") as stream:
    pages = sorted({at for column in _columns(stream) for at in (column[9], column.get(11)) if at})
refused = 0
for place in (start + offset for start in pages for offset in range(24)):
    for value in (0x01, 0x7F, 0xFF):
        (folder / "b.parquet").write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
        try:
            Scores.read(folder / "b.parquet")
        except OpenSetError:
            refused += 1
print(refused)
"""


@pytest.mark.slow
def test_damaged_headers_end_in_a_sentence_never_in_an_abort(tmp_path):
    Scores([0, 1, -2], [0, 1, 0], [0.1, 0.2, 0.3], ids=["a", "b", "c"], groups=["", "", "far"]).write(
        tmp_path / "a.parquet"
    )
    found = subprocess.run([sys.executable, "-c", HEADERS, tmp_path], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr[-1000:]
    assert int(found.stdout) > 100
    assert not found.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PAR1", "the mark at its end is missing"),
        (b"PAR1" + bytes(20), "the mark at its end is missing"),
        (b"PAR1" + struct.pack("<I4s", 99, b"PAR1"), "its description is longer than the file"),
        (b"PAR1" + b"\x19\xfc\xff\xff\x03" + struct.pack("<I4s", 5, b"PAR1"), "its description is cut off"),
        (b"PAR1" + b"\x1c" * 60 + struct.pack("<I4s", 60, b"PAR1"), "nested too deeply"),
        (b"PAR1" + b"\x15" + b"\xff" * 11 + struct.pack("<I4s", 12, b"PAR1"), "a number is too long"),
        (b"PAR1" + b"\x1b\x00\x00" + struct.pack("<I4s", 3, b"PAR1"), "its description is damaged"),
    ],
)
def test_what_cannot_be_a_parquet_file(tmp_path, content, message):
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    with pytest.raises(PagesError, match=message):
        check_pages(path)
    with pytest.raises(OpenSetError, match=rf"a\.parquet is not a readable Parquet file, .*: .*{message}"):
        Scores.read(path)


def test_numbers_and_fields_by_hand():
    # Field 1 is 150 as a zigzag varint (300 = 0xAC 0x02), field 3 a list of two true-or-false, field 20 by its number.
    found = _Compact(b"\x15\xac\x02" + b"\x29\x21\x01\x02" + b"\x05\x28\x03" + b"\x00").struct()
    assert found == {1: 150, 3: [True, False], 20: -2}
