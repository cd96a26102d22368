"""What `openset evaluate`, `compare` and `demo` write."""

import csv
import os
import subprocess
import sys

import pytest

from openset.cli import main
from openset.present.latex import latex_table
from openset.present.markdown import markdown_escape, markdown_table
from openset.results.table import Table
from openset.scores import Scores


@pytest.fixture
def files(make_scores, tmp_path):
    paths = [tmp_path / "weak.parquet", tmp_path / "strong.parquet"]
    for path in paths:
        make_scores(n=300, probabilities=True).write(path)
    return paths


def run(*words):
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return stopped.value.code or 0


def test_evaluate_writes_the_page_and_all_tables(files, tmp_path, capsys):
    out = tmp_path / "new" / "report.html"
    assert (
        run(
            "evaluate",
            *files,
            "--resamples",
            20,
            "--report",
            out,
            "--markdown",
            tmp_path / "t.md",
            "--csv",
            tmp_path / "t.csv",
            "--latex",
            tmp_path / "t.tex",
        )
        == 0
    )
    assert f"The report is {out}" in capsys.readouterr().out
    page = out.read_text(encoding="utf-8")
    assert "2 models compared" in page
    assert "Paired test" in page
    table = (tmp_path / "t.md").read_text().splitlines()
    assert table[0].startswith("| Model | OpenAUC |")
    assert table[2].startswith("| weak | .")
    assert len({line.count("|") for line in table}) == 1
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert {row["model"] for row in rows} == {"weak", "strong"}
    first = next(row for row in rows if row["name"] == "open_auc" and not row["params"] and row["against"] == "unknown")
    assert 0 < float(first["low"]) < float(first["value"]) < float(first["high"]) < 1
    assert r"\toprule" in (tmp_path / "t.tex").read_text()


def test_splits_are_summed_up_on_the_page(make_scores, tmp_path):
    for split in range(3):
        make_scores(n=300, seed=split).write(tmp_path / "ours" / f"split{split}.parquet")
    splits = sorted((tmp_path / "ours").iterdir())
    assert (
        run("evaluate", *splits, "--resamples", 20, "--report", tmp_path / "r.html", "--markdown", tmp_path / "t.md")
        == 0
    )
    assert "ours (mean ± sd of 3 splits)" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "ours (mean ± sd of 3 splits)" in (tmp_path / "t.md").read_text(encoding="utf-8")


def test_one_kind_of_open_set_sample_can_be_chosen(files, tmp_path):
    assert run("evaluate", files[0], "--resamples", 20, "--against", "negative", "--report", tmp_path / "r.html") == 0
    assert "Headline metrics against negatives" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_compare_writes_the_page_with_its_tests(files, tmp_path):
    assert run("compare", *files, "--resamples", 20, "--report", tmp_path / "r.html") == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Open-set F-score" in page
    assert "no difference beyond chance" in page


def test_compare_writes_tables_for_papers(files, tmp_path):
    scores = Scores.read(files[1])  # the strong one knows a little of the answer
    Scores(scores.labels, scores.predictions, scores.unknown_score + 0.5 * (scores.labels < 0)).write(files[1])
    words = ["--latex", tmp_path / "c.tex", "--markdown", tmp_path / "c.md", "--csv", tmp_path / "c.csv"]
    assert run("compare", *files, "--resamples", 20, *words) == 0
    table = (tmp_path / "c.md").read_text().splitlines()
    assert table[0] == "| Metric | weak | strong | difference | 95 % interval | p |"
    assert table[2].startswith("| OpenAUC | .")
    assert len({line.count("|") for line in table}) == 1
    latex = (tmp_path / "c.tex").read_text()
    assert r"\toprule" in latex
    assert r"95 \% interval" in latex
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    assert rows[0]["name"] == "open_auc"
    assert float(rows[0]["difference"]) < 0
    for row in rows:
        gap = float(row["first"]) - float(row["second"])
        assert float(row["difference"]) == pytest.approx(gap)
        assert float(row["low"]) <= gap <= float(row["high"])


def test_tables_are_not_written_over_what_is_read(files, capsys):
    assert run("compare", *files, "--csv", files[0]) == 2
    assert "is read by this command" in capsys.readouterr().err


def test_a_table_for_a_paper_by_hand():
    made = Table(["Model", "a_b"], [["[x]", "-.050 [-.060, .010]"]], [["mean", ".1 ± .2"]], title="50 % of it")
    assert latex_table(made).splitlines() == [
        r"% needs \usepackage{booktabs}",
        "% 50 % of it",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"Model & a\_b \\",
        r"\midrule",
        r"{}[x] & $-$.050 [$-$.060, .010] \\",
        r"\midrule",
        r"mean & .1 $\pm$ .2 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert markdown_table(made).splitlines() == [
        "**50 % of it**",
        "",
        r"| Model | a\_b |",
        "|---|---:|",
        r"| \[x\] | -.050 \[-.060, .010\] |",
        "| mean | .1 ± .2 |",
    ]


@pytest.mark.parametrize("command", [["evaluate"], ["compare"]])
def test_a_bad_place_is_one_sentence_before_any_work(files, tmp_path, capsys, command, monkeypatch):
    monkeypatch.setattr("openset.evaluation.evaluate", lambda *_, **__: pytest.fail("worked before looking"))
    folder = tmp_path / "folder"
    folder.mkdir()
    assert run(*command, *files, "--report", folder) == 2
    assert capsys.readouterr().err == f"Error: Cannot write {folder}: it is a folder; give a file name.\n"
    assert run(*command, *files, "--report", files[0] / "r.html") == 2
    assert "is a file, not a folder" in capsys.readouterr().err
    monkeypatch.setattr("os.access", lambda _, mode: mode != os.W_OK)
    assert run(*command, *files, "--report", folder / "r.html") == 2
    assert capsys.readouterr().err == f"Error: Cannot write {folder / 'r.html'}: permission denied in {folder}.\n"


@pytest.mark.parametrize("name", ["z" * 300, "z" * 300 + "/r", os.fsdecode(b"\xff")])
def test_a_name_that_no_file_can_have_is_one_sentence_before_any_work(files, tmp_path, capsys, name):
    for option, end in (("--json", ".json"), ("--report", ".html"), ("--figures", "")):
        assert run("evaluate", files[0], option, tmp_path / (name + end)) == 2
        assert "Error: Cannot write" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in files)


def test_figures_need_a_folder(files, capsys):
    assert run("evaluate", files[0], "--figures", files[1]) == 2
    assert "it is a file; give the name of a folder" in capsys.readouterr().err


@pytest.mark.slow
def test_figures_are_written_and_counted(files, tmp_path, capsys):
    assert run("evaluate", files[0], "--no-intervals", "--figures", tmp_path / "figures") == 0
    made = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert f"{len(made)} figures are in" in capsys.readouterr().out
    assert {"oscr-log.pdf", "oscr-log.png", "confusion.pdf", "probability-histograms.png"} <= set(made)


def test_without_matplotlib_figures_say_what_to_install(files, tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from openset.cli import main\n"
        f"main(['evaluate', {str(files[0])!r}, '--no-intervals', '--figures', {str(tmp_path / 'f')!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "Error: Drawing figures needs matplotlib: pip install 'openset[plot]'.\n"


def test_the_page_needs_no_matplotlib(files, tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from openset.cli import main\n"
        f"main(['evaluate', {str(files[0])!r}, '--no-intervals', '--report', {str(tmp_path / 'r.html')!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.html").stat().st_size > 10_000


@pytest.mark.slow
def test_demo_ends_with_the_path_of_the_page(tmp_path, capsys):
    assert run("demo", "--out", tmp_path / "demo") == 0
    where, after = capsys.readouterr().out.strip().splitlines()[-2:]
    assert where.endswith(f"The page: {tmp_path / 'demo' / 'report.html'}")
    assert after.startswith("Next, with scores of your own: openset evaluate")
    assert "neighbours" in (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")


def test_markdown_names_stay_names():
    assert markdown_escape("a|b*c_<x>\nd") == r"a\|b\*c\_\<x\> d"
