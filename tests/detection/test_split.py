"""Known and wild images from one data set."""

import json
from dataclasses import replace

import pytest

from detection_sets import make_truth
from openset.detection.measure.evaluation import evaluate_open_set
from openset.detection.read.coco import read_ground_truth
from openset.detection.split import coco_dict, find_classes, read_names, split_classes, write_split
from openset.errors import OpenSetError


@pytest.fixture
def truth():
    """Images: cat; cat and elk; elk; nothing; a difficult cat alone."""
    objects = [
        (0, "cat", [0, 0, 10, 10]),
        (1, "cat", [0, 0, 10, 10]),
        (1, "elk", [20, 0, 10, 10]),
        (2, "elk", [0, 0, 10.5, 10]),
        (4, "cat", [0, 0, 10, 10], "ignore"),
    ]
    return make_truth(objects, n_images=5, classes=("cat", "elk", "cow"))


def test_by_hand(truth):
    parts = split_classes(truth, ["Cat"])
    assert parts.known.image_ids == (0, 1, 4)
    assert parts.wild.image_ids == (2, 3)
    assert parts.known.class_names == ("cat",)
    assert parts.wild.class_names == ("elk", "cow")
    assert parts.known.image.tolist() == [0, 1, 2]
    assert parts.known.ignore.tolist() == [False, False, True]
    assert parts.wild.category.tolist() == [0]
    assert (parts.hidden_on_known, parts.n_mixed, parts.n_empty) == (1, 1, 1)


def test_a_class_is_found_by_its_own_name_first():
    truth = make_truth([], classes=("c#", "c++", "Tv", "tvmonitor"))
    for i, name in enumerate(truth.class_names):
        assert find_classes(truth, [name]) == [i]
    with pytest.raises(OpenSetError, match=r"'TV' may be 'Tv' or 'tvmonitor' of truth: .*as it is written there"):
        find_classes(truth, ["TV"])


def test_mixed_images_can_be_dropped(truth):
    parts = split_classes(truth, ["cat"], drop_mixed=True)
    assert parts.known.image_ids == (0, 4)
    assert parts.wild.image_ids == (2, 3)


def test_what_is_written_can_be_read_and_evaluated(truth, tmp_path):
    row = {"bbox": [0, 0, 10, 10], "score": 0.5}
    results = [{**row, "image_id": i, "category_id": c} for i, c in ((0, 0), (1, 0), (2, 0), (2, 1))]
    (tmp_path / "dt.json").write_text(json.dumps(results))
    printed = write_split(split_classes(truth, ["cat"]), truth, tmp_path / "dt.json", tmp_path / "out")
    assert "Left out: 1 objects of hidden classes on 1 known images" in " ".join(printed)
    assert "Left out: 1 detections of hidden classes." in printed
    again = read_ground_truth(tmp_path / "out" / "wild.json")
    assert again.box.tolist() == [[0, 0, 10.5, 10]]
    files = [tmp_path / "out" / f"{name}.json" for name in ("known", "known_dt", "wild", "wild_dt")]
    result = evaluate_open_set(*files, recalls=[1.0], bootstrap=0)
    assert result.wilderness[0].n_open[-1] == 1  # the cat seen in the elk


def test_round_trip_keeps_everything(truth):
    again = read_ground_truth(coco_dict(truth))
    for name in ("image", "category", "box", "ignore", "crowd"):
        assert getattr(again, name).tolist() == getattr(truth, name).tolist()
    assert again.file_names == truth.file_names


def test_names_from_a_file_or_a_list(tmp_path):
    (tmp_path / "names.txt").write_text("cat\n\nelk \n")
    assert read_names(str(tmp_path / "names.txt")) == ["cat", "elk"]
    assert read_names("cat, elk") == ["cat", "elk"]
    (tmp_path / "names.txt").write_text("cat\nelk", encoding="utf-8-sig")  # as some editors write UTF-8
    assert read_names(str(tmp_path / "names.txt")) == ["cat", "elk"]
    (tmp_path / "names.txt").write_bytes("Käfer".encode("latin-1"))
    with pytest.raises(OpenSetError, match=r"names\.txt is not a text file in UTF-8"):
        read_names(str(tmp_path / "names.txt"))
    assert read_names("x" * 300) == ["x" * 300]
    (tmp_path / "names.txt").write_text("bed, double\ncat\n")
    assert read_names(str(tmp_path / "names.txt")) == ["bed, double", "cat"]


def test_impossible_splits_are_refused(truth):
    with pytest.raises(OpenSetError, match=r"has no class 'cta'\. Did you mean 'cat'"):
        split_classes(truth, ["cta"])
    with pytest.raises(OpenSetError, match="hide at least one"):
        split_classes(truth, ["cat", "elk", "cow"])
    with pytest.raises(OpenSetError, match="no image would be known"):
        split_classes(truth, ["cow"])
    with pytest.raises(OpenSetError, match="at least one known class"):
        split_classes(truth, [])
    only_cats = make_truth([(0, "cat", [0, 0, 1, 1])], classes=("cat", "elk"))
    with pytest.raises(OpenSetError, match="no image would be wild"):
        split_classes(only_cats, ["cat"])


def test_hidden_objects_can_be_kept_as_unknown(truth, tmp_path):
    """The elk beside the cat stays, as "unknown"; a detection of a cat on it is then about an unknown object."""
    parts = split_classes(truth, ["cat"], keep_unknown=True)
    assert parts.known.class_names == ("cat", "unknown")
    assert parts.known.class_ids == (0, 3)
    assert parts.known.category.tolist() == [0, 0, 1, 0]
    assert parts.wild.class_names == ("elk", "cow")
    row = {"score": 0.5, "category_id": 0}
    boxes = [(0, [0, 0, 10, 10]), (1, [0, 0, 10, 10]), (1, [20, 0, 10, 10]), (2, [0, 0, 10, 10])]
    (tmp_path / "dt.json").write_text(json.dumps([{**row, "image_id": i, "bbox": box} for i, box in boxes]))
    printed = write_split(parts, truth, tmp_path / "dt.json", tmp_path / "out")
    assert "Kept: 1 objects of hidden classes on 1 known images, as 'unknown'." in printed
    files = [tmp_path / "out" / f"{name}.json" for name in ("known", "known_dt", "wild", "wild_dt")]
    result = evaluate_open_set(*files, recalls=[1.0], bootstrap=0)
    assert result.errors[0].closed_set == (2, 0, 0, 0, 1, 0, 0)
    assert (result.owod.n_unknown, result.owod.a_ose) == (2, 2)
    with pytest.raises(OpenSetError, match="or their hidden objects kept, not both"):
        split_classes(truth, ["cat"], keep_unknown=True, drop_mixed=True)
    named = replace(truth, class_names=("cat", "elk", "Unknown"))
    with pytest.raises(OpenSetError, match="has a class for unknown objects already"):
        split_classes(named, ["cat"], keep_unknown=True)
