"""The adapter of timm, where it is installed; torchvision's compiled part may be missing and is not needed."""

import importlib.util

import pytest
import torch

from openset.backbones import build_backbone
from openset.errors import OpenSetError

needs_timm = pytest.mark.skipif(importlib.util.find_spec("timm") is None, reason="timm is not installed")
FORM = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


@pytest.fixture(scope="module")
def _torchvision():
    """Names of torchvision's operators, so that it can be imported beside a torch that it was not built for."""
    library = None
    if importlib.util.find_spec("torchvision") is not None:
        try:
            import torchvision  # noqa: F401
        except (ImportError, RuntimeError):
            library = torch.library.Library("torchvision", "FRAGMENT")
            for name in ("nms", "qnms"):
                if not hasattr(torch.ops.torchvision, name):
                    library.define(f"{name}{FORM}")
    return library


@needs_timm
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("_torchvision")
def test_any_network_of_timm():
    backbone = build_backbone("timm:resnet18", (1, 32, 32), 4)
    assert backbone.n_features == 512
    assert backbone(torch.rand(2, 1, 32, 32)).shape == (2, 512)
    with pytest.raises(OpenSetError, match=r"has 1 stages; 'mix_at' must be below that"):
        backbone(torch.rand(2, 1, 32, 32), stop=1)


@needs_timm
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("_torchvision")
def test_a_network_that_timm_does_not_have():
    with pytest.raises(OpenSetError, match=r"timm has no network named 'resnet1888'. Did you mean"):
        build_backbone("timm:resnet1888", (3, 32, 32), 4)


def test_without_timm(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "timm", None)
    with pytest.raises(OpenSetError, match=r"needs the package timm .* pip install 'openset\[vision\]'"):
        build_backbone("timm:resnet18", (3, 32, 32), 4)
