"""Pages of detectors, benches and training runs."""

from dataclasses import replace

import pytest

from detection_sets import random_set, random_wild
from openset.detection import evaluate_open_set
from openset.detection.gate import check_detection_bars, parse_detection_bar
from openset.evaluation import evaluate
from openset.present.page import bench_page, detection_page, evaluation_page, training_section, write_page
from openset.results.document import Document
from openset.results.views import BenchRow, TrainingLog


@pytest.fixture(scope="session")
def detector():
    """A detector on some made-up images, with everything that a page can show."""
    known, found = random_set(1, n_images=40, n_objects=150, n_detections=400, classes=("cat", "dog", "<i>owl"))
    wild, wild_found = random_wild(1, n_images=60, n_detections=200)
    return evaluate_open_set(known, found, wild, wild_found, recalls=[0.1, 0.3], bootstrap=20, details=True)


def test_the_wilderness_slider_shows_the_results(tab, detector, tmp_path):
    file = tmp_path / "detector.html"
    write_page(file, detection_page("yolo", detector))
    page = tab.open(file)
    assert page.inner_text("#ratio-value") == "1"
    row = detector.wilderness[1]
    accepted = row.point.total.n_true + row.point.total.n_false
    for step in (0, 7, 14):
        page.eval_on_selector("#ratio", f"one => {{ one.value = {step}; one.dispatchEvent(new Event('input')); }}")
        cells = page.inner_text('[data-table="at-ratio"] tbody tr:nth-child(2)').split("\t")
        assert cells[:2] == ["recall 0.3", f"{row.impact[step]:.4f}"]
        assert float(cells[2].replace(",", "")) == pytest.approx(row.n_open[step], abs=0.06)
        assert cells[3] == str(accepted)
    texts = page.locator("#chart-detections text").all_text_contents()
    assert "<i>owl" in texts


def test_errors_curves_and_sources_are_drawn(tab, detector, tmp_path):
    file = tmp_path / "detector.html"
    write_page(file, detection_page("yolo", detector))
    page = tab.open(file)
    shown = sum(any(row.open_set[place] for row in detector.errors) for place in range(1, 7))
    assert page.locator("#chart-errors rect").count() == 4 * shown
    for name, n in (("rate", 1), ("precision", 2)):
        assert page.locator(f"#chart-{name} svg[role=img] > path:not(.axis)").count() == n
    point = detector.operating[1]
    sources = sum(row.n_open > 0 for row in point.classes.values())
    assert page.locator("#chart-sources rect").count() == sources
    most = max((row.n_open, name) for name, row in point.classes.items())
    page.locator("#chart-sources rect").first.hover()
    assert f"false detections on wild images: {most[0]} (" in page.text_content("#chart-sources .tip")


def test_the_table_of_classes_can_be_sorted(tab, detector, tmp_path):
    file = tmp_path / "detector.html"
    write_page(file, detection_page("yolo", detector))
    page = tab.open(file)
    page.click('[data-table="classes"] thead th:nth-child(2) button')  # by average precision, the highest first
    shown = page.locator('[data-table="classes"] tbody th').all_inner_texts()
    average = detector.mean_average_precision.per_class
    assert shown == sorted(average, key=average.get, reverse=True)


def test_what_has_no_number_is_sorted_behind_the_numbers(tab, detector, tmp_path):
    point = detector.operating[1]
    lost = replace(point.classes["dog"], threshold=None)
    known = {**point.classes, "dog": lost}
    file = tmp_path / "detector.html"
    changed = replace(detector, operating=(detector.operating[0], replace(point, classes=known)))
    write_page(file, detection_page("yolo", changed))
    page = tab.open(file)
    by_threshold = '[data-table="classes"] thead th:nth-child(3) button'
    for _ in range(2):  # falling, then rising
        page.click(by_threshold)
        assert page.locator('[data-table="classes"] tbody th').all_inner_texts()[-1] == "dog"
    assert page.locator('[data-table="classes"] tbody td.words').count() == 3  # the column of words alone


def test_few_false_detections_can_be_told_from_many(tab, detector, tmp_path):
    file = tmp_path / "detector.html"
    write_page(file, detection_page("yolo", detector))
    page = tab.open(file)
    texts = page.locator("#chart-rate svg[role=img] > text").all_text_contents()
    assert [one for one in texts if one.isdecimal()] == ["10", "100", "1000", "10000"]  # 60 images: 17 is the least


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_can_be_signed(tab, detector, tmp_path, theme):
    file = tmp_path / "detector.html"
    gate = check_detection_bars(detector, [parse_detection_bar("map>=0.9")], allow_unreached=True)
    write_page(file, detection_page("<yolo>", detector, gate=gate))
    tab.page.emulate_media(color_scheme=theme)
    page = tab.open(file)
    words = page.inner_text("#sign-off")
    assert all(one in words for one in ("<yolo>", detector.fingerprint, "1 of 2 values missed its bar"))
    assert page.locator("#sign-off .blank").count() == 3
    assert page.locator("#sign-off .blank").first.bounding_box()["width"] > 200
    for part in detector.fingerprints.values():
        assert part in page.inner_text('[data-table="files"]')


def test_every_link_of_a_page_leads_somewhere(tab, three, detector, tmp_path):
    write_page(tmp_path / "detector.html", detection_page("yolo", detector))
    write_page(tmp_path / "bench.html", bench_page([BenchRow("a", "softmax", [0.7, 0.8])]))
    for file in (three[1], tmp_path / "detector.html", tmp_path / "bench.html"):
        page = tab.open(file)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.tagName") == "MAIN"  # the first stop skips the list of contents
        targets = page.eval_on_selector_all("a[href^='#']", "all => all.map(one => one.getAttribute('href'))")
        assert all(page.locator(target).count() == 1 for target in targets)


@pytest.mark.parametrize("width", [390, 720])
def test_nothing_is_wider_than_the_paper_or_the_phone(tab, three, detector, tmp_path, width):
    write_page(tmp_path / "detector.html", detection_page("yolo", detector))
    for file in (three[1], tmp_path / "detector.html"):
        tab.page.set_viewport_size({"width": width, "height": 900})
        page = tab.open(file)
        if width == 720:  # A4 between its margins
            page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.emulate_media(media="screen")


def test_nine_lines_of_wilderness_differ(tab, detector, tmp_path):
    rows = [replace(detector.wilderness[0], variant=f"v{i}") for i in range(9)]
    file = tmp_path / "detector.html"
    write_page(file, detection_page("yolo", replace(detector, wilderness=tuple(rows))))
    page = tab.open(file)
    look = "all => all.map(one => one.getAttribute('style') + one.getAttribute('stroke-dasharray'))"
    looks = page.eval_on_selector_all("#chart-wilderness .legend line", look)
    assert len(looks) == len(set(looks)) == 9


def test_a_bench_page_draws_a_dot_per_method(tab, tmp_path):
    file = tmp_path / "bench.html"
    write_page(file, bench_page([BenchRow(p, m, [0.7, 0.8]) for p in "ab" for m in ("softmax", "ours")]))
    page = tab.open(file)
    assert page.locator("#chart-bench-0 circle").count() == 2
    page.locator("#chart-bench-1 circle").first.hover()
    assert "mean 0.750, sd 0.071, 2 runs" in page.text_content("#chart-bench-1 .tip")


def test_bars_of_a_bench_stay_right_of_the_names(tab, tmp_path):
    file = tmp_path / "bench.html"
    write_page(file, bench_page([BenchRow("a", "wide", [0.7, 0.9]), BenchRow("a", "narrow", [0.71, 0.72])]))
    page = tab.open(file)
    ends = page.eval_on_selector_all(
        "#chart-bench-0 svg > line:not(.grid)",
        "all => all.flatMap(one => [+one.getAttribute('x1'), +one.getAttribute('x2')])",
    )
    assert 210 < min(ends) < max(ends) < page.locator("#chart-bench-0 svg").bounding_box()["width"] - 24


def test_runs_that_differ_in_the_last_digit_are_drawn(tab, tmp_path):
    file = tmp_path / "bench.html"
    write_page(file, bench_page([BenchRow("a", "softmax", [0.3, 0.1 + 0.2])]))
    assert tab.open(file).locator("#chart-bench-0 .grid").count() == 2


def test_training_curves_stand_in_an_evaluation(tab, make_report, tmp_path):
    scores = make_report.synthetic()
    section = training_section(TrainingLog([1, 2, 3], {"loss": [3.0, 2.0, None], "accuracy": [0.1, 0.5, 0.9]}))
    file = tmp_path / "run.html"
    write_page(
        file, evaluation_page(Document.of([evaluate(scores, intervals=False)], models=[scores]), extra=[section])
    )
    page = tab.open(file)
    assert page.locator("#training svg[role=img]").count() == 2
    assert page.locator("#contents a").all_inner_texts().count("Training") == 1
