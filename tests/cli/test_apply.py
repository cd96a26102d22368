"""`openset apply`: decisions on data without labels."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from openset import Scores
from openset.posthoc import Outputs, fit

NAMES = np.array(["cat", "dog", "owl"])


@pytest.fixture
def outputs(tmp_path):
    """Training, validation and new outputs of one model; the new ones have ids and no labels."""
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(3, 8)).astype(np.float32)

    def write(name, n, unknown, **more):
        labels = np.where(rng.random(n) < unknown, -2, rng.integers(0, 3, n))
        features = np.where((labels >= 0)[:, None], 2 * weight[labels], 0) + rng.normal(size=(n, 8))
        arrays = {"features": features.astype(np.float32), "weight": weight, "bias": np.zeros(3), "class_names": NAMES}
        arrays["logits"] = arrays["features"] @ weight.T
        if "ids" not in more:
            arrays["labels"] = labels
        np.savez(tmp_path / name, **arrays, **more)
        return tmp_path / name

    write("train.npz", 400, 0)
    write("val.npz", 300, 0.3)
    write("new.npz", 200, 0.3, ids=np.array([f"photo-{n}.jpg" for n in range(200)]))
    return tmp_path


@pytest.fixture
def freeze(openset, outputs):
    def run(score, *words):
        found = openset(
            "threshold", outputs / "val.npz", "--score", score, "--rule", "at_acceptance=0.9", "--out",
            outputs / "t.json", *words,
        )  # fmt: skip
        assert found.code == 0, found.err
        return outputs / "t.json"

    return run


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_unlabelled_outputs_end_in_a_table_of_decisions(openset, outputs, freeze, ending, load):
    threshold, out = freeze("energy"), outputs / f"d.{ending}"
    found = openset("apply", threshold, outputs / "new.npz", "--out", out, "--json", outputs / "s.json")
    assert found.code == 0, found.err
    if ending == "json":
        content = json.loads(out.read_text())
        assert content["threshold"]["score"]["name"] == "energy"
        table = pl.DataFrame(content["decisions"])
    else:
        table = pl.read_csv(out) if ending == "csv" else pl.read_parquet(out)
    assert table.columns == ["id", "decision", "prediction", "unknown_score", "margin"]
    assert table["id"].to_list() == [f"photo-{n}.jpg" for n in range(200)]
    stored = np.load(outputs / "new.npz")
    energy = -np.log(np.exp(stored["logits"].astype(float)).sum(axis=1))
    value = load(threshold)["value"]
    best = NAMES[stored["logits"].argmax(axis=1)]
    assert table["decision"].cast(pl.String).to_list() == np.where(energy > value, "unknown", best).tolist()
    assert table["prediction"].cast(pl.String).to_list() == best.tolist()
    assert table["margin"].to_numpy() == pytest.approx(value - energy)
    summary = load(outputs / "s.json")
    assert summary["unknown"]["count"] == (energy > value).sum()
    assert summary["unknown"]["low"] < summary["unknown"]["value"] < summary["unknown"]["high"]
    assert sum(summary["files"][0]["accepted"].values()) + summary["unknown"]["count"] == 200
    assert f"{(energy > value).sum()} of 200 samples are unknown" in found.out


def test_scores_are_decided_as_they_are(openset, outputs, freeze):
    threshold = freeze("energy")
    scores = Scores.read(outputs / "val.npz", score="energy")
    scores.write(outputs / "val.parquet")
    pl.read_parquet(outputs / "val.parquet").drop("label").write_csv(outputs / "plain.csv")
    found = openset("apply", threshold, outputs / "val.parquet", outputs / "plain.csv", "--out", outputs / "d.parquet")
    assert found.code == 0, found.err
    assert "plain.csv: The threshold was chosen for the score energy; these scores do not tell which" in " ".join(
        found.out.split()
    )
    table = pl.read_parquet(outputs / "d.parquet")
    first, second = (part.drop("file") for part in table.partition_by("file", maintain_order=True))
    assert first.equals(second)
    assert first["id"].to_list() == list(range(300))


def test_a_score_that_learns_is_applied_by_its_fit(openset, outputs, freeze, refused):
    threshold = freeze("knn(k=5)", "--fit", outputs / "train.npz")
    words = ["apply", threshold, outputs / "new.npz"]
    assert "learns from training outputs" in refused(*words)
    assert "fitted on other training outputs" in refused(*words, "--fit", outputs / "val.npz")
    stored = np.load(outputs / "train.npz")
    train = Outputs(stored["logits"], stored["features"], labels=stored["labels"])
    fit("knn(k=5)", train).save(outputs / "knn.safetensors")
    fit("knn(k=7)", train).save(outputs / "other.safetensors")
    assert openset(*words, "--fit", outputs / "train.npz", "--out", outputs / "a.csv").code == 0
    assert openset(*words, "--fitted", outputs / "knn.safetensors", "--out", outputs / "b.csv").code == 0
    assert (outputs / "a.csv").read_text() == (outputs / "b.csv").read_text()
    assert "is asked for: fit it again" in refused(*words, "--fitted", outputs / "other.safetensors")


def test_another_score_or_number_of_classes_stops(openset, outputs, freeze, refused):
    threshold = freeze("energy")
    printed = refused("apply", threshold, outputs / "new.npz", "--score", "msp")
    assert "it was chosen for the score energy, and this is msp" in printed
    forced = openset("apply", threshold, outputs / "new.npz", "--score", "msp", "--force")
    assert forced.code == 0
    assert "Applied by force: it was chosen for the score energy" in " ".join(forced.out.split())
    np.savez(outputs / "two.npz", logits=np.zeros((4, 2)))
    assert "chosen for 3 classes, and here there are 2" in refused("apply", threshold, outputs / "two.npz")


def test_a_value_per_class_is_applied(openset, outputs):
    openset(
        "threshold", outputs / "val.npz", "--score", "energy", "--rule", "conformal=0.1, per_class=true",
        "--out", outputs / "t.json",
    )  # fmt: skip
    assert openset("apply", outputs / "t.json", outputs / "new.npz", "--out", outputs / "d.parquet").code == 0
    table = pl.read_parquet(outputs / "d.parquet").with_columns(pl.col("prediction").cast(pl.String))
    values = dict(zip(NAMES, json.loads((outputs / "t.json").read_text())["per_class"], strict=True))
    limit = table["margin"] + table["unknown_score"]
    assert limit.to_list() == pytest.approx([values[name] for name in table["prediction"]])
    assert len(set(values.values())) == 3


def test_without_out_the_first_rows_are_shown(openset, outputs, freeze):
    found = openset("apply", freeze("max_logit"), outputs / "new.npz")
    assert "photo-0.jpg" in found.out
    assert "... and 180 more; write them all with --out." in found.out


def test_bad_input_is_told(outputs, freeze, refused):
    threshold = freeze("energy")
    new = outputs / "new.npz"
    logits = np.zeros((6, 3))
    logits[4, 1] = np.nan
    np.savez(outputs / "nan.npz", logits=logits)
    assert "nan.npz: 'logits' has a NaN or infinite value in row 4" in refused(
        "apply", threshold, outputs / "nan.npz", "--out", outputs / "d.csv"
    )
    assert not (outputs / "d.csv").exists()
    assert "use a name that ends in .csv" in refused("apply", threshold, new, "--out", outputs / "d.xlsx")
    assert "is read by this command" in refused("apply", threshold, new, "--out", new)
    (outputs / "n.csv").write_bytes("prediction,unknown_score\nK\xe4fer,0.1\n".encode("latin-1"))
    assert "is not a text file in UTF-8" in refused("apply", threshold, outputs / "n.csv")
    (outputs / "e.csv").write_text("id,name\n1,a\n")
    assert "e.csv: there are neither scores" in refused("apply", threshold, new, outputs / "e.csv")
    assert "There is no file" in refused("apply", threshold, outputs / "none.npz")
    (outputs / "empty.json").write_text("{}")
    assert "is not a threshold file" in refused("apply", outputs / "empty.json", new)


def test_no_file_counts_twice(outputs, freeze, refused):
    threshold, new = freeze("energy"), outputs / "new.npz"
    (outputs / "link.npz").symlink_to(new)
    for again in (new, outputs / "link.npz"):
        for command in ("apply", "watch"):
            assert f"{again} is given twice" in refused(command, threshold, new, outputs / "val.npz", again)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path):
    """400 times the rows, the same memory but for some buffers."""
    (tmp_path / "t.json").write_text('{"value": 0, "rule": "by hand", "achieved": {}, "n": 1}')
    rng = np.random.default_rng(0)

    def used(n):
        logits = rng.normal(size=(n, 50)).astype(np.float32)
        np.savez(tmp_path / "o.npz", logits=logits)
        code = (
            "import sys; from openset.cli import main\n"
            "try: main(sys.argv[1:])\n"
            "except SystemExit as stop: assert not stop.code\n"
            "lines = open('/proc/self/status').read().splitlines()\n"
            "print(next(line.split()[1] for line in lines if line.startswith('VmHWM')))"
        )
        words = ["apply", tmp_path / "t.json", tmp_path / "o.npz", "--score", "energy", "--out", tmp_path / "d.parquet"]
        ran = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=True)
        return int(ran.stdout.split()[-1]) / 1024

    pytest.importorskip("resource", reason="memory is read from /proc")
    few, many = used(1_000), used(400_000)
    assert many - few < 160, (few, many)  # what the logits alone would take in double precision


# ---- several scores in one table -------------------------------------------------------------------------------------


def test_all_scores_are_one_table(openset, outputs, load, tmp_path):
    words = ["evaluate", outputs / "val.npz", "--fit", outputs / "train.npz", "--score", "all", "--resamples", 20]
    found = openset(
        *words, "--json", tmp_path / "r.json", "--latex", tmp_path / "r.tex", "--report", tmp_path / "r.html"
    )
    assert found.code == 0, found.err
    content = load(tmp_path / "r.json")
    names = [one["name"] for one in content["files"]]
    assert {"msp", "knn", "vim", "ghost"} <= set(names)
    assert len(names) == len(set(names)) >= 20
    values = [one["metrics"][0]["value"] for one in content["files"]]
    best = names[int(np.argmax(values))]
    assert {one["models"][0] for one in content["comparisons"]} == {best}
    assert len(content["comparisons"]) == 2 * (len(names) - 1)
    tex = (tmp_path / "r.tex").read_text()
    assert tex.count(r"\\") == len(names) + 1
    assert rf"\textbf{{{best}}}" in tex.replace(r"\_", "_")
    assert "relative_mahalanobis" in (tmp_path / "r.html").read_text()
    assert "choose the score on validation data (--tune)" in " ".join(found.out.split())


def test_named_scores_against_a_named_one(openset, outputs, refused, load, tmp_path):
    words = ["evaluate", outputs / "val.npz", "--score", "msp,energy,'knn(k=10)'", "--resamples", 20]
    assert "'knn' learns from training outputs" in refused(*words)
    words += ["--fit", outputs / "train.npz"]
    assert openset(*words, "--reference", "msp", "--json", tmp_path / "r.json").code == 0
    tested = [tuple(one["models"]) for one in load(tmp_path / "r.json")["comparisons"] if one["name"] == "open_auc"]
    assert sorted(tested) == [("msp", "energy"), ("msp", "knn(k=10)")]
    assert "no model named 'knn'" in refused(*words, "--reference", "knn")


def test_parameters_are_tuned_on_other_samples(openset, outputs, refused, load, tmp_path):
    words = ["evaluate", outputs / "val.npz", "--fit", outputs / "train.npz", "--no-intervals"]
    stored = dict(np.load(outputs / "val.npz"))
    half = {key: value[:150] if len(value) == 300 else value for key, value in stored.items()}
    np.savez(outputs / "half.npz", **half)
    found = openset(*words, "--score", "knn,msp", "--tune", outputs / "half.npz", "--json", tmp_path / "r.json")
    assert found.code == 0, found.err
    content = load(tmp_path / "r.json")
    assert [one["name"].partition("(")[0] for one in content["files"]] == ["knn", "msp"]
    assert "open-set samples" in content["files"][0]["meta"]["tuned"]["on"]
    (remark,) = content["remarks"]
    assert remark.startswith("Parameters were chosen by open_auc on")
    chosen = remark.rpartition("there: ")[2].rpartition(", ")[0]
    assert {one["models"][0] for one in content["comparisons"]} == {chosen}
    assert "holds the samples that --tune" in refused(*words, "--score", "knn", "--tune", outputs / "val.npz")
    assert "name one or several with --score" in refused(*words, "--tune", outputs / "half.npz")
