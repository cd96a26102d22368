"""Networks of timm and torchvision with a user's own weights; run with `make adapters`."""

from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image

from model_samples import run

torch = pytest.importorskip("torch", reason="torch is not installed")


FORM = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def _operators():
    """Names of torchvision's operators, so that it can be imported beside a torch that it was not built for."""
    kept = None
    if find_spec("torchvision") is not None:
        try:
            import torchvision  # noqa: F401
        except (ImportError, RuntimeError):
            kept = torch.library.Library("torchvision", "FRAGMENT")
            for name in ("nms", "qnms"):
                if not hasattr(torch.ops.torchvision, name):
                    kept.define(f"{name}{FORM}")
    return kept


def saved(network, path):
    from safetensors.torch import save_file

    save_file({name: one.contiguous() for name, one in network.state_dict().items()}, path)
    return path


def check(network, transform, file, photos, found):
    images = [Image.open(one).convert("RGB") for one in sorted(photos.rglob("*.png"))]
    with torch.no_grad():
        expected = network.eval()(torch.stack([transform(one) for one in images])).numpy()
    np.testing.assert_allclose(found["logits"], expected, atol=1e-4)
    np.testing.assert_allclose(found["features"] @ found["weight"].T + found["bias"], expected, atol=1e-4)


@pytest.mark.usefixtures("_operators")
def test_a_network_of_timm(photos, tmp_path, capsys):
    timm = pytest.importorskip("timm", reason="timm is not installed")
    from timm.data import create_transform, resolve_data_config

    torch.manual_seed(0)
    network = timm.create_model("test_resnet", num_classes=3)
    weights = saved(network, tmp_path / "w.safetensors")
    words = ("outputs", "timm:test_resnet", photos, "--out", tmp_path / "o.npz", "--weights", weights)
    names = tmp_path / "names.json"
    names.write_text('{"0": "cat", "1": "dog", "2": "fox"}')
    assert run(*words, "--classes", names) == 0
    transform = create_transform(**resolve_data_config({}, model=network), is_training=False)
    found = dict(np.load(tmp_path / "o.npz"))
    check(network, transform, weights, photos, found)
    assert found["labels"].tolist() == [0] * 7 + [1] * 7 + [-2] * 7
    capsys.readouterr()
    assert run(*words, "--mean", "0.1") == 0
    assert "prepared otherwise than timm:test_resnet says itself: mean" in " ".join(capsys.readouterr().out.split())
    assert run("outputs", "timm:test_resnett", photos, "--out", tmp_path / "o.npz", "--weights", weights) == 2
    assert "Did you mean 'test_resnet'" in capsys.readouterr().err
    assert run("outputs", "timm:test_vit", photos, "--out", tmp_path / "o.npz", "--weights", weights) == 2
    assert "holds weights of another network" in capsys.readouterr().err


@pytest.mark.usefixtures("_operators")
def test_a_network_of_torchvision(photos, tmp_path, capsys):
    models = pytest.importorskip("torchvision.models", reason="torchvision is not installed")
    torch.manual_seed(0)
    network = models.get_model("shufflenet_v2_x0_5", weights=None, num_classes=5)
    weights = saved(network, tmp_path / "w.safetensors")
    words = ("outputs", "torchvision:shufflenet_v2_x0_5", photos, "--out", tmp_path / "o.npz")
    assert run(*words, "--weights", weights) == 0
    transform = models.get_model_weights("shufflenet_v2_x0_5").DEFAULT.transforms()
    check(network, transform, weights, photos, dict(np.load(tmp_path / "o.npz")))
    assert run(*words) == 2
    assert "Give the weights of torchvision:shufflenet_v2_x0_5 with --weights" in capsys.readouterr().err
    torch.save(network.state_dict(), tmp_path / "w.pth")
    assert run(*words, "--weights", tmp_path / "w.pth") == 2
    assert "w.pth is a pickled file, which could run code" in capsys.readouterr().err
