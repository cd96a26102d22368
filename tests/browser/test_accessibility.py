"""The page for everyone: no violation of WCAG level A or AA, by keyboard alone, with labels, without motion.

axe-core is not a part of this project: `npm install axe-core` in any folder, and name its `axe.min.js` in OPENSET_AXE,
or install it in this repository's root.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from detection_sets import random_set, random_wild
from openset.detection import evaluate_open_set
from openset.operating import choose
from openset.present.page import bench_page, detection_page, write_page
from openset.results.views import BenchRow
from openset.scores import Scores

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.fixture(scope="session")
def axe():
    """The source of axe-core."""
    places = [os.environ.get("OPENSET_AXE"), Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"]
    found = next((Path(one) for one in places if one and Path(one).is_file()), None)
    if found is None:
        pytest.skip("axe-core is not there: npm install axe-core, and OPENSET_AXE=node_modules/axe-core/axe.min.js")
    return found.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def everything(make_report):
    """A page with all that a page can have."""
    models = [make_report.synthetic(seed=seed, gap=1 + 0.5 * seed) for seed in range(2)]
    groups = np.where(models[0].labels < 0, np.where(np.arange(len(models[0])) % 2, "odd", "even"), "")
    models = [
        Scores(one.labels, one.predictions, one.unknown_score, groups=groups, open_classes=one.open_classes)
        for one in models
    ]
    return make_report(models, ["first", "second"], frozen=[choose(models[0], "at_acceptance=0.9"), None])


def violations(page, axe):
    page.evaluate(f"() => {{ {axe} }}")
    found = page.evaluate("levels => axe.run(document, { runOnly: { type: 'tag', values: levels } })", LEVELS)
    assert len(found["passes"]) > 15  # it did look
    return [
        f"{one['id']} ({one['impact']}): {node['target']} {node['any'][0]['message'] if node['any'] else one['help']}"
        for one in found["violations"]
        for node in one["nodes"][:3]
    ]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_violation_of_level_aa(chromium, everything, axe, scheme, width):
    context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=True)
    page = context.new_page()
    page.goto(everything.as_uri())
    page.wait_for_selector("html[data-ready]")
    for fold in page.locator("summary").all():
        fold.click()
    assert violations(page, axe) == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_violation_on_the_pages_of_detectors_and_benches(chromium, axe, scheme, tmp_path):
    known, found = random_set(1, n_images=40, n_objects=150, n_detections=400, classes=("cat", "dog", "owl"))
    wild, wild_found = random_wild(1, n_images=60, n_detections=200)
    measured = evaluate_open_set(known, found, wild, wild_found, recalls=[0.1, 0.3], bootstrap=20, details=True)
    write_page(tmp_path / "detector.html", detection_page("yolo", measured))
    write_page(tmp_path / "bench.html", bench_page([BenchRow("a", "softmax", [0.7, 0.8])]))
    for name in ("detector.html", "bench.html"):
        context = chromium.new_context(color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        page.goto((tmp_path / name).as_uri())
        page.wait_for_selector("html[data-ready]")
        assert violations(page, axe) == []
        context.close()


def test_axe_sees_what_is_wrong(chromium, everything, axe):
    context = chromium.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(everything.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.evaluate(
        "document.querySelector('#threshold').closest('label').replaceWith(document.querySelector('#threshold'))"
    )
    assert any(one.startswith("label ") for one in violations(page, axe))
    context.close()


def test_every_control_is_reached_by_tab_and_shows_it(tab, everything):
    page = tab.open(everything)
    wanted = page.evaluate(
        """() => [...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')]
            .filter(one => one.checkVisibility() && !one.disabled).length"""
    )
    seen, hidden = set(), []
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        found = page.evaluate(
            """() => { const one = document.activeElement, style = getComputedStyle(one);
                if (one === document.body) return null;
                one.dataset.reached = one.dataset.reached || String(Math.random());
                const shown = parseFloat(style.outlineWidth) >= 2 && style.outlineStyle !== 'none';
                return [one.dataset.reached, one.outerHTML.slice(0, 60), shown]; }"""
        )
        if found is None:
            continue
        seen.add(found[0])
        if not found[2]:
            hidden.append(found[1])
    assert hidden == []
    assert len(seen) >= wanted


def test_everything_can_be_done_without_a_mouse(tab, everything):
    page = tab.open(everything)
    page.focus("#slipped-class")
    page.keyboard.press("ArrowDown")
    assert page.input_value("#slipped-class") == "0"
    tab.go_to(int(page.get_attribute("#threshold", "max")))
    page.focus("#slipped-more")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('#slipped-list li:nth-child(25)')")  # reading goes on there
    page.focus('[data-mark="at_fpr=0.1"]')
    page.keyboard.press("Space")
    assert "10 %" in page.inner_text('[data-mark="at_fpr=0.1"]')
    assert page.input_value("#threshold") != page.get_attribute("#threshold", "max")


def test_charts_and_changes_are_read_aloud(tab, everything):
    page = tab.open(everything)
    tree = page.locator("body").aria_snapshot()
    for words in (
        'slider "Threshold',
        'img "OSCR: accepted and correct over open set accepted for first, second',
        'img "Unknown scores',
        'region "Samples on the wrong side"',
        'combobox "Open-set class',
    ):
        assert words in tree, words
    assert page.get_attribute("#slipped-count", "role") == "status"


def test_nothing_moves_for_those_who_asked_for_it(chromium, everything):
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(everything.as_uri())
    page.wait_for_selector("html[data-ready]")
    moving = page.evaluate(
        """() => [...document.querySelectorAll('*')].filter(one => {
            const style = getComputedStyle(one);
            const lasting = parseFloat(style.transitionDuration) + parseFloat(style.animationDuration);
            return lasting || style.scrollBehavior === 'smooth';
        }).length"""
    )
    assert moving == 0
    assert page.evaluate("document.getAnimations().length") == 0
    context.close()
