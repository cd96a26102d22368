import time

import pytest

from openset.errors import OpenSetError
from openset.protocols import find, load
from pictures import write_photos


def test_a_misspelt_protocol_gets_a_suggestion():
    with pytest.raises(
        OpenSetError, match=r"There is no protocol, YAML file or folder 'cifar-10'\. Did you mean 'cifar10'"
    ):
        find("cifar-10")


def test_a_missing_yaml_file_is_named(tmp_path):
    with pytest.raises(OpenSetError, match=r"There is no file .*gone\.yaml"):
        find(tmp_path / "gone.yaml")


def test_broken_yaml_is_named_with_its_line(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("data: photos\nknown: [a, b\n")
    with pytest.raises(OpenSetError, match=r"mine\.yaml, line 3: not valid YAML"):
        find(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("data: 2020-13-45\n", "month must be in 1..12"), (f"known: [{'1' * 5000}]\n", "Exceeds the limit")],
)
def test_yaml_with_a_value_that_cannot_be_is_refused(tmp_path, text, problem):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(OpenSetError, match=rf"mine\.yaml: not valid YAML: {problem}"):
        find(tmp_path / "mine.yaml")


@pytest.mark.parametrize("text", ["[" * 5000, "{a: " * 5000, "- " * 5000, "known: " + "[" * 400 + "]" * 400])
def test_yaml_of_endless_depth_is_refused_at_once(tmp_path, text):
    (tmp_path / "mine.yaml").write_text(text)
    begin = time.process_time()
    with pytest.raises(OpenSetError, match=r"mine\.yaml: not valid YAML: lists within lists within lists"):
        find(tmp_path / "mine.yaml")
    assert time.process_time() - begin < 3


def test_names_too_long_for_any_file_are_not_there(tmp_path):
    with pytest.raises(OpenSetError, match="There is no protocol, YAML file or folder 'zzz"):
        find("z" * 400)
    (tmp_path / "mine.yaml").write_text(f"data: {'z' * 400}\nknown: [a]\n")
    with pytest.raises(OpenSetError, match="mine: there is no data 'zzz"):
        load(tmp_path / "mine.yaml")


def test_yaml_cannot_run_code(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(f"data: !!python/object/apply:os.system ['touch {tmp_path / 'owned'}']\n")
    with pytest.raises(OpenSetError, match="not valid YAML: could not determine a constructor"):
        find(path)
    assert not (tmp_path / "owned").exists()


def test_a_folder_that_is_no_protocol_says_what_was_expected(tmp_path):
    write_photos(tmp_path / "cats", 1)
    with pytest.raises(OpenSetError, match=r"is no protocol: expected folders known/<class>/, unknown/ .* found cats"):
        find(tmp_path)


def test_json_works_like_yaml(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{"data": "digits", "known": [1, 2]}')
    assert find(path).splits[0].known.classes == (1, 2)


@pytest.mark.parametrize(
    ("folders", "message"),
    [
        (
            ["unknown", "unknown-far"],
            r"unknown/ would be a group called 'unknown', .*; rename unknown/ to unknown-near/",
        ),
        (["unknown", "unknown-near"], r"rename unknown/ to unknown-other/"),
        (["unknown", "unknown-"], r"rename unknown/ to unknown-near/"),
        (["unknown-all"], r"unknown-all/ would be a group called 'all', .*; rename unknown-all/ to unknown-near/"),
        (["unknown-negative", "unknown-far"], r"rename unknown-negative/ to unknown-near/"),
        (["unknown", "negative", "negative-x"], r"negative/ would be a group called 'negative', .* to negative-near/"),
    ],
)
def test_a_folder_that_makes_a_reserved_group_is_to_be_renamed(tmp_path, folders, message):
    for name in ("known", *folders):
        (tmp_path / name).mkdir()
    with pytest.raises(OpenSetError, match=message):
        find(tmp_path)


@pytest.mark.parametrize("name", ["unknown", "unknown-", "unknown-unknown"])
def test_one_folder_of_unknowns_needs_no_group(tmp_path, name):
    for one in ("known", name):
        (tmp_path / one).mkdir()
    assert [(source.data, source.group) for source in find(tmp_path).splits[0].unknown] == [(name, "")]
