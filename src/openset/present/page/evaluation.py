"""The page of one or several evaluated models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from openset.metrics import METRICS
from openset.present.page.html import chart, choice, definitions, section, table, text
from openset.present.page.page import Section, render
from openset.present.page.payload import payload
from openset.results.document import Document
from openset.results.table import Content, Table
from openset.results.tables import gate_table, headline_table, sample_counts, tests_table, value_cell
from openset.results.verdict import open_set

_SIZES = "test sets of different sizes"
_MARKS = {
    "at_acceptance=0.95": "95 % of knowns accepted",
    "at_fpr=0.1": "10 % of open set accepted",
    "at_fpr=0.01": "1 % of open set accepted",
    "best_f=macro": "best F-score here",
}


def evaluation_page(document: Document, *, title: str | None = None, extra: Sequence[Section] = ()) -> str:
    """HTML of the page: curves and operating points where the document has the scores, tables in any case.

    Args:
        document: what to show.
        title: else the name of the only model, or how many there are.
        extra: further sections, such as that of `training_section`.
    """
    names, best = document.names, document.ranking[0]
    data: dict[str, Any] = {}
    if document.models:
        places = [document.ranking.index(i) for i in range(len(names))]
        data = payload(names, document.models, [one.against for one in document.evaluations], places)
        data["selected"] = best
    data["charts"] = {name: chart for part in extra for name, chart in part.charts.items()}
    shown = title or (names[0] if len(names) == 1 else f"{len(names)} models compared")
    sections = [
        _verdict(document),
        _models(document),
        _gate(document),
        _operating(data, names, best) if document.models else "",
        _paired(document),
        *([_classes(), _slips(), _confusion()] if document.models else []),
        *(part.html for part in extra),
        _metrics(document),
        _foot(document),
    ]
    return render(f"{shown} · open-set report", [_header(shown, document), *filter(None, sections)], data)


def _header(title: str, document: Document) -> str:
    first = document.evaluations[0]
    sizes = {(one.n_known, one.n_negative, one.n_unknown) for one in document.evaluations}
    wording = f"{sample_counts(first)} samples, {first.n_classes:,} known classes"
    return f"<header><h1>{text(title)}</h1><p>{text(wording if len(sizes) == 1 else _SIZES)}</p></header>"


def _verdict(document: Document) -> str:
    lead, *others = document.verdict
    notes = [*document.remarks]
    notes += [f"{name}: {note}" if len(document.names) > 1 else note for name, note in document.notes]
    words = f'<p class="lead">{text(lead)}</p>' + "".join(f"<p>{text(wording)}</p>" for wording in others)
    if notes:
        words += '<ul class="notes">' + "".join(f"<li>{text(note)}</li>" for note in notes) + "</ul>"
    if document.evaluations[0].n_resamples:
        words += f'<p class="hint">Brackets hold {100 * document.evaluations[0].level:g} % intervals.</p>'
    return section("Verdict", words, name="verdict")


def _models(document: Document) -> str:
    made: list[str] = []
    for part in dict.fromkeys(part for one in document.evaluations for part in one.against):
        found = headline_table(document, part, arrows=True)
        caption = f"Against {'all open-set samples' if part == 'all' else open_set(part)}"
        sheet = replace(found, below=(), title=caption)
        made.append(table(sheet, name=f"models-{len(made)}", search=len(document.names) > 10))
        if found.below and part == document.evaluations[0].against[0]:
            means = Table(["Splits of one model", *found.head[1:]], found.below, title=found.note)
            made.append(table(means, name="splits"))
    return section("Models side by side", *made, name="models", hint="↑ higher is better, ↓ lower is better.")


def _gate(document: Document) -> str:
    if not document.gate:
        return ""
    missed = sum(not one.reached for one in document.gate)
    hint = f"{missed} of {len(document.gate)} missed." if missed else "All reached."
    return section("Release gate", table(gate_table(document), name="gate"), name="gate", hint=hint)


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


def _paired(document: Document) -> str:
    if not document.tests:
        return ""
    return section(
        "Paired test on the same samples",
        table(tests_table(document), name="paired", search=len(document.tests) > 20),
        name="paired",
        hint="OpenAUC and AUROC: DeLong's paired test; other metrics: paired bootstrap. Several models against the "
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


def _metrics(document: Document) -> str:
    rows: list[list[Content]] = [
        [name, result.title, result.against, value_cell(result)]
        for name, evaluation in zip(document.names, document.evaluations, strict=True)
        for result in evaluation.results
    ]
    return section(
        "Every metric",
        "<details><summary>Show all metrics</summary>",
        table(Table(["Model", "Metric", "Against", "Value"], rows, title="Every metric"), name="metrics", search=True),
        "</details>",
        name="metrics",
    )


def _foot(document: Document) -> str:
    first = document.evaluations[0]
    rows = [
        [
            name,
            file,
            f"{one.n_known:,} / {one.n_negative:,} / {one.n_unknown:,}",
            f"{one.n_classes:,}",
            f"{one.tied_pairs:.2%}",
            one.fingerprint,
            ", ".join(f"{key}: {value}" for key, value in one.meta.items()),
        ]
        for name, file, one in zip(document.names, document.files, document.evaluations, strict=True)
    ]
    how = {
        "Rejection": "a sample is rejected if its unknown score is above the threshold; tied samples go together",
        "OpenAUC, AUROC": f"ties count half; {100 * first.level:g} % intervals by DeLong's method",
        "Other intervals": f"stratified bootstrap, {first.n_resamples:,} resamples, seed {first.seed}"
        if first.n_resamples
        else "none were computed",
        "CCR": "share of knowns accepted and classified right",
        "Share of open set accepted (FPR)": "open-set samples not rejected, of all of them",
        "Metrics 'at best threshold'": "chosen on these test samples, so an upper limit",
        **document.provenance,
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
        "<details><summary>What each metric means</summary>",
        definitions(used),
        "</details>",
        name="foot",
    )
