"""Samples on their way to the network."""

import numpy as np
import pytest
import torch
from PIL import Image

from openset.errors import OpenSetError
from openset.protocols import load
from openset.train import loop
from openset.train.build import make_fabric, make_network
from openset.train.config import Data, read_config
from openset.train.feed import Feed
from openset.train.run import begin, train


@pytest.fixture
def wide(tmp_path, monkeypatch):
    """Photos three times as wide as high, of several sizes; only their left and right ends are bright."""
    monkeypatch.setenv("OPENSET_CACHE", str(tmp_path / "cache"))
    for role, count in (("known/a", 12), ("known/b", 12), ("unknown", 4)):
        (tmp_path / "photos" / role).mkdir(parents=True)
        for number in range(count):
            high = 32 + number % 3
            pixels = np.zeros((high, 3 * high, 3), dtype=np.uint8)
            pixels[:, : high // 2] = pixels[:, -(high // 2) :] = 255
            Image.fromarray(pixels).save(tmp_path / "photos" / role / f"{number}.png")
    return tmp_path / "photos"


def test_windows_for_training_come_from_the_whole_photo(wide):
    feed = Feed(load(wide).train, Data(size=16), crop=12)
    places = np.arange(8)
    drawn = torch.stack([feed.load(places, chance)[0] for chance in range(20)])
    assert drawn.shape == (20, 8, 3, 12, 12)
    assert drawn.max() == 1  # an end is seen
    assert drawn.amin(dim=(2, 3, 4)).min() == 0
    assert torch.equal(feed.load(places, 7)[0], drawn[7])
    assert not torch.equal(drawn[7], drawn[8])
    assert feed.load(places)[0].shape == (8, 3, 16, 16)  # when not training: the middle, where all is dark
    assert feed.load(places)[0].max() == 0


def test_training_sees_the_ends_of_photos(wide, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(loop, "augment", lambda images, *_, **__: seen.append(images) or images)
    settings = ["train.epochs=3", "data.size=16", "data.batch_size=8", "augment.crop=12", "backbone.width=8"]
    config = read_config(None, settings, protocol=str(wide), **{"method.name": "maxlogit"})
    train(begin(config, tmp_path / "run", resume=False), tmp_path / "run")
    assert {images.shape[2:] for images in seen} == {(12, 12)}
    assert max(float(images.max()) for images in seen) == 1
    assert not torch.equal(seen[0], seen[-1])


def test_an_image_without_windows_is_what_it_was(wide):
    """Small images are cut where they are changed, batch by batch."""
    digits = load("digits").train
    one, other = Feed(digits, Data(size=10)), Feed(digits, Data(size=10), crop=8)
    assert torch.equal(one.load(np.arange(5), 3)[0], other.load(np.arange(5), 3)[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["augment.crop=16"], r"'augment.crop' \(16\) is larger than the images, which have 8 x 8 pixels"),
        (
            ["augment.crop_padding=8", "augment.padding=reflect"],
            r"'augment.crop_padding' \(8\) must be below the side of the images \(8\) to reflect them",
        ),
    ],
)
def test_changes_that_images_are_too_small_for_are_refused_before_training(settings, message):
    config = read_config(None, settings, **{"method.name": "maxlogit"})
    with pytest.raises(OpenSetError, match=message):
        make_network(config, Feed(load("digits").train, config.data), 6)


def test_a_device_that_is_not_there_is_named():
    if torch.backends.mps.is_available():
        pytest.skip("this machine has it")
    with pytest.raises(OpenSetError, match=r"The training cannot run with engine.accelerator = mps, .*: "):
        make_fabric(read_config(None, ["engine.accelerator=mps"]))
