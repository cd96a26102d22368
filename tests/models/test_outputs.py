"""Outputs of models that a user has: the numbers are the model's own, whatever it was made with."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from PIL import Image

from model_samples import BIAS, CLASSES, WEIGHT, make_onnx, picture_bytes, run
from openset.errors import OpenSetError
from openset.models.outputs import write_outputs
from openset.models.parts import Parts
from openset.models.samples import Reading, open_samples
from openset.reading import read_outputs
from openset.scores import Scores


def arrays(path):
    return dict(np.load(path))


# ---- transformers --------------------------------------------------------------------------------------------------


def by_hand(vit, files):
    """Logits and what enters the classifier, as transformers' own example computes them."""
    import torch
    from transformers import AutoImageProcessor, AutoModelForImageClassification

    processor = AutoImageProcessor.from_pretrained(vit)
    network = AutoModelForImageClassification.from_pretrained(vit).eval()
    inputs = processor(images=[Image.open(file).convert("RGB") for file in files], return_tensors="pt")
    with torch.no_grad():
        hidden = network.vit(**inputs).last_hidden_state[:, 0]
        return network(**inputs).logits.numpy(), hidden.numpy()


def test_an_image_classifier_of_transformers(vit, photos, tmp_path, capsys):
    out = tmp_path / "o.npz"
    assert run("outputs", f"hf:{vit}", photos, "--out", out, "--batch", 4) == 0
    assert "The folders in" in " ".join(capsys.readouterr().out.split())
    found = arrays(out)
    files = sorted(photos.rglob("*.png"))
    logits, features = by_hand(vit, files)
    assert found["ids"].tolist() == [str(file) for file in files]
    np.testing.assert_allclose(found["logits"], logits, atol=1e-5)
    np.testing.assert_allclose(found["features"], features, atol=1e-5)
    np.testing.assert_allclose(found["features"] @ found["weight"].T + found["bias"], logits, atol=1e-5)
    assert found["class_names"].tolist() == list(CLASSES)
    assert found["labels"].tolist() == [0] * 7 + [1] * 7 + [-2] * 7
    assert Scores.read(out, score="energy").class_names == CLASSES
    assert read_outputs(out).parts == ("logits", "features", "head")


def test_folders_are_no_labels_where_the_model_does_not_name_its_classes_and_that_is_said(
    small_onnx, photos, tmp_path, capsys
):
    assert run("outputs", f"onnx:{small_onnx}", photos, "--out", tmp_path / "o.npz") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "The model does not name its classes" in shown
    assert "--classes names them in the order of the logits" in shown
    assert "labels" not in arrays(tmp_path / "o.npz")


def test_photos_without_labels_have_none(vit, photos, tmp_path, capsys):
    assert run("outputs", f"hf:{vit}", photos / "unknown", "--out", tmp_path / "u.npz") == 0
    assert "There are no labels" in " ".join(capsys.readouterr().out.split())
    assert "labels" not in arrays(tmp_path / "u.npz")
    assert read_outputs(tmp_path / "u.npz").labels is None
    assert run("outputs", f"hf:{vit}", photos, "--out", tmp_path / "n.npz", "--labels", "none") == 0
    assert "labels" not in arrays(tmp_path / "n.npz")


def test_some_folders_that_are_no_classes_are_asked_about(vit, photos, tmp_path, capsys):
    mixed = tmp_path / "mixed"
    shutil.copytree(photos / "cat", mixed / "cat")
    shutil.copytree(photos / "dog", mixed / "holiday")
    assert run("outputs", f"hf:{vit}", mixed, "--out", tmp_path / "m.npz") == 0
    assert "1 of 2 folders" in " ".join(capsys.readouterr().out.split())
    assert "labels" not in arrays(tmp_path / "m.npz")
    words = ("outputs", f"hf:{vit}", mixed, "--out", tmp_path / "m.npz", "--labels", "folders")
    assert run(*words) == 2
    assert "label is 'holiday' in" in capsys.readouterr().err
    assert run(*words, "--unknown-label", "holiday") == 0
    assert arrays(tmp_path / "m.npz")["labels"].tolist() == [0] * 7 + [-2] * 7
    assert set(arrays(tmp_path / "m.npz")["open_classes"].tolist()) == {"", "holiday"}


def test_broken_images_are_named_and_left_out(vit, photos, tmp_path, capsys):
    some = tmp_path / "some"
    shutil.copytree(photos / "cat", some)
    (some / "3.png").write_text("no image")
    assert run("outputs", f"hf:{vit}", some, "--out", tmp_path / "o.npz") == 1
    assert "3.png cannot be decoded" in capsys.readouterr().err
    found = arrays(tmp_path / "o.npz")
    assert len(found["ids"]) == len(found["logits"]) == 6
    assert not any(name.endswith("3.png") for name in found["ids"].tolist())
    assert "3.png" in json.loads(str(found["openset"]))["meta"]["left_out"][0]
    (tmp_path / "broken.png").write_text("no image")
    assert run("outputs", f"hf:{vit}", tmp_path / "broken.png", "--out", tmp_path / "b.npz") == 2
    assert "None of the 1 samples can be read" in capsys.readouterr().err
    assert not (tmp_path / "b.npz").exists()


def test_a_text_classifier_of_transformers(bert, tmp_path, capsys):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    texts = ["pay the bill", "play music", "the weather", "pay " * 40]
    table = tmp_path / "t.csv"
    pl.DataFrame({"text": texts, "label": ["pay", "play", "oos", "pay"], "id": list("abcd")}).write_csv(table)
    words = ("outputs", f"hf:{bert}", table, "--out", tmp_path / "t.npz")
    assert run(*words) == 2
    assert "neither a number nor a class name" in capsys.readouterr().err
    assert run(*words, "--unknown-label", "oos", "--batch", 2) == 0
    found = arrays(tmp_path / "t.npz")
    assert found["labels"].tolist() == [0, 1, -2, 0]
    assert found["ids"].tolist() == list("abcd")
    tokenizer = AutoTokenizer.from_pretrained(bert)
    network = AutoModelForSequenceClassification.from_pretrained(bert).eval()
    for text, row in zip(texts, found["logits"], strict=True):
        with torch.no_grad():
            expected = network(**tokenizer(text, return_tensors="pt", truncation=True, max_length=16)).logits[0]
        np.testing.assert_allclose(row, expected.numpy(), atol=1e-5)
    np.testing.assert_allclose(found["features"] @ found["weight"].T + found["bias"], found["logits"], atol=1e-5)


def test_texts_that_cannot_be_read(bert, tmp_path, capsys):
    table = tmp_path / "t.csv"
    words = ("outputs", f"hf:{bert}", table, "--out", tmp_path / "t.npz")
    table.write_bytes("text\npay the b\xfcll\n".encode("latin-1"))
    assert run(*words) == 2
    assert "is not a text file in UTF-8" in capsys.readouterr().err
    table.write_text("text,id\npay,a\n ,b\n")
    assert run(*words) == 2
    assert "there is no text in row 1" in capsys.readouterr().err
    table.write_text("words\npay\n")
    assert run(*words) == 2
    assert "has no column 'text'; its columns are words" in capsys.readouterr().err
    assert run(*words, "--column", "words") == 0
    assert run("outputs", f"hf:{bert}", tmp_path, "--out", tmp_path / "t.npz") == 2
    assert "must be a table of them" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pkl"])
def test_pickled_weights_are_refused(vit, photos, tmp_path, capsys, name):
    folder = tmp_path / "old"
    shutil.copytree(vit, folder)
    (folder / "model.safetensors").rename(folder / name)
    assert run("outputs", f"hf:{folder}", photos, "--out", tmp_path / "o.npz") == 2
    printed = capsys.readouterr().err
    assert f"{name} is a pickled file, which could run code" in printed
    assert "save_pretrained" in printed


def test_a_model_without_a_trained_head_is_refused(vit, photos, tmp_path, capsys):
    """transformers would draw the missing layer by chance and go on."""
    from safetensors.numpy import load_file, save_file

    folder = tmp_path / "headless"
    shutil.copytree(vit, folder)
    tensors = {name: one for name, one in load_file(vit / "model.safetensors").items() if "classifier" not in name}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    assert run("outputs", f"hf:{folder}", photos, "--out", tmp_path / "o.npz") == 2
    assert "no trained classification head: its weights lack 'classifier." in capsys.readouterr().err
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["ViTModel"]}))
    assert run("outputs", f"hf:{folder}", photos, "--out", tmp_path / "o.npz") == 2
    assert "holds ViTModel, which is no image or text classifier" in capsys.readouterr().err


def test_code_in_a_folder_is_not_run(vit, photos, tmp_path, capsys):
    folder, mark = tmp_path / "code", tmp_path / "mark"
    shutil.copytree(vit, folder)
    (folder / "evil.py").write_text(f"open({str(mark)!r}, 'w').write('x')\nclass Net: pass\nclass Config: pass\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "evil", "auto_map": dict.fromkeys(("AutoModelForImageClassification",), "evil.Net")}
    config["auto_map"]["AutoConfig"] = "evil.Config"
    (folder / "config.json").write_text(json.dumps(config))
    assert run("outputs", f"hf:{folder}", photos, "--out", tmp_path / "o.npz") == 2
    assert "Cannot load the model" in capsys.readouterr().err
    assert not mark.exists()


def test_without_a_network_the_sentence_says_where_to_put_the_folder(tmp_path, capsys, monkeypatch):
    pytest.importorskip("transformers", reason="transformers is not installed")
    monkeypatch.setattr("openset.models.hf.hub_is_reachable", lambda: False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert run("outputs", "hf:nobody/nothing", tmp_path, "--out", tmp_path / "o.npz") == 2
    printed = capsys.readouterr().err
    assert "the hub cannot be reached: put its folder" in printed
    assert "write hf:model" in printed


# ---- resuming ------------------------------------------------------------------------------------------------------


class Counting:
    """A model of vectors that counts what it is run on, and may stop."""

    name, takes, class_names, background, fingerprint = "counting", "images", None, False, "f"
    preparation, score, own_score, notes = {}, None, None, []
    head = None

    def __init__(self, stop_at=None):
        self.seen, self.stop_at = 0, stop_at

    def prepare(self, picture):
        return np.asarray(picture, dtype=np.float64).mean(axis=(0, 1))

    def run(self, batch):
        from openset.models.card import Answers

        if self.stop_at is not None and self.seen >= self.stop_at:
            raise KeyboardInterrupt
        self.seen += len(batch)
        return Answers(np.stack(batch)[:, :2], np.stack(batch))


@pytest.fixture
def _parts_of_four(monkeypatch):
    monkeypatch.setattr("openset.models.parts._MOST", 4)
    monkeypatch.setattr("openset.models.parts._SEVERAL", 1)


@pytest.mark.usefixtures("_parts_of_four")
def test_a_run_that_was_stopped_goes_on(photos, tmp_path):
    samples = open_samples([str(photos)], "images", Reading(labels="none"))
    out, whole = tmp_path / "o.npz", tmp_path / "whole.npz"
    write_outputs(Counting(), samples, whole, batch=2)
    with pytest.raises(KeyboardInterrupt):
        write_outputs(Counting(stop_at=10), samples, out, batch=2)
    assert not out.exists()
    second = Counting()
    written = write_outputs(second, samples, out, batch=2)
    assert (written.resumed, second.seen) == (8, 13)  # 8 were on disk, two more were lost
    for name, array in arrays(whole).items():
        assert np.array_equal(arrays(out)[name], array), name
    assert [one.name for one in tmp_path.iterdir() if one.name.endswith("parts")] == []


def test_attempts_are_counted_for_one_command_alone(tmp_path):
    """Else a part would be blamed for commands that were stopped."""
    parts = Parts(tmp_path / "parts", {"model": "f"}, 8, 4)
    parts.begin(lambda _: None, lambda _: None)
    assert [parts.count_attempt(0), parts.count_attempt(0), parts.count_attempt(1)] == [1, 2, 1]
    parts.forget_attempts(1)
    assert parts.count_attempt(1) == 1
    parts.begin(lambda _: None, lambda _: None)
    assert parts.count_attempt(0) == 1


@pytest.mark.usefixtures("_parts_of_four")
def test_parts_of_another_model_are_not_used(photos, tmp_path):
    samples = open_samples([str(photos)], "images", Reading(labels="none"))
    with pytest.raises(KeyboardInterrupt):
        write_outputs(Counting(stop_at=10), samples, tmp_path / "o.npz", batch=2)
    other = Counting()
    other.fingerprint = "g"
    assert write_outputs(other, samples, tmp_path / "o.npz", batch=2).resumed == 0
    assert other.seen == 21
    assert not (tmp_path / ".o.npz.parts").exists()


@pytest.mark.usefixtures("_parts_of_four")
def test_a_folder_of_parts_holds_what_the_file_does(photos, tmp_path, capsys):
    """Broken photos fill the second part: it is left out, and every other photo is there once."""
    shutil.copytree(photos, tmp_path / "photos")
    for name in ("cat/2", "cat/4", "cat/5", "cat/6", "dog/0"):
        (tmp_path / "photos" / f"{name}.png").write_text("no picture")
    samples = open_samples([str(tmp_path / "photos")], "images", Reading(("cat", "dog"), labels="folders"))
    write_outputs(Counting(), samples, tmp_path / "whole.npz", batch=2)
    written = write_outputs(Counting(), samples, tmp_path / "parts", batch=2)
    whole = arrays(tmp_path / "whole.npz")
    assert (written.n, written.arrays, len(written.left_out)) == (16, ("logits", "features", "labels"), 5)
    files = sorted((tmp_path / "parts").iterdir())
    assert [one.name for one in files] == [f"part-{number:06d}.parquet" for number in (0, 2, 3, 4, 5)] + ["parts.json"]
    outputs = [read_outputs(file) for file in files[:-1]]
    assert np.array_equal(np.concatenate([one.logits for one in outputs]), whole["logits"])
    assert np.array_equal(np.concatenate([one.features for one in outputs]), whole["features"])
    assert np.array_equal(np.concatenate([one.labels for one in outputs]), whole["labels"])
    table = pl.concat([pl.read_parquet(file) for file in files[:-1]])
    assert table["id"].to_list() == whole["ids"].tolist()
    assert table["open_class"].to_list() == whole["open_classes"].tolist()


def test_a_folder_with_other_files_is_not_touched(small_onnx, photos, tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("everything")
    assert run("outputs", f"onnx:{small_onnx}", photos, "--out", tmp_path / "mine") == 2
    assert "there is something else of that name" in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "mine/thesis.txt").exists()
    for _ in range(2):  # a folder that was made here is made again
        assert run("outputs", f"onnx:{small_onnx}", photos, "--out", tmp_path / "parts") == 0
    assert "logits, features of 21 samples are in" in " ".join(capsys.readouterr().out.split())
    assert run("outputs", f"onnx:{small_onnx}", photos, "--out", tmp_path / "o.xlsx") == 2
    assert "into a folder (no ending)" in " ".join(capsys.readouterr().err.split())


def test_a_label_beyond_the_logits_is_refused(tmp_path):
    (tmp_path / "a.png").write_bytes(picture_bytes("red"))
    (tmp_path / "list.csv").write_text("path,label\na.png,999999999\n")
    samples = open_samples([str(tmp_path / "list.csv")], "images", Reading())
    with pytest.raises(OpenSetError, match="label is 999999999, and counting has 2 classes, 0 to 1"):
        write_outputs(Counting(), samples, tmp_path / "o.npz")


@pytest.mark.usefixtures("_parts_of_four")
def test_two_at_once_do_not_take_each_others_parts(photos, tmp_path):
    samples = open_samples([str(photos)], "images", Reading(labels="none"))
    refused = []

    class Meeting(Counting):
        def run(self, batch):
            if self.seen == 10:
                with pytest.raises(OpenSetError, match="is in use by process"):
                    write_outputs(Counting(), samples, tmp_path / "o.npz", batch=2)
                refused.append(self.seen)
            return super().run(batch)

    assert write_outputs(Meeting(), samples, tmp_path / "o.npz", batch=2).n == 21
    assert refused == [10]
    assert not list(tmp_path.glob(".o*"))


def test_a_picture_changed_in_place_is_another_sample(tmp_path):
    file = tmp_path / "a.png"
    file.write_bytes(picture_bytes("red"))
    before = open_samples([str(file)], "images", Reading(labels="none")).fingerprint
    times = file.stat()
    file.write_bytes(picture_bytes("red")[:-1] + b"x")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert open_samples([str(file)], "images", Reading(labels="none")).fingerprint != before


def test_numbers_that_are_none_are_named(photos, tmp_path):
    from openset.errors import OpenSetError

    class Broken(Counting):
        def run(self, batch):
            answers = super().run(batch)
            answers.logits[1, 0] = np.nan
            return answers

    samples = open_samples([str(photos / "cat")], "images", Reading(labels="none"))
    with pytest.raises(OpenSetError, match=r"the logits of .*1\.png are not finite"):
        write_outputs(Broken(), samples, tmp_path / "o.npz")


# ---- lists and protocols -------------------------------------------------------------------------------------------


def test_a_list_of_images_with_labels(small_onnx, photos, tmp_path, capsys):
    shutil.copytree(photos, tmp_path / "photos")
    names, table = tmp_path / "names.txt", tmp_path / "list.csv"
    names.write_text("cat\ndog\nfox\n")
    table.write_text("path,label\nphotos/cat/0.png,cat\nphotos/dog/1.png,dog\nphotos/unknown/2.png,unknown\n")
    words = ("outputs", f"onnx:{small_onnx}", table, "--out", tmp_path / "o.npz", "--mean", "0", "--std", "1")
    assert run(*words, "--classes", names) == 0
    found = arrays(tmp_path / "o.npz")
    assert found["labels"].tolist() == [0, 1, -2]
    assert found["ids"].tolist() == ["photos/cat/0.png", "photos/dog/1.png", "photos/unknown/2.png"]
    table.write_text("path\n../secret.png\n")
    assert run(*words) == 2
    assert "leads out of" in capsys.readouterr().err
    names.write_text("cat\ndog\n")
    assert run("outputs", f"onnx:{small_onnx}", photos, "--out", tmp_path / "o.npz", "--classes", names) == 2
    assert "has 3 classes and" in capsys.readouterr().err


def test_labels_of_a_protocol_are_those_of_the_model(tmp_path, photos):
    """The model has its classes in another order than the protocol."""
    for role, name in (("known", "cat"), ("known", "dog"), ("unknown", "unknown")):
        shutil.copytree(photos / name, tmp_path / "p" / role / name)
    reading = Reading(("fox", "dog", "cat"), part="test")
    samples = open_samples([str(tmp_path / "p")], "images", reading)
    for name, label in zip(samples.ids.tolist(), samples.labels.tolist(), strict=True):
        assert label == (2 if "/cat/" in name else 1 if "/dog/" in name else -2)
    from openset.errors import OpenSetError

    with pytest.raises(OpenSetError, match="The known class 'cat' of .* is no class of the model"):
        open_samples([str(tmp_path / "p")], "images", Reading(("fox", "dog"), part="test"))


# ---- ONNX ----------------------------------------------------------------------------------------------------------


def test_an_onnx_file_by_hand(small_onnx, tmp_path, capsys):
    (tmp_path / "a.png").write_bytes(picture_bytes((255, 0, 0)))
    (tmp_path / "b.png").write_bytes(picture_bytes((0, 51, 102), (4, 8)))
    assert (
        run("outputs", f"onnx:{small_onnx}", tmp_path / "a.png", tmp_path / "b.png", "--out", tmp_path / "o.npz") == 0
    )
    assert "does not tell how its images are prepared: the middle square at 4 pixels" in " ".join(
        capsys.readouterr().out.split()
    )
    found = arrays(tmp_path / "o.npz")
    means = np.array([[1, 0, 0], [0, 0.2, 0.4]], dtype=np.float32)
    np.testing.assert_allclose(found["features"], means, atol=1e-6)
    np.testing.assert_allclose(found["logits"], means @ WEIGHT.T + BIAS, atol=1e-6)
    assert np.array_equal(found["weight"], WEIGHT)
    assert np.array_equal(found["bias"], BIAS)


def test_preparation_by_hand(small_onnx, tmp_path):
    (tmp_path / "a.png").write_bytes(picture_bytes((255, 0, 51)))
    words = ("outputs", f"onnx:{small_onnx}", tmp_path / "a.png", "--out", tmp_path / "o.npz")
    assert run(*words, "--mean", "0.5,0.5,0.2", "--std", "0.25") == 0
    np.testing.assert_allclose(arrays(tmp_path / "o.npz")["features"], [[2.0, -2.0, 0.0]], atol=1e-6)


def test_an_onnx_file_for_batches_of_one_size(photos, tmp_path):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    fixed, free = make_onnx(onnx, tmp_path / "fixed.onnx", batch=4), make_onnx(onnx, tmp_path / "free.onnx")
    for file in (fixed, free):
        assert run("outputs", f"onnx:{file}", photos / "cat", "--out", file.with_suffix(".npz")) == 0
    one, two = (arrays(file.with_suffix(".npz"))["logits"] for file in (fixed, free))
    assert one.shape == (7, 3)
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_onnx_files_that_are_no_classifiers(photos, tmp_path, capsys):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    words = (photos, "--out", tmp_path / "o.npz")
    maps = make_onnx(onnx, tmp_path / "maps.onnx", outputs=("pooled",))
    assert run("outputs", f"onnx:{maps}", *words) == 2
    assert "has no output of shape (n, K)" in capsys.readouterr().err
    both = make_onnx(onnx, tmp_path / "both.onnx", outputs=("logits", "means"))
    assert run("outputs", f"onnx:{both}", *words, "--features", "mean") == 2
    assert "has no output 'mean' for --features. Did you mean 'means'?" in capsys.readouterr().err
    (tmp_path / "cut.onnx").write_bytes(both.read_bytes()[:60])
    assert run("outputs", f"onnx:{tmp_path / 'cut.onnx'}", *words) == 2
    assert "onnx" in capsys.readouterr().err.lower()
    free = make_onnx(onnx, tmp_path / "free.onnx", shape=("n", 3, "h", "w"))
    assert run("outputs", f"onnx:{free}", *words) == 2
    assert "say which with --size" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["../secret.bin", "/etc/hostname", "link.bin"])
def test_weights_of_an_onnx_file_stay_in_its_folder(photos, tmp_path, capsys, place):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    (tmp_path / "secret.bin").write_bytes(WEIGHT.tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    file = make_onnx(onnx, folder / "m.onnx")
    model = onnx.load(str(file), load_external_data=False)
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", place
    file.write_bytes(model.SerializeToString())
    assert run("outputs", f"onnx:{file}", photos, "--out", tmp_path / "o.npz") == 2
    printed = capsys.readouterr().err
    assert "external data" in printed
    assert "leads out of" in printed


# ---- names ---------------------------------------------------------------------------------------------------------


def test_what_is_no_model(photos, tmp_path, capsys, vit):
    for words, sentence in (
        (["tensorflow:x"], "is not a model: write hf:NAME_OR_FOLDER"),
        (["onx:x.onnx"], "Did you mean 'onnx'?"),
        ([vit], f"write hf:{vit}"),
        (["nowhere"], "there is no such folder"),
        (["hf:"], "names no model"),
        ([f"hf:{vit}", "--weights", "x"], "--weights is not for models of the family 'hf'"),
    ):
        assert run("outputs", words[0], photos, "--out", tmp_path / "o.npz", *words[1:]) == 2
        assert sentence in capsys.readouterr().err


def test_torch_is_not_needed_for_onnx(small_onnx, photos, tmp_path):
    code = (
        "import sys; sys.modules['torch'] = None\nfrom openset.cli import main\n"
        f"main(['outputs', 'onnx:{small_onnx}', '{photos}', '--out', '{tmp_path / 'o.npz'}'])"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert arrays(tmp_path / "o.npz")["logits"].shape == (21, 3)


def test_what_onnxruntime_says_of_a_damaged_file_stays_off_the_terminal(photos, tmp_path, capfd):
    onnx = pytest.importorskip("onnx")
    model = onnx.load(make_onnx(onnx, tmp_path / "m.onnx"))
    model.graph.initializer[1].dims[0] = 2**62
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert run("outputs", f"onnx:{tmp_path / 'm.onnx'}", photos, "--out", tmp_path / "o.npz") == 2
    told = capfd.readouterr().err
    assert told.startswith("Error: ")
    assert told.count("\n") == 1
