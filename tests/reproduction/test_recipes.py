"""Recipes say what the papers and their programs say, and every cell of Table 2 has one."""

import pytest

from openset.errors import OpenSetError
from openset.reproduction.recipes import base_recipe, cell_config, recipe_name
from openset.reproduction.table2 import METHODS, PROTOCOLS
from openset.train.config import read_config

OWN = {  # size, learning rate, RandAugment, label smoothing, batch
    "mnist": (32, 0.1, (1, 8), 0.0, 128),
    "svhn": (32, 0.1, (1, 18), 0.0, 128),
    "cifar10": (32, 0.1, (1, 6), 0.0, 128),
    "cifar+10": (32, 0.1, (1, 6), 0.0, 128),
    "cifar+50": (32, 0.1, (1, 6), 0.0, 128),
    "tinyimagenet": (64, 0.01, (1, 9), 0.9, 64),
    "cub": (448, 0.001, (2, 30), 0.3, 32),
}


@pytest.mark.parametrize("method", ["maxlogit", "acc_auc", "openauc"])
@pytest.mark.parametrize("protocol", OWN)
def test_the_recipe_of_ce_plus(protocol, method):
    size, rate, augment, smoothing, batch = OWN[protocol]
    config = read_config(f"openauc/{protocol}-{method}")
    assert (config.protocol, config.method.name) == (protocol, method)
    assert (config.data.size, config.data.batch_size) == (size, batch)
    assert config.optimizer.lr == rate
    assert config.augment.randaugment == augment
    assert config.method.options.get("label_smoothing", 0.0) == smoothing
    assert not smoothing or config.method.options["smoothing"] == "others"
    assert config.train.epochs == 600
    assert (config.schedule.name, config.schedule.restarts, config.schedule.warmup_epochs) == ("cosine", 2, 10)
    assert (config.augment.crop_padding, config.augment.flip) == (4, True)
    adam = protocol == "tinyimagenet"
    assert (config.optimizer.name, config.optimizer.weight_decay) == (("adam", 0) if adam else ("sgd", 1e-4))
    assert config.backbone.name == ("resnet50" if protocol == "cub" else "classifier32")
    if method != "maxlogit":
        assert config.method.options["weight"] == (0.05 if protocol == "cub" else 0.1)


@pytest.mark.parametrize("method", ["softmax", "gcpl", "rpl", "arpl", "arpl_cs"])
@pytest.mark.parametrize("protocol", PROTOCOLS["paper"])
def test_baselines_follow_their_originals(protocol, method):
    config = base_recipe("paper", protocol, method)
    assert (config.protocol, config.method.name) == (protocol, method)
    passes = 2 if method == "arpl_cs" else 1  # one epoch with and one without generated images
    assert config.train.epochs == 100 * passes
    assert config.schedule.milestones == tuple(passes * epoch for epoch in (30, 60, 90))
    assert config.augment.randaugment == ()
    assert (config.data.size, config.data.batch_size) == (OWN[protocol][0], OWN[protocol][4])
    if protocol != "tinyimagenet":
        assert (config.optimizer.name, config.optimizer.lr) == ("sgd", 0.1)


def test_the_derivation_gives_the_written_recipe_on_cifar10():
    written = read_config("baselines/cifar10-arpl")
    images = read_config("openauc/cifar10-maxlogit")
    assert written.data == images.data
    assert written.augment.flip == images.augment.flip
    assert written.augment.crop_padding == images.augment.crop_padding


@pytest.mark.parametrize("protocol", ["p1", "p2", "p3"])
@pytest.mark.parametrize("method", ["softmax", "background", "entropic"])
def test_imagenet_recipes(protocol, method):
    config = read_config(f"imagenet/{protocol}-{method}")
    assert (config.protocol, config.method.name) == (f"imagenet-{protocol}", method)
    assert (config.train.epochs, config.data.batch_size, config.data.size, config.augment.crop) == (120, 64, 256, 224)
    assert (config.optimizer.name, config.optimizer.lr, config.augment.flip) == ("adam", 1e-3, True)
    assert (config.backbone.name, config.backbone.options["two_layers"]) == ("resnet50", True)
    assert (config.data.mean, config.data.std) == ((), ())


@pytest.mark.parametrize("method", METHODS["paper"])
@pytest.mark.parametrize("protocol", PROTOCOLS["paper"])
def test_every_cell_of_table_2_has_a_config(protocol, method):
    config = cell_config("paper", protocol, method, 3, 1, overrides=["data.workers=1"])
    assert (config.protocol, config.method.name, config.split, config.seed) == (protocol, method, 3, 1)


def test_arpl_plus_is_arpl_with_the_recipe_of_ce_plus():
    config = cell_config("paper", "cub", "arpl+", 0, 0)
    assert (config.method.name, config.train.epochs) == ("arpl", 600)
    assert config.method.options == {"label_smoothing": 0.2, "smoothing": "others"}


def test_options_are_passed_on_to_methods_that_mean_the_same_by_them():
    given = cell_config("paper", "tinyimagenet", "openauc", 0, 0).method.options
    assert given == {"weight": 0.1, "label_smoothing": 0.9, "smoothing": "others", "pairing": "halves"}
    assert cell_config("cpu", "mnist", "softmax", 0, 0).method.options == {}


def test_a_protocol_without_a_fast_recipe_is_named():
    with pytest.raises(OpenSetError, match="There is no fast recipe for 'imagenet-p1'"):
        recipe_name("cpu", "imagenet-p1", "openauc")
