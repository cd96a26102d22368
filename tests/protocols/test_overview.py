import pytest

from openset.data import CATALOG
from openset.errors import OpenSetError
from openset.protocols import PROTOCOLS, load
from openset.protocols.classes import class_lists
from openset.protocols.overview import missing_data, outline, outline_of, rows


def test_rows_say_what_is_here(synthetic_root):
    by_name = {row["name"]: row for row in rows(synthetic_root)}
    assert all(row["here"] for row in by_name.values())
    assert by_name["cifar+10"]["data"] == ["cifar10", "cifar100"]
    assert (by_name["imagenet-p1"]["known"], by_name["imagenet-p1"]["negative"]) == (116, 67)


def test_missing_data_and_missing_parts_are_told(tmp_path, synthetic_root):
    (tmp_path / "cifar10").symlink_to(synthetic_root / "cifar10")
    assert missing_data(PROTOCOLS["cifar+10"], tmp_path) == ["cifar100"]
    (tmp_path / "mnist").mkdir()
    (tmp_path / "mnist" / "test.parquet").symlink_to(synthetic_root / "mnist" / "test.parquet")
    assert missing_data(PROTOCOLS["mnist"], tmp_path) == ["mnist (train)"]
    assert missing_data(PROTOCOLS["digits"], tmp_path) == []


def test_an_outline_needs_no_data_and_agrees_with_the_protocol(synthetic_root):
    definition = PROTOCOLS["imagenet-p1"]
    without, opened = outline(definition, 0), outline_of(load("imagenet-p1", data_root=synthetic_root), definition)
    assert without["classes"] == opened["classes"]
    assert without["superclasses"] == opened["superclasses"]
    assert without["superclasses"]["primate"] == {"known": 0, "negative": 20, "unknown": 0}
    assert without["samples"]["train"] == {"known": 116218, "negative": 69680, "unknown": 0}
    assert opened["samples"]["test"] == {"known": 232, "negative": 134, "unknown": 332}


def test_groups_are_told(synthetic_root):
    definition = PROTOCOLS["cub"]
    opened = outline_of(load("cub", data_root=synthetic_root), definition)
    assert {name: len(classes) for name, classes in opened["groups"].items()} == {"easy": 32, "medium": 34, "hard": 34}
    assert {name: set(names) for name, names in outline(definition, 0)["groups"].items()} == {
        name: set(names) for name, names in opened["groups"].items()
    }


def test_a_data_set_with_some_of_its_classes_is_not_there(tmp_path):
    lists = class_lists(PROTOCOLS["imagenet-p2"], 0, lambda data: CATALOG[data].class_names)
    for members in lists:
        for name in members.classes:
            for part in ("train", "val"):
                (tmp_path / "imagenet" / part / name).mkdir(parents=True, exist_ok=True)
    assert missing_data(PROTOCOLS["imagenet-p2"], tmp_path) == []
    p1 = {name for members in class_lists(PROTOCOLS["imagenet-p1"], 0, lambda data: CATALOG[data].class_names)
          for name in members.classes}  # fmt: skip
    absent = len(p1) - len(p1 & {name for members in lists for name in members.classes})
    assert missing_data(PROTOCOLS["imagenet-p1"], tmp_path) == [f"imagenet ({absent} of {len(p1)} classes)"]
    assert not {row["name"]: row["here"] for row in rows(tmp_path)}["imagenet-p3"]
    (tmp_path / "imagenet" / "val" / lists.unknown[0].classes[0]).rmdir()
    assert missing_data(PROTOCOLS["imagenet-p2"], tmp_path) == ["imagenet (1 of 116 classes)"]


@pytest.mark.parametrize(
    ("protocol", "file"), [("svhn", "svhn/train_32x32.mat"), ("cifar10", "cifar10/cifar-10-batches-py/data_batch_1")]
)
def test_archives_that_are_not_read_name_the_layout_that_is(tmp_path, protocol, file):
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_bytes(b"x")
    assert missing_data(PROTOCOLS[protocol], tmp_path) == [protocol]
    with pytest.raises(OpenSetError, match=rf"is not read: put .*{protocol}/train.parquet and .*'image' \(PNG or JPEG"):
        load(protocol, data_root=tmp_path)


def test_folders_of_other_classes_are_told(tmp_path):
    for part in ("train", "val"):
        (tmp_path / "imagenet" / part / "n01440764").mkdir(parents=True)  # a fish, in none of the roles
    with pytest.raises(OpenSetError, match=r"has none of the 349 classes that are needed, only n01440764"):
        load("imagenet-p1", data_root=tmp_path)
