import pytest

from openset.present.csv_text import csv_table
from openset.present.latex import latex_table
from openset.present.markdown import markdown_table
from openset.present.page.html import table as html_table
from openset.present.terminal import terminal_table
from openset.results.table import Cell, Table, best_places

TABLE = Table(
    ["Model", "Remark", "OpenAUC"],
    [["ours", "=1+1", Cell(".9 ± .1", 0.912345, best=True)], ["a_b", None, 0.51239]],
    [["mean", "", Cell("-.7", -0.7)]],
    title="Means",
    note="Note_1.",
    align="llr",
)


def test_markdown():
    assert markdown_table(TABLE).splitlines() == [
        "**Means**",
        "",
        "| Model | Remark | OpenAUC |",
        "|---|---|---:|",
        "| ours | =1+1 | **.9 ± .1** |",
        r"| a\_b |  | .512 |",
        "| mean |  | -.7 |",
        "",
        r"Note\_1.",
    ]


def test_latex():
    assert latex_table(TABLE).splitlines() == [
        r"% needs \usepackage{booktabs}",
        "% Means",
        "% Note_1.",
        r"\begin{tabular}{llr}",
        r"\toprule",
        r"Model & Remark & OpenAUC \\",
        r"\midrule",
        r"ours & =1+1 & \textbf{.9 $\pm$ .1} \\",
        r"a\_b &  & .512 \\",
        r"\midrule",
        r"mean &  & $-$.7 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_csv_has_numbers_in_full_and_no_formula():
    assert csv_table(TABLE).splitlines() == [
        "Model,Remark,OpenAUC",
        "ours,'=1+1,0.912345",
        "a_b,,0.51239",
        "mean,,-0.7",
    ]


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_every_beginning_of_a_formula_is_guarded(text):
    cells = csv_table(Table([text, "b"], [[text, Cell(text)]]))
    assert cells.count(f"'{text}") == 3


def test_a_terminal_shows_text_as_it_is(capsys):
    from rich.console import Console

    made = Table(["[red]x"], [["[bold]y[/bold]"]], [[Cell("z", tone="bad")]], title="[b]")
    Console(width=60).print(terminal_table(made))
    shown = capsys.readouterr().out
    for word in ("[red]x", "[bold]y[/bold]", "z", "[b]"):
        assert word in shown


def test_a_page_sorts_by_the_number_in_full():
    made = html_table(TABLE, name="t")
    assert '<td data-value="0.912345"><strong>.9 ± .1</strong></td>' in made
    assert '<td data-value="0.51239">.512</td>' in made
    assert '<th scope="row">ours</th>' in made


def test_rows_of_another_length_are_our_own_mistake():
    with pytest.raises(AssertionError, match="another length"):
        Table(["a", "b"], [["x"]])


def test_the_best_is_the_best_as_printed():
    assert best_places([0.90049, 0.9004, 0.8996], digits=3) == [True, True, True]
    assert best_places([0.9, 0.8], better="lower") == [False, True]
