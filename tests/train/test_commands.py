"""The commands as a user types them."""

import json
import re
import shutil

import numpy as np
import polars as pl
import pytest
from PIL import Image

from openset.cli import main
from openset.cli._numbers import numbers
from openset.errors import OpenSetError, OpenSetWarning
from openset.methods import METHODS
from openset.posthoc import score
from openset.present.csv_text import csv_table
from openset.present.latex import latex_table
from openset.present.markdown import markdown_table
from openset.reading import read_outputs
from openset.results.spread import spread_of
from openset.studies import bench
from openset.studies import cell as training_cell
from openset.studies.bench_tables import bench_lines, bench_table
from openset.studies.cell import Cell
from openset.train import checkpoint
from openset.train.config import read_config

FAST = ("--set", "train.epochs=3", "--set", "data.batch_size=64", "--set", "backbone.width=8")


def openset(*words):
    try:
        main([str(word) for word in words])
    except SystemExit as end:
        return end.code or 0
    return 0


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Own pictures: two known colours, one unknown."""
    rng = np.random.default_rng(0)
    root = tmp_path_factory.mktemp("pictures")
    for role, name, colour in (("known", "red", 0), ("known", "green", 1), ("unknown", "blue", 2)):
        (root / role / name).mkdir(parents=True)
        for number in range(30):
            pixels = rng.integers(0, 60, (24, 20 + number % 3, 3), dtype=np.uint8)
            pixels[..., colour] += 150
            Image.fromarray(pixels).save(root / role / name / f"{number}.png")
    return root


@pytest.fixture(scope="module")
def trained(images, tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "run"
    words = ("--set", "data.size=16", "--set", "data.batch_size=8", "--epochs", "8", "--set", "backbone.width=8")
    assert openset("train", "--protocol", images, "--method", "maxlogit", "--out", out, *words) == 0
    return out


PHOTOS = ("--set", "data.size=16", "--set", "augment.crop_padding=1", "--set", "augment.cutout=0", *FAST)


@pytest.fixture
def with_negatives(images, tmp_path):
    shutil.copytree(images, tmp_path / "photos")
    shutil.copytree(tmp_path / "photos/unknown/blue", tmp_path / "photos/negative/blue")
    return tmp_path / "photos"


def method_of(run):
    return read_config(run / "config.yaml").method.name


def test_photos_are_trained_with_their_negatives(with_negatives, tmp_path, capsys):
    run = tmp_path / "run"
    assert openset("train", "fast/photos", "-p", with_negatives, "--out", run, *PHOTOS) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert re.search(
        r"\d+ negative samples to train on: the method is entropic, which learns from them, instead of", printed
    )
    assert "ignores" not in printed
    assert method_of(run) == "entropic"
    assert (np.load(run / "outputs_train.npz")["labels"] == -1).any()
    assert openset("train", "fast/photos", "-p", with_negatives, "--out", run, "--resume", *PHOTOS) == 0


def test_photos_without_negatives_are_trained_as_the_recipe_says(images, tmp_path, capsys):
    run = tmp_path / "run"
    assert openset("train", "fast/photos", "-p", images, "--out", run, *PHOTOS) == 0
    assert method_of(run) == "maxlogit"
    assert "negative sample" not in capsys.readouterr().out


@pytest.mark.parametrize("naming", [("--method", "maxlogit"), ("--set", "method=maxlogit")])
def test_a_method_that_ignores_negatives_says_so(with_negatives, tmp_path, capsys, naming):
    run = tmp_path / "run"
    assert openset("train", "fast/photos", "-p", with_negatives, "--out", run, *naming, *PHOTOS) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert method_of(run) == "maxlogit"
    assert re.search(r"The method 'maxlogit' ignores \d+ negative training samples; methods that learn from", printed)
    assert "background, entropic, objectosphere" in printed
    assert openset("train", "--out", run, "--resume") == 0  # what was named is not settled anew
    assert method_of(run) == "maxlogit"


def test_the_method_for_negatives_must_use_them():
    with pytest.raises(OpenSetError, match="'method_with_negatives' is softmax, which ignores negatives"):
        read_config(None, ["method_with_negatives=softmax"])


def test_train_says_what_came_out(tmp_path, capsys):
    told = tmp_path / "told.json"
    assert openset("train", "-p", "digits", "-m", "openauc", "--out", tmp_path / "run", "--json", told, *FAST) == 0
    assert json.loads(told.read_text()) == json.loads((tmp_path / "run/summary.json").read_text())
    printed = capsys.readouterr().out
    for word in ("OpenAUC", "Closed-set", "against unknown", "Threshold", "openset predict"):
        assert word in printed
    assert openset("train", "-p", "digits", "-m", "openauc", "--out", tmp_path / "run", *FAST) == 2
    assert "holds a finished run: add --resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-m", "openaucc"), "no method named 'openaucc'. Did you mean 'openauc'?"),
        (("--backbone", "fastnett"), "no backbone named 'fastnett'. Did you mean 'fastnet'?"),
        (("-p", "digit"), "digit"),
        (("--set", "optimizer.lr=fast"), "'optimizer.lr' must be a number, got 'fast'"),
        (("--resume",), "Say which run to resume: --out DIR"),
        (("--split", "99"), "split"),
    ],
)
def test_train_names_what_is_wrong(words, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert openset("train", *words) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("Error: ")
    assert message in printed


def test_what_is_said_when_resuming_changes_the_run_that_is_there(trained, capsys):
    assert openset("train", "--resume", "--out", trained, "--set", "data.workers=1") == 0
    assert "is finished" in capsys.readouterr().out
    assert openset("train", "--resume", "--out", trained, "--set", "optimizer.lr=0.5") == 2
    assert "was made with optimizer.lr = 0.05, now it is 0.5" in capsys.readouterr().err


@pytest.mark.parametrize("command", [("train",), ("bench", "--splits", "0")])
def test_feature_vectors_get_a_network_for_them(command, tmp_path, capsys):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 40)
    vectors = (rng.normal(size=(120, 5)) + 3 * labels[:, None]).astype(np.float32)
    np.savez(tmp_path / "moths.npz", features=vectors, labels=labels)
    (tmp_path / "moths.yaml").write_text("data: moths.npz\nknown: ['0', '1']\nunknown: ['2']\n")
    (named, method) = ("--protocol", "--method") if command[0] == "train" else ("--protocols", "--methods")
    words = (named, tmp_path / "moths.yaml", method, "maxlogit", "--set", "train.epochs=2", "--out", tmp_path / "runs")
    assert openset(*command, *words) == 0
    (config,) = (tmp_path / "runs").rglob("config.yaml")
    assert "name: mlp" in config.read_text()


@pytest.mark.parametrize("command", [("train", "-p"), ("bench", "-p")], ids=["train", "bench"])
def test_a_broken_photo_is_left_out_on_request(command, images, tmp_path, capsys):
    shutil.copytree(images, tmp_path / "photos")
    (tmp_path / "photos/known/red/0.png").write_bytes(b"no image")
    (tmp_path / "photos/unknown/blue/0.png").write_bytes(b"no image")
    words = (*command, tmp_path / "photos", "-m", "softmax", "--set", "data.size=16", "--out", tmp_path / "runs", *FAST)
    assert openset(*words) == 2
    assert "--skip-corrupt" in capsys.readouterr().err
    with pytest.warns(OpenSetWarning, match="images were left out"):
        assert openset(*words, "--skip-corrupt") == 0
    (summary,) = (tmp_path / "runs").rglob("summary.json")
    assert any("1 of 60 images were left out" in note for note in json.loads(summary.read_text())["data_notes"])


def test_resume_of_nothing(tmp_path, capsys):
    assert openset("train", "--resume", "--out", tmp_path) == 2
    assert "holds no run to resume" in capsys.readouterr().err


def test_predict_writes_csv_and_json(trained, images, tmp_path, capsys):
    table, listing = tmp_path / "p.csv", tmp_path / "p.json"
    assert openset("predict", trained, images / "known", images / "unknown", "--csv", table, "--json", listing) == 0
    assert "images are unknown: their score is above the threshold" in capsys.readouterr().out
    rows = pl.read_csv(table)
    assert rows.columns == ["id", "decision", "prediction", "unknown_score", "margin"]
    assert rows.height == 90
    content = json.loads(listing.read_text())
    assert content["threshold"]["rule"] == "at_acceptance=0.95"
    assert content["decisions"] == rows.to_dicts()
    known = rows.filter(~pl.col("id").str.contains("blue"))
    assert np.mean([one["prediction"] == one["id"].split("/")[-2] for one in known.to_dicts()]) > 0.9
    accepted = rows["unknown_score"] <= content["threshold"]["value"]
    assert (accepted == (rows["decision"] != "unknown")).all()
    assert (accepted == (rows["margin"] >= 0)).all()
    for ending in ("parquet", "json"):
        assert openset("predict", trained, images / "known", images / "unknown", "--out", tmp_path / f"d.{ending}") == 0
    assert pl.read_parquet(tmp_path / "d.parquet").to_dicts() == rows.to_dicts()
    assert json.loads((tmp_path / "d.json").read_text())["decisions"] == rows.to_dicts()


def test_predict_leaves_out_what_is_no_image(trained, images, tmp_path, capsys):
    (tmp_path / "notes.png").write_text("not an image")
    good = images / "known" / "red" / "0.png"
    assert openset("predict", trained, good, tmp_path / "notes.png") == 1
    assert "notes.png cannot be decoded" in capsys.readouterr().err
    assert openset("predict", trained, tmp_path / "notes.png") == 2
    assert "None of the 1 images can be read" in capsys.readouterr().err


def test_predict_names_what_is_wrong(trained, images, tmp_path, capsys):
    assert openset("predict", tmp_path, images) == 2
    assert "is not a finished run" in capsys.readouterr().err
    assert openset("predict", trained, tmp_path / "nowhere") == 2
    assert "There is no file or folder" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert openset("predict", trained, tmp_path / "empty") == 2
    assert "has no images" in capsys.readouterr().err


def test_predict_does_not_overwrite_what_it_reads(trained, images, tmp_path, capsys):
    picture = tmp_path / "mine.png"
    picture.write_bytes((images / "known" / "red" / "0.png").read_bytes())
    frozen = tmp_path / "t.json"
    frozen.write_bytes((trained / "threshold.json").read_bytes())
    for place in (picture, frozen, trained / "summary.json", trained / "threshold.json", trained / "config.yaml"):
        before = place.read_bytes()
        for option in ("--json", "--csv"):
            assert openset("predict", trained, tmp_path, "--threshold", frozen, option, place) == 2
            assert "it is read by this command" in capsys.readouterr().err
        assert place.read_bytes() == before
    for _ in range(2):  # a place in the run folder that is only written to may be written to again
        assert openset("predict", trained, picture, "--csv", trained / "mine.csv") == 0
    (trained / "mine.csv").unlink()


def test_another_threshold_changes_who_is_unknown(trained, images, tmp_path):
    (tmp_path / "t.json").write_text('{"value": -1e9, "rule": "none", "achieved": {}, "n": 1}')
    assert (
        openset("predict", trained, images / "known", "--json", tmp_path / "p.json", "--threshold", tmp_path / "t.json")
        == 0
    )
    found = json.loads((tmp_path / "p.json").read_text())
    assert {one["decision"] for one in found["decisions"]} == {"unknown"}
    assert "schema 1" in found["notes"][0]
    assert "60 of 60 are rejected. If most of them should be known" in found["notes"][1]


def test_a_threshold_of_another_score_is_refused(trained, images, tmp_path, capsys):
    frozen = tmp_path / "t.json"
    words = ("--rule", "at_acceptance=0.95", "--out", frozen)
    assert openset("threshold", trained / "outputs_val.npz", "--score", "energy", *words) == 0
    capsys.readouterr()
    for command in (
        ("predict", trained, images / "known", "--threshold", frozen, "--score", "max_logit"),
        ("threshold", frozen, "--apply", trained / "scores_test.parquet"),
        ("threshold", frozen, "--apply", trained / "outputs_test.npz", "--score", "max_logit"),
    ):
        assert openset(*command) == 2
        assert "it was chosen for the score energy, and this is max_logit. Choose" in capsys.readouterr().err
        assert openset(*command, "--force") == 0
    assert openset("threshold", frozen, "--apply", trained / "outputs_test.npz", "--score", "energy") == 0
    table = tmp_path / "p.csv"  # predictions are made with the score of the threshold
    assert openset("predict", trained, images / "known", "--threshold", frozen, "--csv", table) == 0
    assert openset("outputs", trained, images / "known", "--out", tmp_path / "o.npz") == 0
    expected = score(read_outputs(tmp_path / "o.npz"), "energy")
    np.testing.assert_allclose(pl.read_csv(table)["unknown_score"].to_numpy(), expected, rtol=1e-6)
    assert openset("threshold", trained / "scores_val.parquet", *words) == 0
    assert openset("predict", trained, images / "known", "--threshold", frozen) == 0


def test_a_threshold_of_another_training_is_refused(trained, images, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(trained, run)
    summary = json.loads((run / "summary.json").read_text())
    assert openset("predict", run, images / "known") == 0
    weights = run / "checkpoints" / f"{summary['weights']}.safetensors"
    tensors, metadata = checkpoint.read_tensors(weights)
    checkpoint.write_tensors(weights, {**tensors, "method.head.weight": tensors["method.head.weight"] * 1.01}, metadata)
    capsys.readouterr()
    assert openset("predict", run, images / "known") == 2
    printed = capsys.readouterr().err
    assert f"{run / 'threshold.json'} and {run}: The threshold (at_acceptance=0.95) does not belong to this" in printed
    assert "another model, or one with other inputs (weights and preparation" in printed
    assert openset("predict", run, images / "known", "--force") == 0


def test_a_run_tells_how_sure_its_rates_are_and_when_its_threshold_does_nothing(trained):
    summary = json.loads((trained / "summary.json").read_text())
    rates = {(one["name"], one["against"]): one for one in summary["on_test"]["rates"]}
    assert rates["fpr", "all"]["value"] == summary["on_test"]["fpr"]
    assert rates["fpr", "all"]["low"] <= summary["on_test"]["fpr"] <= rates["fpr", "all"]["high"]
    assert any("chosen on only" in note for note in summary["notes"])  # a validation part of a few pictures
    assert any("chosen on only" in note for note in summary["files"][0]["notes"])  # from which the page is made


def test_methods_lists_all(tmp_path, capsys):
    assert openset("methods", "--json", tmp_path / "m.json") == 0
    assert "openauc" in capsys.readouterr().out
    listed = {entry["name"]: entry for entry in json.loads((tmp_path / "m.json").read_text())["methods"]}
    assert list(listed) == list(METHODS)
    assert listed["openauc"]["options"]["pairing"] == "slots"
    assert listed["entropic"]["uses_negatives"] is True


def test_bench_fills_the_grid_shares_trainings_and_goes_on(tmp_path, capsys, monkeypatch):
    trainings = []
    train = training_cell.train
    monkeypatch.setattr(
        training_cell,
        "train",
        lambda config, *words, **more: (trainings.append(config.method.name), train(config, *words, **more))[1],
    )
    words = ("bench", "-p", "digits", "-m", "softmax,maxlogit,openauc", "--splits", "0-1", "--out", tmp_path, *FAST)
    assert openset(*words) == 0
    assert sorted(trainings) == ["openauc", "openauc", "softmax", "softmax"]  # maxlogit shares those of softmax
    table = (tmp_path / "bench.md").read_text()
    assert table.count("\n|") == 5
    assert "**" in table
    assert "±" in table
    assert r"\textbf" in (tmp_path / "bench.tex").read_text()
    rows = pl.read_csv(tmp_path / "bench.csv")
    assert rows["method"].to_list() == ["softmax", "maxlogit", "openauc"]
    assert rows["closed_set_accuracy_mean"][0] == rows["closed_set_accuracy_mean"][1]
    assert rows["auroc_mean"][0] != rows["auroc_mean"][1]
    before = len(trainings)
    assert openset(*words) == 0
    assert len(trainings) == before  # nothing is done again
    (tmp_path / "digits/openauc/split1-seed0/summary.json").unlink()
    assert openset(*words) == 0
    assert trainings[before:] == ["openauc"]
    assert pl.read_csv(tmp_path / "bench.csv").equals(rows)


def test_bench_survives_failures(tmp_path, capsys, images):
    words = ("bench", "-p", images, "-m", "entropic,maxlogit", "--splits", "0", "--out", tmp_path)
    assert openset(*words, "--set", "data.size=16", "--json", tmp_path / "b.json", *FAST) == 1
    printed = capsys.readouterr()
    assert "entropic/split0-seed0: failed: The method 'entropic' learns from negatives" in printed.out
    assert "1 of 2 runs failed" in printed.err
    assert len(json.loads((tmp_path / "bench_failed.json").read_text())) == 1
    assert (tmp_path / "bench.md").read_text().count("maxlogit") == 1
    content = json.loads((tmp_path / "b.json").read_text())
    assert [one["reason"].startswith("The method 'entropic' learns") for one in content["failed"]] == [True]
    (row,) = content["groups"]
    assert (row["protocol"], row["method"]) == (images.name, "maxlogit")
    assert (tmp_path / f"{images.name}/maxlogit/split0-seed0").samefile(row["runs"][0])
    found = {one["name"]: one["value"] for one in row["metrics"]}
    assert found["open_auc"] == pl.read_csv(tmp_path / "bench.csv")["open_auc_mean"][0]


def test_what_looks_like_markup_is_printed_as_it_is(tmp_path, capsys, monkeypatch):
    trouble = "[/__w/pair.cc:537] Read error [enforce fail]"

    def fail(cell, **options):
        raise OpenSetError(trouble)

    monkeypatch.setattr(Cell, "run", fail)
    assert openset("bench", "-p", "digits", "-m", "maxlogit", "--splits", "0", "--out", tmp_path / "b[v2]") == 2
    printed = capsys.readouterr()
    assert f"failed: {trouble}" in printed.out
    assert "b[v2]/" in printed.out.replace("\n", "")
    assert f"the first: {trouble}" in printed.err


def test_bench_as_json_has_means_and_spreads(tmp_path):
    from openset.cli import bench as command

    cells = bench.make_grid(["digits"], ["softmax", "openauc"], [0, 1], [0], tmp_path)[:3]

    def entry(name, against, value):
        return {"name": name, "params": {}, "against": against, "value": value, "low": None, "high": None}

    def summary(cell):
        value = 0.5 + cell.config.split / 10
        open_figures = [entry(name, part, value) for name in ("auroc", "open_auc") for part in ("all", "unknown")]
        return {"metrics": [entry("closed_set_accuracy", "all", 0.9), *open_figures]}

    content = command.as_json([(cell, summary(cell)) for cell in cells], [], {})
    assert [(row["method"], len(row["runs"])) for row in content["groups"]] == [("softmax", 2), ("openauc", 1)]
    several, single = ({one["name"]: one for one in row["metrics"]} for row in content["groups"])
    assert several["open_auc"]["value"] == pytest.approx(0.55)
    assert several["open_auc"]["sd"] == pytest.approx(0.1 / 2**0.5)
    assert several["open_auc"]["low"] < 0.55 < several["open_auc"]["high"]
    assert (several["open_auc"]["against"], several["closed_set_accuracy"]["against"]) == ("unknown", "all")
    assert single["auroc"] == {
        **entry("auroc", "unknown", 0.5),
        "sd": None,
        "low": None,
        "high": None,
        "n": 1,
        "n_splits": 1,
    }
    json.dumps(content, allow_nan=False)


def test_bench_takes_its_intervals_over_splits(tmp_path):
    from openset.cli import bench as command
    from openset.intervals import over_splits

    cells = bench.make_grid(["digits"], ["softmax"], [0, 1, 2], [0, 1], tmp_path)
    # Runs on one split agree, as if one seed had been run twice: that tells no more than one seed.
    done = [
        (
            cell,
            {
                "metrics": [
                    {
                        "name": name,
                        "params": {},
                        "against": "all",
                        "value": 0.5 + cell.config.split / 10,
                        "low": None,
                        "high": None,
                    }
                    for name in ("closed_set_accuracy", "auroc", "open_auc")
                ]
            },
        )
        for cell in cells
    ]
    expected = over_splits([0.5, 0.6, 0.7])
    for figure in command.as_json(done, [], {})["groups"][0]["metrics"]:
        assert (figure["low"], figure["high"], figure["n"]) == (
            pytest.approx(expected.low), pytest.approx(expected.high), 6,
        )  # fmt: skip
    from openset.present.page.bench import bench_page

    assert f"[{expected.low:.3f}, {expected.high:.3f}]".replace("0.", ".") in bench_page(command._dots(done))


def test_bench_finds_mistakes_before_training(tmp_path, capsys):
    assert openset("bench", "-m", "openauc,opnauc", "--out", tmp_path) == 2
    assert "Did you mean 'openauc'?" in capsys.readouterr().err
    assert openset("bench", "--splits", "a-b", "--out", tmp_path) == 2
    assert "neither a number nor a range" in capsys.readouterr().err


def test_bench_varies_a_field(tmp_path, capsys, monkeypatch):
    trained = []
    train = training_cell.train
    monkeypatch.setattr(
        training_cell,
        "train",
        lambda config, *words, **more: (trained.append(config.method.options["weight"]), train(config, *words, **more))[
            1
        ],
    )
    words = ("bench", "-m", "openauc", "--splits", "0", "--vary", "method.weight=0.4,0.1", "--out", tmp_path / "runs")
    assert openset(*words, *FAST, "--figures", tmp_path / "f", "--report", tmp_path / "b.html") == 0
    assert trained == [0.4, 0.1]
    assert sorted(one.name for one in (tmp_path / "runs" / "digits").iterdir()) == [
        "openauc-weight=0.1",
        "openauc-weight=0.4",
    ]
    rows = pl.read_csv(tmp_path / "runs" / "bench.csv")
    assert rows["method"].to_list() == ["openauc weight=0.4", "openauc weight=0.1"]
    assert "| digits | openauc weight=0.1 | 1 |" in (tmp_path / "runs" / "bench.md").read_text()
    assert {one.stem for one in (tmp_path / "f").iterdir()} == {"bench", "gamma-over-epochs", "sensitivity"}
    assert "openauc weight=0.4" in (tmp_path / "b.html").read_text()
    assert openset(*words, *FAST) == 0
    assert trained == [0.4, 0.1]  # what is there is not done again


def test_what_is_said_twice_is_run_once(tmp_path):
    cells = bench.make_grid(["digits", "digits"], ["softmax", "softmax"], [0, 0], [0, 1, 0], tmp_path)
    assert [cell.config.seed for cell in cells] == [0, 1]
    assert numbers("0,0-2,1", "--seeds") == [0, 1, 2]


def test_without_splits_a_grid_has_those_that_there_are(tmp_path):
    file = tmp_path / "one.yaml"
    file.write_text("name: one\ndata: digits\nknown: ['1', '2']\nunknown: ['3']\n")
    cells = bench.make_grid(["digits", str(file)], ["softmax"], None, [0], tmp_path)
    found = [(cell.key.protocol, cell.config.split) for cell in cells]
    assert found == [*(("digits", n) for n in range(5)), ("one", 0)]


def test_what_varies_is_drawn_in_order(tmp_path, monkeypatch):
    from openset.cli import bench as command
    from openset.present.plots import training

    drawn = {}
    sensitivity = training.sensitivity
    monkeypatch.setattr(
        "openset.present.plots.sensitivity", lambda found, **words: drawn.update(found) or sensitivity(found)
    )
    vary = bench.Vary.parse("method.weight = 0.4, 0.1, 0.1, 1")
    assert vary.values == (0.4, 0.1, 1)
    cells = bench.make_grid(["digits"], ["openauc"], [0, 1], [0], tmp_path, vary=vary)
    assert cells[-1].config.method.options == {"weight": 1.0}
    for cell in cells:
        cell.folder.mkdir(parents=True)
        (cell.folder / "log.csv").write_text("epoch,loss\n1,0.5\n")

    def summary(cell):
        value = cell.value / 2 + cell.config.split
        result = {"name": "open_auc", "params": {}, "against": "unknown", "value": value, "low": None, "high": None}
        return {"metrics": [result]}

    done = [(cell, summary(cell)) for cell in cells]
    files = command._draw(done, tmp_path / "f", vary)
    assert drawn["openauc, digits"].settings == [0.1, 0.4, 1]
    assert [spread.observed for spread in drawn["openauc, digits"].spreads] == [(0.05, 1.05), (0.2, 1.2), (0.5, 1.5)]
    assert {file.stem for file in files} == {"bench", "sensitivity"}  # without negatives there is no confidence


@pytest.mark.parametrize(
    ("vary", "sentence"),
    [
        ("method.weight", "write for example method.weight=0.05,0.1,0.2"),
        ("method.weight=", "write for example"),
        ("method.weight=0.1,big", "'big' is not a number"),
        ("method.weight=0.1,nan", "'nan' is not a number"),
        ("method.weigth=0.1", "Did you mean 'weight'?"),
        ("seed=1,2", "'seed' cannot be varied: another option sets it already"),
        ("train.epochs=1,2", "'train.epochs' cannot be varied"),
    ],
)
def test_bench_says_what_cannot_vary(vary, sentence, tmp_path, capsys):
    assert openset("bench", "-m", "openauc", "--vary", vary, "--out", tmp_path / "runs", *FAST) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_tables_by_hand():
    accuracy, auroc, open_auc = (spread_of([m - 0.01, m + 0.01]) for m in (0.9, 0.8, 0.7001))
    single = {"open_auc": spread_of([0.7]), "auroc": spread_of([0.9]), "closed_set_accuracy": spread_of([0.8])}
    rows = [
        bench.Row("p", "a_b", {"open_auc": open_auc, "auroc": auroc, "closed_set_accuracy": accuracy}),
        bench.Row("p", "c", single),
    ]
    assert markdown_table(bench_table(rows)).splitlines()[2:6] == [
        "| Protocol | Method | Runs | OpenAUC | AUROC | Closed-set accuracy |",
        "|---|---|---:|---:|---:|---:|",
        r"| p | a\_b | 2 | **70.0 ± 1.4** | 80.0 ± 1.4 | **90.0 ± 1.4** |",
        "| p | c | 1 | **70.0** | **90.0** | 80.0 |",
    ]
    assert r"p & a\_b & 2 & \textbf{70.0 $\pm$ 1.4} & 80.0 $\pm$ 1.4 &" in latex_table(bench_table(rows))
    assert csv_table(bench_lines(rows)).splitlines()[2] == "p,c,1,0.7,,0.9,,0.8,"
