"""Pages of detectors, benches and training runs."""

from types import SimpleNamespace

import pytest

from openset.evaluation import evaluate
from openset.present.page import bench_page, detection_page, evaluation_page, training_section, write_page
from openset.results.document import Document
from openset.results.views import BenchRow, TrainingLog


@pytest.fixture
def detector():
    ratios = tuple(i / 10 for i in range(1, 16))

    def wilderness(recall):
        impact = tuple(recall * ratio / 10 for ratio in ratios)
        return SimpleNamespace(
            recall=recall, variant="paper", ratios=ratios, impact=impact, awi=0.02, awi_low=0.01, awi_high=0.03,
            slope=recall / 10, fp_per_1000=40.0, n_true=50, n_false=10, n_open=tuple(range(15)), unreached=(),
        )  # fmt: skip

    return SimpleNamespace(
        mean_average_precision=SimpleNamespace(known={"voc": 0.7}, wild={"voc": 0.6}, ratio=1.0),
        wilderness=(wilderness(0.1), wilderness(0.5)),
        errors=(SimpleNamespace(recall=0.1, ratio=1.0, closed_set=(80, 5, 5, 5, 0, 5), open_set=(80, 5, 5, 5, 9, 16)),),
        confusion=SimpleNamespace(
            recall=0.1, ratio=1.0, rows=("cat", "dog"), columns=("cat", "dog", "<i>zebra"), n_known=2,
            counts=((5, 1, 3), (0, 6, 0)),
        ),
        background={
            "cat": SimpleNamespace(n=9, mean=0.5, sd=0.1, share_background_higher=0.0, histogram=(0,) * 19 + (9,))
        },
        n_known=100,
        n_wild=150,
        notes=(),
    )  # fmt: skip


def test_the_wilderness_slider_shows_the_results(tab, detector, tmp_path):
    file = tmp_path / "detector.html"
    write_page(file, detection_page("yolo", detector))
    page = tab.open(file)
    assert page.inner_text("#ratio-value") == "1"
    for step in (0, 7, 14):
        page.eval_on_selector("#ratio", f"one => {{ one.value = {step}; one.dispatchEvent(new Event('input')); }}")
        row = page.inner_text('[data-table="at-ratio"] tbody tr:nth-child(2)').split("\t")
        assert row == ["recall 0.5", f"{detector.wilderness[1].impact[step]:.4f}", str(step), "60"]
    assert page.locator("#chart-errors rect").count() == 10
    page.locator("#chart-errors rect").nth(9).hover()
    assert "mixed unknown: 16" in page.text_content("#chart-errors .tip")
    assert "<i>zebra" in page.locator("#chart-detections text").all_text_contents()


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
    rows = [vars(detector.wilderness[0]) | {"variant": f"v{i}"} for i in range(9)]
    detector.wilderness = tuple(SimpleNamespace(**row) for row in rows)
    file = tmp_path / "detector.html"
    write_page(file, detection_page("yolo", detector))
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
