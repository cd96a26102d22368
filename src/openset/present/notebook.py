"""What results look like by themselves: one table for each kind, as plain text for `print`, as HTML for notebooks."""

import io
import shutil
from functools import singledispatch
from typing import Any

from openset._core.numbers import counted, exact, interval, p_text, percent, percent_of, percents, signed, span
from openset._core.text import shown
from openset.evaluation import Evaluation
from openset.intervals import Comparison
from openset.metrics import METRICS, titled
from openset.operating import Rates, Threshold
from openset.operating.rates import MEANING
from openset.present.html_text import html_table
from openset.results.document import Document
from openset.results.table import Cell, Content, Table
from openset.results.tables import called, overview_table, sample_counts, value_cell

_GROUPS = 3
_WIDEST = 100


def as_html(thing: Any) -> str:
    """A small table."""
    return html_table(table_of(thing))


def as_text(thing: Any) -> str:
    """A table of plain letters, no wider than the terminal."""
    from rich.console import Console

    from openset.present.terminal import terminal_table

    table = table_of(thing)
    width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, highlight=False, markup=False, emoji=False)
    console.print(terminal_table(table))
    if table.note:
        console.print(shown(table.note))
    lines = out.getvalue().replace("\u00a0", " ").splitlines()  # what kept numbers whole has done its work
    return "\n".join(line.rstrip() for line in lines).strip("\n")


@singledispatch
def table_of(thing: Any) -> Table:
    """What a result shows of itself."""
    raise TypeError(f"nothing is known of how to show {type(thing).__name__}")


@table_of.register
def _table(thing: Table) -> Table:
    return thing


@table_of.register
def _document(thing: Document) -> Table:
    found = overview_table(thing)
    return Table(found.head, found.rows, found.below, title=thing.verdict[0], note=found.note, align=found.align)


@table_of.register
def _evaluation(thing: Evaluation) -> Table:
    parts = thing.against[:_GROUPS]
    columns = [thing.headline(part) for part in parts]
    rows: list[list[Content]] = [[line[0].title, *map(value_cell, line)] for line in zip(*columns, strict=True)]
    title = f"{sample_counts(thing)} samples, {thing.n_classes:,} known classes"
    more = len(thing.against) - len(parts)
    notes = [f"{more} more kinds of open-set samples."] if more else []
    notes += [*thing.notes, f"All {len(thing.results)} metric values: to_frame()."]
    head = [
        f"{percent_of(thing.level)} intervals in brackets" if thing.n_resamples else "",
        *(f"against {one}" for one in parts),
    ]
    return Table(head, rows, title=title, note="\n".join(notes))


@table_of.register
def _comparison(thing: Comparison) -> Table:
    gap = thing.difference
    rows: list[list[Content]] = [
        [name, interval(one.value, one.low, one.high)]
        for name, one in (("first", thing.first), ("second", thing.second))
    ]
    rows.append(["first minus second", f"{signed(gap.value)} {span(gap.low, gap.high, sign=True)}"])
    against = f" against {called(thing.against)}" if METRICS[thing.metric].sees_open_set else ""
    meaning = "no difference beyond chance"
    if thing.clear:
        meaning = f"the {'first' if thing.first_is_better else 'second'} is better"
    metric = titled(METRICS[thing.metric], thing.params)
    note = f"{p_text(thing.p_value)}: {meaning}; {thing.n:,} samples."
    return Table([metric + against, f"{percent_of(gap.level)} interval"], rows, note=note)


@table_of.register
def _threshold(thing: Threshold) -> Table:
    rows: list[list[Content]] = [["rejected above", Cell(exact(thing.value), thing.value)]]
    rows += [[MEANING.get(name, name), percent(share)] for name, share in thing.achieved.items()]
    rows.append(["chosen on", counted(thing.n, "sample")])
    if thing.origin.score is not None:
        rows.append(["score", thing.origin.score_text])
    if thing.origin.classes is not None:
        rows.append(["known classes", f"{len(thing.origin.classes):,}"])
    return Table(["Threshold", thing.rule], rows, note="\n".join(thing.notes))


@table_of.register
def _rates(thing: Rates) -> Table:
    rows: list[list[Content]] = [
        [
            MEANING.get(one.name, one.name) + (f" ({called(one.against)})" if one.against != "all" else ""),
            Cell(percents(one.value, one.interval.low, one.interval.high), one.value),
            f"{one.count:,} of {one.n:,}",
        ]
        for one in thing.rates.values()
    ]
    return Table(
        ["At the threshold", f"{percent_of(thing.level)} interval", "samples"], rows, note="\n".join(thing.notes)
    )
