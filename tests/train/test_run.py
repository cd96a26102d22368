"""Whole runs on the digits: every method learns, and everything that a run folder promises is there."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from lightning_fabric import Fabric

from openset import operating
from openset.errors import OpenSetError, OpenSetWarning
from openset.methods import METHODS
from openset.metrics import auroc, confidence
from openset.protocols import load
from openset.scores import Scores
from openset.train import checkpoint
from openset.train.build import make_network
from openset.train.config import read_config
from openset.train.feed import Feed
from openset.train.interrupt import Interrupted
from openset.train.loop import fit
from openset.train.run import begin, keeps_train_outputs, rescore, train

FAST = ("train.epochs=4", "data.batch_size=64", "backbone.width=8")


def small_config(*overrides, **given):
    fast = [one for one in FAST if not (one.startswith("backbone") and any("backbone=" in two for two in overrides))]
    return read_config(None, [*fast, *overrides], **given)


def run(out, *overrides, **given):
    config = begin(small_config(*overrides, **given), out, resume=False)
    return train(config, out)


def weights(out, name="last"):
    return checkpoint.read_tensors(out / "checkpoints" / f"{name}.safetensors")[0]


def assert_same_weights(one, two):
    first, second = weights(one), weights(two)
    assert first.keys() == second.keys()
    for name in first:
        assert torch.equal(first[name], second[name]), name


@pytest.fixture(scope="module")
def digits():
    return load("digits")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "maxlogit"
    run(out, "train.epochs=12", "method.name=maxlogit")
    return out


@pytest.mark.parametrize("name", METHODS)
def test_every_method_beats_chance_on_digits(name, tmp_path):
    """The lower end of the 95 % interval of AUROC is above one half."""
    summary = run(tmp_path / "run", "train.epochs=14", f"method.name={name}")
    found = {entry["against"]: entry for entry in summary["metrics"] if entry["name"] == "auroc"}
    assert found["all"]["low"] > 0.5
    right = next(entry for entry in summary["metrics"] if entry["name"] == "closed_set_accuracy")
    assert right["value"] > 0.5
    assert operating.Threshold.read(tmp_path / "run/threshold.json").value == summary["threshold"]["value"]


def test_images_that_take_turns_are_seen_from_both_sides_in_any_two_epochs(tmp_path, monkeypatch, digits):
    from openset.train import loop

    seen = {}

    def spy(images, config, seed, *, epoch, odd):
        changed = augment(images, config, seed, epoch=epoch, odd=odd)
        seen.setdefault(epoch, []).extend(one.numpy().tobytes() for one in changed)
        return changed

    augment = loop.augment
    monkeypatch.setattr(loop, "augment", spy)
    run(tmp_path / "run", "train.epochs=3", "augment.flip=true", "augment.flip_in_turn=true", "data.batch_size=9999")
    known = np.flatnonzero(digits.train.labels >= 0)
    images, _ = Feed(digits.train, read_config().data).load(known)
    both = [one.numpy().tobytes() for side in (images, images.flip(3)) for one in side]
    assert sorted(seen[0]) == sorted(seen[2]) != sorted(seen[1])
    assert sorted(seen[0] + seen[1]) == sorted(both)


def test_images_too_small_for_the_backbone_are_refused_before_training(tmp_path):
    with pytest.raises(OpenSetError, match=r"'fastnet' cannot take images of 2 x 2 pixels \('augment.shrink'\)"):
        run(tmp_path / "run", "augment.shrink=2", "augment.shrink_epochs=1")
    assert run(tmp_path / "wide", "augment.shrink=99", "augment.shrink_epochs=1")["epochs"] == 4  # nothing to shrink


def test_the_run_folder_is_complete(finished, digits):
    names = {str(file.relative_to(finished)) for file in finished.rglob("*") if file.is_file()}
    assert names == {
        "config.yaml",
        "log.csv",
        "checkpoints/last.safetensors",
        "checkpoints/state.safetensors",
        "scores_val.parquet",
        "scores_test.parquet",
        "outputs_train.npz",
        "outputs_val.npz",
        "outputs_test.npz",
        "threshold.json",
        "summary.json",
    }
    log = (finished / "log.csv").read_text().splitlines()
    assert log[0] == "epoch,lr,loss,accuracy,val_accuracy,val_gamma_plus,val_gamma_minus,val_gamma"
    assert len(log) == 13
    scores = Scores.read(finished / "scores_test.parquet")
    assert np.array_equal(scores.labels, digits.test.labels)
    assert np.array_equal(scores.ids, digits.test.ids)
    assert scores.class_names == digits.class_names
    summary = json.loads((finished / "summary.json").read_text())
    assert summary["data"] == digits.fingerprint
    assert summary["provenance"]["torch"]


@pytest.mark.parametrize(
    ("asked", "epochs", "n_train", "kept"),
    [
        ("auto", 3, 10_000, True),
        ("auto", 3, 10_001, False),
        ("auto", 4, 10_001, True),
        ("always", 1, 10**6, True),
        ("never", 99, 10, False),
    ],
)
def test_outputs_of_the_training_part_are_kept_where_asked_for_or_cheap(asked, epochs, n_train, kept):
    config = read_config(None, [f"train.train_outputs={asked}", f"train.epochs={epochs}"])
    assert keeps_train_outputs(config, n_train) is kept


def test_scoring_says_what_it_does_and_that_nothing_else_is_left(tmp_path):
    told = []
    chosen = ["train.epochs=1", "train.train_outputs=never", "method.name=softmax"]
    config = begin(small_config(*chosen), tmp_path, resume=False)
    train(config, tmp_path, tell=told.append)
    assert not (tmp_path / "outputs_train.npz").exists()
    assert "Outputs of the training part are not kept" in told[-2]
    assert re.fullmatch(r"Scoring [\d,]+ test samples: about \d+ seconds?\.", told[-1])
    assert not any("only scoring is left" in one for one in told)
    before = Scores.read(tmp_path / "scores_test.parquet").unknown_score
    (tmp_path / "summary.json").unlink()
    told.clear()
    train(begin(None, tmp_path, resume=True), tmp_path, tell=told.append)
    assert any("The training is done; only scoring is left." in one for one in told)
    assert np.array_equal(Scores.read(tmp_path / "scores_test.parquet").unknown_score, before)
    rescore(small_config(*chosen[:2], "method.name=maxlogit"), tmp_path, tmp_path / "other")
    assert not (tmp_path / "other" / "outputs_train.npz").exists()
    assert (tmp_path / "other" / "scores_test.parquet").exists()


def test_the_threshold_comes_from_validation_knowns(finished):
    chosen = operating.choose(Scores.read(finished / "scores_val.parquet"), "at_acceptance=0.95")
    assert operating.Threshold.read(finished / "threshold.json") == chosen


def test_stored_outputs_give_the_same_scores(finished):
    stored = Scores.read(finished / "outputs_test.npz", score="max_logit")
    assert np.array_equal(stored.unknown_score, Scores.read(finished / "scores_test.parquet").unknown_score)
    near = Scores.read(finished / "outputs_test.npz", score="knn", fit=finished / "outputs_train.npz")
    assert auroc(near.labels, near.unknown_score) > 0.6
    exact = Scores.read(finished / "outputs_test.npz", score="scale")
    assert auroc(exact.labels, exact.unknown_score) > 0.6


def test_stored_outputs_hold_the_last_layer(finished):
    with np.load(finished / "outputs_test.npz") as stored:
        assert "bias" not in stored  # it has none
        np.testing.assert_allclose(stored["features"] @ stored["weight"].T, stored["logits"], rtol=1e-4, atol=1e-4)


def test_outputs_of_an_earlier_version_are_rescored_with_the_stored_last_layer(finished, tmp_path):
    config = small_config("train.epochs=12", "method.name=scaled")
    rescore(config, finished, tmp_path / "new")
    old = shutil.copytree(finished, tmp_path / "old")
    for file in old.glob("outputs_*.npz"):
        with np.load(file) as stored:
            kept = {name: stored[name] for name in stored.files if name != "weight"}
        np.savez(file, **kept)
    rescore(config, old, tmp_path / "again")
    new, again = (Scores.read(tmp_path / name / "scores_test.parquet") for name in ("new", "again"))
    np.testing.assert_array_equal(again.unknown_score, new.unknown_score)
    assert new.meta["score"]["name"] == "scaled_logit"
    assert not np.array_equal(new.unknown_score, Scores.read(finished / "scores_test.parquet").unknown_score)


def test_outputs_are_those_of_the_stored_weights(finished, digits):
    config = small_config("train.epochs=12", "method.name=maxlogit")
    network = make_network(config, Feed(digits.train, config.data), 6)
    network.load_state_dict(weights(finished))
    network.eval()
    with torch.no_grad():
        _, logits = network(torch.from_numpy(digits.test.array([0, 5])).permute(0, 3, 1, 2).float() / 255)
    with np.load(finished / "outputs_test.npz") as stored:
        np.testing.assert_allclose(logits.numpy(), stored["logits"][[0, 5]], rtol=1e-4, atol=1e-5)


def test_same_seed_same_result_other_seed_another(tmp_path):
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        config = small_config("train.epochs=2", "augment.randaugment=[1, 8]", "augment.crop_padding=1", seed=seed)
        train(begin(config, tmp_path / name, resume=False), tmp_path / name)
    assert_same_weights(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a/scores_test.parquet").read_bytes() == (tmp_path / "b/scores_test.parquet").read_bytes()
    assert not torch.equal(weights(tmp_path / "a")["method.head.weight"], weights(tmp_path / "c")["method.head.weight"])


# ---- stopping and going on -----------------------------------------------------------------------------------------

COMMAND = [sys.executable, "-c", "from openset.cli import main; main()", "train", "-p", "digits", "-m", "openauc"]
LONGER = ("train.epochs=6", "data.batch_size=16", "backbone.width=8", "train.ema=0.9", "augment.crop_padding=1")
SETTINGS = [word for one in LONGER for word in ("--set", one)]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "run"
    subprocess.run([*COMMAND, *SETTINGS, "--out", out], check=True, env=ENVIRONMENT, capture_output=True)
    return out


# The process kills itself, with SIGKILL, in the middle of what it is doing.
KILL_IN_STEP = """
import os, signal, torch
step, count = torch.optim.SGD.step, 0
def killing(*words, **more):
    global count
    count += 1
    if count == AT:
        os.kill(os.getpid(), signal.SIGKILL)
    return step(*words, **more)
torch.optim.SGD.step = killing
"""
KILL_WHILE_SAVING = """
import os, pathlib, signal
count = 0
def killing(self, content):
    global count
    count += self.suffix == ".safetensors"
    with self.open("wb") as stream:
        stream.write(content[: len(content) // 2] if count == AT else content)
    if count == AT:
        os.kill(os.getpid(), signal.SIGKILL)
pathlib.Path.write_bytes = killing
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prelude", "at", "epochs_kept"),
    [(KILL_IN_STEP, 3, None), (KILL_IN_STEP, 2 * 40 + 17, 2), (KILL_WHILE_SAVING, 2, 1)],
    ids=["before the first checkpoint", "within the third epoch", "while saving"],
)
def test_killed_runs_resume_to_the_same_weights(prelude, at, epochs_kept, uninterrupted, tmp_path):
    out = tmp_path / "run"
    program = prelude.replace("AT", str(at)) + COMMAND[2]
    words = [*COMMAND[:2], program, *COMMAND[3:], *SETTINGS, "--out", out]
    killed = subprocess.run(words, check=False, env=ENVIRONMENT, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    state = out / "checkpoints" / "state.safetensors"
    kept = checkpoint.read_tensors(state)[1]["state"]["epoch"] if state.exists() else None
    assert kept == epochs_kept
    subprocess.run([*COMMAND[:4], "--resume", "--out", out], check=True, env=ENVIRONMENT, capture_output=True)
    assert_same_weights(out, uninterrupted)
    assert (out / "log.csv").read_text() == (uninterrupted / "log.csv").read_text()


@pytest.mark.slow
def test_ctrl_c_saves_and_says_how_to_resume(uninterrupted, tmp_path):
    out = tmp_path / "run"
    process = subprocess.Popen([*COMMAND, *SETTINGS, "--out", out], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    while not (out / "log.csv").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate()
    assert process.returncode == 130
    assert f"checkpoint saved. Resume with: openset train --resume --out {out}" in printed
    assert "Traceback" not in printed
    subprocess.run([*COMMAND[:4], "--resume", "--out", out], check=True, env=ENVIRONMENT, capture_output=True)
    assert_same_weights(out, uninterrupted)


def interrupted_run(out, *overrides, after=7, **given):
    """Stop a run after so many steps, as a signal would."""
    config = begin(small_config(*overrides, **given), out, resume=False)
    steps = 0

    def watch(state, *_):
        nonlocal steps
        steps += 1
        if steps == after:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted):
        train(config, out, watch=watch)
    return config


@pytest.mark.parametrize("method", ["openauc", "arpl_cs", "background"])
def test_stopping_within_an_epoch_changes_nothing(method, tmp_path):
    settings = (f"method.name={method}", "train.epochs=3", "optimizer.name=adam", "optimizer.lr=0.01")
    run(tmp_path / "whole", *settings)
    config = interrupted_run(tmp_path / "part", *settings, after=17)
    train(begin(config, tmp_path / "part", resume=True), tmp_path / "part")
    assert_same_weights(tmp_path / "whole", tmp_path / "part")
    assert (tmp_path / "whole/log.csv").read_text() == (tmp_path / "part/log.csv").read_text()


def test_seconds_count_over_interruptions(tmp_path):
    config = interrupted_run(tmp_path / "run", after=7)
    file = tmp_path / "run/checkpoints/state.safetensors"
    tensors, metadata = checkpoint.read_tensors(file)
    assert 0 < metadata["state"]["seconds"] < 1000
    metadata["state"]["seconds"] = 1000.0
    checkpoint.write_tensors(file, tensors, metadata)
    summary = train(begin(config, tmp_path / "run", resume=True), tmp_path / "run")
    assert 1000 < summary["seconds"] < 2000


def test_a_kept_state_is_that_at_the_end_of_its_epoch(digits, tmp_path):
    steps = int((digits.train.labels >= 0).sum()) // 64
    interrupted_run(tmp_path / "run", "train.keep=[1]", after=steps + 2)
    files = [tmp_path / "run/checkpoints" / f"{name}.safetensors" for name in ("state", "state-1")]
    states = [checkpoint.read_tensors(file)[1]["state"] for file in files]
    assert [(one["epoch"], one["step"]) for one in states] == [(1, 2), (1, 0)]


def test_resuming_needs_the_same_config(tmp_path):
    out = tmp_path / "run"
    interrupted_run(out)
    with pytest.raises(OpenSetError, match=r"was made with optimizer.lr = 0.05, now it is 0.1"):
        begin(small_config("optimizer.lr=0.1"), out, resume=True)
    with pytest.raises(OpenSetError, match="holds an unfinished run: add --resume"):
        begin(small_config(), out, resume=False)
    begin(small_config("data.workers=1"), out, resume=True)  # does not matter to the result


def test_resuming_needs_the_same_samples(tmp_path):
    """Else the order of the samples would be another one, and half of the training for nothing."""
    lists = tmp_path / "digits.yaml"
    lists.write_text("data: digits\nknown: ['0', '1', '2']\nunknown: ['3']\n")
    config = interrupted_run(tmp_path / "run", protocol=str(lists))
    lists.write_text("data: digits\nknown: ['0', '1', '2']\nunknown: ['3']\nvalidation: 0.3\n")
    with pytest.raises(OpenSetError, match="made with other training or validation samples"):
        train(begin(config, tmp_path / "run", resume=True), tmp_path / "run")


def test_the_loss_scale_is_part_of_the_state(tmp_path, monkeypatch):
    """As 16-mixed has it on a GPU; on a CPU it must be asked for by hand."""
    from lightning_fabric.plugins.precision.amp import MixedPrecision

    from openset.train import run as whole

    def half_precision(_config, _loggers):
        return Fabric(accelerator="cpu", devices=1, plugins=[MixedPrecision("16-mixed", device="cpu")])

    monkeypatch.setattr(whole, "make_fabric", half_precision)
    config = interrupted_run(tmp_path / "run")
    file = tmp_path / "run/checkpoints/state.safetensors"
    tensors, metadata = checkpoint.read_tensors(file)
    metadata["precision"]["scale"] = 8.0
    checkpoint.write_tensors(file, tensors, metadata)
    train(begin(config, tmp_path / "run", resume=True), tmp_path / "run")
    assert checkpoint.read_tensors(file)[1]["precision"]["scale"] == 8.0


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("nonsense", "no threshold rule named 'nonsense'"),
        ("at_fpr=0.1", "needs open-set samples, and all 36 are known"),
    ],
)
def test_a_threshold_that_cannot_be_is_refused_before_training(rule, message, tmp_path):
    lists = tmp_path / "digits.yaml"
    lists.write_text("data: digits\nknown: ['0', '1', '2']\nunknown: ['3']\n")  # no negatives to validate on
    with pytest.raises(OpenSetError, match=message):
        run(tmp_path / "run", f"train.threshold={rule}", protocol=str(lists))
    assert not (tmp_path / "run/checkpoints").exists()


def test_a_run_of_an_older_version_goes_on(tmp_path):
    """Its config lacks fields that came later."""
    config = interrupted_run(tmp_path / "run")
    file = tmp_path / "run/checkpoints/state.safetensors"
    tensors, metadata = checkpoint.read_tensors(file)
    del metadata["config"]["augment"]["shrink"], metadata["config"]["train"]["patience"]
    checkpoint.write_tensors(file, tensors, metadata)
    assert train(begin(config, tmp_path / "run", resume=True), tmp_path / "run")["epochs"] == 4
    run(tmp_path / "whole")
    assert_same_weights(tmp_path / "whole", tmp_path / "run")


def test_a_checkpoint_of_another_config(tmp_path):
    out = tmp_path / "run"
    interrupted_run(out)
    config = small_config("optimizer.lr=0.1")
    config.write(out / "config.yaml")
    with pytest.raises(OpenSetError, match=r"state.safetensors was made with optimizer.lr = 0.05, now it is 0.1"):
        train(config, out)


@pytest.mark.parametrize("size", [0, 5, 100, -1, -1000])
def test_a_truncated_checkpoint(size, tmp_path):
    out = tmp_path / "run"
    config = interrupted_run(out)
    file = out / "checkpoints" / "state.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[:size])
    with pytest.raises(OpenSetError, match=r"state.safetensors is (damaged or cut off|empty)"):
        train(config, out)


def test_a_pickle_in_place_of_a_checkpoint_is_not_run(tmp_path):
    out = tmp_path / "run"
    config = interrupted_run(out)
    trap = tmp_path / "trap"

    class Trap:
        def __reduce__(self):
            return (Path.touch, (trap,))

    torch.save({"network": Trap()}, out / "checkpoints" / "state.safetensors")
    with pytest.raises(OpenSetError, match="damaged or cut off"):
        train(config, out)
    assert not trap.exists()


def test_a_full_disk_keeps_the_checkpoint_before(tmp_path, monkeypatch):
    out = tmp_path / "run"
    config = interrupted_run(out)
    file = out / "checkpoints" / "state.safetensors"
    before = file.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OpenSetError, match=r"no space left on device. The checkpoint before is kept"):
            train(config, out)
    assert file.read_bytes() == before
    assert [one.name for one in file.parent.iterdir()] == ["state.safetensors"]
    train(config, out)  # with room again
    assert (out / "summary.json").exists()


def test_a_loss_that_is_not_a_number_stops_with_the_place(tmp_path):
    out = tmp_path / "run"
    config = small_config("optimizer.lr=1e30", "data.batch_size=128", "schedule.name=constant")
    with pytest.raises(OpenSetError, match=r"not a number at epoch 1, step \d.* Try a lower optimizer.lr"):
        train(begin(config, out, resume=False), out)


def test_a_bad_loss_names_the_last_good_checkpoint(tmp_path, monkeypatch):
    out = tmp_path / "run"
    config = interrupted_run(out, after=12)
    network = METHODS["openauc"]
    loss = network.loss
    monkeypatch.setattr(network, "loss", lambda *words: loss(*words) * float("nan"))
    good = (out / "checkpoints/state.safetensors").read_bytes()
    with pytest.raises(OpenSetError, match=r"epoch 2, step 3. The last good checkpoint is .*state.safetensors"):
        train(config, out)
    assert (out / "checkpoints/state.safetensors").read_bytes() == good


# ---- what the loop offers ------------------------------------------------------------------------------------------


def test_accumulation_is_the_same_step(digits):
    """A network without batch norm, on vectors: parts of a batch add up to its gradient."""
    found = []
    for parts in (1, 3):
        config = small_config(f"train.accumulate={parts}", "method=softmax", "backbone={name: mlp}")
        part = Vectors(digits)
        feed = Feed(part, config.data, np.flatnonzero(part.labels >= 0))
        network = make_network(config, feed, 6)
        fit(Fabric(accelerator="cpu", devices=1), network, feed, feed, config)
        found.append(network.state_dict())
    for name, value in found[0].items():
        torch.testing.assert_close(value, found[1][name], rtol=1e-4, atol=1e-5)


def test_processes_share_gradients_in_the_last_part_of_a_batch(digits, monkeypatch):
    """64 samples in at most 12 equal parts are 11 parts."""
    held_back = []
    real = Fabric.no_backward_sync

    def watched(self, module, enabled=True):
        held_back.append(enabled)
        return real(self, module, enabled=enabled)

    monkeypatch.setattr(Fabric, "no_backward_sync", watched)
    config = small_config("train.accumulate=12", "train.epochs=1", "method=softmax")
    feed = Feed(digits.train, config.data, np.arange(64))
    fit(Fabric(accelerator="cpu", devices=1), make_network(config, feed, 6), feed, feed, config)
    assert held_back == [True] * 10 + [False]


class Vectors:
    """The digits as feature vectors."""

    def __init__(self, protocol):
        self.labels = protocol.train.labels
        self.rows = protocol.train.array().reshape(len(self.labels), -1).astype(np.float32)
        self.shape = (64,)

    def __len__(self):
        return len(self.labels)

    def array(self, positions=None, *, size=None):
        return self.rows[positions]


def test_validation_gamma_is_the_published_one(tmp_path):
    for method in ("entropic", "background"):
        out = tmp_path / method
        run(out, f"method.name={method}", "train.epochs=6")
        scores = Scores.read(out / "scores_val.parquet")
        wanted = confidence(scores.labels, scores.probabilities, background=method == "background")
        logged = [float(cell) for cell in (out / "log.csv").read_text().splitlines()[-1].split(",")]
        assert logged[-3:] == pytest.approx([wanted.gamma_plus, wanted.gamma_minus, wanted.gamma], abs=1e-5)
        accuracy = (scores.predictions == scores.labels)[scores.labels >= 0].mean()
        assert logged[-4] == pytest.approx(accuracy)


def test_selection_keeps_the_best_epoch_and_stops_early(tmp_path):
    out = tmp_path / "run"
    summary = run(out, "train.select=accuracy", "train.patience=2", "train.epochs=40", "optimizer.lr=0.2")
    log = [line.split(",") for line in (out / "log.csv").read_text().splitlines()[1:]]
    accuracy = [float(line[4]) for line in log]
    assert summary["best_epoch"] == int(np.argmax(accuracy)) + 1
    assert len(log) == summary["best_epoch"] + 2 < 40
    scores = Scores.read(out / "scores_val.parquet")
    assert (scores.predictions == scores.labels)[scores.labels >= 0].mean() == pytest.approx(max(accuracy))


def test_selection_by_gamma_needs_negatives(tmp_path, digits):
    config = small_config("train.select=gamma")
    rows = np.flatnonzero(digits.train.labels >= 0)
    feed = Feed(digits.train, config.data, rows)
    with pytest.raises(OpenSetError, match="by gamma needs negatives in the validation part"):
        fit(Fabric(accelerator="cpu", devices=1), make_network(config, feed, 6), feed, feed, config)


def test_averaged_weights_are_smoother(digits):
    config = small_config("train.ema=0.9", "method=softmax")
    feed = Feed(digits.train, config.data, np.flatnonzero(digits.train.labels >= 0))
    done = fit(Fabric(accelerator="cpu", devices=1), make_network(config, feed, 6), feed, feed, config)
    last, mean = done.network.state_dict(), done.averaged.state_dict()
    assert done.used is done.averaged
    assert not torch.equal(last["method.head.weight"], mean["method.head.weight"])
    statistics = [name for name in last if name.endswith("running_mean")]
    assert statistics
    assert not any(torch.equal(last[name], mean[name]) for name in statistics)
    assert torch.equal(last["backbone.stages.0.filters"], mean["backbone.stages.0.filters"])


def test_a_new_network_has_seen_training_images(digits):
    config = small_config()
    feed = Feed(digits.train, config.data, np.flatnonzero(digits.train.labels >= 0))
    whiten = make_network(config, feed, 6).backbone.whiten
    values = torch.nn.functional.conv2d(feed.load(np.arange(len(feed)))[0], whiten.filters[:4])
    values = values.transpose(0, 1).flatten(1)
    spread = values @ values.T / values.shape[1]  # about the same for all, and nothing in common
    assert spread.diagonal().max() / spread.diagonal().min() < 1.2
    assert (spread - spread.diagonal().diag()).abs().max() < 0.1 * spread.diagonal().min()


def test_the_learning_rate_follows_the_schedule(digits):
    config = small_config("schedule={name: step, milestones: [1], factor: 0.5}", "train.epochs=2", "method=arpl_cs")
    feed = Feed(digits.train, config.data, np.flatnonzero(digits.train.labels >= 0))
    done = fit(Fabric(accelerator="cpu", devices=1), make_network(config, feed, 6), feed, feed, config)
    assert done.optimizers["classifier"].param_groups[0]["lr"] == pytest.approx(0.025)
    assert done.optimizers["generator"].param_groups[0]["lr"] == 2e-4  # its own, unscheduled


def test_a_method_without_its_negatives(tmp_path):
    with pytest.raises(OpenSetError, match="has none: choose another method"):
        run(tmp_path / "run", "method.name=entropic", protocol=str(folders(tmp_path)))


def folders(tmp_path):
    """Own images: two known classes, one unknown, no negatives."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for role, name, colour in (("known", "red", 0), ("known", "green", 1), ("unknown", "blue", 2)):
        place = tmp_path / "data" / role / name
        place.mkdir(parents=True, exist_ok=True)
        for number in range(30):
            pixels = rng.integers(0, 60, (20 + number % 3, 24, 3), dtype=np.uint8)
            pixels[..., colour] += 150
            Image.fromarray(pixels).save(place / f"{number}.png")
    return tmp_path / "data"


def decided(folder, images):
    """Decisions of a run with its own threshold."""
    from openset.models import open_model
    from openset.models.batches import run_batches
    from openset.models.predicting import Predictor
    from openset.models.samples import Reading, open_samples
    from openset.operating import Threshold

    model = open_model(str(folder))
    predictor = Predictor.of(model, Threshold.read(folder / "threshold.json"))
    samples = open_samples([str(images)], "images", Reading(labels="none"))
    made = predictor.content(model, samples, list(run_batches(model, samples, batch=16)))
    assert made.metadata["left_out"] == []
    return made.table.to_dicts()


def test_own_folders_train_and_predict(tmp_path):
    data = folders(tmp_path)
    summary = run(tmp_path / "run", "data.size=16", "train.epochs=10", "data.batch_size=8", protocol=str(data))
    assert summary["class_names"] == ["green", "red"]
    found = decided(tmp_path / "run", data / "known")
    assert len(found) == 60
    assert np.mean([one["prediction"] == Path(one["id"]).parent.name for one in found]) > 0.95
    assert np.mean([one["decision"] == Path(one["id"]).parent.name for one in found]) > 0.8
    for one in found:
        assert (one["decision"] == "unknown") == (one["unknown_score"] > summary["threshold"]["value"])


@pytest.mark.parametrize("settings", [("data.size=16",), ("data.size=16", "data.channels=1"), ("data.channels=1",)])
def test_new_images_are_prepared_as_those_of_the_training(settings, tmp_path):
    """The threshold was chosen on images resized and made grey in one way: predictions take the same."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for role, name in (("known", "a"), ("known", "b"), ("unknown", "c")):
        (tmp_path / "data" / role / name).mkdir(parents=True)
        for number in range(30):
            pixels = rng.integers(0, 256, (20, 24, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "data" / role / name / f"{number}.png")
    run(tmp_path / "run", *settings, "train.epochs=1", "data.batch_size=8", protocol=str(tmp_path / "data"))
    scores = Scores.read(tmp_path / "run/scores_test.parquet")
    told = dict(zip(scores.ids.tolist(), scores.unknown_score.tolist(), strict=True))
    for role in ("known", "unknown"):
        root = tmp_path / "data" / role
        for one in decided(tmp_path / "run", root):
            place = f"{role}/{Path(one['id']).relative_to(root).as_posix()}"
            if place in told:
                assert one["unknown_score"] == pytest.approx(told.pop(place), rel=1e-4)
    assert not told


def test_train_step_is_repeatable(digits):
    """Dropout, mixing and augmentation follow from (seed, epoch, step) alone, whatever was drawn before."""
    losses = []
    for noise in (1, 2):
        torch.manual_seed(noise)
        config = small_config("backbone={name: classifier32}", "augment.randaugment=[1, 9]")
        feed = Feed(digits.train, config.data, np.flatnonzero(digits.train.labels >= 0))
        heard = []
        network = make_network(config, feed, 6)

        def watch(state, *_, heard=heard):
            heard.append(state.loss_sum)
            if len(heard) == 2:
                signal.raise_signal(signal.SIGINT)

        with pytest.raises(Interrupted):
            fit(Fabric(accelerator="cpu", devices=1), network, feed, feed, config, watch=watch)
        losses.append(heard)
    assert losses[0] == losses[1]


@pytest.mark.parametrize("resume", [False, True])
def test_a_start_that_failed_does_not_stand_in_the_way(resume, tmp_path):
    data, out = folders(tmp_path), tmp_path / "run"
    with pytest.raises(OpenSetError, match=r"say which size to bring them to, with data\.size=224"):
        run(out, protocol=str(data))
    config = begin(small_config("data.size=16", "data.batch_size=8", protocol=str(data)), out, resume=resume)
    assert train(config, out)["config"]["data"]["size"] == 16
    assert read_config(out / "config.yaml") == config


def test_images_that_cannot_be_decoded_are_left_out_on_request(tmp_path):
    data, out = folders(tmp_path), tmp_path / "run"
    for name in ("known/red/0.png", "known/red/1.png", "unknown/blue/0.png"):
        (data / name).write_bytes(b"no image")
    config = begin(small_config("data.size=16", "data.batch_size=8", protocol=str(data)), out, resume=False)
    with pytest.raises(OpenSetError, match=r"cannot be decoded .* leave it out with .*--skip-corrupt"):
        train(config, out)
    with pytest.warns(OpenSetWarning, match="images were left out"):
        summary = train(begin(config, out, resume=True), out, on_corrupt="skip")
    assert any("2 of 60 images were left out" in note for note in summary["data_notes"])
    assert "skip" not in (out / "config.yaml").read_text()
