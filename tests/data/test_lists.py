import os

import pytest

from openset.data import open_dataset
from openset.errors import OpenSetError, OpenSetWarning
from pictures import write_image, write_photos


@pytest.fixture
def photos(tmp_path):
    for name in ("owl", "jay", "car"):
        write_photos(tmp_path / "photos" / name, 2)
    return tmp_path / "photos"


def write_list(folder, text, name="train.csv"):
    (folder / name).write_text(text)
    return folder / name


ROWS = "owl/IMG_0.jpg,0\nowl/IMG_1.jpg,0\njay/IMG_0.jpg,1\ncar/IMG_0.jpg,-1\ncar/IMG_1.jpg,-2\n"


@pytest.mark.parametrize("header", ["", "path,label\n", "\ufeffPath, Label\n"])
def test_a_list_with_or_without_header(photos, header):
    data = open_dataset(write_list(photos, header + ROWS))
    assert data.labels.tolist() == [0, 0, 1, -1, -2]
    assert data.class_names == ("owl", "jay")  # each class lies in a folder of its own
    assert data.ids[3] == "car/IMG_0.jpg"
    assert data.array([4], (8, 8, 3)).shape == (1, 8, 8, 3)


def test_blanks_and_words_are_understood(photos):
    data = open_dataset(write_list(photos, "owl/IMG_0.jpg,   owl\ncar/IMG_0.jpg, unknown\ncar/IMG_1.jpg,negative\n"))
    assert data.labels.tolist() == [0, -2, -1]
    assert data.class_names == ("owl",)


def test_paths_are_looked_for_below_the_root(photos, tmp_path):
    path = write_list(tmp_path, ROWS, "elsewhere.csv")
    assert len(open_dataset(path, root=photos)) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("owl/IMG_0.jpg,0\nowl/gone.jpg,0\n", r"train\.csv, row 2: there is no image .*owl.gone\.jpg"),
        ("owl/IMG_0.jpg,0\n../../etc/passwd,0\n", r"train\.csv, row 2: the path '../../etc/passwd' leads out of"),
        ("/etc/passwd,0\n", r"train\.csv, row 1: the path '/etc/passwd' leads out of"),
        ("owl/IMG_0.jpg\n", r"train\.csv, row 1: expected 'path,label', found 'owl/IMG_0\.jpg'"),
        ("owl/IMG_0.jpg,0\nowl/IMG_0.jpg,1\n", r"train\.csv, row 2: owl/IMG_0\.jpg is listed already in row 1"),
        ("owl/IMG_0.jpg,-5\n", "label -5 is out of range"),
        ("path,label\n", "lists no images"),
    ],
)
def test_a_bad_row_is_named(photos, text, message):
    with pytest.raises(OpenSetError, match=message):
        open_dataset(write_list(photos, text))


def test_a_binary_file_is_no_list(photos):
    (photos / "train.csv").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(OpenSetError, match=r"train\.csv is not a readable CSV file"):
        open_dataset(photos / "train.csv")


@pytest.mark.parametrize("shape", [(16, 16, 3), (120, 100, 3)], ids=["small", "large"])
def test_another_picture_under_the_old_name_is_noticed(tmp_path, shape):
    picture = write_image(tmp_path / "a.png", 0, shape)
    path = write_list(tmp_path, "a.png,0\n")
    before = open_dataset(path)
    pixel = before.array([0], (8, 8, 3))
    write_image(picture, 1, (shape[0] - 1, *shape[1:]))
    after = open_dataset(path)
    assert (after.array([0], (8, 8, 3)) != pixel).any()
    assert after.fingerprint != before.fingerprint


def test_a_touched_file_is_the_same_picture(tmp_path):
    picture = write_image(tmp_path / "a.png", 0, (16, 16, 3))
    path = write_list(tmp_path, "a.png,0\n")
    before = open_dataset(path).fingerprint
    os.utime(picture, ns=(1, 1))
    assert open_dataset(path).fingerprint == before


def test_a_skipped_picture_is_looked_at_again_when_it_changes(tmp_path):
    write_photos(tmp_path, 2)
    (tmp_path / "IMG_0.jpg").write_bytes(b"no image")
    path = write_list(tmp_path, "IMG_0.jpg,0\nIMG_1.jpg,0\n")
    with pytest.warns(OpenSetWarning, match="1 of 2 images were left out"):
        assert len(open_dataset(path, on_corrupt="skip")) == 1
    write_photos(tmp_path, 1)
    assert len(open_dataset(path, on_corrupt="skip")) == 2
