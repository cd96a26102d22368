"""Samples on the wrong side, groups, the frozen threshold, and the first screen."""

import numpy as np
import pytest
from PIL import Image

from openset._io.sample_contents import open_contents
from openset.operating import choose
from openset.results.views import steps_of
from openset.scores import Scores


@pytest.fixture(scope="module")
def grouped():
    """Scores with ids and groups; the groups differ in how hard they are."""
    rng = np.random.default_rng(5)
    labels = np.where(rng.random(400) < 0.5, rng.integers(0, 3, 400), -2)
    groups = np.where(labels < 0, rng.choice(["easy", "hard"], 400), "")
    score = rng.normal(size=400) + 3 * (groups == "easy") + 1.5 * (groups == "hard")
    names = [f"{i:03}.png" for i in range(400)]
    kinds = np.where(labels < 0, rng.choice(["zebra", "kite"], 400), "")
    return Scores(
        labels,
        np.where(labels >= 0, labels, 0),
        score,
        class_names=["ant", "bee", "cow"],
        ids=names,
        groups=groups,
        open_classes=kinds,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory, grouped):
    made = tmp_path_factory.mktemp("pictures")
    for i, name in enumerate(grouped.ids):
        Image.new("RGB", (40, 20), (i % 256, 80, 40)).save(made / name)
    return made


@pytest.fixture(scope="module")
def report(make_report, grouped, folder):
    frozen = choose(grouped.take(grouped.labels >= 0), "at_acceptance=0.9")
    return frozen, make_report([grouped], ["mine"], frozen=[frozen], contents=open_contents(folder))


def cards(page, name):
    return [
        (card.locator("b").inner_text(), card.locator(".hint").inner_text().split(" · ")[1])
        for card in page.locator(f"#{name}-list li").all()
    ]


def expected(scores, wrong, badness, n=24):
    rows = np.flatnonzero(wrong)
    return scores.ids[rows[np.argsort(badness[rows], kind="stable")][:n]].tolist()


def test_the_worst_samples_on_the_wrong_side_come_first(tab, report, grouped):
    frozen, file = report
    page = tab.open(file)
    for mark, value in (("frozen", frozen.value), ("at_fpr=0.1", choose(grouped, "at_fpr=0.1").value)):
        page.click(f'[data-mark="{mark}"]')
        score, is_open = grouped.unknown_score, grouped.labels < 0
        slipped, lost = is_open & (score <= value), ~is_open & (score > value)
        assert [name for _, name in cards(page, "slipped")] == expected(grouped, slipped, score)
        assert [name for _, name in cards(page, "lost")] == expected(grouped, lost, -score)
        assert page.inner_text("#slipped-count").startswith(f"{slipped.sum()} in all")
        assert page.inner_text("#lost-count").startswith(f"{lost.sum()} in all")


def test_a_sample_at_the_threshold_itself_is_accepted(tab, report, grouped):
    frozen, file = report
    page = tab.open(file)
    steps = steps_of(grouped, frozen=frozen.value)
    opened = np.sort(grouped.unknown_score[grouped.labels < 0])
    step = int(np.flatnonzero(steps.thresholds == opened[4])[0])
    tab.go_to(step)
    assert page.locator("#slipped-list li").count() == 5
    assert page.inner_text("#slipped-count") == "5 in all; all shown."


def test_samples_are_filtered_by_class_and_group(tab, report, grouped):
    frozen, file = report
    page = tab.open(file)
    score, value = grouped.unknown_score, frozen.value
    page.select_option("#slipped-class", label="zebra")
    zebra = (grouped.open_classes == "zebra") & (score <= value)
    assert [name for _, name in cards(page, "slipped")] == expected(grouped, zebra, score)
    assert {kind for kind, _ in cards(page, "slipped")} == {"zebra"}
    page.select_option("#samples-part", "hard")
    hard = zebra & (grouped.groups == "hard")
    assert 0 < hard.sum() < zebra.sum()
    assert [name for _, name in cards(page, "slipped")] == expected(grouped, hard, score)
    assert page.inner_text("#slipped-count").startswith(f"{hard.sum()} in all")
    assert page.input_value("#part") == "hard"  # the same choice everywhere
    page.select_option("#lost-class", label="bee")
    bee = (grouped.labels == 1) & (score > value)
    assert [name for _, name in cards(page, "lost")] == expected(grouped, bee, -score)


def test_more_samples_can_be_shown(tab, report):
    page = tab.open(report[1])
    tab.go_to(int(page.get_attribute("#threshold", "max")))
    assert page.locator("#slipped-list li").count() == 24
    page.click("#slipped-more")
    assert page.locator("#slipped-list li").count() == 96
    assert page.inner_text("#lost-count") == "None."


def test_thumbnails_are_small_pictures_of_the_samples(tab, report, grouped):
    page = tab.open(report[1])
    first = page.locator("#slipped-list li").first
    assert first.locator("img").get_attribute("src").startswith("data:image/jpeg;base64,")
    assert first.locator("img").evaluate("one => [one.naturalWidth, one.naturalHeight]") == [112, 56]
    name = first.locator(".hint").inner_text().split(" · ")[1]
    colour = first.locator("img").evaluate(
        """one => { const canvas = document.createElement('canvas'), pen = canvas.getContext('2d');
            pen.drawImage(one, 0, 0); return [...pen.getImageData(50, 25, 1, 1).data].slice(0, 3); }"""
    )
    assert colour == pytest.approx([int(name[:3]) % 256, 80, 40], abs=6)
    assert "accepted as ant" in first.locator("img").get_attribute("alt")
    assert report[1].stat().st_size < 3_000_000


def test_texts_are_shown_as_text(tab, make_report, grouped, tmp_path):
    nasty = "<img src=x onerror=alert(1)> is this a question?"
    table = tmp_path / "texts.csv"
    table.write_text("id,text\n" + "".join(f'{name},"{nasty} {name}"\n' for name in grouped.ids), encoding="utf-8")
    page = tab.open(make_report([grouped], contents=open_contents(table)))
    first = page.locator("#slipped-list li").first
    name = first.locator(".hint").inner_text().split(" · ")[1]
    assert first.locator("blockquote").inner_text() == f"{nasty} {name}"
    assert page.locator("#samples img").count() == 0


def test_without_contents_the_samples_are_named(tab, three):
    page = tab.open(three[1])
    assert page.locator("#slipped-list li").count() == 24
    assert page.locator("#slipped-list li .hint").first.inner_text().split(" · ")[1].startswith("row ")


def test_groups_stand_in_histogram_confusion_and_slips(tab, report, grouped):
    frozen, file = report
    page = tab.open(file)
    assert page.locator("#chart-histogram .legend li").all_inner_texts() == ["known", "easy", "hard"]
    totals = {}
    for part in ("all", "easy", "hard"):
        page.select_option("#part", part)
        rows = [row.split("\t") for row in page.locator('[data-table="slips"] tbody tr').all_inner_texts()]
        totals[part] = {row[0]: (int(row[1]), int(row[2])) for row in rows}
        if part != "all":
            assert page.locator("#chart-histogram .legend li").all_inner_texts() == ["known", part]
            own = grouped.groups == part
            for name in ("zebra", "kite"):
                mask = own & (grouped.open_classes == name)
                assert totals[part][name] == (mask.sum(), (mask & (grouped.unknown_score <= frozen.value)).sum())
            cells = page.locator("#chart-confusion text.count").all_text_contents()
            assert sum(map(int, cells)) == (grouped.labels >= 0).sum() + own.sum()
    assert all(
        totals["all"][name][0] == totals["easy"][name][0] + totals["hard"][name][0] for name in ("zebra", "kite")
    )


def test_the_frozen_threshold_is_marked_and_is_where_the_page_starts(tab, report, grouped):
    frozen, file = report
    page = tab.open(file)
    assert tab.number("lost") == f"{100 * (1 - frozen.achieved['acceptance']):.1f} %"
    line = page.locator("#chart-histogram line.frozen")
    place = float(line.get_attribute("x1"))
    tab.go_to(40)
    assert float(page.locator("#chart-histogram line.frozen").get_attribute("x1")) == place  # it stays
    rule = page.eval_on_selector("#chart-histogram svg > g line:not(.frozen)", "line => +line.getAttribute('x1')")
    assert rule != place
    assert page.locator("#chart-oscr circle.frozen").count() == 1
    page.click('[data-mark="frozen"]')
    rule = page.eval_on_selector("#chart-histogram svg > g line:not(.frozen)", "line => +line.getAttribute('x1')")
    assert rule == pytest.approx(place, abs=1)
    assert "at_acceptance=0.9" in page.get_attribute('[data-mark="frozen"]', "title")


def test_a_model_without_a_frozen_threshold_has_none_to_go_to(tab, make_report, grouped):
    frozen = choose(grouped, "at_acceptance=0.9")
    other = Scores(grouped.labels, grouped.predictions, grouped.unknown_score + 1, ids=grouped.ids)
    page = tab.open(make_report([grouped, other], ["mine", "other"], frozen=[frozen, None]))
    page.select_option("#model", label="other")
    assert page.is_disabled('[data-mark="frozen"]')
    assert page.locator("#chart-histogram .frozen").count() == 0
    page.select_option("#model", label="mine")
    assert page.is_enabled('[data-mark="frozen"]')


def test_every_cell_of_the_confusion_has_its_number(tab, make_report):
    names = [f"c{i}" for i in range(40)]
    page = tab.open(make_report([make_report.synthetic(n=3000, n_classes=40, class_names=names)]))
    filled = page.eval_on_selector_all(
        "#chart-confusion svg path[style]", "all => all.map(one => one.getAttribute('d').match(/M/g).length)"
    )
    assert page.locator("#chart-confusion text.count").count() == sum(filled) > 300
    sides = page.eval_on_selector_all(
        "#chart-confusion svg path[style]", "all => all.map(one => +one.getAttribute('d').match(/h(\\d+)/)[1])"
    )
    assert min(sides) >= 25  # four digits fit


def test_all_groups_are_in_one_table_with_the_best_in_bold(tab, make_report, grouped):
    worse = Scores(
        grouped.labels,
        grouped.predictions,
        -grouped.unknown_score,
        class_names=grouped.class_names,
        groups=grouped.groups,
    )
    page = tab.open(make_report([grouped, worse], ["good", "bad"]))
    rows = [row.split("\t") for row in page.locator('[data-table="models"] tbody tr').all_inner_texts()]
    assert [row[0] for row in rows] == ["good", "bad"] * 3
    assert [row[1] for row in rows[::2]] == ["all open-set samples", "samples of 'easy'", "samples of 'hard'"]
    bold = page.locator('[data-table="models"] tbody tr:nth-child(1) strong').count()
    assert bold > 2
    assert page.locator('[data-table="models"] tbody tr:nth-child(2) td:nth-child(3) strong').count() == 0
    page.click('[data-table="models"] thead button >> nth=0')
    assert page.locator('[data-table="models"] strong').count() >= 3 * bold  # they stay bold when sorted


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1920, 1080)])
def test_the_first_screen_has_the_verdict_beside_both_charts(chromium, report, width, height):
    context = chromium.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.goto(report[1].as_uri())
    page.wait_for_selector("html[data-ready]")
    words, *charts = (page.locator(one).bounding_box() for one in (".first .words", "#chart-oscr", "#chart-histogram"))
    context.close()
    for box in charts:
        assert box["x"] >= words["x"] + words["width"] - 1
        assert box["y"] + box["height"] <= height
    assert charts[1]["x"] > charts[0]["x"] + charts[0]["width"] - 1
    assert charts[1]["x"] + charts[1]["width"] > 0.85 * width  # the width is used


def test_on_a_phone_everything_stands_below_each_other(chromium, report):
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(report[1].as_uri())
    page.wait_for_selector("html[data-ready]")
    tops = [page.locator(one).bounding_box()["y"] for one in (".first .words", "#chart-oscr", "#chart-histogram")]
    assert tops == sorted(tops)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#slipped-list li").first.bounding_box()["width"] < 130
    context.close()
