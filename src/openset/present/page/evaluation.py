"""The page of one or several evaluated models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from openset.evaluation import Evaluation, Result
from openset.metrics import METRICS
from openset.present.page.html import chart, choice, definitions, section, table, text
from openset.present.page.page import Section, render
from openset.present.page.payload import payload
from openset.results.numbers import difference, interval, p_text
from openset.results.paired import Paired
from openset.results.provenance import made_with
from openset.results.table import Cell, Content, Table
from openset.results.verdict import open_set, verdict
from openset.scores import Scores

_MARKS = {
    "at_acceptance=0.95": "95 % of knowns accepted",
    "at_fpr=0.1": "10 % of open set accepted",
    "at_fpr=0.01": "1 % of open set accepted",
    "best_f=macro": "best F-score here",
}


@dataclass(frozen=True, eq=False)
class Model:
    """A model's scores with their evaluation."""

    name: str
    scores: Scores
    evaluation: Evaluation
    source: str = ""
    """The file they are from."""


def best_of(evaluations: Sequence[Evaluation], against: str) -> int:
    """Which has the largest OpenAUC; the first of equals."""
    values = [evaluation.find("open_auc", against=against).value for evaluation in evaluations]
    return int(np.argmax(values))


def evaluation_page(
    models: Sequence[Model],
    *,
    against: Sequence[str] | None = None,
    tests: Sequence[Paired] | None = None,
    spreads: Mapping[str, Sequence[str]] | None = None,
    title: str | None = None,
    extra: Sequence[Section] = (),
) -> str:
    """HTML of the page.

    Args:
        models: with their evaluations, in the order to be shown.
        against: as given to `evaluate`.
        tests: paired tests on the same samples, none if there are no such; not given, the page says nothing of them.
        spreads: rows of means over splits, by name.
        title: else the name of the only model, or how many there are.
        extra: further sections, such as that of `training_section`.
    """
    names = [model.name for model in models]
    evaluations = [model.evaluation for model in models]
    parts = [list(against or model.scores.against_choices()) for model in models]
    best = best_of(evaluations, parts[0][0])
    order = np.argsort([-e.find("open_auc", against=p[0]).value for e, p in zip(evaluations, parts, strict=True)])
    data = payload(names, [model.scores for model in models], parts, np.argsort(order).tolist())
    data["selected"] = best
    data["charts"] = {name: chart for part in extra for name, chart in part.charts.items()}
    shown = title or (names[0] if len(names) == 1 else f"{len(names)} models compared")
    sections = [
        _verdict(names, evaluations, best, tests, parts[best]),
        _models(names, evaluations, parts, spreads or {}),
        _operating(data, names, best),
        _paired(tests or (), evaluations[0].level),
        _classes(),
        _slips(),
        _confusion(),
        *(part.html for part in extra),
        _figures(names, evaluations),
        _foot(models),
    ]
    return render(f"{shown} · open-set report", [_header(shown, models), *filter(None, sections)], data)


def _header(title: str, models: Sequence[Model]) -> str:
    first = models[0].evaluation
    same = all(
        (m.evaluation.n_known, m.evaluation.n_negative, m.evaluation.n_unknown)
        == (first.n_known, first.n_negative, first.n_unknown)
        for m in models
    )
    kinds = {"known": first.n_known, "negative": first.n_negative, "unknown": first.n_unknown}
    counted = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n)
    wording = f"{counted} samples, {first.n_classes:,} known classes" if same else "test sets of different sizes"
    return f"<header><h1>{text(title)}</h1><p>{text(wording)}</p></header>"


def _verdict(
    names: Sequence[str],
    evaluations: Sequence[Evaluation],
    best: int,
    tests: Sequence[Paired] | None,
    parts: Sequence[str],
) -> str:
    told = verdict(names, evaluations, best, tests, parts)
    notes = [
        f"{name}: {note}" if len(names) > 1 else note
        for name, evaluation in zip(names, evaluations, strict=True)
        for note in evaluation.notes
    ]
    level = evaluations[0].level
    words = f'<p class="lead">{text(told[0])}</p>' + "".join(f"<p>{text(wording)}</p>" for wording in told[1:])
    if notes:
        words += '<ul class="notes">' + "".join(f"<li>{text(note)}</li>" for note in notes) + "</ul>"
    if evaluations[best].n_resamples:
        words += f'<p class="hint">Brackets hold {100 * level:g} % intervals.</p>'
    return section("Verdict", words, name="verdict")


def _cell(result: Result) -> Cell:
    return Cell(interval(result.value, result.low, result.high), result.value)


def _models(
    names: Sequence[str],
    evaluations: Sequence[Evaluation],
    parts: Sequence[Sequence[str]],
    spreads: Mapping[str, Sequence[str]],
) -> str:
    made: list[str] = []
    for part in dict.fromkeys(part for own in parts for part in own):
        titles = [""]
        rows: list[list[Content]] = []
        for name, evaluation, own in zip(names, evaluations, parts, strict=True):
            if part in own:
                found = evaluation.headline(part)
                titles = [f"{r.title} {'↑' if METRICS[r.name].better == 'higher' else '↓'}" for r in found]
                rows.append([name, *(_cell(result) for result in found)])
        caption = f"Against {'all open-set samples' if part == 'all' else open_set(part)}"
        sheet = Table(["Model", *titles], rows, title=caption)
        made.append(table(sheet, name=f"models-{len(made)}", search=len(names) > 10))
        if spreads and part == parts[0][0]:
            means = [[name, *cells] for name, cells in spreads.items()]
            caption = "Mean and standard deviation over splits"
            made.append(table(Table(["Splits of one model", *titles], means, title=caption), name="splits"))
    return section("Models side by side", *made, name="models", hint="↑ higher is better, ↓ lower is better.")


def _operating(data: Mapping[str, object], names: Sequence[str], best: int) -> str:
    parts = [str(part) for part in data["parts"]]  # type: ignore[attr-defined]
    called = {part: "all open-set samples" if part == "all" else open_set(part) for part in parts}
    shares = {str(i): f"{100 * share:g} %" for i, share in enumerate(data["unknown_shares"])}  # type: ignore[arg-type, var-annotated]
    marks = "".join(
        f'<button type="button" data-mark="{text(mark)}">{text(shown)}</button>' for mark, shown in _MARKS.items()
    )
    controls = (
        '<div class="controls">'
        + choice("model", "Model", {str(i): name for i, name in enumerate(names)}, selected=str(best))
        + choice("part", "Open-set samples", called)
        + choice("share", "Assumed share of unknowns", shares, selected="2")
        + choice(
            "match",
            "Other models at the same",
            {"acceptance": "share of knowns accepted", "fpr": "share of open set accepted", "threshold": "threshold"}
            if len(names) > 1
            else {"acceptance": ""},
        )
        + '</div><div class="panel">'
        '<label class="slider" for="threshold">Threshold <output id="threshold-value" for="threshold"></output>'
        '<input type="range" id="threshold" min="0" max="1" step="1" value="0"></label>'
        f'<div class="marks" role="group" aria-label="Go to">{marks}</div>'
        '<p id="summary" role="status" aria-live="polite"></p></div>'
    )
    live = table(Table(["Model"], [], title="All models at this operating point"), name="live", search=len(names) > 10)
    apart = ""
    if {"negative", "unknown"} <= set(parts):
        apart = (
            "<h3>Negatives and unknowns apart</h3>"
            f'<div class="charts">{chart("oscr-negative", "OSCR against negatives")}'
            f"{chart('oscr-unknown', 'OSCR against unknowns')}</div>"
        )
    charts = (
        '<label class="choice"><input type="checkbox" id="log"> logarithmic share of open set accepted in OSCR</label>'
        '<div class="charts">'
        + chart("oscr", "OSCR: knowns accepted and right against open set accepted")
        + chart("roc", "ROC: knowns accepted against open set accepted")
        + chart("histogram", "Unknown scores")
        + "</div>"
    )
    return section(
        "Choose an operating point",
        controls,
        '<div class="tiles" id="tiles"></div>',
        charts,
        apart,
        live if len(names) > 1 else "",
        name="operating",
        hint="A sample is rejected when its unknown score is above the threshold. Move it and watch what is lost and "
        "what is caught. To use a threshold, choose it on validation data (<code>openset threshold</code>); chosen on "
        "this test set it looks better than it is.",
    )


def _paired(tests: Sequence[Paired], level: float) -> str:
    if not tests:
        return ""
    rows: list[list[Content]] = []
    for test in tests:
        gap = test.comparison.difference
        wording = "no difference beyond chance"
        if test.sure:
            higher = METRICS[test.comparison.metric].better == "higher"
            wording = f"{test.first if (gap.value > 0) == higher else test.second} is better"
        rows.append(
            [
                test.first,
                test.second,
                test.title,
                test.comparison.first.value,
                test.comparison.second.value,
                Cell(difference(gap.value, gap.low, gap.high), gap.value),
                Cell(p_text(test.p_value), test.p_value),
                wording,
            ]
        )
    return section(
        "Paired test on the same samples",
        table(
            Table(
                ["First", "Second", "Metric", "First's", "Second's", "First minus second", "p", "Meaning"],
                rows,
                title=f"Differences with {100 * level:g} % intervals",
            ),
            name="paired",
            search=len(rows) > 20,
        ),
        name="paired",
        hint="OpenAUC and AUROC: DeLong's paired test; other figures: paired bootstrap. Several models against the "
        "best: p-values with Holm's correction.",
    )


def _classes() -> str:
    return section(
        "Known classes",
        table(Table(["Class"], [], title="Each known class at the operating point"), name="classes", search=True),
        name="classes",
        hint='At <span data-at></span>. "Open set taken for it" counts open-set samples accepted as this class.',
    )


def _slips() -> str:
    return section(
        "What slips through, and as what",
        table(
            Table(["Open-set class"], [], title="Open-set classes at the operating point"), name="slips", search=True
        ),
        name="slips",
        hint="At <span data-at></span>.",
    )


def _confusion() -> str:
    return section(
        "Confusion",
        chart("confusion", "True class (rows) and decision (columns)"),
        name="confusion",
        hint="At <span data-at></span>. The darker a cell, the larger its share of the row.",
    )


def _figures(names: Sequence[str], evaluations: Sequence[Evaluation]) -> str:
    rows: list[list[Content]] = [
        [name, result.title, result.against, _cell(result)]
        for name, evaluation in zip(names, evaluations, strict=True)
        for result in evaluation.results
    ]
    return section(
        "Every metric",
        "<details><summary>Show all metrics</summary>",
        table(Table(["Model", "Metric", "Against", "Value"], rows, title="Every metric"), name="figures", search=True),
        "</details>",
        name="figures",
    )


def _foot(models: Sequence[Model]) -> str:
    first = models[0].evaluation
    rows = [
        [
            model.name,
            model.source,
            f"{model.evaluation.n_known:,} / {model.evaluation.n_negative:,} / {model.evaluation.n_unknown:,}",
            f"{model.evaluation.n_classes:,}",
            f"{model.evaluation.tied_pairs:.2%}",
            model.evaluation.fingerprint,
            ", ".join(f"{key}: {value}" for key, value in model.evaluation.meta.items()),
        ]
        for model in models
    ]
    how = {
        "Rejection": "a sample is rejected if its unknown score is above the threshold; tied samples go together",
        "OpenAUC, AUROC": f"ties count half; {100 * first.level:g} % intervals by DeLong's method",
        "Other intervals": f"stratified bootstrap, {first.n_resamples:,} resamples, seed {first.seed}"
        if first.n_resamples
        else "none were computed",
        "CCR": "share of knowns accepted and classified right",
        "Share of open set accepted (FPR)": "open-set samples not rejected, of all of them",
        "Figures 'at best threshold'": "chosen on these test samples, so an upper limit",
        **made_with(),
    }
    used = {r.title: f"{METRICS[r.name].summary} {METRICS[r.name].paper}" for r in first.results}
    return section(
        "Methods, versions, fingerprints",
        definitions(how),
        table(
            Table(
                ["Model", "File", "Known / negative / unknown", "Classes", "Tied pairs", "Fingerprint", "About"],
                rows,
                title="Where the values come from; the fingerprint changes when any label, prediction or score does",
            ),
            name="sources",
        ),
        "<details><summary>What each figure means</summary>",
        definitions(used),
        "</details>",
        name="foot",
    )
