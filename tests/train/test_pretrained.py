"""Starting from a pretrained folder: made from a weights file, found by name, and left as it is where asked."""

import json
import pickle
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.pictures import write_photos

from openset.backbones import build_backbone
from openset.cli import main
from openset.errors import OpenSetError
from openset.protocols import load
from openset.train import frozen, infer
from openset.train.config import read_config
from openset.train.feed import Feed
from openset.train.predict import TrainedRun
from openset.train.pretrained import convert, is_there, load_pretrained, read_pretrained
from openset.train.run import _drawn, begin, train

MEAN = {"mean": [0.5], "std": [0.25]}


@pytest.fixture
def weights(tmp_path):
    """A file as a training left it: a backbone with a head."""
    torch.manual_seed(0)
    state = build_backbone("fastnet", (3, 16, 16), 4, width=4).state_dict()
    torch.save(state, tmp_path / "weights.pth")
    return tmp_path / "weights.pth"


@pytest.fixture
def root(tmp_path, weights, monkeypatch):
    """A data root with a pretrained network, and a cache of its own."""
    monkeypatch.setenv("OPENSET_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OPENSET_CACHE", str(tmp_path / "cache"))
    convert(weights, "fastnet", tmp_path / "data/pretrained/small", **MEAN)
    return tmp_path / "data"


@pytest.fixture
def photos(tmp_path):
    for place, name in enumerate(("known/red", "known/green", "unknown/blue")):
        write_photos(tmp_path / "photos" / name, 10, start=10 * place)
    return tmp_path / "photos"


def config(photos, *settings):
    usual = ["backbone={name: fastnet, width: 4}", "data.size=16", "data.batch_size=8", "train.epochs=2"]
    return read_config(None, [*usual, *settings], protocol=str(photos), **{"method.name": "maxlogit"})


def run(config, out):
    return train(begin(config, out, resume=False), out)


def test_a_pickled_file_becomes_a_folder_of_tensors(root, weights):
    found = read_pretrained("small")
    assert (found.backbone, found.mean, found.std) == ("fastnet", (0.5,), (0.25,))
    stored, made = torch.load(weights, weights_only=True), load_file(root / "pretrained/small/model.safetensors")
    assert set(stored) == set(made)
    assert all(torch.equal(stored[name], made[name]) for name in stored)


class Code:
    def __reduce__(self):
        return (print, ("run",))


def test_code_in_a_file_is_not_run(tmp_path, capsys):
    (tmp_path / "evil.pth").write_bytes(pickle.dumps(Code()))
    with pytest.raises(OpenSetError, match="evil.pth cannot be read as a file of tensors alone"):
        convert(tmp_path / "evil.pth", "fastnet", tmp_path / "out", **MEAN)
    assert "run" not in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


def test_the_training_starts_from_it(root, photos, tmp_path):
    backbone = build_backbone("fastnet", (3, 16, 16), 2, width=4)
    load_pretrained(backbone, "small", "fastnet")
    own = load_file(root / "pretrained/small/model.safetensors")
    assert all(torch.equal(value, own[name]) for name, value in backbone.state_dict().items())
    with pytest.raises(OpenSetError, match="holds weights of the backbone fastnet, and the recipe has resnet50"):
        load_pretrained(backbone, "small", "resnet50")
    wider = build_backbone("fastnet", (3, 16, 16), 2, width=8)
    with pytest.raises(OpenSetError, match="does not fit these images: 'stages.1.0.weight' is"):
        load_pretrained(wider, "small", "fastnet")


def test_frozen_leaves_the_backbone_and_looks_at_each_image_once(root, photos, tmp_path, monkeypatch):
    chosen = config(photos, "pretrained=small", "train.frozen=true")
    summary = run(chosen, tmp_path / "one")
    learned = load_file(tmp_path / "one/checkpoints/last.safetensors")
    own = load_file(root / "pretrained/small/model.safetensors")
    assert all(torch.equal(learned[f"backbone.{name}"], value) for name, value in own.items())
    assert summary["input_shape"] == [3, 16, 16]
    assert len(list((tmp_path / "cache/embeddings").glob("*.npz"))) == 3  # train, val and test

    def seen_again(*_):
        raise AssertionError

    monkeypatch.setattr(frozen, "run_network", seen_again)
    run(chosen, tmp_path / "two")
    stored, second = (np.load(tmp_path / name / "outputs_test.npz")["logits"] for name in ("one", "two"))
    np.testing.assert_array_equal(stored, second)
    opened = TrainedRun.read(tmp_path / "one")
    feed = Feed(load(photos).test, opened.config.data)
    np.testing.assert_allclose(infer.run_network(opened.network, feed, opened.config.augment).logits, stored, atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["train.frozen=true"], "'train.frozen' leaves the backbone as it is: it needs 'pretrained'"),
        (["pretrained=small", "train.frozen=true", "augment.test_views=2"], "needs 'augment.test_views: 1'"),
        (["data.fraction=0"], r"'data.fraction' must be in \(0, 1\], got 0"),
    ],
)
def test_what_does_not_go_together(settings, message):
    with pytest.raises(OpenSetError, match=message):
        config("photos", *settings)


def test_a_method_that_works_inside_the_network_cannot_be_frozen(root, photos, tmp_path):
    chosen = config(photos, "pretrained=small", "train.frozen=true", "method={name: openauc, mix_at: 1}")
    with pytest.raises(OpenSetError, match="'train.frozen' trains the head alone, and the method 'openauc' works in"):
        run(chosen, tmp_path / "run")


def test_a_fraction_of_each_class_is_used(photos, tmp_path):
    run(config(photos, "data.fraction=0.5"), tmp_path / "half")
    part = load(photos).train
    drawn = _drawn(part, 0.5)
    for label in (0, 1):
        assert drawn[part.labels == label].sum() == round(0.5 * (part.labels == label).sum())
    assert _drawn(part, 1.0).all()


def test_recipes_may_have_fields_for_where_a_network_is_there(root, tmp_path, monkeypatch):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "backbone: classifier32\nwith_pretrained: {pretrained: small, backbone: {name: fastnet, width: 4}}\n"
    )
    assert (read_config(file).pretrained, read_config(file).backbone.name) == ("small", "fastnet")
    named = read_config(file, ["backbone=resnet50"])
    assert (named.pretrained, named.backbone.name) == ("", "resnet50")
    shutil.rmtree(root / "pretrained")
    assert not is_there("small")
    assert (read_config(file).pretrained, read_config(file).backbone.name) == ("", "classifier32")
    file.write_text("with_pretrained: [small]\n")
    with pytest.raises(OpenSetError, match="'with_pretrained' must have fields, 'pretrained' among them"):
        read_config(file)


def test_a_pretrained_backbone_brings_what_its_inputs_are_like(root):
    found = read_config(None, **{"backbone.name": "pretrained:small"})
    assert (found.backbone.name, found.pretrained, found.data.mean, found.data.channels) == (
        "fastnet",
        "small",
        (0.5,),
        3,
    )
    with pytest.raises(OpenSetError, match="There is no pretrained network 'other': .*config.json is missing"):
        read_config(None, **{"backbone.name": "pretrained:other"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "must name the network in 'backbone' or 'architecture'"),
        ({"backbone": "fastnets"}, "no backbone named 'fastnets'"),
        ({"backbone": "fastnet", "mean": "x"}, "'mean' must be a list of one number per channel, got 'x'"),
    ],
)
def test_a_folder_that_says_something_else(root, content, message):
    (root / "pretrained/small/config.json").write_text(json.dumps(content))
    with pytest.raises(OpenSetError, match=message):
        read_pretrained("small")


def test_folders_of_timm_are_read(root):
    content = {"architecture": "resnet18", "pretrained_cfg": {"mean": [0.1, 0.2, 0.3], "std": [1, 1, 1]}}
    (root / "pretrained/small/config.json").write_text(json.dumps(content))
    found = read_pretrained("small")
    assert (found.backbone, found.mean) == ("timm:resnet18", (0.1, 0.2, 0.3))


def test_the_command_makes_and_lists_folders(root, weights, capsys, tmp_path):
    def openset(*words):
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        return end.value.code or 0

    assert openset("pretrained", weights, "--backbone", "fastnet", "--json", tmp_path / "made.json") == 0
    assert json.loads((tmp_path / "made.json").read_text())["pretrained"][0]["backbone"] == "fastnet"
    assert openset("pretrained") == 0
    printed = capsys.readouterr().out
    assert "--backbone pretrained:fastnet" in printed
    assert "small" in printed
    assert openset("pretrained", weights, "--backbone", "fastnet", "--mean", "half") == 2
