"""Families of detectors: differences by hand, claims that can fail, and a study that goes on where it stopped."""

from dataclasses import replace

import pytest

pytest.importorskip("torch")
pytest.importorskip("PIL.Image")

from openset.errors import OpenSetError
from openset.reproduction import families
from openset.studies import detector_families
from openset.studies.detector_families import FAMILIES, Settings, Trained, run_families


def trained(family, seed, awi):
    return Trained(family, seed, 0.5, {"0.3": awi}, {"0.3": 10.0}, {})


@pytest.fixture
def trainings(monkeypatch):
    """Which cells are trained; each is made up."""
    seen = []

    def train(head, seed, settings):
        seen.append((head, seed))
        rows = [trained(one.title, seed, 0.1) for one in FAMILIES if one.head == head]
        return {"settings": vars(settings), "families": [vars(row) for row in rows]}

    monkeypatch.setattr(detector_families, "_train", train)
    return seen


def test_differences_are_paired_by_seed():
    found = [trained("a", 0, 0.3), trained("a", 1, 0.7), trained("b", 0, 0.1), trained("b", 1, 0.3), trained("b", 2, 9)]
    value = families.difference(found, "a", "b", 0.3)
    # .2 and .4: mean .3, standard error .1, Student's t of one degree of freedom 12.706
    assert value.value == pytest.approx(0.3)
    assert (value.low, value.high) == pytest.approx((0.3 - 1.2706, 0.3 + 1.2706), abs=1e-4)
    assert families.difference(found[:1], "a", "b", 0.3) is None
    assert families.difference(found, "a", "b", 0.5) is None


def test_what_is_there_is_not_trained_again(tmp_path, trainings):
    run_families(tmp_path, [0], Settings())
    assert trainings == [("background", 0), ("one_versus_rest", 0), ("objectness", 0)]
    (tmp_path / "objectness-seed0.json").unlink()
    found = run_families(tmp_path, [0, 1], Settings())
    assert trainings[3:] == [("objectness", 0), ("background", 1), ("one_versus_rest", 1), ("objectness", 1)]
    assert len(found) == 8
    assert {one.family for one in found} == {one.title for one in FAMILIES}
    run_families(tmp_path, [0], replace(Settings(), steps=7))  # results of other settings are of no use
    assert len(trainings) == 10


def test_show_trains_nothing(options, trainings):
    with pytest.raises(OpenSetError, match=r"has no results of seeds 0: leave out --show\."):
        families.reproduce(options(show=True))
    assert trainings == []


def test_one_cell_for_real(tmp_path):
    """Dropout sampling is another look with the same weights, so both of its families come from one training."""
    settings = Settings(steps=12, n_train=16, n_known=20, n_wild=30)
    [plain, sampled] = [Trained(**one) for one in detector_families._train("background", 0, settings)["families"]]
    assert (plain.family, sampled.family) == ("background class", "dropout sampling")
    assert plain.awi != sampled.awi
    assert plain.awi == Trained(**detector_families._train("background", 0, settings)["families"][0]).awi
