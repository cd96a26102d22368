"""Pictures and texts of samples by their ids, which may be anything."""

import os

import pytest
from PIL import Image

from openset._io.pictures import BadImageError, decode, picture_size
from openset._io.sample_contents import open_contents
from openset.errors import OpenSetError


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "photos"
    (inside / "cats").mkdir(parents=True)
    Image.new("RGB", (4, 4), "red").save(inside / "cats" / "a.png")
    (inside / "notes.txt").write_text("no image")
    Image.new("RGB", (4, 4), "blue").save(tmp_path / "secret.png")
    return inside


def test_a_picture_is_found_by_its_path(folder):
    contents = open_contents(folder)
    assert contents.find("cats/a.png").getpixel((0, 0)) == (255, 0, 0)
    assert contents.find("photos/cats/a.png").size == (4, 4)  # as a protocol of folders names it
    assert contents.find(str(folder / "cats" / "a.png")) is not None


@pytest.mark.parametrize(
    "name",
    ["", "none.png", "../secret.png", "x/../../secret.png", "notes.txt", "cats", "a\0b", "n" * 5000, "/etc/passwd"],
)
def test_what_is_no_picture_below_the_folder_is_not_found(folder, name):
    assert open_contents(folder).find(name) is None


def test_a_link_out_of_the_folder_is_not_followed(folder):
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    assert open_contents(folder).find("link.png") is None


def test_texts_and_pictures_of_a_table(folder):
    (folder / "texts.csv").write_text("ID,Text\n1,hello\n2,\n")
    texts = open_contents(folder / "texts.csv")
    assert [texts.find(name) for name in ("1", "2", "3")] == ["hello", None, None]
    (folder / "images.csv").write_text("id,image\n7,cats/a.png\n8,../secret.png\n")
    images = open_contents(folder / "images.csv")
    assert images.find("7").size == (4, 4)
    assert images.find("8") is None


def test_a_table_of_something_else_is_refused(folder):
    (folder / "other.csv").write_text("name,text\n1,hello\n")
    with pytest.raises(OpenSetError, match="must have the columns 'id' and 'text', or 'id' and 'image'"):
        open_contents(folder / "other.csv")


def test_a_pipe_among_pictures_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.png")
    with pytest.raises(BadImageError, match="a.png cannot be decoded"):
        decode(tmp_path / "a.png", "a.png")
    with pytest.raises(OpenSetError, match="a.png cannot be decoded"):
        picture_size(tmp_path / "a.png")
