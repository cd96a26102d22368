"""The slider: what it shows is what the core computes, everywhere on the page."""

import itertools
import re

import numpy as np
import pytest

from openset.curves import oscr_curve, roc_curve
from openset.metrics import known_precision, open_set_confusion_matrix
from openset.operating import Threshold
from openset.results.views import steps_of
from openset.scores import Scores


def shown(share):
    return f"{100 * share:.1f} %"


def test_the_numbers_are_the_cores_at_every_step(tab, three):
    models, file = three
    page = tab.open(file)
    scores = models[2]
    steps = steps_of(scores)
    assert page.get_attribute("#threshold", "max") == str(len(steps) - 1)
    for step in [1, 17, len(steps) // 3, len(steps) // 2, len(steps) - 30, len(steps) - 1]:
        tab.go_to(step)
        threshold = float(steps.thresholds[step])
        found = Threshold(threshold, "", {}, 0).apply(scores)
        precision = known_precision(
            scores.labels, scores.predictions, scores.unknown_score, threshold=threshold, unknown_share=0.1
        )
        assert tab.number("lost") == shown(1 - found["acceptance"])
        assert tab.number("ccr") == shown(found["ccr"])
        assert tab.number("accuracy") == shown(found["accuracy_on_accepted"])
        assert tab.number("caught-all") == shown(1 - found["fpr"])
        assert tab.number("caught-negative") == shown(1 - found["fpr_negative"])
        assert tab.number("caught-unknown") == shown(1 - found["fpr_unknown"])
        assert tab.number("precision") == shown(precision)
        assert float(page.inner_text("#threshold-value")) == pytest.approx(threshold, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("squeeze", [lambda score: 1 / (1 + np.exp(-15 - score)), lambda score: 1234567 + score / 20])
def test_scores_that_lie_close_together_are_told_apart(tab, make_report, squeeze):
    plain = make_report.synthetic(n=120)
    scores = Scores(plain.labels, plain.predictions, squeeze(plain.unknown_score))
    page = tab.open(make_report([scores]))
    for step in range(1, 120, 7):
        tab.go_to(step)
        found = Threshold(float(page.inner_text("#threshold-value")), "", {}, 0).apply(scores)
        assert tab.number("lost") == shown(1 - found["acceptance"])
        assert tab.number("caught-all") == shown(1 - found["fpr"])
    across = page.locator("#chart-histogram svg > text[text-anchor=middle]:not(.soft)").all_text_contents()
    assert len(across) == len(set(across)) >= 2
    page.locator("#chart-histogram svg[role=img]").scroll_into_view_if_needed()
    box = page.locator("#chart-histogram svg[role=img]").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 60)
    low, high = re.findall(r"score (\S+) to ([\d.]+)", page.text_content("#chart-histogram .tip"))[0]
    assert float(low) < float(high)


@pytest.mark.parametrize("scores", [[0.3, 0.3, 0.1 + 0.2], [-1e308, 0.0, 1e308]])
def test_scores_at_the_limits_of_numbers_are_drawn(tab, make_report, scores):
    page = tab.open(make_report([Scores([0, 1, -2], [0, 1, 0], scores)]))
    assert page.locator("#chart-histogram svg > path").count() == 5
    assert 1 < page.locator("#chart-histogram svg > text[text-anchor=middle]:not(.soft)").count() < 10


def test_the_assumed_share_of_unknowns_and_the_kind_change_the_precision(tab, three):
    models, file = three
    page = tab.open(file)
    scores, at = models[2], steps_of(models[2]).marks["at_acceptance=0.95"]
    threshold = float(steps_of(scores).thresholds[at])
    page.select_option("#share", label="50 %")
    page.select_option("#part", "negative")
    expected = known_precision(
        scores.labels,
        scores.predictions,
        scores.unknown_score,
        threshold=threshold,
        unknown_share=0.5,
        against="negative",
    )
    assert tab.number("precision") == shown(expected)


def test_rejecting_everything_has_no_accuracy(tab, three):
    page = tab.open(three[1])
    tab.go_to(0)
    assert tab.number("lost") == "100.0 %"
    assert tab.number("accuracy") == "–"
    assert page.inner_text("#threshold-value") == "below every score"


PIXELS = """figure => {
    const svg = figure.querySelector('svg'), marks = [...svg.querySelectorAll('circle')];
    const chart = {width: +svg.getAttribute('width'), height: +svg.getAttribute('height')};
    const numbers = mark => ['cx', 'cy', 'r'].map(name => +mark.getAttribute(name));
    return {...chart, marks: marks.map(numbers)};
}"""


def to_pixels(chart, x, y):
    left, right, top, bottom = 56, chart["width"] - 22, 8, chart["height"] - 44
    return left + (right - left) * x, bottom + (top - bottom) * y


def test_the_marks_sit_on_the_curves_and_move_together(tab, three):
    models, file = three
    page = tab.open(file)
    steps = steps_of(models[2])
    rules = []
    for step in (len(steps) // 4, len(steps) // 2):
        tab.go_to(step)
        for name, height in (("oscr", steps.ccr), ("roc", steps.acceptance)):
            chart = page.eval_on_selector(f"#chart-{name}", PIXELS)
            strong = max(chart["marks"], key=lambda mark: mark[2])
            expected = to_pixels(chart, steps.fpr["all"][step], height[step])
            assert strong[:2] == pytest.approx(expected, abs=0.5)
            assert len(chart["marks"]) == 3
        for part in ("negative", "unknown"):
            chart = page.eval_on_selector(f"#chart-oscr-{part}", PIXELS)
            strong = max(chart["marks"], key=lambda mark: mark[2])
            assert strong[:2] == pytest.approx(to_pixels(chart, steps.fpr[part][step], steps.ccr[step]), abs=0.5)
        rules.append(page.eval_on_selector("#chart-histogram svg > g line", "line => +line.getAttribute('x1')"))
    assert rules[0] < rules[1]


@pytest.mark.parametrize("log", [False, True])
def test_no_drawn_point_is_off_by_more_than_half_a_pixel(tab, three, log):
    models, file = three
    page = tab.open(file)
    if log:
        page.check("#log")
    for name, make in (("oscr", oscr_curve), ("roc", roc_curve)):
        for part in ("all", "negative"):
            page.select_option("#part", part)
            chart = page.eval_on_selector(f"#chart-{name}", PIXELS)
            # The widest line is that of the selected model.
            path = page.eval_on_selector_all(
                f"#chart-{name} svg > path[stroke-dasharray]",
                """all => all.sort((a, b) => parseFloat(b.style.strokeWidth) - parseFloat(a.style.strokeWidth))
                    [0].getAttribute('d')""",
            )
            drawn = np.array(re.findall(r"([-\d.]+) ([-\d.]+)", path), dtype=float)
            scores = models[2]
            given = (scores.labels, scores.predictions, scores.unknown_score)
            curve = make(*given, against=part) if name == "oscr" else make(given[0], given[2], against=part)
            fpr = curve.fpr
            if log and name == "oscr":
                low = 0.001
                fpr = 1 - np.log10(np.maximum(fpr, low)) / np.log10(low)
            points = np.stack(to_pixels(chart, fpr, curve.ccr if name == "oscr" else curve.tpr), axis=1)
            assert len(drawn) < len(points)
            assert farthest(points, drawn) <= 0.5


def farthest(points, line):
    distance = np.full(len(points), np.inf)
    for start, end in itertools.pairwise(line):
        along, offset = end - start, points - start
        length = along @ along
        share = np.clip(offset @ along / length, 0, 1) if length else np.zeros(len(points))
        distance = np.minimum(distance, np.hypot(*(offset - share[:, None] * along).T))
    return distance.max()


def test_other_models_are_shown_at_the_matching_point(tab, three):
    page = tab.open(three[1])
    row = page.inner_text('[data-table="live"] tbody tr:nth-child(1)').split("\t")
    assert row[0] == "softmax"
    assert row[2] in ("5.0 %", "4.9 %")
    page.select_option("#match", "threshold")
    mine, other = (page.inner_text(f'[data-table="live"] tbody tr:nth-child({i}) td:nth-child(2)') for i in (3, 1))
    assert float(other) == pytest.approx(float(mine), abs=0.01)
    page.select_option("#match", "fpr")
    caught = [page.inner_text(f'[data-table="live"] tbody tr:nth-child({i}) td:nth-child(4)') for i in (1, 2, 3)]
    assert [float(text.split()[0]) for text in caught] == pytest.approx([float(caught[2].split()[0])] * 3, abs=0.2)


def test_another_model_can_be_selected(tab, three):
    models, file = three
    page = tab.open(file)
    page.select_option("#model", label="softmax")
    page.click('[data-mark="at_fpr=0.1"]')
    steps = steps_of(models[0])
    assert tab.number("caught-all") == shown(1 - steps.fpr["all"][steps.marks["at_fpr=0.1"]])
    assert "softmax" in page.inner_text("#classes .hint")


def test_classes_slips_and_confusion_follow(tab, three):
    models, file = three
    page = tab.open(file)
    scores, steps = models[2], steps_of(models[2])
    for step in (len(steps) // 5, len(steps) // 2):
        tab.go_to(step)
        matrix = open_set_confusion_matrix(
            scores.labels,
            scores.predictions,
            scores.unknown_score,
            threshold=float(steps.thresholds[step]),
            open_classes=scores.open_classes,
            class_names=scores.class_names,
        )
        first = page.inner_text('[data-table="classes"] tbody tr:nth-child(1)').split("\t")
        assert first[0] == "class 0"
        assert int(first[1].replace(",", "")) == matrix.counts[0].sum()
        assert first[3] == shown(matrix.shares[0, -1])
        assert first[4] == shown(matrix.shares[0, 0])
        assert int(first[5]) == matrix.counts[5:, 0].sum()
        leakiest = matrix.accepted_open_classes()[0]
        slip = page.inner_text('[data-table="slips"] tbody tr:nth-child(1)').split("\t")
        assert slip == [
            leakiest.open_class,
            str(leakiest.total),
            str(leakiest.accepted),
            shown(leakiest.share),
            f"{leakiest.taken_for} ({leakiest.most})",
        ]
        cells = page.eval_on_selector_all(
            "#chart-confusion svg text[style]", "all => all.map(one => +one.textContent).sort((a, b) => a - b)"
        )
        assert cells == sorted(matrix.counts[matrix.counts > 0].tolist())


def test_a_move_of_the_slider_draws_only_what_changes(tab, three):
    page = tab.open(three[1])
    curves = "document.querySelectorAll('.chart svg > path')"
    before = page.evaluate_handle(f"[...{curves}]")
    made = tab.work_of_moves(25)
    assert page.evaluate(f"before => [...{curves}].filter((one, i) => one !== before[i]).length", before) == 0
    assert page.evaluate(f"{curves}.length") > 10  # these are the lines of the charts, and not none
    shown = page.locator("tbody tr > *").count() + page.locator("#chart-confusion text.count").count()
    cards = 4 * page.locator(".sample").count()
    assert max(made) < 2 * (shown + cards)
    tab.go_to(500)
    assert tab.work_of_moves(1, to=500) < [60]  # the same step again: marks, and the rows of all models
