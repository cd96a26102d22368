import ast
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import openset
from openset import Scores
from openset._io.csv_cells import csv_text, guarded, guarded_table, unguarded, unguarded_table
from openset._io.tables import read_table, write_csv

EVIL = ["=cmd|' /C calc'!A0", "+1", "-1+1", "@SUM(A1)", "'=1", "''+2", "'tis", "plain", "a=b", "-"]
TEXT = st.text(alphabet="=+-@'\t\ra1 ", max_size=6)


@given(TEXT)
def test_a_guard_is_taken_off_again(text):
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_tables_are_guarded_as_single_texts_are(texts):
    table = pl.DataFrame({"a": texts, "n": range(len(texts))})
    assert guarded_table(table)["a"].to_list() == [guarded(text) for text in texts]
    assert unguarded_table(guarded_table(table)).equals(table)


def test_numbers_are_no_formulas():
    assert csv_text([["a", "-b"], [-1, 0.5], [None, "=1"]]) == "a,'-b\n-1,0.5\n,'=1\n"


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_scores_are_the_same_when_written_and_read(tmp_path, kind):
    n = len(EVIL)
    scores = Scores(
        [0, -2] * (n // 2), [0] * n, np.linspace(-1, 1, n), ids=EVIL, groups=["", *EVIL[1:]], open_classes=EVIL
    )
    path = tmp_path / f"s.{kind}"
    scores.write(path)
    assert not any(
        cell.startswith(("=", "+", "@")) for line in path.read_text().splitlines() for cell in line.split("\t")
    )
    found = Scores.read(path)
    for name in ("ids", "groups", "open_classes", "labels", "unknown_score"):
        np.testing.assert_array_equal(getattr(found, name), getattr(scores, name))


def test_a_table_is_the_same_when_written_and_read(tmp_path):
    write_csv(tmp_path / "a.csv", pl.DataFrame({"file": EVIL, "score": np.float32([0.1] * len(EVIL))}))
    found = read_table(tmp_path / "a.csv")
    assert found["file"].to_list() == EVIL
    assert float(found["score"][0]) == float(np.float32(0.1))


def test_all_csv_is_written_in_one_place():
    writers = {
        file.name
        for file in Path(openset.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and ast.unparse(node) in {"csv.writer", "csv.DictWriter"})
        or (isinstance(node, ast.Attribute) and node.attr == "write_csv")
    }
    assert writers == {"csv_cells.py", "tables.py"}
