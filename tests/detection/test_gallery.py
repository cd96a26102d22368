"""The gallery: which detections, what is drawn where, and that it stays in its folders."""

from dataclasses import replace

import numpy as np
import pytest

from detection_sets import make_found, make_truth
from openset.detection.gallery import draw_gallery, worst_detections
from openset.errors import OpenSetError

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def wild():
    return make_truth([(0, "elk", [60, 60, 100, 100])], n_images=3, classes=("elk",))


@pytest.fixture
def found():
    boxes = [(0, "a", [50, 50, 100, 100], 0.8), (0, "b", [0, 0, 9, 9], 0.7), (2, "a", [5, 5, 200, 200], 0.9)]
    return make_found(boxes)


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for i in range(3):
        Image.new("RGB", (400, 300), "white").save(folder / f"{i}.png")
    return folder


def test_the_worst_one_of_each_image_by_falling_score(found):
    assert worst_detections(found).tolist() == [2, 0]
    assert worst_detections(found, np.array([0.85, 0.5])).tolist() == [2, 1]


def test_draws_claim_in_red_and_object_in_green(wild, found, images, tmp_path):
    drawn = draw_gallery(wild, found, ("a", "b"), images, tmp_path / "out")
    assert [file.name for file in drawn.files] == ["001-a-0.90.png", "002-a-0.80.png"]
    picture = Image.open(drawn.files[1])
    assert picture.getpixel((50, 100)) == (220, 38, 38)
    assert picture.getpixel((160, 100)) == (22, 163, 74)
    assert picture.getpixel((300, 250)) == (255, 255, 255)
    with Image.open(drawn.sheet) as sheet:
        assert sheet.width > 640


def test_at_most_n(wild, found, images, tmp_path):
    assert len(draw_gallery(wild, found, ("a", "b"), images, tmp_path / "out", n=1).files) == 1


@pytest.mark.parametrize(
    "name", ["../secret.png", "/secret.png", "sub/../../secret.png", "link.png", "a\0b", "", "\ud800.png", "x" * 300]
)
def test_images_outside_the_folder_are_never_read(wild, found, images, tmp_path, name):
    Image.new("RGB", (10, 10)).save(tmp_path / "secret.png")
    (images / "link.png").symlink_to(tmp_path / "secret.png")
    wild = replace(wild, file_names=(name, name, name))
    with pytest.raises(OpenSetError, match="None of the 2 images"):
        draw_gallery(wild, found, ("a", "b"), images, tmp_path / "out")


def test_a_box_far_beyond_the_picture_is_drawn_at_its_edge(wild, found, images, tmp_path):
    """Pillow draws every pixel of a line, also the billions that nobody sees."""
    far = [[-1e300, 0, 2e300, 1e300], [0, 0, 9, 9], [-1e12, 100, 2e12, 1e12]]
    drawn = draw_gallery(
        replace(wild, box=np.array([[0.0, 0, 1e300, 1e300]])),
        replace(found, box=np.array(far)),
        ("a", "b"),
        images,
        tmp_path,
    )
    with Image.open(drawn.files[0]) as picture:
        assert picture.getpixel((350, 101)) == (220, 38, 38)  # the one edge that the picture shows
        assert picture.getpixel((350, 200)) == (255, 255, 255)


def test_large_scores_and_long_names_stay_short(wild, found, images, tmp_path):
    drawn = draw_gallery(wild, replace(found, score=np.array([1e300, 0.7, 12.5])), ("a" * 9999, "b"), images, tmp_path)
    assert [file.name for file in drawn.files] == [f"001-{'a' * 40}-1e300.png", f"002-{'a' * 40}-12.50.png"]


def test_class_names_cannot_leave_the_output_folder(wild, found, images, tmp_path):
    drawn = draw_gallery(wild, found, ("../../x y", "b"), images, tmp_path / "out")
    assert {file.parent for file in drawn.files} == {tmp_path / "out"}
    assert drawn.files[0].name == "001-------x-y-0.90.png"


def test_missing_images_are_counted(wild, found, images, tmp_path):
    (images / "2.png").unlink()
    drawn = draw_gallery(wild, found, ("a", "b"), images, tmp_path / "out")
    assert (len(drawn.files), drawn.n_missing) == (1, 1)


def test_unreadable_images_and_folders_are_named(wild, found, images, tmp_path):
    (images / "2.png").write_bytes(b"\x89PNG not really")
    with pytest.raises(OpenSetError, match=r"2\.png cannot be decoded \(not an image\)"):
        draw_gallery(wild, found, ("a", "b"), images, tmp_path / "out")
    with pytest.raises(OpenSetError, match="There is no folder"):
        draw_gallery(wild, found, ("a", "b"), tmp_path / "none", tmp_path / "out")
    with pytest.raises(OpenSetError, match="nothing to draw"):
        draw_gallery(wild, found, ("a", "b"), images, tmp_path / "out", thresholds=np.array([np.inf, np.inf]))
    with pytest.raises(OpenSetError, match="'n' must be 1 or more"):
        draw_gallery(wild, found, ("a", "b"), images, tmp_path / "out", n=0)
