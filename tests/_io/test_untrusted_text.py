"""YAML and JSON of strangers, and names that come with them."""

import resource
import time

import pytest

from openset._core.text import half_character
from openset._io.atomic import replacing
from openset._io.json_files import parse_json, read_json
from openset._io.json_stream import read_chunks
from openset._io.yaml_files import parse_yaml
from openset.errors import OpenSetError
from openset.protocols import find
from openset.studies.cell import Layout
from openset.train.config import Config

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10)
)


def test_values_that_yaml_cannot_make_are_told():
    with pytest.raises(OpenSetError, match=r"a\.yaml: not valid YAML: month must be in 1\.\.12"):
        parse_yaml("day: 2024-13-45", "a.yaml")


@pytest.mark.parametrize("cause", [True, False])
def test_what_the_system_said_is_told_however_a_library_wraps_it(tmp_path, cause):
    """A full disk may come as the cause of another error, or as what was being handled when that came up."""

    def pack():
        try:
            raise OSError(28, "No space left on device")
        except OSError as error:
            if cause:
                raise ValueError("packing failed") from error
            raise ValueError("packing failed")  # noqa: B904

    with pytest.raises(OpenSetError, match=r"Cannot write .*no space left"), replacing(tmp_path / "a"):
        pack()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("field", ["name", "title", "paper", "validation_by", "notes", "known"])
def test_aliases_of_aliases_are_refused_before_they_are_expanded(tmp_path, field):
    path = tmp_path / "bomb.yaml"
    known = "" if field == "known" else "known: ['1']\n"
    path.write_text(BOMB + f"data: digits\n{known}{field}: *a9\n")
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


def test_a_name_that_stands_twice_has_no_meaning(tmp_path):
    with pytest.raises(OpenSetError, match="here: the name 'value' occurs twice; keep one"):
        parse_json('{"value": 1, "rule": {"a": 1, "b": 1}, "value": 2}', "here")
    with pytest.raises(OpenSetError, match="here: the name 'a' occurs twice"):
        parse_json('[{"b": {"a": 1, "a": 1}}]', "here")
    with pytest.raises(OpenSetError, match="here, line 3: the name 'known' occurs twice; keep one"):
        parse_yaml("known: [cat]\ndata: x\nknown: [dog]\n", "here")
    with pytest.raises(OpenSetError, match="here, line 1: the name 'a' occurs twice"):
        parse_yaml("x: [{a: 1, a: 2}]", "here")
    assert parse_yaml("a: &a {x: 1}\nb: &b {y: 2}\nc: {<<: *a, <<: *b}", "here")["c"] == {"x": 1, "y": 2}
    (tmp_path / "a.json").write_text('{"images": [], "annotations": [], "images": [{"id": 1}]}')
    with pytest.raises(OpenSetError, match=r"a\.json: the name 'images' occurs twice; keep one"):
        list(read_chunks(tmp_path / "a.json"))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_json_without_end_is_an_error(text):
    with pytest.raises(OpenSetError, match="here is not valid JSON: it is nested too deeply"):
        parse_json(text, "here")


@pytest.mark.parametrize(
    "name", ["...yaml", "a/...yaml", "..", "../..", ".", "/", "", "a\x00b/..yaml", "..\\..\\x.yaml"]
)
def test_runs_lie_below_their_folder_whatever_a_protocol_is_called(tmp_path, name):
    folder = Layout(tmp_path / "out").folder(Config(protocol=name))
    assert len(folder.relative_to(tmp_path / "out").parts) == 3
    assert not {"..", "."} & set(folder.parts)
    assert "\\" not in str(folder)


def test_half_a_character_is_shown_with_what_stands_around_it():
    with pytest.raises(UnicodeEncodeError) as caught:
        ("x" * 30 + "\ud800" + "y" * 30).encode()
    told = half_character(caught.value)
    assert "'" + "x" * 20 + "\\ud800" + "y" * 20 + "'" in told
