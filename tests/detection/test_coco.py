"""Reading ground truth and results: what is fine, what is refused and in which words."""

import gzip
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from detection_sets import data_file
from openset._io import json_stream
from openset.detection.read.coco import read_ground_truth
from openset.detection.read.results import Leniency, read_detections, read_shared_detections
from openset.errors import OpenSetError

TRUTH = {
    "info": {"year": 2026},
    "images": [{"id": 0, "file_name": "folder/one.jpg"}, {"id": 5, "file_name": "two.jpg"}, {"id": 6}],
    "annotations": [
        {"id": 1, "image_id": 0, "category_id": 0, "bbox": [1, 2, 3, 4]},
        {"id": 2, "image_id": 5, "category_id": 9, "bbox": [0, 0, 1, 1], "ignore": 1},
        {
            "id": 3,
            "image_id": 5,
            "category_id": 9,
            "bbox": [0, 0, 1, 1],
            "iscrowd": 1,
            "segmentation": {"counts": "a},{"},
        },
    ],
    "categories": [{"id": 0, "name": "cat"}, {"id": 9, "name": "dog"}],
}
ROW = {"image_id": 5, "category_id": 9, "bbox": [0, 0, 2, 2], "score": 0.5}


def rows(**change):
    return [ROW, {**ROW, **change}]


def write(path, content, packed=False):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_reads_what_coco_files_leave_out(tmp_path, packed):
    """No segmentation, no iscrowd, id 0, an image without objects, a file name that is missing."""
    truth = read_ground_truth(write(tmp_path / "truth.json", TRUTH, packed))
    assert truth.image_ids == (0, 5, 6)
    assert truth.class_names == ("cat", "dog")
    assert truth.image.tolist() == [0, 1, 1]
    assert truth.category.tolist() == [0, 1, 1]
    assert truth.box[0].tolist() == [1, 2, 3, 4]
    assert truth.ignore.tolist() == [False, True, False]
    assert truth.crowd.tolist() == [False, False, True]
    assert truth.n_objects.tolist() == [1, 0]
    found = read_detections(write(tmp_path / "found.json", [ROW]), truth)
    assert (found.image.tolist(), found.category.tolist(), found.score.tolist()) == ([1], [1], [0.5])
    assert found.background_score is None


def test_lists_before_and_after_one_another(tmp_path):
    backwards = dict(reversed(TRUTH.items()))
    for indent in (None, 2):
        path = write(tmp_path / "t.json", json.dumps(backwards, indent=indent).encode())
        assert read_ground_truth(path).image.tolist() == [0, 1, 1]


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64, 1000])
def test_any_block_size_reads_the_same(tmp_path, monkeypatch, block):
    content = {
        "info": "ä€𝄞",
        "images": [{"id": i, "note": "},{ ]ä€𝄞"} for i in range(40)],
        "empty": [],
        "numbers": [1, 22, 3.5],
    }
    path = write(tmp_path / "t.json", json.dumps(content, ensure_ascii=False).encode())
    monkeypatch.setattr(json_stream, "_BLOCK", block)
    seen = {}
    for key, entries in json_stream.read_chunks(path):
        seen.setdefault(key, []).extend(entries)
    assert seen == {**content, "info": list(content["info"])}


def test_images_may_be_named_by_their_files():
    found = read_detections(
        [{**ROW, "image_id": name} for name in ("two.jpg", "two", "folder/one.jpg", "one")],
        read_ground_truth(TRUTH),
    )
    assert found.image.tolist() == [1, 1, 0, 0]


def test_background_score_is_kept():
    truth = read_ground_truth(TRUTH)
    assert read_detections([{**ROW, "background_score": 0.25}], truth).background_score.tolist() == [0.25]
    with pytest.raises(OpenSetError, match="only some detections have a background_score"):
        read_detections(rows(background_score=0.1), truth)


def test_empty_results_are_fine(tmp_path):
    found = read_detections(write(tmp_path / "found.json", []), read_ground_truth(TRUTH))
    assert len(found) == 0
    assert found.box.shape == (0, 4)


def test_scores_above_one_are_noted():
    found = read_detections(rows(score=7.5), read_ground_truth(TRUTH))
    assert found.score.tolist() == [0.5, 7.5]
    assert "1 scores of results are above 1" in found.notes[0]


def test_strange_images_are_counted_named_and_refused_unless_allowed():
    truth = read_ground_truth(TRUTH)
    results = [ROW, *({**ROW, "image_id": i} for i in (70, 71, 72, 73, 70))]
    with pytest.raises(
        OpenSetError, match=r"5 detections have images that are not in .*: 4 ids, for example 70, 71, 72\."
    ):
        read_detections(results, truth)
    found = read_detections(results, truth, lenient=Leniency(extra_images=True))
    assert len(found) == 1
    assert found.notes == ("5 detections on 4 images outside the ground truth were left out of results",)


def test_strange_classes_are_reported_not_dropped():
    truth = read_ground_truth(TRUTH)
    with pytest.raises(
        OpenSetError, match=r"1 detections have unknown category ids .*example 4\..*--drop-other-classes"
    ):
        read_detections(rows(category_id=4), truth)
    assert (
        read_detections(rows(category_id=4), truth, lenient=Leniency(other_classes=True))
        .notes[0]
        .startswith("1 detections of 1 other")
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"score": float("nan")}, "entry 1: score is nan"),
        ({"score": float("inf")}, "entry 1: score is inf"),
        ({"score": -0.5}, r"entry 1: score -0\.5 is negative"),
        ({"score": "high"}, "entry 1: score must be a number, got 'high'"),
        ({"bbox": [0, 0, -1, 2]}, r"entry 1: bbox \[0, 0, -1, 2\] has a negative width or height"),
        ({"bbox": [0, float("nan"), 1, 2]}, "entry 1: bbox .* not finite"),
        ({"bbox": [0, 1, 2]}, "entry 1: bbox must be four numbers"),
        ({"bbox": [0, 1, 2, "3x"]}, "entry 1: bbox must be four numbers"),
        ({"bbox": None}, "entry 1: bbox must be four numbers"),
        ({"bbox": "0055"}, "entry 1: bbox must be four numbers .* got '0055'"),
        ({"bbox": ["0", "0", "5", "5"]}, "entry 1: bbox must be four numbers"),
        ({"bbox": {"0": 0, "1": 0, "2": 5, "3": 5}}, "entry 1: bbox must be four numbers"),
        ({"bbox": [0, 0, 10**400, 1]}, "entry 1: bbox .* more than 1,000,000,000 pixels"),
        ({"bbox": [-1e300, 0, 2e300, 1e300]}, "entry 1: bbox .* more than 1,000,000,000 pixels"),
        ({"bbox": [0, 0, 1e200, 1e200]}, "entry 1: bbox .* more than 1,000,000,000 pixels"),
        ({"score": 10**400}, "entry 1: score is 10+.*; it must be a finite number"),
        ({"bbox": [0, 0, 5, True]}, "entry 1: bbox must be four numbers"),
        ({"score": True}, "entry 1: score must be a number, got True"),
        ({"image_id": True}, "entry 1: True cannot be an id"),
        ({"category_id": True}, "entry 1: True cannot be an id"),
        ({"score": "0.9"}, "entry 1: score must be a number, got '0.9'"),
        ({"image_id": [1]}, r"entry 1: \[1\] cannot be an id"),
    ],
)
def test_bad_rows_are_named(change, words):
    with pytest.raises(OpenSetError, match=words):
        read_detections(rows(**change), read_ground_truth(TRUTH))


def test_missing_fields_are_named():
    truth = read_ground_truth(TRUTH)
    with pytest.raises(OpenSetError, match="entry 1 has no 'score'"):
        read_detections([ROW, {k: v for k, v in ROW.items() if k != "score"}], truth)
    with pytest.raises(OpenSetError, match="entry 0 is 3, not an object"):
        read_detections([3], truth)


@pytest.mark.parametrize(
    ("part", "entry", "words"),
    [
        (
            "annotations",
            {"image_id": 99, "category_id": 0, "bbox": [0, 0, 1, 1]},
            "entry 3: there is no such image_id: 99",
        ),
        (
            "annotations",
            {"image_id": 0, "category_id": 99, "bbox": [0, 0, 1, 1]},
            "entry 3: there is no such category_id: 99",
        ),
        ("annotations", {"image_id": 0, "category_id": 0, "bbox": [0, 0, 1, -1]}, "entry 3: bbox"),
        *(
            ("annotations", {"image_id": 0, "category_id": 0, "bbox": [0, 0, 1, 1], flag: value}, words)
            for flag, value, words in (
                ("iscrowd", "0", "'annotations' entry 3: iscrowd must be 0 or 1, got '0'"),
                ("iscrowd", [0], r"'annotations' entry 3: iscrowd must be 0 or 1, got \[0\]"),
                ("iscrowd", 2, "'annotations' entry 3: iscrowd must be 0 or 1, got 2"),
                ("ignore", "false", "'annotations' entry 3: ignore must be 0 or 1, got 'false'"),
                ("difficult", None, "'annotations' entry 3: difficult must be 0 or 1, got None"),
            )
        ),
        ("annotations", {"image_id": 0, "category_id": 0, "bbox": "0055"}, "entry 3: bbox must be four numbers"),
        ("annotations", {"image_id": 0, "category_id": 0, "bbox": [0, 0, 10**400, 1]}, "entry 3: bbox .* more than"),
        ("images", {"id": 7, "width": 10**400}, "'images' entry 3: width is 10+.*; it must be a finite number"),
        ("images", {"id": 7, "height": float("inf")}, "'images' entry 3: height is inf"),
        ("images", {"id": 7, "width": 1e200}, "'images' entry 3: width is 1e.200; .* 0 to 1,000,000,000 pixels"),
        ("images", {"id": 7, "height": -3}, "'images' entry 3: height is -3; .* 0 to 1,000,000,000 pixels"),
        ("images", {"id": 7, "width": [3]}, r"'images' entry 3: width must be a number, got \[3\]"),
        ("images", {"id": 7, "file_name": {"a": 1}}, "'images' entry 3: file_name must be text, got {'a': 1}"),
        ("images", {"id": 7, "file_name": "\ud800.png"}, "'images' entry 3: file_name holds half a character"),
        ("images", {"id": "\ud800"}, "'images' entry 3: id holds half a character"),
        ("categories", {"id": 1, "name": None}, "'categories' entry 2: name must be text, got None"),
        ("categories", {"id": 1, "name": {"a": 1}}, "'categories' entry 2: name must be text, got {'a': 1}"),
        ("categories", {"id": 1, "name": "elk\udfff"}, "'categories' entry 2: name holds half a character"),
        (
            "categories",
            {"id": 1, "name": "elk\x1b[31m"},
            r"'categories' entry 2: name holds a control character: 'elk\\x1b",
        ),
        ("categories", {"id": "\ud800", "name": "elk"}, "'categories' entry 2: id holds half a character"),
        ("images", {"id": True}, "one of the ids of 'images' is True; it must be a finite number or text"),
        ("images", {"id": float("nan")}, "one of the ids of 'images' is nan; it must be a finite number"),
        ("categories", {"id": math.inf, "name": "elk"}, "one of the ids of 'categories' is inf; it must be a finite"),
        ("images", {"id": 5}, "5 occurs twice among the ids of 'images'"),
        ("categories", {"id": 1, "name": "cat"}, "'cat' occurs twice"),
    ],
)
def test_bad_ground_truth_is_named(part, entry, words):
    with pytest.raises(OpenSetError, match=words):
        read_ground_truth({**TRUTH, part: [*TRUTH[part], entry]})


@pytest.mark.parametrize("part", ["images", "annotations", "categories"])
@pytest.mark.parametrize(
    ("value", "words"), [(None, "null"), ({"0": {"id": 1}}, "an object"), ("none", "'none'"), (7, "7")]
)
def test_what_must_be_a_list_is_one(tmp_path, part, value, words):
    for source in ({**TRUTH, part: value}, write(tmp_path / "t.json", {**TRUTH, part: value})):
        with pytest.raises(OpenSetError, match=f"'{part}' must be a list of objects, not {words}\\."):
            read_ground_truth(source)


def test_names_too_long_for_a_file_are_not_there():
    for read in (read_ground_truth, lambda name: read_detections(name, read_ground_truth(TRUTH))):
        with pytest.raises(OpenSetError, match="Cannot read xxx.*: file name too long"):
            read("x" * 300)


def test_flags_may_be_truth_values_and_what_is_not_known_null():
    box = {"image_id": 0, "category_id": 0, "bbox": [0, 0, 1, 1]}
    flags = [{**box, "iscrowd": True}, {**box, "ignore": True}, {**box, "iscrowd": False, "difficult": 1}]
    images = [{"id": 0, "file_name": None, "width": None, "height": None}, {"id": 5}, {"id": 6}]
    truth = read_ground_truth({**TRUTH, "images": images, "annotations": flags})
    assert truth.crowd.tolist() == [True, False, False]
    assert truth.ignore.tolist() == [False, True, True]
    assert truth.file_names[0] == ""
    assert truth.sizes[0].tolist() == [0, 0]


def test_the_two_kinds_of_file_are_told_apart(tmp_path):
    with pytest.raises(OpenSetError, match="is a list, so it holds detections"):
        read_ground_truth(write(tmp_path / "a.json", [ROW]))
    with pytest.raises(OpenSetError, match="is an object with 'images'"):
        read_detections(write(tmp_path / "b.json", {"images": []}), read_ground_truth(TRUTH))
    for content, words in (
        ({"error": "out of memory"}, "an object with 'error'"),
        ({}, "an object with nothing in it"),
    ):
        with pytest.raises(OpenSetError, match=f"{words}; detections are a list"):
            read_detections(write(tmp_path / "b.json", content), read_ground_truth(TRUTH))
    with pytest.raises(OpenSetError, match="has no 'categories'"):
        read_ground_truth({"images": [{"id": 1}]})


def test_a_truncated_file_says_where(tmp_path):
    """Cut at every length: never a traceback, and the sentence says how far the file goes."""
    text = json.dumps([ROW] * 3).encode()
    for n in range(1, len(text)):
        with pytest.raises(OpenSetError, match=rf"is cut off .*: it ends after {n} characters"):
            list(json_stream.read_chunks(write(tmp_path / "cut.json", text[:n])))
    with pytest.raises(OpenSetError, match="cut off in the list, entry 2"):
        list(json_stream.read_chunks(write(tmp_path / "cut.json", text[:-20])))
    whole = json.dumps(TRUTH).encode()
    for n in range(1, len(whole)):
        with pytest.raises(OpenSetError, match="is cut off"):
            list(json_stream.read_chunks(write(tmp_path / "cut.json", whole[:n])))
    with pytest.raises(OpenSetError, match=r"cut\.json is cut off or damaged"):
        list(json_stream.read_chunks(write(tmp_path / "cut.json", gzip.compress(whole)[:-30])))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "is empty"),
        (b"hello", "those begin with"),
        (b'[{"a": 1} {"b": 2}]', "a comma or ']' is missing"),
        (b'[{"a": 1},]', "comma after the last entry"),
        (b'[{"a": 1}] x]', "more text after the end"),
        (b'{"images" [1]}', "':' is missing"),
        (b'{"images": [1] "categories": [2]}', "a comma or '}' is missing"),
        (b'{"info": 1 "images": [2]}', "a comma or '}' is missing"),
        (b'{"images": [1], }', "comma after the last entry"),
        (b'{, "images": [1]}', "expecting value"),
        (b"{5: [1]}", "a name in quotes is missing"),
        (b"[" + b"[" * 100_000 + b"]" * 100_001, "nested too deeply"),
        (b"[\xff\xfe]", "not UTF-8"),
        (b'[{"a": 1}, {"a": ' + b"1" * 5000 + b"}]", "in the list, entry 1: it holds a number of thousands of digits"),
    ],
)
def test_broken_json_says_where(tmp_path, text, words):
    with pytest.raises(OpenSetError, match=words):
        list(json_stream.read_chunks(write(tmp_path / "bad.json", text)))


def test_one_results_file_for_both_kinds_of_image():
    known = read_ground_truth(TRUTH)
    wild = read_ground_truth({"images": [{"id": 8}], "categories": [{"id": 1, "name": "elk"}], "annotations": []})
    on_known, on_wild = read_shared_detections(rows(image_id=8), known, wild)
    assert (on_known.image.tolist(), on_wild.image.tolist()) == ([1], [0])
    with pytest.raises(OpenSetError, match="3 image ids are both in"):
        read_shared_detections([ROW], known, known)


def shared_names(**wild_image):
    wild = {"images": [wild_image], "categories": [{"id": 1, "name": "elk"}], "annotations": []}
    return read_ground_truth(TRUTH), read_ground_truth(wild)


@pytest.mark.parametrize("name", ["two", "two.jpg"])
def test_a_name_of_a_known_and_of_a_wild_image_is_refused_where_it_is_used(name):
    known, wild = shared_names(id=8, file_name="elsewhere/two.jpg")
    with pytest.raises(OpenSetError, match=f"entry 1: {name!r} is the name of two images, .*: use the ids"):
        read_shared_detections(rows(image_id=name), known, wild)
    # Ids, and names that only one of them has, are as good as ever.
    found = [{**ROW, "image_id": one} for one in (5, 8, "elsewhere/two.jpg", "one")]
    on_known, on_wild = read_shared_detections(found, known, wild)
    assert (on_known.image.tolist(), on_wild.image.tolist()) == ([1, 0], [0, 0])


def test_an_id_is_stronger_than_a_name_of_the_other_kind_of_image():
    known, wild = shared_names(id="two", file_name="three.jpg")
    on_known, on_wild = read_shared_detections([{**ROW, "image_id": "two"}], known, wild)
    assert (len(on_known), on_wild.image.tolist()) == (0, [0])


def test_a_folder_knows_names_only(tmp_path):
    known, wild = shared_names(id="two", file_name="three.jpg", width=10, height=10)
    (tmp_path / "two.txt").write_text("0 0.5 0.5 0.1 0.1 0.9\n")
    with pytest.raises(OpenSetError, match="'two' is the name of two images, .* as two files or folders"):
        read_shared_detections(tmp_path, replace(known, sizes=np.full((3, 2), 10.0)), wild)


def test_real_files():
    truth = read_ground_truth(data_file("voc2007_test.json.gz"))
    assert (truth.n_images, len(truth.image), int(truth.ignore.sum()), truth.n_classes) == (
        4952,
        14976,
        2944,
        20,
    )
    found = read_detections(data_file("voc2007_test_yolov2.json.gz"), truth)
    assert len(found) == 101139
    assert np.isfinite(found.box).all()


def test_wild_images_need_no_classes(tmp_path):
    truth = read_ground_truth(write(tmp_path / "wild.json", {"images": [{"id": 1}], "categories": []}))
    assert (truth.n_images, truth.n_classes, len(truth.image)) == (1, 0, 0)
    with pytest.raises(OpenSetError, match=r"wild.json has no 'categories', so it is not COCO ground truth"):
        read_ground_truth(write(tmp_path / "wild.json", {"images": [{"id": 1}]}))
    objects = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1]}]
    with pytest.raises(OpenSetError, match="there is no such category_id: 1"):
        read_ground_truth({"images": [{"id": 1}], "categories": [], "annotations": objects})


# ---- which image a name means --------------------------------------------------------------------------------------


def images(*pairs, source="truth"):
    """Ground truth of images given as (id, file name), with the one class "cat"."""
    content = {
        "images": [{"id": one, "file_name": name} for one, name in pairs],
        "categories": [{"id": 1, "name": "cat"}],
    }
    return replace(read_ground_truth(content), source=source)


def named(*names):
    return [{"image_id": name, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5} for name in names]


def test_an_id_is_stronger_than_a_file_name_and_that_than_its_parts():
    crossed = images(("b.jpg", "a.jpg"), ("a.jpg", "b.jpg"))
    assert read_detections(named("a.jpg", "b.jpg"), crossed).image.tolist() == [1, 0]
    for order in ([(1, "a.jpg"), (2, "b/a.jpg.png")], [(2, "b/a.jpg.png"), (1, "a.jpg")]):
        truth = images(*order)
        places = [truth.image_ids[place] for place in read_detections(named("a.jpg", "a", "a.jpg.png"), truth).image]
        assert places == [1, 1, 2]


def test_in_one_file_for_both_kinds_an_id_is_stronger_than_a_name_of_the_other_kind():
    known, wild = images((1, "5.jpg"), ("w", "k.jpg")), images((2, "w"), ("5", "v.jpg"), source="wild")
    on_known, on_wild = read_shared_detections(named("5", "w", "5.jpg", "v"), known, wild)
    assert on_known.image.tolist() == [1, 0]
    assert on_wild.image.tolist() == [1, 1]
