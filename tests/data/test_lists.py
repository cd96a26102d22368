import pytest

from openset.data import open_dataset
from openset.errors import OpenSetError
from pictures import write_photos


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
