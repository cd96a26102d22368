"""VOC XML and YOLO text folders give the same columns as the COCO file of the same data."""

import shutil

import numpy as np
import pytest

from openset.detection.measure.sets import numbering_of
from openset.detection.read.class_lists import read_numbering
from openset.detection.read.coco import read_ground_truth
from openset.detection.read.results import Leniency, read_detections, read_shared_detections
from openset.detection.read.supervision import from_supervision
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
    with pytest.raises(OpenSetError, match=r"found gives classes by number, .*with --classes FILE, one per line"):
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
        ("categories.json", '[{"id": 1, "name": "dog"}, {"id": 1, "name": "cat"}]', "1 occurs twice among the ids"),
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
    for lenient in (Leniency(), Leniency(other_classes=True)):
        with pytest.raises(OpenSetError, match=r"class 7, but ground truth has 2 classes. Leaving it out would shift"):
            read_detections(yolo / "found", truth, lenient=lenient)
    names = {7: "dog", 1: "cow"}
    with pytest.raises(OpenSetError, match="1 detections have unknown category ids.*for example 'dog'"):
        read_detections(yolo / "found", truth, numbering=names)
    found = read_detections(yolo / "found", truth, numbering=names, lenient=Leniency(other_classes=True))
    assert [truth.class_names[c] for c in found.category] == ["cow"]


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


# ---- a detector's own numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "first"),
    [
        ("names.txt", "cow\nelk\n", 0),
        ("names.json", '["cow", "elk"]', 0),
        ("names.yaml", "names: [cow, elk]", 0),
        ("categories.json", '[{"id": 1, "name": "cow"}, {"id": 2, "name": "elk"}]', 1),
    ],
)
def test_classes_are_named_by_a_list_of_the_detector(yolo, tmp_path, name, text, first):
    """The ground truth has elk before cow; the detector counts cow first."""
    truth = read_ground_truth({**COCO, "categories": [{"id": 8, "name": "elk"}, {"id": 3, "name": "cow"}]})
    (tmp_path / name).write_text(text)
    numbering = read_numbering(tmp_path / name)
    row = {"image_id": 1, "bbox": [0, 0, 9, 9], "score": 0.5}
    rows = [{**row, "category_id": first}, {**row, "category_id": first + 1}]
    found = read_detections(rows, truth, numbering=numbering)
    assert [truth.class_names[c] for c in found.category] == ["cow", "elk"]
    (yolo / "found" / "a.txt").write_text(f"{first} 0.5 0.5 0.2 0.4 0.75\n{first + 1} 0.1 0.1 0.2 0.2 0.5\n")
    found = read_detections(yolo / "found", truth, numbering=numbering)
    assert [truth.class_names[c] for c in found.category] == ["cow", "elk"]
    with pytest.raises(OpenSetError, match=f"has class {first + 2}, but --classes names 2 classes"):
        read_detections([{**row, "category_id": first + 2}], truth, numbering=numbering)
    (yolo / "found" / "a.txt").write_text(f"{first + 2} 0.5 0.5 0.2 0.4 0.75\n")
    with pytest.raises(OpenSetError, match=f"class {first + 2}, but --classes names 2 classes"):
        read_detections(yolo / "found", truth, numbering=numbering)


def test_results_may_name_classes_where_the_ground_truth_numbers_them():
    truth = read_ground_truth({**COCO, "categories": [{"id": 8, "name": "tvmonitor"}, {"id": 3, "name": "cow"}]})
    row = {"image_id": 1, "bbox": [0, 0, 9, 9], "score": 0.5}
    found = read_detections([{**row, "category_id": one} for one in ("cow", "TV", 8)], truth)
    assert found.category.tolist() == [1, 0, 0]


# ---- comp4, ultralytics, detectron2 --------------------------------------------------------------------------------


@pytest.fixture
def comp4(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "comp4_det_test_dog.txt").write_text("000012 0.75 48 40 195 71\n000012 0.5 1 1 1 1\n")
    (folder / "comp4_det_test_tv_monitor.txt").write_text("000013 0.25 1 1 10.5 20\n\n")
    return folder


@pytest.mark.parametrize(
    "images", [[{"id": 12}, {"id": 13}], [{"id": i, "file_name": f"0000{i}.jpg"} for i in (12, 13)]]
)
def test_comp4_files_are_results_of_one_class_each(comp4, images):
    """Boxes as VOC's own files have them: the first is that of the dog in the XML file above."""
    categories = [{"id": 5, "name": "tv monitor"}, {"id": 7, "name": "dog"}]
    truth = read_ground_truth({"images": images, "categories": categories})
    found = read_detections(comp4, truth)
    assert found.image.tolist() == [0, 0, 1]
    assert [truth.class_names[c] for c in found.category] == ["dog", "dog", "tv monitor"]
    assert found.box.tolist() == [[47, 39, 148, 32], [0, 0, 1, 1], [0, 0, 10.5, 20]]
    assert found.score.tolist() == [0.75, 0.5, 0.25]
    assert "counted from 1, both ends inside" in found.notes[0]


def test_a_class_of_which_nothing_was_found_has_an_empty_file(comp4):
    (comp4 / "comp4_det_test_cat.txt").touch()
    categories = [{"id": 5, "name": "tv monitor"}, {"id": 7, "name": "dog"}, {"id": 8, "name": "cat"}]
    truth = read_ground_truth({"images": [{"id": 12}, {"id": 13}], "categories": categories})
    assert len(read_detections(comp4, truth)) == 3


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("000012 0.5 1 1 10", r"comp4_det_test_dog\.txt, line 1: expected 'image score xmin ymin xmax ymax'"),
        ("000012 nan 1 1 10 10", "expected 'image score"),
        ("000012 0.5 10 1 1 10", "xmax or ymax is below"),
        ("000099 0.5 1 1 10 10", "images that are not in"),
    ],
)
def test_comp4_lines_that_cannot_be_read_are_named(comp4, line, words):
    (comp4 / "comp4_det_test_dog.txt").write_text(line + "\n")
    images = [{"id": 12}, {"id": 13}]
    truth = read_ground_truth(
        {"images": images, "categories": [{"id": 5, "name": "tvmonitor"}, {"id": 7, "name": "dog"}]}
    )
    with pytest.raises(OpenSetError, match=words):
        read_detections(comp4, truth)


def test_files_of_ultralytics_and_detectron2_are_coco_results():
    """ultralytics: predictions.json, images by the stem of the file; detectron2: coco_instances_results.json."""
    images = [{"id": 3, "file_name": "val/bus.jpg"}, {"id": 4, "file_name": "val/zidane.jpg"}]
    truth = read_ground_truth({"images": images, "categories": [{"id": 1, "name": "person"}, {"id": 2, "name": "bus"}]})
    ultralytics = {"image_id": "bus", "file_name": "bus.jpg", "category_id": 2, "bbox": [1.5, 2, 3, 4], "score": 0.9}
    detectron2 = {
        "image_id": 4, "category_id": 1, "bbox": [0, 0, 9, 9], "score": 0.5,
        "segmentation": {"size": [9, 9], "counts": "abc"}, "keypoints": [],
    }  # fmt: skip
    found = read_detections([ultralytics, detectron2], truth)
    assert (found.image.tolist(), found.category.tolist()) == ([0, 1], [1, 0])


def of_ultralytics(file_name, category, score=0.9):
    """A row as `yolo val save_json=True` writes it (ultralytics 8.4): the stem as image_id, classes from 1."""
    stem = file_name.partition(".")[0]
    image = int(stem) if stem.isnumeric() else stem
    return {"image_id": image, "file_name": file_name, "category_id": category, "bbox": [0, 0, 9, 9], "score": score}


def test_classes_of_ultralytics_count_from_one_where_a_list_counts_from_zero(yolo, tmp_path):
    """In `data.yaml` and text files class 0 is the first; in predictions.json it is class 1."""
    truth = read_ground_truth(yolo)
    assert truth.class_ids == (0, 1)
    rows = [of_ultralytics("a.png", 1), of_ultralytics("a.png", 2)]
    for one in (rows, rows[:1]):  # also where nothing of the last class is there to give it away
        found = read_detections(one, truth)
        assert found.category.tolist() == [0, 1][: len(one)]
        assert found.notes == ("classes of results count from 1, as ultralytics writes them: 1 cat, 2 dog",)
    assert read_detections([{**one, "file_name": None} for one in rows], truth).category.tolist() == [0, 1]
    plain = [{key: value for key, value in one.items() if key != "file_name"} for one in rows[:1]]
    assert read_detections(plain, truth).category.tolist() == [1]
    with pytest.raises(OpenSetError, match="results has class 0, but its rows have a file_name"):
        read_detections([*rows, of_ultralytics("a.png", 0)], truth)
    with pytest.raises(OpenSetError, match="unknown category ids .* 1 cat, 2 dog.: 1 ids, for example 3"):
        read_detections([of_ultralytics("a.png", 3)], truth)


@pytest.mark.parametrize(
    ("name", "text", "numbers"),
    [
        ("names.txt", "cow\nelk\n", (1, 2)),
        ("data.yaml", "names: [cow, elk]", (1, 2)),
        ("categories.json", '[{"id": 0, "name": "cow"}, {"id": 7, "name": "elk"}]', (0, 7)),
    ],
)
def test_a_list_of_names_means_what_ultralytics_counts(tmp_path, name, text, numbers):
    """A list that gives ids is taken at its word; one that gives an order starts at 1 for these results."""
    truth = read_ground_truth({**COCO, "categories": [{"id": 8, "name": "elk"}, {"id": 3, "name": "cow"}]})
    (tmp_path / name).write_text(text)
    rows = [of_ultralytics("a.png", number) for number in numbers]
    found = read_detections(rows, truth, numbering=numbering_of(tmp_path / name))
    assert [truth.class_names[c] for c in found.category] == ["cow", "elk"]
    assert [truth.class_names[c] for c in read_detections([of_ultralytics("a.png", 3)], truth).category] == ["cow"]


def test_images_of_ultralytics_go_by_their_file(tmp_path):
    """000012.jpg becomes image_id 12, which can be the id of quite another image."""
    images = [{"id": 12, "file_name": "000005.jpg"}, {"id": 99, "file_name": "000012.jpg"}]
    truth = read_ground_truth({"images": images, "categories": [{"id": 1, "name": "cat"}]})
    rows = [of_ultralytics("000012.jpg", 1), of_ultralytics("000005.png", 1)]
    assert read_detections(rows, truth).image.tolist() == [1, 0]
    assert read_detections([{**rows[0], "file_name": "/elsewhere/x.jpg"}], truth).image.tolist() == [0]
    with pytest.raises(OpenSetError, match=r"images that are not in .*: 1 ids, for example '000099.jpg'"):
        read_detections([{**of_ultralytics("000099.jpg", 1), "image_id": 12}], truth)
    nameless = read_ground_truth({"images": [{"id": 12}], "categories": [{"id": 1, "name": "cat"}]})
    assert read_detections(rows[:1], nameless).image.tolist() == [0]
    wild = read_ground_truth({"images": [{"id": 5, "file_name": "w/000012.jpg"}], "categories": []})
    known_found, wild_found = read_shared_detections([{**rows[0], "image_id": 5}], truth, wild)
    assert (len(known_found), wild_found.image.tolist()) == (0, [0])


# ---- supervision ---------------------------------------------------------------------------------------------------


def detections(names=None, **change):
    from types import SimpleNamespace

    content = {"xyxy": np.array([[1, 2, 11, 22], [0, 0, 5, 5]]), "confidence": np.array([0.9, 0.5])}
    content |= {"class_id": np.array([1, 0]), "data": {} if names is None else {"class_name": np.array(names)}}
    return SimpleNamespace(**(content | change))


def test_detections_of_supervision_become_results():
    truth = read_ground_truth({**COCO, "categories": [{"id": 8, "name": "elk"}, {"id": 3, "name": "cow"}]})
    for rows in (
        from_supervision({"a.png": detections()}, ["elk", "cow"]),
        from_supervision({1: detections()}, {0: "elk", 1: "cow"}),
        from_supervision({"a": detections(["cow", "elk"]), "b": detections(xyxy=np.zeros((0, 4)))}),
    ):
        found = read_detections(rows, truth)
        assert [truth.class_names[c] for c in found.category] == ["cow", "elk"]
        assert found.box.tolist() == [[1, 2, 10, 20], [0, 0, 5, 5]]
        assert found.score.tolist() == [0.9, 0.5]


@pytest.mark.parametrize(
    ("one", "classes", "words"),
    [
        (detections(), None, "do not name their classes"),
        (detections(), ["elk"], "has class 1, but 1 classes are named"),
        (detections(confidence=None), ["elk", "cow"], "have no confidence"),
        (detections(class_id=None), ["elk", "cow"], "have no class_id"),
        (detections(confidence=np.array([0.5])), ["elk", "cow"], "2 boxes, 1 confidences and 2 classes"),
    ],
)
def test_detections_that_lack_something_are_refused(one, classes, words):
    with pytest.raises(OpenSetError, match=words):
        from_supervision({"a.png": one}, classes)


def test_the_real_supervision():
    supervision = pytest.importorskip("supervision")
    one = supervision.Detections(
        xyxy=np.array([[1.0, 2, 11, 22]]), confidence=np.array([0.9]), class_id=np.array([0]),
        data={"class_name": np.array(["cow"])},
    )  # fmt: skip
    row = {"image_id": 1, "category_id": "cow", "bbox": [1, 2, 10, 20], "score": 0.9}
    assert from_supervision({1: one}) == from_supervision({1: one}, ["cow"]) == [row]
    assert from_supervision({1: supervision.Detections.empty()}) == []


def test_comp4_files_of_a_real_detector_give_the_same_results(voc2007, tmp_path):
    """YOLOv2 on VOC 2007, written as the VOC kit takes it, read again: the same columns, file by file."""
    truth, found = voc2007
    lines = {}
    for image, category, (x, y, w, h), score in zip(
        found.image.tolist(), found.category.tolist(), found.box.tolist(), found.score.tolist(), strict=True
    ):
        stem = truth.file_names[image].partition(".")[0]
        lines.setdefault(truth.class_names[category], []).append(
            f"{stem} {score!r} {x + 1!r} {y + 1!r} {x + w!r} {y + h!r}"
        )
    for name, rows in lines.items():
        (tmp_path / f"comp4_det_test_{name}.txt").write_text("\n".join(rows) + "\n")
    again = read_detections(tmp_path, truth)
    order = np.lexsort((np.arange(len(found)), [truth.class_names[c] for c in found.category]))
    assert np.array_equal(again.image, found.image[order])
    assert np.array_equal(again.category, found.category[order])
    assert np.array_equal(again.score, found.score[order])
    assert np.allclose(again.box, found.box[order], atol=1e-9)
