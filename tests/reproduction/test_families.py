"""Families of detectors: differences by hand, claims that can fail, and a study that goes on where it stopped."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("PIL.Image")

from openset.errors import OpenSetError
from openset.reproduction import families
from openset.reproduction.study import DryRun
from openset.studies import detector_families
from openset.studies.detector_families import FAMILIES, Settings, Trained, families_grid, trained_families
from openset.studies.grid import Execution, Shard


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


def test_what_is_there_is_not_trained_again(options, trainings):
    chosen = options(scale="cpu", seeds=(0,))
    folder = chosen.results / "elephant/families/cpu"
    families.reproduce(chosen)
    assert trainings == [("background", 0), ("one_versus_rest", 0), ("objectness", 0)]
    (folder / "objectness-seed0.json").unlink()
    report = families.reproduce(options(scale="cpu", seeds=(0, 1)))
    assert trainings[3:] == [("objectness", 0), ("background", 1), ("one_versus_rest", 1), ("objectness", 1)]
    assert {line.labels["seeds"] for line in report.tables[0].lines} == {"2"}
    cells = families_grid(folder, chosen.out, [0], replace(Settings(), steps=7))
    assert not any(cell.is_finished for cell in cells)  # results of other settings are of no use


def test_stored_results_are_those_of_todays_settings():
    cells = families_grid(
        Path(__file__).parents[2] / "results/elephant/families/cpu", Path("unused"), range(5, 10), Settings()
    )
    assert all(cell.is_finished for cell in cells)
    assert len(trained_families(cells)) == 5 * len(FAMILIES)


def test_a_dry_run_and_a_part_of_the_cells(options, trainings):
    with pytest.raises(DryRun) as told:
        families.reproduce(options(execution=Execution(dry_run=True)))
    assert trainings == []
    assert told.value.plan.summary().startswith("3 cells: 0 done, 3 to train")
    families.reproduce(options(execution=Execution(shard=Shard(2, 3))))
    assert trainings == [("one_versus_rest", 0)]
    with pytest.raises(DryRun) as told:
        families.reproduce(options(execution=Execution(dry_run=True)))
    assert [step.state for step in told.value.plan.steps] == ["train", "done", "train"]


def test_a_failed_training_does_not_stop_the_others(options, trainings, monkeypatch):
    real = detector_families._train

    def sometimes(head, seed, settings):
        if head == "background":
            raise OpenSetError("no luck")
        return real(head, seed, settings)

    monkeypatch.setattr(detector_families, "_train", sometimes)
    report = families.reproduce(options())
    assert report.failures == ["drawn scenes background split 0 seed 0: no luck"]
    assert trainings == [("one_versus_rest", 0), ("objectness", 0)]


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
