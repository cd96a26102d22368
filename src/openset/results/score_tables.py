"""The table of several scores of one model on the same outputs."""

from collections.abc import Mapping, Sequence

from openset._core.numbers import difference, p_number
from openset.evaluation import Result
from openset.metrics import METRICS
from openset.results.document import Document
from openset.results.paired import Paired
from openset.results.table import Cell, Content, Table, best_places
from openset.results.tables import value_cell

_TESTED = "open_auc"


def scores_table(document: Document, *, between: str = " ") -> Table:
    """One row per score, the best OpenAUC first: headline metrics, the best of each in bold, and the paired test.

    The last columns hold the difference in OpenAUC from the score that all are tested against, and its p-value. A
    metric that no score changes, closed-set accuracy, stands below the table.
    """
    order = document.ranking
    headline = [document.evaluations[place].headline() for place in order]
    results = [[one for one in row if METRICS[one.name].uses_scores] for row in headline]
    titles = [one.title for one in results[0]]
    columns = [
        best_places([row[place].value for row in results], better=METRICS[first.name].better)
        for place, first in enumerate(results[0])
    ]
    tests, reference = _tests(document)
    rows: list[list[Content]] = []
    for rank, (place, found) in enumerate(zip(order, results, strict=True)):
        cells: list[Content] = []
        for column, one in enumerate(found):
            made = value_cell(one, between=between)
            cells.append(Cell(made.text, made.value, best=columns[column][rank] and len(results) > 1))
        name = document.names[place]
        cells += [*_compared(tests.get(name), between)] if tests else []
        rows.append([Cell(name, best=name == reference), *cells])
    last = [f"OpenAUC minus {reference}'s", "p"] if tests else []
    return Table(["Score", *titles, *last], rows, note=" ".join(_note(document, headline[0], tested=bool(tests))))


def _note(document: Document, first: Sequence[Result], *, tested: bool) -> list[str]:
    notes = ["The best of each column is bold."]
    if tested:
        notes.append("p: DeLong's paired test on the same samples, with Holm's correction.")
    if len(set(document.files)) == 1:
        alike = [one for one in first if not METRICS[one.name].uses_scores]
        notes += [f"{one.title} is the same for all: {value_cell(one).text}." for one in alike]
    if not any("tuned" in one.meta for one in document.evaluations):
        notes.append(
            f"The best of {len(document.names)} scores on these samples looks better than it is on new ones: choose "
            "the score on validation data (--tune)."
        )
    return notes


def _tests(document: Document) -> tuple[Mapping[str, Paired], str]:
    """The tests by the name of the other score, and the one that all are tested against."""
    mine = [test for test in document.tests or () if test.comparison.metric == _TESTED]
    return {test.second: test for test in mine}, mine[0].first if mine else ""


def _compared(test: Paired | None, between: str) -> list[Content]:
    if test is None:  # the reference itself
        return ["", ""]
    gap = test.comparison.difference
    text = difference(-gap.value, -gap.high, -gap.low)
    tone = ("bad" if gap.value > 0 else "good") if test.clear else ""
    return [
        Cell(text.replace(" ", between, 1), -gap.value, tone=tone),  # type: ignore[arg-type]
        Cell(p_number(test.p_value), test.p_value),
    ]
