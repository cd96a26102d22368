"""VOC XML and YOLO text folders give the same columns as the COCO file of the same data."""

import shutil

import numpy as np
import pytest

from openset.detection.read.coco import read_ground_truth
from openset.detection.read.results import Leniency, read_detections
from openset.errors import OpenSetError

VOC = """<annotation><filename>000012.jpg</filename><size><width>200</width><height>100</height></size>
<object><name>dog</name><difficult>0</difficult><bndbox><xmin>48</xmin><ymin>40</ymin><xmax>195</xmax><ymax>71</ymax></bndbox></object>
<object><name>cat</name><difficult>1</difficult><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>1</xmax><ymax>1</ymax></bndbox></object>
</annotation>"""
COCO = {"images": [{"id": 1, "file_name": "a.png", "width": 100, "height": 50}]}


def test_voc_boxes_include_both_ends_and_count_from_one(tmp_path):
    (tmp_path / "Annotations").mkdir()
    (tmp_path / "Annotations" / "000012.xml").write_text(VOC)
    for folder in (tmp_path, tmp_path / "Annotations"):
        truth = read_ground_truth(folder)
        assert truth.class_names == ("cat", "dog")
        assert truth.image_ids == (12,)
        assert truth.box.tolist() == [[47, 39, 148, 32], [0, 0, 1, 1]]
        assert truth.ignore.tolist() == [False, True]
        assert truth.category.tolist() == [1, 0]
        assert truth.sizes.tolist() == [[200, 100]]
    row = {"category_id": "dog", "bbox": [0, 0, 1, 1], "score": 1}
    found = read_detections([{**row, "image_id": 12}, {**row, "image_id": "000012"}], truth)
    assert (found.image.tolist(), found.category.tolist()) == ([0, 0], [1, 1])


ROW = {"image_id": 12, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1}


@pytest.fixture
def voc(tmp_path):
    (tmp_path / "Annotations").mkdir()
    (tmp_path / "Annotations" / "000012.xml").write_text(VOC)
    return tmp_path


@pytest.mark.parametrize("lenient", [Leniency(), Leniency(other_classes=True)])
def test_class_numbers_are_not_made_up_for_voc_files(voc, lenient):
    with pytest.raises(OpenSetError, match=r"by number \(1\), .* only names \('cat', 'dog'\): .* categories\.json"):
        read_detections([ROW], read_ground_truth(voc), lenient=lenient)
    (voc / "found").mkdir()
    (voc / "found" / "000012.txt").write_text("0 0.5 0.5 0.2 0.4 0.75\n")
    with pytest.raises(OpenSetError, match=r"found gives classes by number, .*found/classes\.txt, one per line"):
        read_detections(voc / "found", read_ground_truth(voc), lenient=lenient)


def test_voc_class_numbers_come_from_a_list_of_categories(voc):
    (voc / "categories.json").write_text(
        '[{"id": 2, "name": "dog"}, {"id": 1, "name": "cat"}, {"id": 3, "name": "elk"}]'
    )
    for folder in (voc, voc / "Annotations"):
        truth = read_ground_truth(folder)
        assert dict(zip(truth.class_ids, truth.class_names, strict=True)) == {1: "cat", 2: "dog", 3: "elk"}
        found = read_detections([ROW], truth)
        assert [truth.class_names[c] for c in (*truth.category, *found.category)] == ["dog", "cat", "cat"]
        assert found.notes == ()


def test_voc_class_numbers_from_lines_are_told(voc):
    (voc / "classes.txt").write_text("cat\ndog\n")
    truth = read_ground_truth(voc)
    found = read_detections([ROW], truth)
    assert [truth.class_names[c] for c in found.category] == ["dog"]
    assert found.notes == (f"classes have the numbers of {voc / 'classes.txt'}: 0 cat, 1 dog",)
    with pytest.raises(OpenSetError, match=r"unknown category ids .*: 0 cat, 1 dog\).*example 2\."):
        read_detections([{**ROW, "category_id": 2}], truth)


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("classes.txt", "cat\n", r"classes\.txt has no class 'dog', which .*Annotations shows: add it"),
        ("categories.json", '[{"id": 1, "name": "dog"}]', r"categories\.json has no class 'cat'"),
        ("categories.json", '{"1": "dog", "2": "cat"}', r"categories\.json must be a list such as"),
        ("categories.json", '["dog", "cat"]', r"categories\.json entry 0 is 'dog', not an object"),
        ("categories.json", '[{"id": 1, "name": "dog"}, {"id": 1, "name": "cat"}]', "1 stands twice among the ids"),
    ],
)
def test_voc_names_that_do_not_fit_are_named(voc, file, text, words):
    (voc / file).write_text(text)
    with pytest.raises(OpenSetError, match=words):
        read_ground_truth(voc)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (VOC[:200], "not a readable VOC annotation"),
        (VOC.replace("48", "left"), "not a readable VOC annotation"),
        (VOC.replace("<xmin>48</xmin>", ""), "bbox .* not finite"),
        (VOC.replace("195", "5"), "negative width"),
        (VOC.replace("<width>200", "<width>inf"), r"1\.xml, image entry 0: width is inf"),
        (VOC.replace("<height>100", "<height>1e300"), r"1\.xml, image entry 0: height is 1e\+300"),
        (VOC.replace("195", "1e200"), r"1\.xml, object entry 0: bbox .* more than"),
        (VOC.replace("<difficult>1", "<difficult>7"), r"1\.xml, object entry 1: difficult must be 0 or 1, got 7"),
        (VOC.replace("<difficult>1", "<difficult>" + "1" * 5000), r"1\.xml is not a readable VOC annotation"),
        ('<!DOCTYPE a [<!ENTITY b "c">]>' + VOC.replace("dog", "&b;"), "DOCTYPE"),
        ("<annotation/>", "none of the 1 VOC files has an object"),
    ],
)
def test_bad_voc_files_are_named(tmp_path, text, words):
    (tmp_path / "1.xml").write_text(text)
    with pytest.raises(OpenSetError, match=words):
        read_ground_truth(tmp_path)


def test_a_doctype_is_refused_in_any_encoding(tmp_path):
    bomb = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>'
    (tmp_path / "1.xml").write_bytes(bomb.encode("utf-16"))
    with pytest.raises(OpenSetError, match="DOCTYPE"):
        read_ground_truth(tmp_path)


@pytest.fixture
def yolo(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for folder in ("images", "labels", "found"):
        (tmp_path / folder).mkdir()
    for name, size in (("a", (100, 50)), ("b", (10, 10))):
        image.new("RGB", size).save(tmp_path / "images" / f"{name}.png")
    (tmp_path / "classes.txt").write_text("cat\ndog\n")
    (tmp_path / "labels" / "a.txt").write_text("1 0.5 0.5 0.2 0.4\n")
    (tmp_path / "found" / "a.txt").write_text("1 0.5 0.5 0.2 0.4 0.75\n0 0.1 0.1 0.2 0.2 0.5\n")
    return tmp_path


def test_yolo_folder(yolo):
    for folder in (yolo, yolo / "labels"):
        truth = read_ground_truth(folder)
        assert truth.image_ids == ("a", "b")
        assert truth.class_names == ("cat", "dog")
        assert truth.box == pytest.approx(np.array([[40, 15, 20, 20]]))
    found = read_detections(yolo / "found", truth)
    assert found.box == pytest.approx(np.array([[40, 15, 20, 20], [0, 0, 20, 10]]))
    assert found.score.tolist() == [0.75, 0.5]
    assert found.category.tolist() == [1, 0]


def test_yolo_labels_without_an_image_are_not_dropped(yolo):
    for name in ("y", "z"):
        (yolo / "labels" / f"{name}.txt").write_text("1 0.5 0.5 0.2 0.4\n")
    with pytest.raises(OpenSetError, match=r"2 label files in .*labels have no image in .*images, y\.txt for example"):
        read_ground_truth(yolo)


def test_other_texts_beside_yolo_labels_are_no_labels(yolo):
    (yolo / "train.txt").write_text("images/a.png\n")
    (yolo / "labels" / "README.txt").write_text("Drawn by hand.\n")
    assert read_ground_truth(yolo).n_images == 2
    for file in (yolo / "labels" / "a.txt", *(yolo / "images").iterdir()):
        file.rename(yolo / file.name)
    for folder in ("images", "labels"):
        shutil.rmtree(yolo / folder)
    assert len(read_ground_truth(yolo).image) == 1


def test_only_the_last_folder_named_labels_has_images_beside_it(yolo):
    place = yolo / "labels" / "mine"
    shutil.copytree(yolo / "images", place / "images")
    shutil.copytree(yolo / "labels", place / "labels", ignore=shutil.ignore_patterns("mine"))
    (place / "classes.txt").write_text("cat\ndog\n")
    assert len(read_ground_truth(place).image) == 1


@pytest.mark.parametrize("place", [".", "labels"])
def test_yolo_results_bring_their_own_class_names(yolo, place):
    truth = read_ground_truth({**COCO, "categories": [{"id": 8, "name": "dog"}]})
    (yolo / "found" / "labels").mkdir()
    (yolo / "found" / "a.txt").rename(yolo / "found" / "labels" / "a.txt")
    (yolo / "found" / place / "classes.txt").write_text("cat\nDog\n")
    with pytest.raises(OpenSetError, match=r"1 detections have unknown category ids .*example 'cat'\."):
        read_detections(yolo / "found", truth)
    found = read_detections(yolo / "found", truth, lenient=Leniency(other_classes=True))
    assert (found.category.tolist(), found.score.tolist()) == ([0], [0.75])


def test_yolo_results_without_names_say_which_classes_they_were_taken_for(yolo):
    truth = read_ground_truth({**COCO, "categories": [{"id": 8, "name": "elk"}, {"id": 3, "name": "cow"}]})
    found = read_detections(yolo / "found", truth)
    assert [truth.class_names[c] for c in found.category] == ["cow", "elk"]
    assert found.notes == (
        f"{yolo / 'found'} has no classes.txt, so its classes are those of ground truth: 0 elk, 1 cow",
    )
    (yolo / "found" / "a.txt").write_text("7 0.5 0.5 0.2 0.4 0.75\n1 0.1 0.1 0.2 0.2 0.5\n")
    with pytest.raises(OpenSetError, match=r"0 elk, 1 cow\).*example 'class 7'\..*--drop-other-classes"):
        read_detections(yolo / "found", truth)
    assert len(read_detections(yolo / "found", truth, lenient=Leniency(other_classes=True))) == 1


def test_yolo_names_from_yaml(yolo):
    pytest.importorskip("yaml")
    (yolo / "classes.txt").unlink()
    (yolo / "data.yaml").write_text("names:\n  0: cat\n  1: hund\n")
    assert read_ground_truth(yolo).class_names == ("cat", "hund")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1 0.5 0.5 0.2", "line 1: expected 'class x y width height'"),
        ("1 0.5 0.5 0.2 x", "line 1: expected"),
        ("7 0.5 0.5 0.2 0.2", "class 7, but there are 2 class names"),
        ("1 0.5 0.5 nan 0.2", "line 1: expected"),
        ("1 0.5 0.5 1e300 0.2", "line 1: expected"),
    ],
)
def test_bad_yolo_lines_are_named(yolo, line, words):
    (yolo / "labels" / "a.txt").write_text(line)
    with pytest.raises(OpenSetError, match=words):
        read_ground_truth(yolo)


def test_bad_yolo_folders_are_named(yolo):
    (yolo / "images" / "a.png").write_bytes(b"not an image")
    with pytest.raises(OpenSetError, match=r"a\.png cannot be decoded \(not an image\)"):
        read_ground_truth(yolo)
    (yolo / "classes.txt").unlink()
    with pytest.raises(OpenSetError, match="no class names"):
        read_ground_truth(yolo)
    for file in (yolo / "images").iterdir():
        file.unlink()
    (yolo / "classes.txt").write_text("cat\ndog\n")
    with pytest.raises(OpenSetError, match="there are no images in"):
        read_ground_truth(yolo)
    with pytest.raises(OpenSetError, match="holds neither VOC"):
        read_ground_truth(yolo / "images")


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("classes.txt", "Käfer\nhund".encode("latin-1"), r"classes\.txt is not a text file in UTF-8"),
        ("classes.json", b"5", r"classes\.json must be a list of class names"),
        ("classes.json", b'{"0": "cat", "1": "dog"}', r"classes\.json must be a list of class names"),
        ("classes.json", b'["cat", null]', r"classes\.json must be a list of class names"),
        ("data.yaml", b"names: cat", r"data\.yaml has no readable list 'names'"),
        ("data.yaml", b"names: [cat, no]", r"data\.yaml has no readable list 'names'.* put such a name in quotes"),
        ("data.yaml", b"names: [cat, {a: 1}]", r"data\.yaml has no readable list 'names'"),
        ("data.yaml", b"names: [cat, " + b"1" * 5000 + b"]", r"data\.yaml has no readable list 'names'"),
        ("data.yaml", b"names: " + b"[" * 5000, r"data\.yaml has no readable list 'names'"),
        ("data.yaml", b"names:\n" + b"- " * 2000 + b"a", r"data\.yaml has no readable list 'names'"),
    ],
)
def test_bad_yolo_class_names_are_named(yolo, file, content, words):
    if file == "data.yaml":
        pytest.importorskip("yaml")
    (yolo / "classes.txt").unlink()
    (yolo / file).write_bytes(content)
    with pytest.raises(OpenSetError, match=words):
        read_ground_truth(yolo)


def test_yolo_names_with_a_byte_order_mark(yolo):
    (yolo / "classes.txt").write_text("cat\ndog\n", encoding="utf-8-sig")
    assert read_ground_truth(yolo).class_names == ("cat", "dog")
