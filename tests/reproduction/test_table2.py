"""Table 2: published figures, means, paired differences and what is missing."""

import json
from dataclasses import replace

import pytest

from openset.errors import OpenSetError
from openset.reproduction import claims_openauc, table2, writing
from openset.reproduction.options import Options
from openset.reproduction.published import published
from openset.reproduction.study import make_cell


def store(options, protocol, method, split, value, seed=0, epochs=None):
    """A results file as a run would leave it."""
    cell = make_cell(table2.NAME, options, protocol, method, split, seed)
    entries = [
        {
            "name": name,
            "params": {},
            "against": "all",
            "value": value + extra,
            "low": value - 0.01,
            "high": value + 0.01,
        }
        for name, extra in (("closed_set_accuracy", 0.02), ("auroc", 0.01), ("open_auc", 0.0))
    ]
    file = cell.results.path(cell.key)
    file.parent.mkdir(parents=True, exist_ok=True)
    content = {"metrics": entries, "seconds": 60.0, "recipe_fingerprint": cell.fingerprint}
    file.write_text(json.dumps(content))


@pytest.fixture
def cpu(tmp_path):
    return Options(scale="cpu", out=tmp_path, results=tmp_path / "results", show=True, protocols=("mnist",))


@pytest.mark.parametrize(
    ("method", "protocol", "mean", "sd"),
    [
        ("softmax", "mnist", 99.2, 0.1),
        ("maxlogit", "cifar10", 88.1, 1.7),
        ("openauc", "cifar10", 89.2, 1.9),
        ("openauc", "cifar+50", 93.6, 0.3),
        ("arpl_cs", "svhn", 94.3, 0.3),
        ("acc_auc", "tinyimagenet", 74.0, 4.0),
        ("rpl", "cifar+10", 91.8, 1.2),
    ],
)
def test_published_values(method, protocol, mean, sd):
    told = table2.published_value(protocol, method)
    assert (round(100 * told.value, 6), round(100 * told.sd, 6)) == (mean, sd)


def test_every_row_of_the_published_table_is_complete():
    table = published("openauc")["table2"]
    assert set(table["rows"]) == set(table["titles"]) == set(table2.METHODS["paper"])
    assert all(len(row) == len(table["protocols"]) == 6 for row in table["rows"].values())
    assert table2.published_value("digits", "openauc") is None


def test_means_and_differences_stand_beside_the_published_ones(cpu):
    for split in range(5):
        store(cpu, "mnist", "maxlogit", split, 0.980 + 0.001 * split)
        store(cpu, "mnist", "openauc", split, 0.985 + 0.001 * split)
    report = table2.reproduce(cpu)
    rows = {line.labels["method"]: line for line in report.tables[0].lines}
    ours = rows["openauc"].ours
    assert ours.value == pytest.approx(0.987)
    assert ours.sd == pytest.approx(0.001 * 2.5**0.5)
    assert rows["openauc"].difference == pytest.approx(0.987 - 0.994)
    assert rows["softmax"].ours is None
    gap = report.tables[1].lines[0]
    assert (gap.labels["difference of"], gap.labels["cells"]) == ("openauc - maxlogit", "5 of 5 splits")
    assert gap.ours.value == pytest.approx(0.005)
    assert (gap.ours.low, gap.ours.high) == pytest.approx((0.005, 0.005))  # each pair differs by the same
    assert gap.difference == pytest.approx(0.005 - 0.003)


def test_splits_that_are_missing_are_counted_and_not_compared(cpu):
    for split in range(3):
        store(cpu, "mnist", "openauc", split, 0.98)
    line = next(one for one in table2.reproduce(cpu).tables[0].lines if one.labels["method"] == "openauc")
    assert line.labels["cells"] == "3 of 5 splits"
    assert line.ours.value == pytest.approx(0.98)
    assert line.difference is None


def test_a_mean_is_over_seeds_that_every_split_has(cpu):
    for split in range(5):
        store(cpu, "mnist", "openauc", split, 0.98)
        store(cpu, "mnist", "openauc", split, 0.99, seed=1)
        store(cpu, "mnist", "maxlogit", split, 0.97)
    for split in range(3):
        store(cpu, "mnist", "maxlogit", split, 0.5, seed=1)
    report = table2.reproduce(cpu)
    rows = {line.labels["method"]: line for line in report.tables[0].lines}
    assert (rows["openauc"].labels["cells"], rows["openauc"].ours.value) == (
        "5 of 5 splits, 2 seeds",
        pytest.approx(0.985),
    )
    assert (rows["maxlogit"].labels["cells"], rows["maxlogit"].ours.value) == ("5 of 5 splits", pytest.approx(0.97))
    assert rows["maxlogit"].difference is not None
    gap = report.tables[1].lines[0]
    assert (gap.labels["cells"], gap.ours.value) == ("5 of 5 splits", pytest.approx(0.01))
    # Between methods, the seeds that all of them have.
    assert report.claims[0].numbers["margin on mnist"] == pytest.approx(1.0)


def test_two_seeds_of_a_split_are_one_observation_of_a_difference(cpu):
    gaps = (0.00, 0.01, 0.02, 0.03, 0.04)
    for split, gap in enumerate(gaps):
        for seed, extra in ((0, 0.001), (1, -0.001)):
            store(cpu, "mnist", "maxlogit", split, 0.9, seed)
            store(cpu, "mnist", "openauc", split, 0.9 + gap + extra, seed)
    found = table2.reproduce(cpu).tables[1].lines[0]
    assert found.labels["cells"] == "5 of 5 splits, 2 seeds"
    # Over the five splits: t(0.975, 4) = 2.776, standard deviation 0.0158, so 0.0196 to either side.
    assert (found.ours.value, found.ours.low, found.ours.high) == pytest.approx((0.02, 0.00037, 0.03963), abs=1e-5)


def test_one_method_alone_has_no_differences(cpu):
    assert len(table2.reproduce(replace(cpu, methods=("openauc",))).tables) == 1


def test_nothing_there_yet(cpu):
    text = writing.markdown(table2.reproduce(cpu))
    assert "| mnist | openauc | Ours | 0 of 5 splits | missing | missing | missing | 99.4 ± 0.1 |  |" in text
    assert "cannot be told" in text


def test_wrong_names_are_named(cpu):
    with pytest.raises(
        OpenSetError, match="openauc/table2 has no protocol 'cifar' at scale cpu. Did you mean 'cifar10'"
    ):
        table2.reproduce(Options(scale="cpu", protocols=("cifar",), show=True))
    with pytest.raises(OpenSetError, match="has no method 'entropic' at scale cpu"):
        table2.reproduce(Options(scale="cpu", methods=("entropic",), show=True))
    with pytest.raises(OpenSetError, match="There is no split 5"):
        table2.reproduce(Options(scale="cpu", splits=(5,), show=True))


def test_claims_hold_and_fail():
    good = {"a": {"openauc": 0.9, "acc_auc": 0.8, "maxlogit": 0.7}, "b": {"openauc": 0.9, "acc_auc": 0.85}}
    assert claims_openauc.best_everywhere(good).holds
    assert claims_openauc.acc_auc_inferior(good).holds
    bad = {**good, "c": {"openauc": 0.9, "acc_auc": 0.9, "maxlogit": 0.95}}
    assert claims_openauc.best_everywhere(bad).holds is False
    assert claims_openauc.acc_auc_inferior(bad).holds is False
    assert claims_openauc.best_everywhere({}).holds is None
    assert claims_openauc.acc_auc_inferior({"a": {"openauc": 0.9}}).holds is None


def test_the_published_table_does_not_bear_out_the_claim_on_mnist():
    table = published("openauc")["table2"]
    means = {
        protocol: {method: row[place][0] for method, row in table["rows"].items()}
        for place, protocol in enumerate(table["protocols"])
    }
    claim = claims_openauc.best_everywhere(means)
    assert claim.holds is False
    assert [name for name, margin in claim.numbers.items() if margin <= 0] == ["margin on mnist"]
