"""Images that are learned from and tested on, and pictures of kinds that real data has."""

import numpy as np
import pytest
from PIL import Image

from openset.errors import OpenSetError
from openset.protocols import load


def picture(seed, mode="RGB", size=(20, 16)):
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels).convert(mode)


@pytest.fixture
def photos(tmp_path):
    """Known classes with parts of their own, unknowns beside them."""
    for part, first in (("train", 0), ("test", 100)):
        for place, name in enumerate(("cat", "dog", "owl")):
            folder = tmp_path / "animals" / part / name
            folder.mkdir(parents=True)
            for number in range(6):
                picture(first + 10 * place + number).save(folder / f"{number}.png")
    (tmp_path / "p.yaml").write_text("data: animals\nknown: [cat, dog]\nunknown: [owl]\n")
    return tmp_path


def test_nothing_is_said_where_no_image_is_repeated(photos):
    assert not [note for note in load(photos / "p.yaml").notes if "learn from" in note]


@pytest.mark.parametrize("size", [(20, 16), (200, 160)])  # kept decoded, and read when needed
def test_images_of_the_test_part_that_were_learned_from_are_named(photos, size):
    for part in ("train", "test"):
        picture(7, size=size).save(photos / "animals" / part / "cat" / "same.png")
    (note,) = [note for note in load(photos / "p.yaml").notes if "learn from" in note]
    assert note.startswith("Also in the parts to learn from: 1 of 19 test samples, such as animals/test/cat/same.png")
    assert "which is the same as animals/train/cat/same.png" in note


def test_vectors_are_compared_too(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    for part, rows in (("train", vectors[:20]), ("test", np.concatenate([vectors[20:39], vectors[:1]]))):
        (tmp_path / "v").mkdir(exist_ok=True)
        np.savez(tmp_path / "v" / f"{part}.npz", features=rows, labels=np.array(["a", "b"] * 10))
    (tmp_path / "p.yaml").write_text("data: v\nknown: [a]\n")  # the repeated one is unknown when it is tested
    assert any("1 of 20 test samples" in note for note in load(tmp_path / "p.yaml").notes)


def test_grey_and_cmyk_photos_become_colour(photos):
    folder = photos / "animals/train/cat"
    picture(1, "L").save(folder / "0.jpg")
    picture(1, "CMYK").save(folder / "1.jpg")
    part = load(photos / "p.yaml").train
    assert part.array(size=16).shape[1:] == (16, 16, 3)


def test_a_protocol_may_lie_beside_the_data(photos, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("OPENSET_DATA", str(photos))
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert load("p.yaml").class_names == ("cat", "dog")


def test_classes_with_few_images_keep_one_for_each_part_or_are_named(tmp_path):
    for name, count in (("known/cat", 3), ("known/dog", 8), ("unknown/owl", 1)):
        (tmp_path / "few" / name).mkdir(parents=True)
        for number in range(count):
            picture(10 * len(name) + number).save(tmp_path / "few" / name / f"{number}.png")
    parts = load(tmp_path / "few").parts
    assert all((part.labels == 0).sum() == 1 for part in parts.values())
    (tmp_path / "few/known/cat/2.png").unlink()
    with pytest.raises(OpenSetError, match=r"known class 'cat' .* has no samples for val \(2 in all\): add some"):
        load(tmp_path / "few")


def test_photos_smaller_than_the_window_are_enlarged_to_it(tmp_path):
    for name, count in (("known/cat", 6), ("known/dog", 6), ("unknown/owl", 2)):
        (tmp_path / "p" / name).mkdir(parents=True)
        for number in range(count):
            size = (9, 7) if number == 0 else (150, 120 + number)
            picture(len(name) * 10 + number, size=size).save(tmp_path / "p" / name / f"{number}.png")
    part = load(tmp_path / "p").train
    windows = part.windows(np.arange(len(part)), 40, 32, [(0.5, 0.5)] * len(part))
    assert windows.shape == (len(part), 32, 32, 3)
