"""`openset detect` as a user calls it."""

import csv
import json
import re
from pathlib import Path

import pytest

from detection_sets import pencil_case
from openset.cli import main
from openset.detection.split import coco_dict, coco_results


def run(capsys, *words):
    """Exit code, output and error output of one call."""
    try:
        main([str(word) for word in words])
    except SystemExit as stop:
        code = stop.code
    else:
        code = 0
    out, err = capsys.readouterr()
    return code or 0, out, err


@pytest.fixture
def files(tmp_path):
    """The pencil case as files; image ids of the wild images start at 100, so one results file can serve both."""
    known, known_found, wild, wild_found = pencil_case()
    truth = coco_dict(wild)
    rows = coco_results(wild_found, wild, known)
    for entry, key in [
        *((one, "id") for one in truth["images"]),
        *((one, "image_id") for one in (*truth["annotations"], *rows)),
    ]:
        entry[key] += 100
    known_rows = coco_results(known_found, known, known)
    contents = {
        "known": coco_dict(known),
        "wild": truth,
        "known_dt": known_rows,
        "wild_dt": rows,
        "dt": known_rows + rows,
    }
    for name, content in contents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def inputs(files, *, both=True):
    words = ["--known-gt", files / "known.json", "--wild-gt", files / "wild.json"]
    if both:
        return [*words, "--dt", files / "dt.json"]
    return [*words, "--known-dt", files / "known_dt.json", "--wild-dt", files / "wild_dt.json"]


@pytest.mark.parametrize("both", [True, False])
def test_evaluate_gives_a_verdict_and_json(files, capsys, both):
    code, out, err = run(
        capsys, "detect", "evaluate", *inputs(files, both=both), "--recall", 0.5, "--variant", "all", "--bootstrap", 20,
        "--json", files / "out.json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "Verdict: not usable as it is: with a mean average precision of 0.283" in out
    assert "incomplete: 1 of 2 classes reach recall 0.5" in out
    assert "severely affected by unknown objects. At recall 0.5 the precision of 0.500 becomes 0.286" in out
    assert "750.0" in out
    assert "never saw the wild classes" in out
    content = json.loads((files / "out.json").read_text())
    assert [row["variant"] for row in content["wilderness"]] == ["paper", "macro", "official"]
    assert content["operating"][0]["unreached"] == ["b"]
    assert content["verdict"][0].startswith("not usable")
    assert content["wilderness"][0]["impact"][-1] == 0.75
    assert content["errors"]["at"][0]["open_set"] == [2, 2, 0, 0, 2, 0, 1]


def test_evaluate_is_a_release_gate(files, capsys):
    words = ["detect", "evaluate", *inputs(files), "--recall", 0.5, "--bootstrap", 0]
    code, out, err = run(capsys, *words, "--require", "fp_per_1000<=750", "--allow-unreached")
    assert code == 0
    assert err.startswith(
        "Passed, but not shown: recall 0.5: fp_per_1000<=750, as its interval ends at 1802.8 with 4 wild"
    )
    assert "All 2 bars reached." in out
    code, _, err = run(capsys, *words, "--require", "fp_per_1000<=749", "--require", "unreached<=1")
    assert code == 1
    assert "Bar missed: recall 0.5: fp_per_1000<=749, found 750.0000 [" in err
    code, _, err = run(capsys, *words, "--require", "fp_per_1000<=750")
    assert (code, "Bar missed: recall 0.5: unreached<=0, found 1." in err) == (1, True)
    code, _, err = run(capsys, *words, "--require", "fp_per_1000.high<=20")
    assert "Out of reach: fp_per_1000.high<=20: it takes 185 wild images" in err


def test_the_gate_meets_frozen_thresholds(files, capsys):
    run(capsys, "detect", "threshold", *inputs(files), "--rule", "recall=0.5", "--out", files / "t.json")
    words = ["detect", "evaluate", *inputs(files), "--thresholds", files / "t.json", "--bootstrap", 0]
    bars = ["--require", "recall>=0.3", "--require", "precision_open>=0.2", "--require", "unreached<=1"]
    code, out, err = run(capsys, *words, *bars, "--json", files / "o.json", "--report", files / "r.html")
    assert (code, err) == (0, "")
    assert "Classes at frozen thresholds" in out
    assert "t.json was chosen on these very data, so the results are too good" in out
    content = json.loads((files / "o.json").read_text())
    assert [(one["bar"], one["reached"]) for one in content["gate"]] == [
        ("recall>=0.3", True), ("precision_open>=0.2", True), ("unreached<=1", True), ("untested<=0", True),
        ("silent<=0", True),
    ]  # fmt: skip
    assert content["settings"]["rule"] == "recall=0.5"
    assert "All 5 bars reached." in (files / "r.html").read_text()
    code, _, err = run(capsys, *words, "--require", "recall>=0.5", "--require", "precision_open.low>=0.2")
    assert code == 1
    assert "Bar missed: frozen thresholds: recall>=0.5, found .3333 [" in err
    for more, sentence in (
        (["--recall", 0.3], "Give --recall or --thresholds"),
        (["--matching", "coco"], "chosen with matching voc, and this is matching coco"),
        (["--variant", "official"], "'official' is defined by a recall"),
    ):
        code, _, err = run(capsys, *words, *more)
        assert (code, sentence in err) == (2, True)
    assert run(capsys, *words, "--matching", "coco", "--force")[0] == 0


def test_evaluate_writes_figures_and_a_page(files, capsys):
    pytest.importorskip("matplotlib")
    words = ["detect", "evaluate", *inputs(files), "--recall", 0.5, "--bootstrap", 0]
    code, out, _ = run(capsys, *words, "--figures", files / "f", "--report", files / "r.html")
    assert code == 0
    for name in ("wilderness", "detection-confusion", "detection-errors"):
        assert (files / "f" / f"{name}.png").exists()
        assert (files / "f" / f"{name}.pdf").exists()
    assert "6 figures are in" in out
    page = (files / "r.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "Wilderness" in page


def test_evaluate_writes_tables_for_papers(files, capsys):
    words = ["detect", "evaluate", *inputs(files), "--recall", 0.5, "--bootstrap", 20]
    code, _, err = run(
        capsys, *words, "--latex", files / "t.tex", "--markdown", files / "t.md", "--csv", files / "t.csv",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert (files / "t.tex").read_text().count(r"\begin{tabular}") == 5
    assert "% All classes together, with 95 % intervals" in (files / "t.tex").read_text()
    table = (files / "t.md").read_text()
    assert "| at | variant | AWI |" in table
    assert "| recall 0.5 | paper | " in table
    rows = list(csv.DictReader((files / "t.csv").read_text().splitlines()))
    found = {(row["name"], row["recall"], row["ratio"]): row for row in rows}
    assert float(found["fp_per_1000", "0.5", ""]["value"]) == 750
    assert float(found["wilderness_impact", "0.5", "1.0"]["value"]) == 0.75
    kinds = {row["kind"]: row["value"] for row in rows if row["name"] == "detections" and row["ratio"] == "1.0"}
    assert (kinds["unknown unknown"], kinds["not annotated"]) == ("2", "1")
    awi = found["awi", "0.5", ""]
    assert float(awi["low"]) <= float(awi["value"]) <= float(awi["high"])
    code, _, err = run(capsys, *words, "--csv", files / "dt.json")
    assert (code, "is read by this command" in err) == (2, True)


@pytest.fixture
def page_words(files):
    return ["detect", "evaluate", *inputs(files), "--recall", 0.5, "--bootstrap", 0, "--report", files / "r.html"]


@pytest.mark.parametrize("recalls", [(0.5,), (0.2, 0.5, 0.25)])
def test_the_page_and_the_terminal_give_the_same_verdict(files, capsys, recalls):
    words = ["detect", "evaluate", *inputs(files), "--bootstrap", 0, "--report", files / "r.html"]
    code, out, _ = run(capsys, *words, *(word for recall in recalls for word in ("--recall", recall)))
    assert code == 0
    printed, rule = out[out.index("Verdict: ") :].removeprefix("Verdict: ").splitlines()[:2]
    page = (files / "r.html").read_text()
    shown = re.search(r'<p class="lead">(.*?)</p><p>(.*?)</p><p>(.*?)</p>', page[page.index('id="verdict"') :])
    assert f"{shown.group(1)} {shown.group(2)}" == printed[0].upper() + printed[1:]
    assert shown.group(3) == rule
    assert printed.startswith("not usable as it is")
    assert "training" in rule


def wild_pictures(files, names):
    """Tiny real pictures for the wild images of these names."""
    image = pytest.importorskip("PIL.Image")
    (files / "images").mkdir(exist_ok=True)
    for name in names:
        image.new("RGB", (64, 48), "grey").save(files / "images" / name)
    return files / "images"


def test_the_page_shows_the_worst_false_detections(files, page_words, capsys):
    images = wild_pictures(files, [f"{i}.png" for i in range(4)])
    code, _, err = run(capsys, *page_words, "--images", images)
    assert (code, err) == (0, "")
    page = (files / "r.html").read_text()
    shown = re.findall(r"<figcaption>(.*?)</figcaption></figure>", page[page.index('class="gallery"') :])
    assert shown == [
        "b, score 0.99; really elephant",
        "a, score 0.80; really zebra",
        "a, score 0.70",
        "a, score 0.60",
    ]
    assert page.count("data:image/jpeg;base64,") == 4
    assert "of the gallery" not in page


def test_missing_pictures_are_one_sentence_on_the_page(files, page_words, capsys):
    images = wild_pictures(files, ["0.png"])
    code, _, err = run(capsys, *page_words, "--images", images)
    assert (code, err) == (0, "")
    page = (files / "r.html").read_text()
    assert "3 of 4 images of the gallery are missing, 2.png for example." in page
    assert page.count("data:image/jpeg;base64,") == 1


def test_a_picture_outside_the_folder_is_not_shown(files, page_words, capsys):
    images = wild_pictures(files, ["0.png", "secret.png"])
    (images / "secret.png").rename(files / "secret.png")
    (images / "1.png").symlink_to(files / "secret.png")
    code, _, _ = run(capsys, *page_words, "--images", images)
    assert code == 0
    assert (files / "r.html").read_text().count("data:image/jpeg;base64,") == 1


@pytest.mark.parametrize("trouble", ["no folder", "no pictures", "broken picture", "no page"])
def test_without_pictures_there_is_one_sentence_and_no_page(files, page_words, capsys, trouble):
    images = files / "none"
    sentence = f"There is no folder {images} with images."
    if trouble == "no pictures":
        images.mkdir()
        sentence = f"None of the 4 images of the worst false detections is in {images}, 0.png for example"
    elif trouble == "broken picture":
        images = wild_pictures(files, ["0.png", "1.png"])
        (images / "1.png").write_bytes((images / "1.png").read_bytes()[:40])
        sentence = f"{images / '1.png'} cannot be decoded"
    elif trouble == "no page":
        page_words, sentence = page_words[:-2], "--images is for the page: give --report as well."
    code, out, err = run(capsys, *page_words, "--images", images, "--json", files / "out.json")
    assert (code, out) == (2, "")
    assert sentence in err
    assert len(err.strip().splitlines()) == 1
    assert not (files / "out.json").exists()
    assert not list(files.glob("*r.html*"))  # not even a part of it


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--recall", "30"], "Did you mean 0.3?"),
        (["--recall", "0.9"], "None of the 2 classes reaches recall 0.9"),
        (["--variant", "papr"], "Did you mean 'paper'?"),
        (["--matching", "vco"], "Did you mean 'voc'?"),
        (["--known-dt", "x.json"], "Give either --dt"),
        (["--ratios", "7"], "Wilderness ratio 7 is not possible"),
        (["--ratios", "0.1:0.4"], "neither a number nor a range such as 0.1:4.6:0.1"),
        (["--ratios", "0.5:0.1:0.1"], "never ends; write it as first:last:step"),
        (["--require", "awi"], "write for example 'recall>=0.5'"),
        (["--require", "awi<=1"], "add a bar on map, precision or precision_open"),
        (
            ["--require", "awi.high<=1", "--require", "map>=0", "--recall", "0.5", "--bootstrap", "0"],
            "has no interval; give --bootstrap",
        ),
    ],
)
def test_mistakes_are_one_sentence_and_code_2(files, capsys, words, sentence):
    code, out, err = run(capsys, "detect", "evaluate", *inputs(files), *words)
    assert code == 2
    assert sentence in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("evaluate", ["--seed", -1]),
        ("evaluate", ["--bootstrap", -3]),
        ("compare", ["--seed", -1]),
        ("demo", ["--seed", -1]),
    ],
)
def test_numbers_below_zero_are_refused_at_once(files, capsys, command, words):
    code, out, err = run(capsys, "detect", command, *([] if command == "demo" else inputs(files)), *words)
    assert (code, out) == (2, "")
    assert words[0] in err


def test_missing_and_broken_files_are_named(files, capsys):
    base = ["detect", "evaluate", "--known-gt", files / "known.json", "--wild-gt", files / "wild.json"]
    code, _, err = run(capsys, *base, "--dt", files / "none.json")
    assert (code, "There is no file" in err) == (2, True)
    (files / "cut.json").write_text((files / "dt.json").read_text()[:-30])
    code, _, err = run(capsys, *base, "--dt", files / "cut.json")
    assert (code, "cut.json is cut off in the list, entry 10" in err) == (2, True)
    code, _, err = run(capsys, *base)
    assert (code, "Give --known-dt and --wild-dt" in err) == (2, True)


@pytest.fixture
def strangers(files):
    """Results with one detection on another image and one of another class; the words that name them."""
    rows = json.loads((files / "dt.json").read_text())
    rows += [{**rows[0], "image_id": 999}, {**rows[0], "category_id": 77}]
    (files / "dt.json").write_text(json.dumps(rows))
    return inputs(files)


def test_extra_images_and_other_classes_stop_unless_allowed(strangers, capsys):
    words = ["detect", "evaluate", *strangers, "--recall", 0.5, "--bootstrap", 0]
    code, _, err = run(capsys, *words)
    assert (code, "for example 999" in err, "--allow-extra-images" in err) == (2, True, True)
    code, _, err = run(capsys, *words, "--allow-extra-images")
    assert (code, "unknown category ids" in err) == (2, True)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("evaluate", ["--recall", 0.5, "--bootstrap", 0]),
        ("compare", ["--dt", "dt.json", "--recall", 0.5, "--bootstrap", 2]),
        ("threshold", ["--rule", "recall=0.5"]),
        ("threshold", ["--rule", "f_beta=1", "--by-ratio"]),
    ],
)
def test_what_is_left_out_is_told(files, strangers, capsys, monkeypatch, command, words):
    monkeypatch.chdir(files)
    lenient = ["--allow-extra-images", "--drop-other-classes"]
    code, out, _ = run(capsys, "detect", command, *strangers, *words, *lenient)
    assert code == 0
    file = files / "dt.json"
    assert out.count(f"Note: 1 detections on 1 images outside the ground truth were left out of {file}.\n") == 1
    assert out.count(f"Note: 1 detections of 1 other classes were left out of {file}.\n") == 1


def test_ratios_can_be_a_range(files, capsys):
    words = ["detect", "evaluate", *inputs(files), "--recall", 0.5, "--bootstrap", 0, "--json", files / "o.json"]
    assert run(capsys, *words, "--ratios", "0.25:1:0.25")[0] == 0
    assert json.loads((files / "o.json").read_text())["wilderness"][0]["ratios"] == [0.25, 0.5, 0.75, 1.0]


def test_detections_are_limited_only_when_asked(files, capsys):
    words = ["detect", "evaluate", *inputs(files), "--recall", 0.25, "--bootstrap", 0, "--json", files / "o.json"]
    found = []
    for more in ([], ["--max-detections", 1]):
        assert run(capsys, *words, *more)[0] == 0
        content = json.loads((files / "o.json").read_text())
        found.append((content["detections"]["known"], content["settings"]["max_detections"]))
    assert found == [(6, None), (5, 1)]  # the duplicate on image 1 goes


def test_frozen_thresholds_keep_their_limit_of_detections(files, capsys):
    """What is chosen with one detection of an image and class is measured so, or not at all."""
    words = [*inputs(files), "--max-detections", 1]
    choose = ["detect", "threshold", *words, "--rule", "wild_fp=1000000"]
    assert run(capsys, *choose, "--out", files / "t.json", "--json", files / "a")[0] == 0
    frozen = json.loads((files / "t.json").read_text())
    assert frozen["max_detections"] == 1
    assert frozen["achieved"]["n_true"] + frozen["achieved"]["n_false"] == 5  # of 6: the duplicate on image 1 goes
    apply = ["detect", "threshold", "--apply", files / "t.json", "--json", files / "b"]
    assert run(capsys, *apply, *words)[0] == 0
    assert (files / "b").read_text() == (files / "a").read_text()
    evaluate = ["detect", "evaluate", "--thresholds", files / "t.json", "--bootstrap", 0]
    assert run(capsys, *evaluate, *words)[0] == 0
    for command in (apply, evaluate):
        code, _, err = run(capsys, *command, *inputs(files))
        assert (code, "give --max-detections 1, or --force" in err) == (2, True)


def test_compare(files, capsys):
    code, out, err = run(
        capsys, "detect", "compare", *inputs(files), "--dt", files / "dt.json", "--recall", 0.5, "--bootstrap", 20,
        "--json", files / "c.json", "--markdown", files / "c.md", "--latex", files / "c.tex", "--csv", files / "c.csv",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "AWI" in out
    assert (
        "| false detections per 1,000 wild images | 0.5 | 750.0 | 750.0 | +.0 \\[-922.2, +922.2\\] | - |"
        in (files / "c.md").read_text()
    )
    assert "They cannot be told apart." in out
    assert "Left out at recall 0.5, which neither reaches: b." in out
    assert "difference = first minus second" in " ".join(out.split())
    assert "difference = first minus second" in (files / "c.md").read_text()
    assert r"\bottomrule" in (files / "c.tex").read_text()
    lines = list(csv.DictReader((files / "c.csv").read_text().splitlines()))
    found = {line["name"]: float(line["first"]) for line in lines}
    # nine levels, .2 to 1: 1 1 2 2 2 3 3 4 4 of 4 wild images, on which 3 are accepted beside 4 on known ones
    assert found.pop("map") == pytest.approx(0.283, abs=0.001)
    assert found == {"awi": pytest.approx(22 / 9 / 4 * 3 / 4), "fp_per_1000": 750, "precision": 0.5}
    content = json.loads((files / "c.json").read_text())
    assert [row["difference"] for row in content["differences"]] == [0, 0, 0, 0]
    assert content["classes"][0]["neither"] == ["b"]
    code, _, err = run(capsys, "detect", "compare", *inputs(files))
    assert (code, "Give two detectors" in err) == (2, True)


def test_threshold_is_chosen_frozen_and_applied(files, capsys):
    code, out, _ = run(capsys, "detect", "threshold", *inputs(files), "--rule", "recall=0.5", "--out", files / "t.json")
    assert code == 0
    assert "Rule: recall=0.5" in out
    assert json.loads((files / "t.json").read_text())["thresholds"] == {"a": 0.7, "b": None}
    code, out, _ = run(
        capsys, "detect", "threshold", *inputs(files), "--apply", files / "t.json", "--json", files / "a.json"
    )
    assert code == 0
    assert "frozen in" in out
    assert json.loads((files / "a.json").read_text())["classes"]["a"]["fp_per_1000"]["value"] == 750
    known_only = ["--known-gt", files / "known.json", "--known-dt", files / "known_dt.json"]
    assert run(capsys, "detect", "threshold", *known_only, "--rule", "f_beta=1")[0] == 0
    code, _, err = run(capsys, "detect", "threshold", *known_only)
    assert (code, "Give --rule" in err) == (2, True)


def test_threshold_by_ratio(files, capsys):
    words = ["detect", "threshold", *inputs(files), "--by-ratio"]
    code, out, _ = run(capsys, *words, "--rule", "f_beta=1", "--class", "a", "--json", files / "f.json")
    assert code == 0
    assert "Largest F-beta" in out
    assert [row["ratio"] for row in json.loads((files / "f.json").read_text())["f_beta"]] == [0, 0.25, 0.5, 0.75, 1]
    code, _, err = run(capsys, *words, "--rule", "recall=0.5")
    assert (code, "--by-ratio needs" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rule", "f_beta=1", "--by-ratio", "--out", "t.json"], "leave out --out and --ratio, or --by-ratio"),
        (["--rule", "f_beta=1", "--by-ratio", "--ratio", 1], "leave out --out and --ratio, or --by-ratio"),
        (["--rule", "f_beta=1", "--class", "a"], "--class is for the table of --by-ratio"),
        (["--rule", "recall=0.5", "--ratio", 1], "The rule 'recall' does not depend on a wilderness ratio"),
        (["--rule", "wild_fp=10", "--ratio", 1], "The rule 'wild_fp' does not depend on a wilderness ratio"),
        (["--apply", "t.json", "--ratio", 1], "frozen ones do not depend on it"),
    ],
)
def test_threshold_refuses_options_that_would_do_nothing(files, capsys, monkeypatch, words, sentence):
    monkeypatch.chdir(files)
    code, out, err = run(capsys, "detect", "threshold", *inputs(files), *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert not Path("t.json").exists()


@pytest.mark.parametrize("words", [["--rule", "recall=0.5"], ["--rule", "f_beta=1", "--by-ratio"]])
@pytest.mark.parametrize("name", ["[/x]", "[bold]", "dog"])
def test_threshold_shows_class_names_as_they_are(files, capsys, words, name):
    content = json.loads((files / "known.json").read_text())
    content["categories"][0]["name"] = name
    (files / "known.json").write_text(json.dumps(content))
    code, out, err = run(capsys, "detect", "threshold", *inputs(files), *words)
    assert (code, err) == (0, "")
    assert f"\n {name} " in out


def test_split_then_evaluate(files, capsys):
    """Hide class b: images that show no a would be wild; here every known image shows one, so add one that does not."""
    content = json.loads((files / "known.json").read_text())
    content["images"].append({"id": 50, "file_name": "50.png"})
    content["annotations"].append({"id": 99, "image_id": 50, "category_id": 1, "bbox": [0, 0, 10, 10]})
    (files / "all.json").write_text(json.dumps(content))
    code, out, err = run(
        capsys,
        "detect",
        "split",
        files / "all.json",
        "--hide",
        "b",
        "--out",
        files / "s",
        "--dt",
        files / "known_dt.json",
        "--json",
        files / "s.json",
    )
    assert (code, err) == (0, "")
    assert "Wild: 1 images, 1 objects of 1 hidden classes." in out
    content = json.loads((files / "s.json").read_text())
    assert content["wild"] == {"images": 1, "objects": 1, "classes": ["b"]}
    assert content["known"]["images"] == 4
    assert (content["n_mixed"], content["mixed_dropped"], content["n_empty"]) == (2, False, 0)
    assert [Path(file).name for file in content["files"]] == [
        "known.json",
        "wild.json",
        "known_dt.json",
        "wild_dt.json",
    ]
    code, out, _ = run(
        capsys, "detect", "evaluate", "--known-gt", files / "s/known.json", "--wild-gt", files / "s/wild.json",
        "--known-dt", files / "s/known_dt.json", "--wild-dt", files / "s/wild_dt.json", "--recall", 0.5,
        "--bootstrap", 0,
    )  # fmt: skip
    assert code == 0
    assert "Verdict: hardly affected" in out
    code, _, err = run(capsys, "detect", "split", files / "all.json", "--out", files / "s")
    assert (code, "the classes are: a, b" in err) == (2, True)


@pytest.mark.parametrize("option", ["--known", "--hide"])
def test_split_names_that_no_file_can_have_are_names_of_classes(files, capsys, option):
    code, _, err = run(capsys, "detect", "split", files / "known.json", option, "x" * 300, "--out", files / "s")
    assert (code, "has no class 'xxx" in err) == (2, True)


def test_split_writes_all_or_nothing(files, capsys):
    """Half a character in a name cannot be written: that must be known before the first file is."""
    content = json.loads((files / "known.json").read_text())
    content["categories"][1]["name"] = "b\ud800"
    content["images"].append({"id": 50})
    content["annotations"].append({"image_id": 50, "category_id": 1, "bbox": [0, 0, 10, 10]})
    (files / "all.json").write_text(json.dumps(content))
    code, _, err = run(capsys, "detect", "split", files / "all.json", "--known", "a", "--out", files / "s")
    assert code == 2
    assert "'categories' entry 1: name holds half a character" in err
    assert not (files / "s").exists()


def test_gallery(files, capsys):
    image = pytest.importorskip("PIL.Image")
    (files / "images").mkdir()
    for i in range(3):
        image.new("RGB", (100, 100), "white").save(files / "images" / f"{i}.png")
    words = ["detect", "gallery", "--known-gt", files / "known.json", "--wild-gt", files / "wild.json"]
    words += ["--wild-dt", files / "dt.json", "--images", files / "images", "--out", files / "g"]
    words += ["--json", files / "g.json"]
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert "Drew 3 false detections" in out
    assert "1 images are not in" in out
    assert (files / "g" / "gallery.png").exists()
    content = json.loads((files / "g.json").read_text())
    assert content["sheet"] == str(files / "g" / "gallery.png")
    assert len(content["files"]) == 3
    assert all(Path(file).exists() for file in content["files"])
    assert content["n_missing"] == 1


def refuses_to_overwrite(capsys, place, *words):
    before = place.read_bytes()
    code, out, err = run(capsys, "detect", *words)
    assert (code, out) == (2, "")
    assert f"Cannot write {place}: it is read by this command" in err
    assert place.read_bytes() == before


def test_threshold_does_not_overwrite_what_it_reads(files, capsys):
    words = ["threshold", *inputs(files, both=False)]
    for name in ("known", "wild", "known_dt", "wild_dt"):
        for option in ("--out", "--json"):
            place = files / f"{name}.json"
            refuses_to_overwrite(capsys, place, *words, "--rule", "recall=0.5", option, place)
    assert run(capsys, "detect", *words, "--rule", "recall=0.5", "--out", files / "t.json")[0] == 0
    refuses_to_overwrite(capsys, files / "t.json", *words, "--apply", files / "t.json", "--json", files / "t.json")


def test_predict_does_not_overwrite_what_it_reads(files, capsys):
    (files / "w.safetensors").write_text("weights")
    (files / "d.npz").write_text("detector")
    words = ["predict", "--known-gt", files / "known.json", "--gt", files / "wild.json", "--images", files]
    torchvision = ["--model", "torchvision:fasterrcnn_resnet50_fpn", "--weights", files / "w.safetensors"]
    for name in ("known.json", "wild.json", "w.safetensors"):
        refuses_to_overwrite(capsys, files / name, *words, *torchvision, "--out", files / name)
    refuses_to_overwrite(
        capsys, files / "d.npz", *words, "--model", f"yolo:{files / 'd.npz'}", "--out", files / "d.npz"
    )


def test_split_does_not_overwrite_what_it_reads(files, capsys):
    words = ["split", files / "known.json", "--hide", "b", "--out", files]
    refuses_to_overwrite(capsys, files / "known.json", *words)
    words = ["split", files / "wild.json", "--hide", "b", "--out", files, "--dt", files / "known_dt.json"]
    refuses_to_overwrite(capsys, files / "wild.json", *words)


@pytest.mark.parametrize("command", ["evaluate", "compare", "threshold", "split", "gallery", "predict", "demo"])
def test_every_command_explains_itself_with_an_example(capsys, command):
    code, out, _ = run(capsys, "detect", command, "--help")
    assert code == 0
    assert f"openset detect {command}" in out
    assert "Example:" in out
