"""YAML and JSON of strangers, and names that come with them."""

import resource
import subprocess
import sys
import time

import pytest

from openset._io.json_files import parse_json, read_json
from openset._io.yaml_files import parse_yaml
from openset.errors import OpenSetError
from openset.protocols import find

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10)
)


@pytest.mark.parametrize("field", ["name", "title", "paper", "validation_by", "notes", "known"])
def test_aliases_of_aliases_are_refused_before_they_are_expanded(tmp_path, field):
    path = tmp_path / "bomb.yaml"
    path.write_text(BOMB + f"data: digits\nknown: ['1']\n{field}: *a9\n")
    began, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(OpenSetError, match=r"bomb\.yaml: its aliases stand for more than 1,000,000 values; write them"):
        find(path)
    assert time.process_time() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 100_000


def test_an_alias_within_what_it_names_has_no_end():
    with pytest.raises(OpenSetError, match="lists within lists within lists, without end"):
        parse_yaml("a: &a [1, *a]", "here")


def test_plain_aliases_and_merges_are_read():
    content = parse_yaml("a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}\nd: &d [1, 2]\ne: [*d, *d]", "here")
    assert content == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}, "d": [1, 2], "e": [[1, 2], [1, 2]]}
    assert parse_yaml("", "here") is None
    assert parse_yaml("3", "here") == 3


@pytest.mark.parametrize("field", ["name", "title", "paper", "validation_by"])
def test_texts_of_a_protocol_are_texts(tmp_path, field):
    path = tmp_path / "p.yaml"
    path.write_text(f"data: digits\nknown: ['1']\n{field}: [1, 2]\n")
    with pytest.raises(OpenSetError, match=rf"p\.yaml: '{field}' must be a text, got \[1, 2\]"):
        find(path)


def test_half_a_character_is_refused_where_it_comes_in(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text('data: digits\nknown: ["1"]\nnotes: ["half \\ud800 of it"]\n')
    with pytest.raises(OpenSetError, match=r"p\.yaml, line 3: there is half a character"):
        find(path)
    (tmp_path / "a.json").write_text('{"a": ["half \\ud800"], "b": "whole \\ud83d\\ude00"}')
    with pytest.raises(OpenSetError, match=r"a\.json: there is half a character, which no file can hold"):
        read_json(tmp_path / "a.json")
    assert parse_json('["\\ud83d\\ude00", "\\\\ud800"]', "here") == ["😀", "\\ud800"]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_json_without_end_is_an_error(text):
    with pytest.raises(OpenSetError, match="here is not valid JSON: it is nested too deeply"):
        parse_json(text, "here")


def test_bench_writes_nothing_above_its_folder(tmp_path):
    (tmp_path / "...yaml").write_text("data: digits\nknown: ['1', '2']\n")
    words = ["bench", "--protocols", str(tmp_path / "...yaml"), "--methods", "softmax", "--out", str(tmp_path / "out")]
    words += ["--set", "train.epochs=1"]
    code = f"from openset.cli import main; main({words!r})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["...yaml", "out"]
    assert (tmp_path / "out" / "protocol" / "softmax" / "split0-seed0" / "summary.json").is_file()
