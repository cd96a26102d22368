"""Cells: what they are called, where they lie, and which trainings serve them."""

from pathlib import Path

import pytest

from openset.protocols import PROTOCOLS
from openset.studies.cell import Cell, Layout, fingerprint, folder_name, protocol_name
from openset.studies.key import Key
from openset.train.config import read_config


def cell(method="softmax", *changes, protocol="digits", **options):
    config = read_config(None, changes, protocol=protocol, **{"method.name": method})
    return Cell(Key(protocol, method, 0, 0), config, Layout(Path("out"), **options))


def test_fingerprints_change_with_what_matters_only():
    config = read_config("fast/digits")
    usual = read_config(None).as_plain()
    mark = fingerprint(config.as_plain(), usual)
    assert mark == fingerprint(read_config("fast/digits", ["schedule.restarts=0"]).as_plain(), usual)
    assert mark != fingerprint(read_config("fast/digits", ["optimizer.lr=0.06"]).as_plain(), usual)
    assert mark != fingerprint(read_config("fast/digits", ["method.weight=0.2"]).as_plain(), usual)
    assert mark == fingerprint(read_config("fast/digits", ["data.workers=7"]).as_plain(), usual, ["data.workers"])


def test_fingerprints_stay_what_they_are():
    """Another way to take them would make every committed results file count as made by another recipe."""
    plain = {"lr": 0.1, "epochs": 3, "method": {"name": "x", "weight": 0.2}, "keep": [1]}
    assert fingerprint(plain, {"lr": 0.2, "epochs": 3}) == "03da4fcfe8288272"


def test_folders_of_bench_and_of_studies():
    assert cell().folder == Path("out/digits/softmax/split0-seed0")
    assert cell("openauc", setting="weight=0.05").folder == Path("out/digits/openauc-weight=0.05/split0-seed0")
    marked = cell("softmax", "seed=3", marked=True)
    assert marked.folder == Path("out/digits/softmax") / f"split0-seed3-{marked.fingerprint[:8]}"


@pytest.mark.parametrize("name", ["...yaml", "x/...yaml", "/tmp/..", ".", "a\\..\\b.yaml", "../../up.yaml"])  # noqa: S108
def test_no_name_of_a_protocol_leads_out_of_the_folder(name):
    out = Path("/out/runs")
    folder = (out / protocol_name(name) / folder_name(name)).resolve()
    assert folder.parent.parent == out


def test_methods_with_the_same_weights_are_siblings():
    assert {one.config.method.name for one in cell("maxlogit").siblings} == {"softmax", "scaled"}
    assert cell("openauc").siblings == []
    assert cell("softmax").training == cell("scaled").training
    assert cell("softmax").training != cell("openauc").training
    assert cell("softmax").training != cell("softmax", "seed=1").training
    assert cell("maxlogit", setting="lr=0.1").siblings[-1].folder.parent.name == "softmax-lr=0.1"


def test_what_begins_alike_is_found_by_the_card():
    assert cell("openauc").beginnings == []
    begun = cell("openauc", "train.epochs=4", "method.start=2.5")
    assert begun.plain_epochs == 2
    assert {one.config.method.name for one in begun.beginnings} == {"softmax", "maxlogit", "scaled"}
    assert begun.beginnings[0].training == cell("maxlogit", "train.epochs=4").training
    assert begun.beginnings[0].training != cell("maxlogit", "train.epochs=5").training
    assert begun.beginnings[0].training != cell("maxlogit", "train.epochs=4", "method.label_smoothing=0.1").training


def test_a_protocol_that_another_one_is_trained_for_is_found_by_the_card():
    served = cell(protocol="cifar+50")
    assert served.trained_for == "cifar+10"
    assert served.source.config.protocol == "cifar+10"
    assert served.training == cell("maxlogit", protocol="cifar+10").training
    assert cell(protocol="cifar+10").source is None
    assert cell(protocol="garden.yaml").source is None


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if PROTOCOLS[name].trained_as])
def test_a_protocol_has_the_known_classes_of_the_one_it_is_trained_as(name):
    own, other = PROTOCOLS[name], PROTOCOLS[PROTOCOLS[name].trained_as]
    assert [roles.known for roles in own.splits] == [roles.known for roles in other.splits]
    assert [roles.negative for roles in own.splits] == [roles.negative for roles in other.splits]
    assert (own.validation, own.validation_by, own.test) == (other.validation, other.validation_by, other.test)
