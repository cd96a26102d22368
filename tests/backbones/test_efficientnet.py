"""EfficientNet-Lite0: the published number of parameters, names and padding."""

import torch

from openset.backbones import build_backbone
from openset.backbones.efficientnet_lite0 import EfficientNetLite0, _Convolution

PARTS = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")


def published_names():
    """Names of tensors in the published file: sixteen blocks, the first without an expansion."""
    layers = ["_conv_stem", "_bn0", "_conv_head", "_bn1", "_fc"]
    for number in range(16):
        inner = ["_depthwise_conv", "_bn1", "_project_conv", "_bn2"]
        layers += [f"_blocks.{number}.{name}" for name in ([] if number == 0 else ["_expand_conv", "_bn0"]) + inner]
    for layer in layers:
        kinds = ("weight",) if "conv" in layer else ("weight", "bias") if layer == "_fc" else PARTS
        yield from (f"{layer}.{kind}" for kind in kinds)


def test_it_has_the_published_number_of_parameters():
    backbone = build_backbone("efficientnet_lite0", (3, 32, 32), 1000)
    assert sum(one.numel() for one in backbone.parameters()) + 1280 * 1000 + 1000 == 4_652_008


def test_every_tensor_of_the_published_file_has_its_place():
    own = build_backbone("efficientnet_lite0", (3, 32, 32), 4).state_dict()
    names = {EfficientNetLite0.own_name(name) for name in published_names()}
    assert names - {None} == set(own)
    assert EfficientNetLite0.own_name("_fc.weight") is None
    assert EfficientNetLite0.own_name("_blocks.16._bn1.weight") is None


def test_a_stride_of_two_is_padded_at_the_far_sides():
    layer = _Convolution(1, 1, 3, stride=2, bias=False)
    torch.nn.init.ones_(layer.weight)
    image = torch.arange(16.0).view(1, 1, 4, 4)
    assert layer(image).flatten().tolist() == [45.0, 39.0, 66.0, 50.0]  # windows start at 0 and 2, never at -1
