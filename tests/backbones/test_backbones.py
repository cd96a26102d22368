import pytest
import torch
from torch import nn

from openset.backbones import BACKBONES, build_backbone
from openset.errors import OpenSetError
from openset.methods import METHODS
from openset.train.build import make_bare_network
from openset.train.config import read_config
from openset.train.network import Network

OWN = [name for name in BACKBONES if name != "timm"]


def n_parameters(*modules):
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


def test_classifier32_has_the_published_number_of_parameters():
    backbone = build_backbone("classifier32", (3, 32, 32), 6)
    assert n_parameters(backbone, METHODS["softmax"](backbone.n_features, 6)) == 999_872


def test_classifier32_is_as_described():
    backbone = build_backbone("classifier32", (3, 32, 32), 6)
    modules = [one for one in backbone.modules() if not list(one.children())]
    kinds = [type(one).__name__ for one in modules]
    block = ["Dropout2d", *["Conv2d", "BatchNorm2d", "LeakyReLU"] * 3]
    assert kinds == [*block * 3, "GlobalMean"]
    convs = [one for one in modules if isinstance(one, nn.Conv2d)]
    assert [conv.out_channels for conv in convs] == [64, 64, 128] + [128] * 6
    assert [conv.stride[0] for conv in convs] == [1, 1, 2] * 3
    assert all(conv.kernel_size == (3, 3) and conv.padding == (1, 1) and conv.bias is None for conv in convs)
    weights = torch.cat([conv.weight.flatten() for conv in convs])
    assert weights.std().item() == pytest.approx(0.05, rel=0.01)
    norms = torch.cat([one.weight for one in modules if isinstance(one, nn.BatchNorm2d)])
    assert norms.mean().item() == pytest.approx(1.0, abs=0.005)
    assert norms.std().item() == pytest.approx(0.02, rel=0.2)


def test_resnet50_has_the_published_number_of_parameters():
    backbone = build_backbone("resnet50", (3, 64, 64), 1000)
    assert n_parameters(backbone) == 25_557_032 - 2_049_000  # without the last layer, 2048 x 1000 and bias


def test_resnet50_with_the_two_last_layers_of_the_imagenet_protocols():
    backbone = build_backbone("resnet50", (3, 64, 64), 31, two_layers=True)
    head = METHODS["background"](backbone.n_features, 30)
    assert n_parameters(backbone, head) == 25_557_032 - 2_049_000 + (2048 * 31 + 31) + 31 * 31


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("side", [8, 33])
def test_every_backbone_embeds_and_can_be_cut_at_every_stage(name, side):
    torch.manual_seed(0)
    shape = (20,) if BACKBONES[name].n_axes == 1 else (1, side, side)
    backbone = build_backbone(name, shape, 4).eval()
    values = torch.rand(2, *shape)
    whole = backbone(values)
    assert whole.shape == (2, backbone.n_features)
    for stage in range(len(backbone.stages)):
        torch.testing.assert_close(backbone(backbone(values, stop=stage), start=stage), whole)


def test_fastnet_whitens_2x2_patches_of_the_images_it_sees():
    backbone = build_backbone("fastnet", (3, 12, 12), 4)
    images = torch.rand(200, 3, 12, 12, generator=torch.Generator().manual_seed(0)).cumsum(dim=3)
    backbone.observe_inputs(images)
    values = nn.functional.conv2d(images, backbone.whiten.filters[:12]).transpose(0, 1).flatten(1)
    torch.testing.assert_close(values @ values.T / values.shape[1], torch.eye(12), atol=0.02, rtol=0)
    torch.testing.assert_close(backbone.whiten.filters[12:], -backbone.whiten.filters[:12])


def test_fastnet_hands_channels_on_at_the_start_and_multiplies_embeddings_by_its_scale():
    torch.manual_seed(0)
    backbone = build_backbone("fastnet", (1, 12, 12), 4, width=8, scale=0.25).eval()
    values = torch.rand(2, 8, 5, 5)
    convolution = backbone.stages[1][0]
    torch.testing.assert_close(convolution(values), values)
    torch.manual_seed(0)
    plain = build_backbone("fastnet", (1, 12, 12), 4, width=8, scale=1.0).eval()
    images = torch.rand(3, 1, 12, 12)
    torch.testing.assert_close(backbone(images), plain(images) / 4)


@pytest.mark.parametrize("method", ["gcpl", "rpl"])
def test_methods_that_measure_distances_know_the_scale_of_embeddings(method):
    config = read_config(None, ["backbone={name: fastnet, scale: 0.25}", f"method={method}"])
    network = make_bare_network(config, (1, 8, 8), 3)
    assert network.backbone.embedding_scale == 0.25
    assert network.method.criterion.temperature == 0.25**2
    assert build_backbone("mlp", (5,), 3).embedding_scale == 1.0


def test_a_stage_that_is_not_there():
    backbone = build_backbone("fastnet", (1, 8, 8), 4)
    with pytest.raises(OpenSetError, match="has 4 stages; 'mix_at' must be below that, got 4"):
        backbone(torch.rand(2, 1, 8, 8), stop=4)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("fastnets", (1, 8, 8), r"no backbone named 'fastnets'. Did you mean 'fastnet'\?"),
        ("timm", (1, 8, 8), "no backbone named 'timm'"),
        ("mlp", (1, 8, 8), "'mlp' does not fit this data, which has images"),
        ("fastnet", (8,), "'fastnet' does not fit this data, which has feature vectors"),
    ],
)
def test_bad_names_and_shapes(name, shape, message):
    with pytest.raises(OpenSetError, match=message):
        build_backbone(name, shape, 3)


@pytest.mark.parametrize(
    ("name", "shape", "option", "message"),
    [
        ("classifier32", (3, 32, 32), {"dropout": 20}, r"'dropout' must be in \[0, 1\), got 20. Did you mean 0.2"),
        ("mlp", (5,), {"dropout": -1}, r"'dropout' must be in \[0, 1\), got -1"),
        ("fastnet", (3, 32, 32), {"width": 0}, "'width' must be 1 or more, got 0"),
    ],
)
def test_bad_options_are_named(name, shape, option, message):
    with pytest.raises(OpenSetError, match=message):
        build_backbone(name, shape, 6, **option)


def test_inputs_are_shifted_and_scaled():
    backbone = build_backbone("mlp", (2,), 3)
    plain = Network(backbone, METHODS["softmax"](backbone.n_features, 3))
    shifted = Network(backbone, plain.method, shift=torch.tensor([1.0, 2.0]), scale=torch.tensor([0.5, 4.0]))
    torch.testing.assert_close(shifted(torch.tensor([[2.0, 6.0]]))[1], plain(torch.tensor([[2.0, 1.0]]))[1])
