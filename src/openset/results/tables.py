"""The tables of a result document."""

import json
from collections.abc import Mapping

from openset.evaluation import Evaluation, Result
from openset.metrics import METRICS
from openset.posthoc import score_text
from openset.results.document import Document
from openset.results.numbers import interval, number, p_number, signed, span
from openset.results.spread import MEANING
from openset.results.table import Cell, Content, Table


def value_cell(result: Result, *, between: str = " ") -> Cell:
    """A metric value with its interval."""
    return Cell(interval(result.value, result.low, result.high, between=between), result.value)


def headline_table(
    document: Document, against: str | None = None, *, between: str = " ", arrows: bool = False
) -> Table:
    """One row per model with its headline metrics, then mean and standard deviation of models with several splits.

    `against` chooses the open-set samples; a model that has no such has no row.
    """
    chosen = [
        (name, one.headline(against))
        for name, one in zip(document.names, document.evaluations, strict=True)
        if against is None or against in one.against
    ]
    below: list[list[Content]] = []
    for group in document.groups:
        first = document.evaluations[group.places[0]]
        where = against or first.against[0]
        if where not in first.against:
            continue
        results = first.headline(where)
        found = [group.find(one.name, against=one.against, params=one.params) for one in results]
        if found[0] is not None:
            cells = [None if one is None else Cell(one.text, one.value) for one in found]
            below.append([f"{group.name} (mean ± sd of {found[0].counted})", *cells])
    titles = [f"{one.title}{_arrow(one) if arrows else ''}" for one in chosen[0][1]]
    rows: list[list[Content]] = [
        [name, *(value_cell(one, between=between) for one in results)] for name, results in chosen
    ]
    return Table(["Model", *titles], rows, below, note=MEANING if below else "")


def _arrow(result: Result) -> str:
    return " ↑" if METRICS[result.name].better == "higher" else " ↓"


def model_table(name: str, evaluation: Evaluation) -> Table:
    """All metrics of one model, one column per kind of open-set sample; headline metrics stand out."""
    columns = list(dict.fromkeys([*evaluation.against, *(result.against for result in evaluation.results)]))
    cells: dict[tuple[str, str], dict[str, Result]] = {}
    for result in evaluation.results:
        cells.setdefault((result.title, str(result.params)), {})[result.against] = result
    headline = {result.title for result in evaluation.headline()}
    score = f", score {score_text(evaluation.meta['score'])}" if "score" in evaluation.meta else ""
    return Table(
        [
            f"{evaluation.level:.0%} intervals in brackets" if evaluation.n_resamples else "",
            *(f"against {column}" if len(columns) > 1 else "value" for column in columns),
        ],
        [
            [
                Cell(title, best=title in headline),
                *(value_cell(found[column]) if column in found else None for column in columns),
            ]
            for (title, _), found in cells.items()
        ],
        title=f"{name}: {sample_counts(evaluation)} samples, {evaluation.n_classes} known classes, "
        f"{evaluation.tied_pairs:.1%} of pairs tied{score}",
    )


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
    return Table(
        ["model", "name", "params", "against", "value", "low", "high"],
        [
            [name, found.name, _params_text(found.params), found.against, found.value, found.low, found.high]
            for name, evaluation in zip(document.names, document.evaluations, strict=True)
            for found in evaluation.results
        ],
    )


def pair_table(document: Document, head: tuple[str, str]) -> Table:
    """Two models beside each other; `head` is what their columns are called."""
    rows: list[list[Content]] = []
    for test in document.tests or ():
        found = test.comparison
        gap = found.difference
        texts = [
            test.title,
            number(found.first.value),
            number(found.second.value),
            signed(gap.value),
            span(gap.low, gap.high, sign=True),
            p_number(test.p_value),
        ]
        tone = ("good" if found.first_is_better else "bad") if found.clear else ""
        rows.append([Cell(text, tone=tone) for text in texts])  # type: ignore[arg-type]
    return Table(["Metric", *head, "difference", "95 % interval", "p"], rows)


def tests_table(document: Document) -> Table:
    """Every paired test in one line each."""
    return Table(
        ["First", "Second", "Metric", "First's", "Second's", "First minus second", "Interval", "p", "Meaning"],
        [
            [
                test.first,
                test.second,
                test.title,
                test.comparison.first.value,
                test.comparison.second.value,
                Cell(signed(test.comparison.difference.value), test.comparison.difference.value),
                span(test.comparison.difference.low, test.comparison.difference.high, sign=True),
                Cell(p_number(test.p_value), test.p_value),
                test.meaning,
            ]
            for test in document.tests or ()
        ],
        title=f"Differences with {100 * document.evaluations[0].level:g} % intervals",
        align="lllrrrrrl",
    )


def differences_table(document: Document) -> Table:
    """Every paired test in one line each, for CSV."""
    return Table(
        ["name", "params", "against", "first", "second", "difference", "low", "high", "p_value"],
        [
            [
                test.comparison.metric,
                _params_text(test.comparison.params),
                test.comparison.against,
                test.comparison.first.value,
                test.comparison.second.value,
                test.comparison.difference.value,
                test.comparison.difference.low,
                test.comparison.difference.high,
                test.p_value,
            ]
            for test in document.tests or ()
        ],
    )


def gate_table(document: Document) -> Table:
    """Every bar with the value that was held against it."""
    return Table(
        ["Bar", "Where", "Found", "Reached"],
        [
            [
                one.bar,
                one.where,
                Cell(interval(one.value, one.low, one.high), one.value),
                Cell("yes", tone="good") if one.reached else Cell("no", tone="bad"),
            ]
            for one in document.gate
        ],
        title="Bars that must be reached",
        align="llrl",
    )


def _params_text(params: Mapping[str, object]) -> str:
    """Options of a metric as JSON, nothing where there are none."""
    return json.dumps(dict(params), sort_keys=True) if params else ""
