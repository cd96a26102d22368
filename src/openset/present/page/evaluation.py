"""The page of one or several evaluated models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from openset._core.numbers import percent, percent_of
from openset._io.sample_contents import SampleContents
from openset.metrics import METRICS
from openset.operating import Threshold
from openset.present.page.html import chart, choice, definitions, section, table, text
from openset.present.page.page import Section, render
from openset.present.page.payload import payload
from openset.results.document import Document
from openset.results.gate import gate_summary
from openset.results.table import Content, Table
from openset.results.tables import called, gate_table, overview_table, sample_counts, tests_table, value_cell
from openset.results.views.steps import FROZEN, MARKS

_SIZES = "test sets of different sizes"


def evaluation_page(
    document: Document,
    *,
    title: str | None = None,
    extra: Sequence[Section] = (),
    frozen: Sequence[Threshold | None] | None = None,
    contents: SampleContents | None = None,
) -> str:
    """HTML of the page: curves and operating points where the document has the scores, tables in any case.

    Args:
        document: what to show.
        title: else the name of the only model, or how many there are.
        extra: further sections, such as that of `training_section`.
        frozen: the frozen threshold of each model, to be marked.
        contents: pictures or texts of samples, by their ids, for those that slip through or are lost.
    """
    names, best = document.names, document.ranking[0]
    data: dict[str, Any] = {}
    if document.models:
        places = [document.ranking.index(i) for i in range(len(names))]
        parts = [one.against for one in document.evaluations]
        data = payload(names, document.models, parts, places, frozen, contents)
        data["selected"] = best
    data["charts"] = {name: chart for part in extra for name, chart in part.charts.items()}
    shown = title or (names[0] if len(names) == 1 else f"{len(names)} models compared")
    sections = [
        _verdict(document),
        _moving(data, names, best) if document.models else "",
        _models(document),
        _gate(document),
        _paired(document),
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
    """The words, and beside them the two charts that say most."""
    lead, *others = document.verdict
    notes = [*document.remarks]
    notes += [f"{name}: {note}" if len(document.names) > 1 else note for name, note in document.notes]
    words = f'<p class="lead">{text(lead)}</p>' + "".join(f"<p>{text(wording)}</p>" for wording in others)
    if document.gate:
        words += f'<p><a href="#gate">Release gate</a>: {text(gate_summary(document.gate))}</p>'
    if notes:
        words += '<ul class="notes">' + "".join(f"<li>{text(note)}</li>" for note in notes) + "</ul>"
    if document.evaluations[0].n_resamples:
        words += f'<p class="hint">Brackets hold {percent_of(document.evaluations[0].level)} intervals.</p>'
    charts = ""
    if document.models:
        charts = chart("oscr", "OSCR curve")
        charts += chart("histogram", "Unknown scores")
    return section("Verdict", f'<div class="first"><div class="words">{words}</div>{charts}</div>', name="verdict")


def _models(document: Document) -> str:
    found = overview_table(document)
    parts = {part for one in document.evaluations for part in one.against}
    title = "Headline metrics" + (f" against {called(next(iter(parts)))}" if len(parts) == 1 else "")
    sheet = replace(found, below=(), note="", title=title)
    made = [table(sheet, name="models", search=len(found.rows) > 10)]
    if found.below:
        means = Table(["Splits of one model", *found.head[1:]], found.below, title=found.note, align=found.align)
        made.append(table(means, name="splits"))
    hint = "↑ higher is better, ↓ lower is better." + (" The best are bold." if len(document.names) > 1 else "")
    return section("Models side by side", *made, name="models", hint=hint)


def _gate(document: Document) -> str:
    if not document.gate:
        return ""
    return section(
        "Release gate", table(gate_table(document.gate), name="gate"), name="gate", hint=gate_summary(document.gate)
    )


def _moving(data: Mapping[str, Any], names: Sequence[str], best: int) -> str:
    """All that follows the slider, which stays in sight."""
    parts = {str(part): called(str(part)) for part in data["parts"]}
    own = [_operating(data, names, parts, best), _samples(data, parts)]
    own += ['<div class="halves">', _slips(), _classes(), "</div>", _confusion()]
    return f'<div class="moving">{"".join(own)}</div>'


def _operating(data: Mapping[str, Any], names: Sequence[str], parts: Mapping[str, str], best: int) -> str:
    shares = {str(i): f"{100 * share:g} %" for i, share in enumerate(data["unknown_shares"])}
    named = {**({FROZEN: "frozen threshold"} if any(one["frozen"] for one in data["models"]) else {}), **MARKS}
    marks = "".join(
        f'<button type="button" data-mark="{text(mark)}">{text(shown)}</button>' for mark, shown in named.items()
    )
    controls = (
        '<div class="controls">'
        + choice("model", "Model", {str(i): name for i, name in enumerate(names)}, selected=str(best))
        + choice("part", "Open-set samples", parts)
        + choice("share", "Assumed fraction of unknowns", shares, selected="2")
        + choice(
            "match",
            "Other models at the same",
            {
                "acceptance": "fraction of knowns accepted",
                "fpr": "fraction of open set accepted",
                "threshold": "threshold",
            }
            if len(names) > 1
            else {"acceptance": ""},
        )
        + '<label class="choice"><input type="checkbox" id="log"> logarithmic share of open set accepted</label></div>'
    )
    panel = (
        '<div class="panel">'
        '<label class="slider" for="threshold">Threshold <output id="threshold-value" for="threshold"></output>'
        '<input type="range" id="threshold" min="0" max="1" step="1" value="0"></label>'
        f'<div class="marks" role="group" aria-label="Go to">{marks}</div>'
        '<p id="summary" role="status" aria-live="polite"></p></div>'
    )
    live = table(Table(["Model"], [], title="All models at this operating point"), name="live", search=len(names) > 10)
    roc = chart("roc", "ROC curve")
    apart = ""
    if {"negative", "unknown"} <= set(parts):
        apart = (
            f'<div class="charts">{chart("oscr-negative", "OSCR against negatives")}'
            f"{chart('oscr-unknown', 'OSCR against unknowns')}</div>"
        )
    top = section(
        "Choose an operating point",
        controls,
        name="operating",
        hint="A sample is rejected when its unknown score is above the threshold. Move it and watch what is lost and "
        "what is caught, here and above. To use a threshold, choose it on validation data "
        "(<code>openset threshold</code>); chosen on this test set it looks better than it is.",
    )
    return (
        f'{top}{panel}<div class="beside">{roc}<div><div class="tiles" id="tiles"></div>'
        f"{live if len(names) > 1 else ''}</div></div>{apart}"
    )


def _samples(data: Mapping[str, Any], parts: Mapping[str, str]) -> str:
    def half(name: str, title: str, classes: str) -> str:
        return (
            f'<div class="half" id="{name}"><h3>{title}</h3><div class="controls">'
            f'<label class="choice">{classes} <select id="{name}-class"><option value="">all</option></select></label>'
            f'</div><p class="hint" id="{name}-count" role="status"></p><ul class="samples" id="{name}-list"></ul>'
            f'<button type="button" id="{name}-more" hidden>Show more</button></div>'
        )

    note = f'<p class="hint">{text(data["contents_note"])}</p>' if data["contents_note"] else ""
    return section(
        "Samples on the wrong side",
        f'<div class="controls">{choice("samples-part", "Open-set samples", parts)}</div>' if len(parts) > 1 else "",
        note,
        '<div class="halves">',
        half("slipped", "Slipped through", "Open-set class"),
        half("lost", "Knowns lost", "Known class"),
        "</div>",
        name="samples",
        hint="At <span data-at></span>; the worst first: open-set samples with the lowest unknown score, knowns with "
        "the highest.",
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
        "What is accepted by mistake, and as what",
        table(
            Table(["Open-set class"], [], title="Open-set classes at the operating point"), name="slips", search=True
        ),
        name="slips",
        hint="At <span data-at></span>, of <span data-part></span>.",
    )


def _confusion() -> str:
    return section(
        "Confusion",
        chart("confusion", "True class (rows) and decision (columns)"),
        name="confusion",
        hint="At <span data-at></span>, open-set rows of <span data-part></span>. Cells hold numbers of samples; the "
        "darker a cell, the larger its fraction of the row.",
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
            percent(one.tied_pairs, 2),
            one.fingerprint,
            ", ".join(f"{key}: {value}" for key, value in one.meta.items()),
        ]
        for name, file, one in zip(document.names, document.files, document.evaluations, strict=True)
    ]
    how = {
        "Rejection": "a sample is rejected if its unknown score is above the threshold; tied samples go together",
        "OpenAUC, AUROC": f"ties count half; {percent_of(first.level)} intervals by DeLong's method",
        "Other intervals": f"stratified bootstrap, {first.n_resamples:,} resamples, seed {first.seed}"
        if first.n_resamples
        else "none were computed",
        "CCR": "fraction of knowns accepted and classified correctly",
        "Fraction of open set accepted (FPR)": "open-set samples not rejected, of all of them",
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
