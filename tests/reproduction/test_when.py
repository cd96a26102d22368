"""The gain of the loss under each condition: what is compared with what, and what is missing."""

import json

import pytest

from openset.errors import OpenSetError
from openset.reproduction import cub, when, writing
from openset.reproduction.claims_openauc import grows_on_little_data
from openset.reproduction.findings import Value
from openset.reproduction.options import Options
from openset.studies.cell import protocol_name


@pytest.fixture
def cpu(tmp_path):
    return Options(scale="cpu", out=tmp_path, results=tmp_path / "results", show=True)


def store(cell, value):
    file = cell.results.path(cell.key)
    file.parent.mkdir(parents=True, exist_ok=True)
    groups = ["all", "unknown", "easy", "medium", "hard"]
    metrics = [
        {"name": name, "params": {}, "against": group, "value": value, "low": None, "high": None}
        for name in ("closed_set_accuracy", "auroc", "open_auc")
        for group in groups
    ]
    file.write_text(json.dumps({"metrics": metrics, "seconds": 1.0, "recipe_fingerprint": cell.fingerprint}))


def condition(name, protocol):
    return next(one for one in when.CONDITIONS["cpu"] if (one.name, one.protocol) == (name, protocol))


def test_gains_are_paired_by_split(cpu):
    chosen = condition("share10", "clinc150.yaml")
    for split, (plain, loss) in enumerate([(0.90, 0.92), (0.80, 0.81), (0.70, 0.73)]):
        store(when._cell(cpu, chosen, "", split, 0), plain)
        store(when._cell(cpu, chosen, "halves", split, 0), loss)
    lines = when.reproduce(cpu).tables[0].lines
    (line,) = [one for one in lines if one.ours is not None]
    assert dict(line.labels) == {"condition": chosen.title, "loss": "halves", "runs": "3 of 5"}
    assert line.ours.value == pytest.approx(0.02)
    assert line.ours.low < 0.02 < line.ours.high
    assert line.also["without the loss"].value == pytest.approx(0.8)


def test_equal_steps_on_less_data():
    for protocol, epochs in (("clinc150.yaml", 30), ("cifar10", 18)):
        for fraction in (1.0, 0.25, 0.1):
            settings = condition(f"share{100 * fraction:g}", protocol).settings
            assert f"train.epochs={round(epochs / fraction)}" in settings
            assert f"data.fraction={fraction:g}" in settings


def test_both_trainings_are_the_same_until_the_loss_begins(cpu):
    """Then a grid trains the first two thirds once."""
    for chosen in when.CONDITIONS["cpu"]:
        for form in chosen.forms:
            loss, plain = when._cell(cpu, chosen, form, 0, 0), when._cell(cpu, chosen, "", 0, 0)
            assert 0 < loss.plain_epochs < loss.config.train.epochs
            assert any(one.fingerprint == plain.fingerprint for one in loss.beginnings)
            assert loss.config.train.epochs == plain.config.train.epochs


def test_no_two_cells_have_one_file(cpu):
    cells = [when._cell(cpu, one, form, 0, 0) for one in when.CONDITIONS["cpu"] for form in ("", *one.forms)]
    files = [cell.results.path(cell.key) for cell in cells]
    assert len(set(files)) == len(files)


@pytest.mark.parametrize(
    ("least", "verdict"),
    [((0.02, 0.01, 0.03), "holds"), ((0.0, -0.01, 0.01), "cannot be told"), ((-0.02, -0.03, -0.01), "does not hold")],
)
def test_the_hypothesis(least, verdict):
    value, low, high = least
    gains = {"a": {1.0: Value(0.0), 0.1: Value(value, low=low, high=high)}}
    assert grows_on_little_data(gains).verdict == verdict
    assert grows_on_little_data({"a": {1.0: Value(0.0), 0.1: None}}).verdict == "cannot be told"


def test_names(cpu):
    assert protocol_name("clinc150.yaml") == "clinc150"
    with pytest.raises(OpenSetError, match="openauc/when has no protocol 'mnist' at scale cpu"):
        when.reproduce(Options(scale="cpu", protocols=("mnist",)))


def test_fine_tuned_birds_are_those_of_table_4(cpu):
    store(cub.training(cpu, "maxlogit", 0), 0.5)
    store(cub.training(cpu, "openauc", 0), 0.52)
    lines = when.reproduce(cpu).tables[0].lines
    (line,) = [one for one in lines if one.labels["condition"] == "CUB, fine-tuned"]
    assert line.ours.value == pytest.approx(0.02)
    assert line.ours.low is None  # one split


def test_cub_says_first_what_differs_and_takes_no_difference(cpu):
    store(cub.training(cpu, "openauc", 0), 0.5)
    report = cub.table4(cpu)
    assert "ResNet-50" in report.before[0]
    text = writing.markdown(report)
    assert text.index("ResNet-50") < text.index("| accuracy |")
    lines = {tuple(line.labels.values()): line for line in report.tables[0].lines}
    assert lines["OpenAUC", "openauc", "hard"].ours.value == 0.5
    assert lines["OpenAUC", "openauc", "hard"].published.value == pytest.approx(0.725)
    assert lines["OpenAUC", "acc_auc", "hard"].published is None
    assert not any(line.compare for line in lines.values())
