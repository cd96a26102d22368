"""The tables of a result document."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from openset._core.numbers import bounded, number, p_number, percent, percent_of, signed, span
from openset.evaluation import Evaluation, Result
from openset.metrics import METRICS
from openset.posthoc import score_text
from openset.results.document import Document
from openset.results.gate import GateResult
from openset.results.spread import MEANING
from openset.results.table import Cell, Content, Table, best_places
from openset.results.verdict import open_set

_ARROWS = {"higher": " ↑", "lower": " ↓"}


def value_cell(result: Result, *, between: str = " ") -> Cell:
    """A metric value with its interval; where it is only known between bounds that differ as printed, these."""
    ends = result.low, result.high, result.least, result.most
    return Cell(bounded(result.value, *ends, between=between), result.value)


def headline_table(
    document: Document, against: str | None = None, *, between: str = " ", arrows: bool = False
) -> Table:
    """One row per model with its headline metrics, then mean and standard deviation of models with several splits.

    `against` chooses the open-set samples; a model that has no such has no row.
    """
    titles: list[str] = []
    rows: list[list[Content]] = []
    for name, one in zip(document.names, document.evaluations, strict=True):
        if against is None or against in one.against:
            results = one.headline(against)
            titles = [result.title + (_ARROWS[METRICS[result.name].better] if arrows else "") for result in results]
            rows.append([name, *(value_cell(result, between=between) for result in results)])
    below: list[list[Content]] = []
    for group in document.groups:
        first = document.evaluations[group.places[0]]
        found = [group.find(one) for one in first.headline(against)] if (against or "") in ("", *first.against) else []
        if found and found[0] is not None:
            cells = [None if one is None else Cell(one.text, one.value) for one in found]
            below.append([f"{group.name} (mean ± sd of {found[0].counted})", *cells])
    return Table(["Model", *titles], rows, below, note=MEANING if below else "")


def overview_table(document: Document) -> Table:
    """Headline metrics of every model against every kind of open-set sample, the best of each kind standing out."""
    parts = list(dict.fromkeys(part for one in document.evaluations for part in one.against))
    several = ["Against"] if len(parts) > 1 else []
    head: list[str] = []
    rows: list[list[Content]] = []
    below: list[list[Content]] = []
    note = ""
    better = [METRICS[one.name].better for one in document.evaluations[0].headline()]
    for part in parts:
        found = headline_table(document, part, arrows=True)
        head = [found.head[0], *several, *found.head[1:]]
        for sheet, lines in ((rows, with_best(found, [None, *better]).rows), (below, found.below)):
            sheet += [[line[0], *([called(part)] if several else []), *line[1:]] for line in lines]
        note = note or found.note
    return Table(head, rows, below, note=note, align="l" * (1 + len(several)) + "r" * (len(head) - 1 - len(several)))


def with_best(table: Table, better: Sequence[str | None]) -> Table:
    """A table of models with the best value of each column standing out; `better` is "higher", "lower" or None of each.

    >>> made = with_best(Table(["Model", "AUROC"], [["a", Cell(".9", 0.9)], ["b", Cell(".8", 0.8)]]), [None, "higher"])
    >>> [row[1].best for row in made.rows]
    [True, False]
    """
    rows = [list(row) for row in table.rows]
    for place, direction in enumerate(better):
        cells = [row[place] for row in rows]
        values = [cell.value for cell in cells if isinstance(cell, Cell) and cell.value is not None]
        if len(rows) < 2 or len(values) < len(rows) or direction is None:
            continue
        for row, cell, best in zip(rows, cells, best_places(values, better=direction), strict=True):
            assert isinstance(cell, Cell)
            row[place] = replace(cell, best=best)
    return replace(table, rows=rows)


def called(against: str) -> str:
    """What a kind of open-set sample is called in a column of them."""
    return "all open-set samples" if against == "all" else open_set(against)


def model_table(name: str, evaluation: Evaluation) -> Table:
    """All metrics of one model, one column per kind of open-set sample; headline metrics stand out."""
    columns = list(dict.fromkeys([*evaluation.against, *(result.against for result in evaluation.results)]))
    cells: dict[tuple[str, str], dict[str, Cell]] = {}
    for result in evaluation.results:
        cells.setdefault((result.title, str(result.params)), {})[result.against] = value_cell(result)
    headline = {result.title for result in evaluation.headline()}
    rows = [
        [Cell(title, best=title in headline), *(found.get(column) for column in columns)]
        for (title, _), found in cells.items()
    ]
    shown = [f"against {column}" if len(columns) > 1 else "value" for column in columns]
    head = [f"{percent_of(evaluation.level)} intervals in brackets" if evaluation.n_resamples else "", *shown]
    title = f"{name}: {sample_counts(evaluation)} samples, {evaluation.n_classes} known classes, "
    title += f"{percent(evaluation.tied_pairs)} of pairs tied"
    title += f", score {score_text(evaluation.meta['score'])}" if "score" in evaluation.meta else ""
    return Table(head, rows, title=title)


def run_table(document: Document) -> Table:
    """Headline metrics of one model, one row for each kind of open-set sample."""
    found = document.evaluations[0]
    rows: list[list[Content]] = [
        [f"against {part}", *(value_cell(one, between="\n") for one in found.headline(part))] for part in found.against
    ]
    return Table(["Test part", *(one.title for one in found.headline())], rows)


def sample_counts(evaluation: Evaluation) -> str:
    """`700 known, 200 negative, 300 unknown`."""
    kinds = {"known": evaluation.n_known, "negative": evaluation.n_negative, "unknown": evaluation.n_unknown}
    return ", ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n)


def metrics_table(document: Document) -> Table:
    """Every metric of every model in one line each, for CSV."""
    rows: list[list[Content]] = [
        [name, one.name, _params_text(one.params), one.against, one.value, one.low, one.high, one.least, one.most]
        for name, evaluation in zip(document.names, document.evaluations, strict=True)
        for one in evaluation.results
    ]
    head = ["model", "name", "params", "against", "value", "low", "high", "least", "most"]
    if all(row[-1] is None for row in rows):  # all values are exact
        head, rows = head[:-2], [row[:-2] for row in rows]
    return Table(head, rows)


def pair_table(document: Document, head: tuple[str, str]) -> Table:
    """Two models beside each other; `head` is what their columns are called."""
    rows: list[list[Content]] = []
    for test in document.tests or ():
        found, gap = test.comparison, test.comparison.difference
        texts = [test.title, number(found.first.value), number(found.second.value), signed(gap.value)]
        texts += [span(gap.low, gap.high, sign=True), p_number(test.p_value)]
        tone = ("good" if found.first_is_better else "bad") if test.clear else ""
        rows.append([Cell(text, tone=tone) for text in texts])  # type: ignore[arg-type]
    return Table(["Metric", *head, "difference", "95 % interval", "p"], rows)


def tests_table(document: Document) -> Table:
    """Every paired test in one line each."""
    rows: list[list[Content]] = []
    for test in document.tests or ():
        found, gap = test.comparison, test.comparison.difference
        row: list[Content] = [test.first, test.second, test.title, found.first.value, found.second.value]
        row += [Cell(signed(gap.value), gap.value), span(gap.low, gap.high, sign=True)]
        rows.append([*row, Cell(p_number(test.p_value), test.p_value), test.meaning])
    head = ["First", "Second", "Metric", "First's", "Second's", "First minus second", "Interval", "p", "Meaning"]
    title = f"Differences with {percent_of(document.evaluations[0].level)} intervals"
    return Table(head, rows, title=title, align="lllrrrrrl")


def differences_table(document: Document) -> Table:
    """Every paired test in one line each, for CSV."""
    rows: list[list[Content]] = []
    for test in document.tests or ():
        found, gap = test.comparison, test.comparison.difference
        values = [found.first.value, found.second.value, gap.value, gap.low, gap.high, test.p_value]
        rows.append([found.metric, _params_text(found.params), found.against, *values])
    head = ["name", "params", "against", "first", "second", "difference", "low", "high", "p_value"]
    return Table(head, rows)


def gate_table(gate: Sequence[GateResult]) -> Table:
    """Every bar with the value that was held against it."""
    marks = {True: Cell("yes", tone="good"), False: Cell("no", tone="bad", best=True)}
    rows: list[list[Content]] = [[one.bar, one.where, Cell(one.found, one.value), marks[one.reached]] for one in gate]
    return Table(["Bar", "Where", "Found", "Reached"], rows, title="Bars that must be reached", align="llrl")


def _params_text(params: Mapping[str, object]) -> str:
    """Options of a metric as JSON, nothing where there are none."""
    return json.dumps(dict(params), sort_keys=True) if params else ""
