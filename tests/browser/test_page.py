"""The page as a person meets it: from disk, by keyboard, on paper, on a phone, with any names and many models."""

import csv
import io
import xml.etree.ElementTree as ET

import pytest

from openset.scores import Scores

NASTY = "<script>alert(1)</script>"
SCRIPTS = [NASTY, "кошка", "犬・イヌ", "الجمل", "हाथी", "ζέβρα", "דג", "🦒 giraffe", "=1+1", "a\"b'c&d"]


def test_it_opens_from_disk_without_a_word_of_complaint(tab, three):
    page = tab.open(three[1])
    assert page.title() == "3 models compared · open-set report"
    assert page.inner_text("#verdict .lead").startswith("ours is the best of 3 models by OpenAUC")
    assert tab.requests == [three[1].as_uri()] or set(tab.requests) <= {three[1].as_uri(), "data:,"}
    assert page.locator("svg[role=img]").count() == 6


def test_a_table_can_be_sorted_and_searched(tab, three):
    page = tab.open(three[1])
    table = '[data-table="classes"]'
    page.click(f"{table} thead button >> text=Lost")
    column = [float(text.split()[0]) for text in page.locator(f"{table} tbody td:nth-child(4)").all_inner_texts()]
    assert column == sorted(column, reverse=True)
    assert page.get_attribute(f"{table} th:nth-child(4)", "aria-sort") == "descending"
    page.click(f"{table} thead button >> text=Lost")
    column = [float(text.split()[0]) for text in page.locator(f"{table} tbody td:nth-child(4)").all_inner_texts()]
    assert column == sorted(column)
    tab.go_to(40)
    assert page.get_attribute(f"{table} th:nth-child(4)", "aria-sort") == "ascending"
    page.fill(f"{table} input[type=search]", "CLASS 3")
    assert page.locator(f"{table} tbody th").all_inner_texts() == ["class 3"]
    assert "1 of 5 rows" in page.inner_text(f"{table} .tools")


def test_names_in_all_scripts_are_text(tab, make_report):
    scores = make_report.synthetic(n_classes=len(SCRIPTS), class_names=SCRIPTS, open_names=SCRIPTS)
    other = make_report.synthetic(n_classes=len(SCRIPTS), class_names=SCRIPTS, open_names=SCRIPTS, seed=1)
    page = tab.open(make_report([scores, other], [NASTY, "模型"]))
    assert page.locator('[data-table="classes"] tbody th').all_inner_texts() == SCRIPTS
    assert set(page.locator('[data-table="slips"] tbody th').all_inner_texts()) == set(SCRIPTS)
    assert NASTY in page.inner_text("#chart-oscr .legend")
    assert page.locator("script").count() == 2
    page.locator("#chart-roc svg[role=img]").scroll_into_view_if_needed()
    box = page.locator("#chart-roc svg[role=img]").bounding_box()
    page.mouse.move(box["x"] + 150, box["y"] + 60)
    assert page.text_content("#chart-roc .tip") != ""


def test_hovering_shows_values(tab, three):
    page = tab.open(three[1])
    chart = page.locator("#chart-histogram svg[role=img]")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 60)
    words = page.text_content("#chart-histogram .tip")
    assert "score" in words
    assert "known" in words
    cell = page.locator("#chart-confusion text[style]").first
    cell.scroll_into_view_if_needed()
    cell.hover(force=True)
    assert "class 0 → class 0" in page.text_content("#chart-confusion .tip")


def test_every_figure_can_be_saved(tab, three):
    page = tab.open(three[1])
    buttons = page.locator("figcaption button")
    assert buttons.count() == page.locator("figure").count() == 6
    for i in range(buttons.count()):
        with page.expect_download() as saved:
            buttons.nth(i).click()
        made = ET.parse(saved.value.path()).getroot()  # noqa: S314  (our own file)
        assert made.tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in ET.tostring(made, encoding="unicode")  # no colour that only this page knows
        assert saved.value.suggested_filename.endswith(".svg")


def test_every_table_can_be_saved(tab, three):
    page = tab.open(three[1])
    page.click("summary >> text=Show all metrics")
    buttons = page.locator(".tools button >> text=CSV")
    assert buttons.count() == page.locator("table").count()
    for i in range(buttons.count()):
        with page.expect_download() as saved:
            buttons.nth(i).click()
        rows = list(csv.reader(io.StringIO(saved.value.path().read_text(encoding="utf-8-sig"))))
        assert len({len(row) for row in rows}) == 1
        assert len(rows) > 1


def test_a_figure_with_any_names_is_saved_as_valid_xml(tab, make_report):
    names = ["polar\u00a0bear", "a&b <c>"]
    page = tab.open(make_report([make_report.synthetic(n_classes=2, class_names=names)]))
    with page.expect_download() as saved:
        page.click("#chart-confusion figcaption button")
    words = {one.text for one in ET.parse(saved.value.path()).iter("{http://www.w3.org/2000/svg}text")}  # noqa: S314
    assert words >= set(names)


def test_groups_may_have_any_name(tab, make_report):
    plain, other = (make_report.synthetic(n=300, seed=seed) for seed in (0, 1))
    groups = [("constructor", "__proto__", "7")[i % 3] if label < 0 else "" for i, label in enumerate(plain.labels)]
    scores = Scores(plain.labels, plain.predictions, plain.unknown_score, groups=groups)
    page = tab.open(make_report([scores, other]))
    for part in ("constructor", "__proto__", "7"):
        for model in ("model 0", "model 1"):
            page.select_option("#model", label=model)
            page.select_option("#part", part)
            assert page.locator(".tile", has_text=f"{part} caught").count() == (model == "model 0")
            assert "NaN" not in page.inner_text("#operating")
            assert "native code" not in page.inner_text("#operating")
    assert page.inner_text('[data-table="live"] thead').split("\t")[3:6] == [
        "open set caught",
        "negatives caught",
        "unknowns caught",
    ]
    assert page.locator('[data-table="live"] tbody tr:nth-child(2) td').all_inner_texts()[5:8] == ["–"] * 3


def test_a_name_like_a_formula_is_saved_as_text(tab, make_report):
    names = ["=1+1", "plain, with comma"]
    page = tab.open(make_report([make_report.synthetic(n_classes=2, class_names=names)]))
    with page.expect_download() as saved:
        page.click('[data-table="classes"] .tools button >> text=CSV')
    rows = list(csv.reader(io.StringIO(saved.value.path().read_text(encoding="utf-8-sig"))))
    assert [row[0] for row in rows[1:]] == ["'=1+1", "plain, with comma"]


def test_it_works_by_keyboard_and_is_read_aloud(tab, three):
    page = tab.open(three[1])
    page.focus("#threshold")
    before = page.get_attribute("#threshold", "aria-valuetext")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    after = page.get_attribute("#threshold", "aria-valuetext")
    assert before != after
    assert "of knowns lost" in after
    page.keyboard.press("End")
    assert tab.number("lost") == "0.0 %"
    assert page.get_attribute("#summary", "aria-live") == "polite"
    assert page.locator("svg[role=img]:not([aria-label])").count() == 0
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.evaluate(
        "[...document.querySelectorAll('input, select')].every(one => one.labels.length || one.ariaLabel)"
    )
    page.focus('[data-table="classes"] thead button')
    page.keyboard.press("Enter")
    assert page.get_attribute('[data-table="classes"] th', "aria-sort") == "ascending"
    assert page.evaluate("document.activeElement.closest('th') !== null")


def test_dark_and_light(chromium, three):
    for scheme, dark in (("dark", True), ("light", False)):
        context = chromium.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(three[1].as_uri())
        page.wait_for_selector("html[data-ready]")
        brightness = "parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
        assert (page.evaluate(brightness) < 100) == dark
        page.click("#theme")
        assert (page.evaluate(brightness) < 100) != dark
        context.close()


CONTRASTS = """() => {
    const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
    const part = c => c <= 10.31475 ? c / 3294.6 : ((c / 255 + .055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
    const paper = numbers(getComputedStyle(document.body).backgroundColor);
    const figure = document.createElement("figure");
    document.getElementById("confusion").append(figure);
    figure.className = "chart";
    figure.append(element("figcaption"));
    const matrix = new Matrix(figure), rows = [...Array(32).keys()].map(n => String(n + 1));
    // Row n fills n of 32 parts of its first cell, which gives every shade.
    matrix.show({ rows, columns: ["a", "b"], cells: rows.flatMap(n => [+n, 32 - n]), label: "" });
    const fills = [...figure.querySelectorAll("path[style]")].map(one => numbers(getComputedStyle(one).fill));
    return [...figure.querySelectorAll("text.count")].map(one => {
        const shade = +one.style.getPropertyValue("--shade"), [r, g, b, alpha = 1] = fills[shade - 1];
        const under = light([r, g, b].map((c, i) => alpha * c + (1 - alpha) * paper[i]));
        const over = light(numbers(getComputedStyle(one).fill));
        return (Math.max(over, under) + .05) / (Math.min(over, under) + .05);
    });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_in_a_matrix_can_be_read_on_every_shade(chromium, three, scheme):
    context = chromium.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(three[1].as_uri())
    page.wait_for_selector("html[data-ready]")
    found = page.evaluate(CONTRASTS)
    context.close()
    assert len(found) == 63
    assert min(found) >= 4.5


def test_on_paper(tab, three, tmp_path):
    page = tab.open(three[1])
    page.click("#theme")
    page.emulate_media(media="print")
    assert not page.is_visible("nav")
    assert not page.is_visible("figcaption button >> nth=0")
    assert page.is_visible("#summary")
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    # Printing opens what is folded, in white, and then gives the screen back as it was.
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.get_attribute("html", "data-theme") == "light"
    assert page.is_visible('[data-table="metrics"] table')


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_sticks_out_at_any_width(chromium, three, width):
    context = chromium.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(three[1].as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_without_scripts_the_words_and_tables_are_there(chromium, three):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(three[1].as_uri())
    assert (
        "Scripts are off: the charts, the sliders and the tables that follow a slider are missing"
        in page.inner_text("body")
    )
    empty = page.eval_on_selector_all("[data-table]:not(:has(td))", "all => all.map(one => one.dataset.table)")
    assert empty == ["live", "slips", "classes"]
    assert page.locator('[data-table="models"] tbody tr').count() == 9  # three models against all, negatives, unknowns
    context.close()


def test_fifty_models_at_once(tab, make_report):
    models = [make_report.synthetic(n=400, seed=i, gap=0.5 + 0.04 * i) for i in range(50)]
    page = tab.open(make_report(models))
    assert page.locator('[data-table="live"] tbody tr').count() == 50
    assert page.locator("#chart-roc .legend li").count() == 9
    page.select_option("#model", label="model 3")
    tab.go_to(30)
    assert "model 3" in page.inner_text("#summary")
    rows = page.locator("tbody tr > *").count() + page.locator("#chart-confusion text.count").count()
    assert max(tab.work_of_moves(15)) < 2 * (rows + 4 * page.locator(".sample").count())


def test_a_thousand_classes(tab, make_report):
    names = [f"species {i}" for i in range(1000)]
    scores = make_report.synthetic(n=6000, n_classes=1000, class_names=names, open_names=names)
    page = tab.open(make_report([scores]))
    table = '[data-table="classes"]'
    assert page.locator(f"{table} tbody tr").count() == 100
    page.click(f"{table} .tools button >> text=Show all 1,000")
    assert page.locator(f"{table} tbody tr").count() == 1000
    page.fill(f"{table} input[type=search]", "species 99")
    assert page.locator(f"{table} tbody tr").count() == 11
    assert not page.is_visible("#confusion")
