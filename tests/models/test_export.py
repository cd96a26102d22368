"""A training run as ONNX: the same answers, without torch."""

import json
import shutil
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from PIL import Image

from model_samples import run
from openset.models.preparation import AsTrained, CenterCrop, as_plain, from_plain

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "digits"
    words = ("--set", "backbone.width=8", "--set", "augment.test_views=6", "--seed", 1)
    assert run("train", "--protocol", "digits", "--method", "openauc", "--epochs", 1, *words, "--out", out) == 0
    return out


@pytest.fixture(scope="module")
def exported(trained):
    file = trained.parent / "digits.onnx"
    assert run("export", trained, "--onnx", file, "--json", trained.parent / "export.json") == 0
    return file


def test_outputs_are_equal(trained, exported, tmp_path):
    for name, model in (("run", trained), ("onnx", f"onnx:{exported}")):
        assert run("outputs", model, "digits", "--out", tmp_path / f"{name}.npz") == 0
    one, two = np.load(tmp_path / "run.npz"), np.load(tmp_path / "onnx.npz")
    for name in ("logits", "features", "weight"):
        assert np.abs(one[name] - two[name]).max() < 1e-4, name
    stored = np.load(trained / "outputs_test.npz")
    assert np.array_equal(one["ids"], stored["ids"])
    assert np.array_equal(one["labels"], stored["labels"])
    np.testing.assert_allclose(one["logits"], stored["logits"], atol=1e-5)
    assert json.loads((trained.parent / "export.json").read_text())["largest_difference"] < 1e-4


def test_predictions_without_torch_with_the_threshold_of_the_run(trained, exported, photos, tmp_path):
    assert run("predict", trained, photos, "--out", tmp_path / "a.csv") == 0
    code = (
        "import sys; sys.modules['torch'] = None\nfrom openset.cli import main\n"
        f"main(['predict', 'onnx:{exported}', '{photos}', '--threshold', '{trained / 'threshold.json'}', "
        f"'--out', '{tmp_path / 'b.csv'}'])"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    one, two = pl.read_csv(tmp_path / "a.csv"), pl.read_csv(tmp_path / "b.csv")
    assert one["id"].to_list() == two["id"].to_list()
    assert one["prediction"].to_list() == two["prediction"].to_list()
    np.testing.assert_allclose(one["unknown_score"], two["unknown_score"], atol=1e-4)


def test_a_threshold_of_another_run_is_refused(exported, trained, photos, tmp_path, capsys):
    content = json.loads((trained / "threshold.json").read_text())
    (tmp_path / "t.json").write_text(json.dumps({**content, "model": "0" * 16}))
    words = ("predict", f"onnx:{exported}", photos, "--threshold", tmp_path / "t.json")
    assert run(*words) == 2
    assert (
        "another model, or one with other inputs (weights and preparation 0000000000000000" in capsys.readouterr().err
    )
    assert run(*words, "--force") == 0
    assert run("predict", f"onnx:{exported}", photos) == 2
    assert "Say by which threshold" in capsys.readouterr().err


def test_a_score_that_only_a_run_has_is_not_exported(trained, tmp_path, capsys):
    copy = tmp_path / "run"
    shutil.copytree(trained, copy)
    config = (copy / "config.yaml").read_text()
    (copy / "config.yaml").write_text(config.replace("name: openauc", "name: objectosphere"))
    assert run("export", copy, "--onnx", tmp_path / "o.onnx") == 2
    assert "has a score of its own, objectosphere" in capsys.readouterr().err
    assert not (tmp_path / "o.onnx").exists()


@pytest.mark.parametrize("size", [5, 7, 8, 12, 20])
@pytest.mark.parametrize("channels", [0, 1])
def test_images_are_prepared_as_torch_does_it(size, channels):
    from openset.data.images import fitted
    from openset.train.config import Data
    from openset.train.feed import Feed

    rng = np.random.default_rng(size)
    picture = Image.fromarray(rng.integers(0, 256, (31, 23, 3), dtype=np.uint8))
    stored = np.stack([fitted(picture, (10, 14, 3))])

    class Part:
        labels, shape = np.zeros(1, dtype=int), stored.shape[1:]

        def __len__(self):
            return 1

        def array(self, positions=None, *, size=None):
            return stored[positions]

    expected = Feed(Part(), Data(size=size, channels=channels)).load(np.arange(1))[0][0].numpy()
    found = AsTrained((10, 14, 3), size, channels)(picture)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_center_crop_by_hand():
    """The left half black, the right half white; 8 x 4 pixels, the middle 4 x 4 of them, mean 0.5, std 0.5."""
    pixels = np.zeros((4, 8, 3), dtype=np.uint8)
    pixels[:, 4:] = 255
    found = CenterCrop(4, 4, (0.5,) * 3, (0.5,) * 3)(Image.fromarray(pixels))
    expected = np.repeat(np.array([-1.0, -1.0, 1.0, 1.0])[None], 4, axis=0)
    np.testing.assert_array_equal(found, np.stack([expected] * 3))


def test_a_damaged_preparation_is_refused():
    from openset.errors import OpenSetError

    for one in (CenterCrop(8, 4), AsTrained((8, 8, 1), 4)):
        assert from_plain(json.loads(json.dumps(as_plain(one))), "here") == one
    for content in (None, {}, {"kind": "x"}, {"kind": "center_crop", "resize": "a", "crop": 4}, {"kind": "as_trained"}):
        with pytest.raises(OpenSetError, match="here"):
            from_plain(content, "here")
