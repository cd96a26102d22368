from openset.protocols import PROTOCOLS, load
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
