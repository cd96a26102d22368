import base64
import io
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from detection_sets import pencil_case
from openset._core.numbers import interval
from openset.detection import evaluate_open_set
from openset.detection.gate import check_detection_bars, parse_detection_bar
from openset.errors import OpenSetError
from openset.present.page import FalseDetection, bench_page, detection_page, training_section
from openset.present.page.gallery import gallery_section
from openset.results.views import BenchRow, TrainingLog


@pytest.fixture
def detection():
    """The pencil case under names that could break a page, with the probability of background."""
    known, found, wild, wild_found = pencil_case()
    found = replace(found, background_score=np.full(len(found), 0.25))
    known = replace(known, class_names=("<cat>", "<boat>"))
    result = evaluate_open_set(known, found, wild, wild_found, recalls=[0.3, 0.5], bootstrap=20, details=True)
    return replace(result, notes=(*result.notes, "a <note>"))


@pytest.fixture
def picture(tmp_path):
    from PIL import Image

    file = tmp_path / "wild.png"
    Image.fromarray(np.full((60, 80, 3), 200, dtype=np.uint8)).save(file)
    return file


def test_a_detector_has_a_page(picture, detection):
    worst = [FalseDetection(picture, (5, 5, 20, 20), "<cat>", 0.9, "zebra")]
    gate = check_detection_bars(detection, [parse_detection_bar("fp_per_1000<=20")], allow_unreached=True)
    page = detection_page("<yolo>", detection, gallery=worst, gate=gate)
    awi = detection.wilderness[0]
    for shown in (
        "&lt;yolo&gt;", "A &lt;note&gt;.", "&lt;boat&gt;", interval(awi.awi, awi.awi_low, awi.awi_high),
        "data:image/jpeg;base64,", "2 of 3 values missed their bars. Not to be released.", "fp_per_1000&lt;=20",
        "COCO, IoU .5:.95, small objects", detection.fingerprint, "Missed objects", "elephant 1, zebra 1",
    ):  # fmt: skip
        assert shown in page, shown
    assert "<cat>" not in page
    assert "&lt;cat&gt;, score 0.90; really zebra" in page


def test_false_detections_are_listed_without_images(detection):
    worst = [FalseDetection(None, (5, 5, 20, 20), "<cat>", 0.9, "zebra", "wild<1>.png")]
    page = detection_page("yolo", detection, gallery=worst)
    assert "wild&lt;1&gt;.png" in page
    assert "data:image/jpeg" not in page
    assert "of the gallery" not in page


def test_what_a_detector_lacks_is_left_out(detection):
    bare = replace(
        detection,
        background=None,
        confusion=replace(detection.confusion, rows=(), columns=(), counts=()),
        wilderness=(),
        details=None,
    )
    page = detection_page("yolo", bare)
    for title in (
        "Object against background",
        "What detections lie on",
        "Worst false detections",
        "Wilderness Impact<",
    ):
        assert title not in page
    for title in ('id="gate"', "COCO"):
        assert title not in page[page.index("<main") : page.index("</main")]


def decoded(html):
    """The pictures of a gallery."""
    from PIL import Image

    found = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', html)
    return [Image.open(io.BytesIO(base64.b64decode(one))) for one in found]


def near(pixel, wanted):
    return all(abs(one - other) < 60 for one, other in zip(pixel, wanted, strict=True))


@pytest.mark.parametrize("factor", [1, 4])
def test_the_box_is_where_the_detection_is(tmp_path, factor):
    """On a grey picture, also one that is made smaller: amber edges at the box, grey inside and outside."""
    from PIL import Image

    file = tmp_path / "wild.png"
    Image.fromarray(np.full((160 * factor, 320 * factor, 3), 120, dtype=np.uint8)).save(file)
    box = tuple(factor * side for side in (40, 30, 120, 80))
    [picture] = decoded(gallery_section([FalseDetection(file, box, "cat", 0.9)])[0])
    assert picture.size == (320, 160)
    amber, grey = (255, 176, 0), (120, 120, 120)
    for edge in ((41, 70), (160, 70), (100, 31), (100, 110)):
        assert near(picture.getpixel(edge), amber), edge
    for elsewhere in ((100, 70), (20, 70), (200, 70), (100, 10), (100, 140)):
        assert near(picture.getpixel(elsewhere), grey), elsewhere


@pytest.mark.parametrize("box", [(-50, -50, 500, 500), (-1e300, 0, 2e300, 1e300), (1e300, 1e300, 5, 5)])
def test_a_box_beyond_the_picture_is_cut_off(picture, box):
    [drawn] = decoded(gallery_section([FalseDetection(picture, box, "cat", 0.9)])[0])
    assert drawn.size == (80, 60)


def test_a_large_score_stays_short(picture):
    assert "cat, score 1e+300<" in gallery_section([FalseDetection(picture, (5, 5, 20, 20), "cat", 1e300)])[0]


def test_missing_images_are_one_sentence(picture, tmp_path):
    there, gone, outside = (
        FalseDetection(picture, (0, 0, 5, 5), "cat", 0.5),
        FalseDetection(tmp_path / "no.png", (0, 0, 5, 5), "a", 0.9),
        FalseDetection(None, (0, 0, 5, 5), "a", 0.8, name="../x.png"),
    )
    html, note = gallery_section([there, gone])
    assert html.count("<img") == 1
    assert note == f"1 of 2 images of the gallery is missing, {tmp_path / 'no.png'} for example"
    assert gallery_section([there, outside])[1] == "1 of 2 images of the gallery is missing, ../x.png for example"
    html, note = gallery_section([gone])  # nothing to draw, so a list
    assert ("<img" in html, note) == (False, None)
    assert str(tmp_path / "no.png") in html
    assert gallery_section([]) == ("", None)


def test_a_file_that_is_no_image_is_named(tmp_path, monkeypatch):
    from PIL import Image

    file = tmp_path / "text.png"
    file.write_text("not a picture")
    with pytest.raises(OpenSetError, match=r"text\.png cannot be decoded"):
        gallery_section([FalseDetection(file, (0, 0, 1, 1), "cat", 0.5)])
    Image.new("RGB", (40, 40)).save(file)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(OpenSetError, match=r"text\.png cannot be decoded \(.*exceeds limit"):
        gallery_section([FalseDetection(file, (0, 0, 1, 1), "cat", 0.5)])


def test_the_worst_come_first_and_are_few(picture):
    many = [FalseDetection(picture, (0, 0, 5, 5), f"number {i}", i / 100) for i in range(60)]
    html, _ = gallery_section(many)
    assert html.count("<img") == 24
    assert html.index("number 59") < html.index("number 58")
    assert "number 10" not in html


def test_a_bench_has_a_page():
    rows = [BenchRow("mnist", "<ours>", [0.9, 0.92]), BenchRow("mnist", "softmax", [0.8])]
    page = bench_page(rows)
    assert "Best mean OpenAUC: &lt;ours&gt; on mnist (.910)." in page
    assert "<p>1 protocol, 2 methods</p>" in page
    assert ".014" in page
    assert "<ours>" not in page
    assert "softmax on mnist (.800)" in bench_page(rows, better="lower")
    with pytest.raises(OpenSetError, match="no finished run"):
        bench_page([])


def test_training_curves_leave_out_what_is_missing():
    made = training_section(TrainingLog([1, 2, 3], {"loss <x>": [3.0, None, 1.0], "never": [None] * 3}))
    assert "loss &lt;x&gt;" in made.html
    assert "never" not in made.html
    assert made.charts["training-0"]["lines"][0]["x"] == [1, 3]
    with pytest.raises(OpenSetError, match="log is empty"):
        training_section(TrainingLog([], {}))


def test_pictures_need_pillow(picture, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(OpenSetError, match=r"needs Pillow: pip install 'openset\[data\]'"):
        gallery_section([FalseDetection(picture, (5, 5, 20, 20), "cat", 0.9)])
