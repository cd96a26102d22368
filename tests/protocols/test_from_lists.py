import csv

import pytest

from openset.errors import OpenSetError
from openset.protocols import load
from openset.protocols.export import export
from pictures import read_rows, write_image


@pytest.fixture
def exported(synthetic_root, tmp_path):
    """Lists of P2 under the names that the authors use."""
    protocol = load("imagenet-p2", data_root=synthetic_root)
    export(protocol, tmp_path / "lists")
    for part in ("train", "val", "test"):
        (tmp_path / "lists" / f"{part}.csv").rename(tmp_path / "lists" / f"p2_{part}.csv")
    return protocol, tmp_path / "lists"


def rewrite(path, change):
    rows = read_rows(path)
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(change(rows))


def test_the_authors_lists_are_taken_as_they_are(exported, synthetic_root):
    protocol, folder = exported
    rewrite(folder / "p2_train.csv", lambda rows: rows[1:])  # another choice than ours
    taken = load("imagenet-p2", lists=folder, data_root=synthetic_root)
    assert len(taken.train) == len(protocol.train) - 1
    assert taken.class_names == protocol.class_names
    assert taken.negative_classes == protocol.negative_classes
    assert taken.test.labels.tolist() == protocol.test.labels.tolist()
    assert taken.test.open_classes.tolist() == protocol.test.open_classes.tolist()
    assert taken.fingerprint != protocol.fingerprint
    assert taken.train.array([0], size=8).shape == (1, 8, 8, 3)
    assert f"The samples come from the lists in {folder}." in taken.notes


def test_lists_are_a_protocol_of_their_own(exported, synthetic_root):
    protocol, folder = exported
    for part in ("train", "val", "test"):
        (folder / f"p2_{part}.csv").rename(folder / f"{part}.csv")
    taken = load(folder, data_root=synthetic_root / "imagenet")
    assert taken.class_names == protocol.class_names
    assert set(taken.unknown_classes) == set(protocol.unknown_classes)
    assert {name: part.counts for name, part in taken.parts.items()} == {
        name: part.counts for name, part in protocol.parts.items()
    }


def test_lists_of_another_protocol_are_refused(exported, synthetic_root):
    _, folder = exported
    for part in ("train", "val", "test"):
        (folder / f"p2_{part}.csv").rename(folder / f"p1_{part}.csv")
    with pytest.raises(OpenSetError, match="the known classes of the lists are not those of imagenet-p1"):
        load("imagenet-p1", lists=folder, data_root=synthetic_root)


def test_labels_in_another_order_are_refused(exported, synthetic_root):
    _, folder = exported
    swap = {"0": "1", "1": "0"}
    for part in ("train", "val", "test"):
        rewrite(folder / f"p2_{part}.csv", lambda rows: [[path, swap.get(label, label)] for path, label in rows])
    with pytest.raises(OpenSetError, match=r"the known classes of the lists .* \(see their order\)"):
        load("imagenet-p2", lists=folder, data_root=synthetic_root)


def test_a_negative_class_that_is_missing_is_named(exported, synthetic_root):
    protocol, folder = exported
    gone = protocol.negative_classes[3]
    for part in ("train", "val", "test"):
        rewrite(folder / f"p2_{part}.csv", lambda rows: [row for row in rows if f"/{gone}/" not in row[0]])
    with pytest.raises(OpenSetError, match=f"the negative classes of the lists .* \\(see {gone}\\)"):
        load("imagenet-p2", lists=folder, data_root=synthetic_root)


def test_an_image_in_two_lists_is_named(exported, synthetic_root):
    _, folder = exported
    stolen = read_rows(folder / "p2_train.csv")[0]
    rewrite(folder / "p2_val.csv", lambda rows: [*rows, stolen])
    with pytest.raises(OpenSetError, match=f"{stolen[0]} is in train and in val"):
        load("imagenet-p2", lists=folder, data_root=synthetic_root)


def test_unknowns_in_training_are_refused(exported, synthetic_root):
    _, folder = exported
    moved = [row for row in read_rows(folder / "p2_test.csv") if row[1] == "-2"][:1]
    rewrite(folder / "p2_test.csv", lambda rows: [row for row in rows if row not in moved])
    rewrite(folder / "p2_train.csv", lambda rows: rows + moved)
    with pytest.raises(OpenSetError, match="unknown samples must not be in train"):
        load("imagenet-p2", lists=folder, data_root=synthetic_root)


def test_a_missing_image_is_named_with_its_row(exported, synthetic_root):
    _, folder = exported
    rewrite(folder / "p2_val.csv", lambda rows: [*rows[:2], ["train/n0/gone.JPEG", "0"]])
    with pytest.raises(OpenSetError, match=r"p2_val\.csv, row 3: there is no image .*gone\.JPEG"):
        load("imagenet-p2", lists=folder, data_root=synthetic_root)


def test_missing_lists_and_images_are_named(tmp_path, synthetic_root):
    with pytest.raises(OpenSetError, match=r"has no lists p2_train\.csv, p2_val\.csv and p2_test\.csv"):
        load("imagenet-p2", lists=tmp_path, data_root=synthetic_root)
    for part in ("train", "val", "test"):
        (tmp_path / f"{part}.csv").write_text("a.jpg,0\n")
    with pytest.raises(OpenSetError, match=r"are looked for in .*imagenet, which is not there"):
        load("imagenet-p2", lists=tmp_path, data_root=tmp_path)


def write_named_lists(folder, *, test=("cat", "owl", "unknown")):
    """Lists with names for labels; no class lies in a folder of its own."""
    for part, names in (("train", ("cat", "dog", "owl")), ("val", ("dog", "owl")), ("test", test)):
        for name in names:
            write_image(folder / "img" / f"{part}_{name}.png", shape=(8, 8, 3))
        (folder / f"{part}.csv").write_text("".join(f"img/{part}_{name}.png,{name}\n" for name in names))
    return folder


def test_a_class_that_one_list_lacks_does_not_shift_the_others(tmp_path):
    protocol = load(write_named_lists(tmp_path))
    assert protocol.class_names == ("cat", "dog", "owl")
    assert protocol.val.labels.tolist() == [1, 2]
    assert protocol.test.labels.tolist() == [0, 2, -2]


def test_a_class_that_training_lacks_is_named(tmp_path):
    with pytest.raises(OpenSetError, match=r"test\.csv, row 1: no class 'fox'"):
        load(write_named_lists(tmp_path, test=("cat", "fox", "unknown")))
    (tmp_path / "test.csv").write_text("img/test_cat.png,0\nimg/test_fox.png,3\n")
    with pytest.raises(OpenSetError, match=r"test\.csv, row 1: label 3 is out of range; classes are numbered 0 to 2"):
        load(tmp_path)


def test_lists_have_one_split(exported, tmp_path, synthetic_root):
    with pytest.raises(OpenSetError, match=r"has no split 1: lists are one split, 0"):
        load(write_named_lists(tmp_path / "mine"), split=1)
    with pytest.raises(OpenSetError, match=r"has no split 2: lists are one split, 0"):
        load("imagenet-p2", split=2, lists=exported[1], data_root=synthetic_root)
