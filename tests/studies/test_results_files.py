"""Results files: what is kept of a cell, and what is wrong with a file."""

import json

import pytest

from openset._io.json_files import write_json
from openset.errors import OpenSetError
from openset.studies.key import Key
from openset.studies.results_files import ResultsFile, seeds_found
from openset.studies.summaries import find_result, value_of

KEY = Key("mnist", "openauc", 0, 3)


def entry(name, against, value, **params):
    return {"name": name, "params": params, "against": against, "value": value, "low": value - 0.1, "high": value + 0.1}


SUMMARY = {
    "metrics": [
        entry("open_auc", "all", 0.5),
        entry("open_auc", "all", 0.4, balanced=True),
        entry("open_auc", "negative", 0.3),
        entry("open_auc", "unknown", 0.6),
        entry("closed_set_accuracy", "all", 0.9),
        entry("error_at_tpr", "all", 0.2, tpr=0.95),
        entry("open_set_f_score", "all", 0.7, average="macro"),
        entry("open_set_f_score", "all", 0.8, average="micro"),
    ],
    "epochs": 3,
    "seconds": 120.0,
    "data": "abc",
    "device": "cpu",
    "provenance": {"openset": "0"},
}


def test_values_are_found_against_unknowns_alone_first():
    assert value_of(SUMMARY, "open_auc") == 0.6
    assert value_of(SUMMARY, "open_auc", "all") == 0.5
    assert value_of(SUMMARY, "closed_set_accuracy", "unknown") == 0.9  # it sees no unknowns
    assert value_of(SUMMARY, "error_at_tpr") == 0.2
    assert find_result(SUMMARY, "open_set_f_score", average="micro").value == 0.8
    assert value_of(SUMMARY, "open_set_f_score(average=micro)") == 0.8  # as `openset tune --metric` writes it
    assert find_result(SUMMARY, "open_auc", balanced=True, against="all").value == 0.4
    assert find_result(SUMMARY, "open_auc", "hard") is None
    with pytest.raises(OpenSetError, match="no 'auroc' against unknown or all"):
        value_of(SUMMARY, "auroc")


def test_a_results_file_holds_the_headline_and_where_it_comes_from(tmp_path):
    place = ResultsFile(tmp_path, "openauc/table2", "cpu", "fast/mnist")
    written = place.write(KEY, SUMMARY, recipe_fingerprint="f", trained_for="other")
    assert written.file == tmp_path / "openauc/table2/cpu/mnist/openauc/split0-seed3.json"
    found = place.read(KEY)
    assert found.content == json.loads(written.file.read_text()) == written.content
    assert [(one["name"], one["against"]) for one in found.content["metrics"]] == [
        ("open_auc", "unknown"), ("open_auc", "all"), ("open_auc", "negative"), ("closed_set_accuracy", "all"),
    ]  # fmt: skip
    assert found.content["trained_for"] == "other"
    assert found.content["recipe"] == "fast/mnist"
    assert {"cpu", "cores", "device"} <= set(found.content["hardware"])
    assert found.minutes == 2
    assert (found.value("open_auc").value, found.value("open_auc", "negative").low) == (0.6, 0.3 - 0.1)
    with pytest.raises(OpenSetError, match="split0-seed3.json has no 'auroc'"):
        found.value("auroc")
    assert seeds_found(tmp_path, "openauc/table2", "cpu") == {3}
    variant = Key("mnist", "openauc", 0, 3, "weight0.2")
    assert place.path(variant).name == "weight0.2-split0-seed3.json"
    assert place.read(variant) is None


def test_a_broken_results_file_is_named(tmp_path):
    place = ResultsFile(tmp_path, "openauc/table2", "cpu", "fast/mnist")
    place.path(KEY).parent.mkdir(parents=True)
    place.path(KEY).write_text('{"metrics": [{"name": "open_auc"}]}')
    with pytest.raises(OpenSetError, match="split0-seed3.json is not a results file: 'params' is missing; delete it"):
        place.read(KEY)
    assert seeds_found(tmp_path, "openauc/table2", "cpu") == {3}


@pytest.mark.parametrize("field", ["value", "low", "high", "seconds"])
def test_text_where_a_number_belongs_is_no_result(tmp_path, field):
    key = Key("mnist", "softmax", 0, 0)
    place = ResultsFile(tmp_path, "openauc/table2", "cpu", "fast/mnist")
    entry = {"name": "open_auc", "params": {}, "against": "all", "value": 0.5, "low": 0.4, "high": None}
    content = {"metrics": [entry], "recipe_fingerprint": "f", "seconds": 3}
    write_json(place.path(key), content)
    assert place.read(key).value("open_auc").value == 0.5
    (content if field == "seconds" else entry)[field] = "much"
    write_json(place.path(key), content)
    with pytest.raises(OpenSetError, match=r"split0-seed0\.json is not a results file; delete it"):
        place.read(key)
