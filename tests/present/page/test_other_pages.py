import base64
import io
import re
import sys
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from openset.errors import OpenSetError
from openset.present.page import FalseDetection, bench_page, detection_page, training_section
from openset.present.page.gallery import gallery_section
from openset.results.views import BenchRow, TrainingLog


@dataclass(frozen=True)
class Wilderness:
    recall: float
    variant: str = "paper"
    ratios: tuple = (0.5, 1.0, 1.5)
    impact: tuple = (0.01, 0.02, 0.03)
    awi: float = 0.02
    awi_low: float | None = 0.01
    awi_high: float | None = 0.03
    slope: float = 0.02
    fp_per_1000: float = 40.0
    n_true: int = 50
    n_false: int = 10
    n_open: tuple = (1, 2, 3)
    unreached: tuple = ("<boat>",)


@dataclass(frozen=True)
class Errors:
    recall: float = 0.3
    ratio: float = 1.0
    closed_set: tuple = (80, 5, 5, 5, 0, 5)
    open_set: tuple = (80, 5, 5, 5, 10, 15)


@dataclass(frozen=True)
class Confusion:
    recall: float = 0.3
    ratio: float = 1.0
    rows: tuple = ("cat", "<dog>")
    columns: tuple = ("cat", "<dog>", "zebra")
    n_known: int = 2
    counts: tuple = ((5, 1, 3), (0, 6, 0))


@dataclass(frozen=True)
class Background:
    n: int = 20
    mean: float = 0.5
    sd: float = 0.1
    share_background_higher: float = 0.05
    histogram: tuple = (0,) * 15 + (4,) * 5


@dataclass(frozen=True)
class Precision:
    known: dict = field(default_factory=lambda: {"voc_11_point": 0.7})
    wild: dict = field(default_factory=lambda: {"voc_11_point": 0.6})
    ratio: float = 1.0


@dataclass(frozen=True)
class Detection:
    mean_average_precision: Precision = field(default_factory=Precision)
    wilderness: tuple = (Wilderness(0.1), Wilderness(0.3))
    errors: tuple = (Errors(),)
    confusion: Confusion = field(default_factory=Confusion)
    background: dict | None = field(default_factory=lambda: {"cat": Background()})
    n_known: int = 100
    n_wild: int = 150
    notes: tuple = ("A <note>.",)


@pytest.fixture
def picture(tmp_path):
    from PIL import Image

    file = tmp_path / "wild.png"
    Image.fromarray(np.full((60, 80, 3), 200, dtype=np.uint8)).save(file)
    return file


def test_a_detector_has_a_page(picture):
    page = detection_page(
        "<yolo>", Detection(), gallery=[FalseDetection(picture, (5, 5, 20, 20), "<cat>", 0.9, "zebra")]
    )
    for shown in ("&lt;yolo&gt;", "A &lt;note&gt;.", "&lt;boat&gt;", ".020 [.010, .030]", "data:image/jpeg;base64,"):
        assert shown in page
    assert "<cat>" not in page
    assert "&lt;cat&gt;, score 0.90; really zebra" in page


def test_a_little_impact_is_not_called_none():
    for accepted, added in ((2000, "0.1"), (10, "20")):
        row = replace(Wilderness(0.3), n_true=accepted, n_false=0)
        page = detection_page("yolo", replace(Detection(), wilderness=(row,)))
        assert f"add {added} wrong detections on average to every 100" in page


def test_what_a_detector_lacks_is_left_out():
    bare = replace(
        Detection(),
        background=None,
        confusion=replace(Confusion(), rows=(), columns=(), counts=()),
        wilderness=(replace(Wilderness(0.3), awi_low=None, awi_high=None),),
    )
    page = detection_page("yolo", bare)
    assert "Object against background" not in page
    assert "What detections lie on" not in page
    assert "Worst false detections" not in page


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
    assert note == f"1 of 2 images of the gallery is missing, {tmp_path / 'no.png'} for example."
    assert gallery_section([there, outside])[1] == "1 of 2 images of the gallery is missing, ../x.png for example."
    with pytest.raises(OpenSetError, match="None of the 1 images of the gallery is there"):
        gallery_section([gone])
    assert gallery_section([]) == ("", None)


def test_a_file_that_is_no_image_is_named(tmp_path, monkeypatch):
    from PIL import Image

    file = tmp_path / "text.png"
    file.write_text("not a picture")
    with pytest.raises(OpenSetError, match=r"text\.png cannot be decoded"):
        gallery_section([FalseDetection(file, (0, 0, 1, 1), "cat", 0.5)])
    Image.new("RGB", (40, 40)).save(file)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(OpenSetError, match=r"text\.png cannot be decoded \(not an image\)"):
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
