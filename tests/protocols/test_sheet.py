import numpy as np
import pytest
from PIL import Image

from openset.errors import OpenSetError
from openset.protocols import load
from openset.protocols.sheet import contact_sheet
from pictures import read_image, write_image

COLOURS = {"known": (250, 0, 0), "negative": (0, 250, 0), "unknown": (0, 0, 250)}


def painted(folder):
    """Photos of one colour per role, so that the strips can be told apart."""
    for role, colour in COLOURS.items():
        for name in "ab" if role == "known" else ("",):
            for number in range(4):
                path = folder / role / name / f"{number}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.new("RGB", (120, 100 + number), colour).save(path)
    return folder


def test_every_role_has_its_strip(tmp_path):
    contact_sheet(load(painted(tmp_path / "p")), tmp_path / "sheet.png")
    pixels = read_image(tmp_path / "sheet.png").reshape(-1, 3)
    tiles = {role: int((pixels == colour).all(axis=1).sum()) / 96**2 for role, colour in COLOURS.items()}
    assert tiles == {"known": 4, "negative": 2, "unknown": 4}  # those in train; unknowns in test


def test_groups_have_strips_of_their_own(synthetic_root, tmp_path):
    contact_sheet(load("cub", data_root=synthetic_root), tmp_path / "cub.png")
    contact_sheet(load("cifar10", data_root=synthetic_root), tmp_path / "cifar10.png")
    assert len(read_image(tmp_path / "cub.png")) > 1.8 * len(read_image(tmp_path / "cifar10.png"))


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(OpenSetError, match=r"use a name that ends in \.png"):
        contact_sheet(load("digits"), tmp_path / "sheet.exe")


def test_feature_vectors_have_no_sheet(tmp_path):
    np.savez(tmp_path / "f.npz", features=np.zeros((20, 2)), labels=[0, 1] * 10)
    (tmp_path / "mine.yaml").write_text("data: f.npz\nknown: [0]\n")
    with pytest.raises(OpenSetError, match="nothing to see"):
        contact_sheet(load(tmp_path / "mine.yaml"), tmp_path / "sheet.png")


def test_one_small_picture_is_enough(tmp_path):
    for path in ("known/a/1.png", "known/a/2.png", "known/a/3.png", "unknown/1.png"):
        write_image(tmp_path / "p" / path, 1, (8, 8, 3))
    contact_sheet(load(tmp_path / "p"), tmp_path / "sheet.jpg")
    assert read_image(tmp_path / "sheet.jpg").shape[1] == 1048
