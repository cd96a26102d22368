"""The page of a detector under open-set conditions: everything that it takes to sign off its release."""

from collections.abc import Sequence

from openset._core.numbers import interval, number, percent
from openset.detection.measure.errors import Confusion
from openset.detection.measure.operating import Operating, point_name
from openset.detection.measure.result import OpenSetEvaluation
from openset.detection.measure.wilderness import Wilderness
from openset.detection.tables import class_cells, errors_table, operating_table
from openset.detection.verdict import TRAINING_RULE, headline, main_sources, verdict
from openset.present.page.detection_charts import chart_data
from openset.present.page.gallery import FalseDetection, gallery_section
from openset.present.page.html import chart, definitions, section, table, text
from openset.present.page.page import render
from openset.results.gate import GateResult, gate_summary
from openset.results.provenance import provenance
from openset.results.table import Cell, Content, Table
from openset.results.tables import gate_table


def detection_page(
    name: str,
    result: OpenSetEvaluation,
    *,
    gallery: Sequence[FalseDetection] = (),
    gate: Sequence[GateResult] = (),
) -> str:
    """HTML of the page; `result` is that of `openset.detection.evaluate_open_set`."""
    pictures, missing = gallery_section(gallery)
    notes = [*result.notes, *([missing] if missing else [])]
    parts = [
        f"<header><h1>{text(name)}</h1><p>{result.n_known:,} known and {result.n_wild:,} wild images</p></header>",
        _verdict(result, notes),
        _gate(gate),
        _operating(result),
        _classes(result),
        _wilderness(result.wilderness),
        _errors(result),
        _confusion(result),
        _precision(result),
        _background(result),
        pictures,
        _origin(result),
        _sign_off(name, result, gate),
    ]
    return render(f"{name} · open-set detection", list(filter(None, parts)), chart_data(result))


# ---- sections ------------------------------------------------------------------------------------------------------


def _verdict(result: OpenSetEvaluation, notes: Sequence[str]) -> str:
    """The terminal's own sentences."""
    first, *others = verdict(result).sentences
    words = (
        f'<p class="lead">{text(first[0].upper() + first[1:])}</p>'
        f"<p>{text(' '.join(others))}</p><p>{text(TRAINING_RULE)}</p>"
    )
    if notes:
        shown = "".join(f"<li>{text(note[0].upper() + note[1:])}.</li>" for note in notes)
        words += f'<ul class="notes">{shown}</ul>'
    return section("Verdict", words, name="verdict")


def _gate(gate: Sequence[GateResult]) -> str:
    if not gate:
        return ""
    lead = gate_summary(gate) + ("" if all(one.reached for one in gate) else " Not to be released.")
    made = table(gate_table(gate), name="gate")
    return section("Release gate", f'<p class="lead">{text(lead)}</p>', made, name="gate")


def _operating(result: OpenSetEvaluation) -> str:
    drawn = ""
    if result.details is not None:
        drawn = (
            '<div class="charts">'
            + chart(
                "rate",
                "False detections per 1,000 wild images against recall (log scale), one threshold for all classes",
            )
            + chart("precision", "Precision against recall, one threshold for all classes")
            + "</div>"
        )
    return section(
        "Operating points",
        table(operating_table(result.operating), name="points"),
        drawn,
        name="points",
        hint="Wild images show no known object, so each detection on them is wrong. Intervals are over images.",
    )


def _classes(result: OpenSetEvaluation) -> str:
    point = headline(result)
    average = result.mean_average_precision.per_class
    taken = _mistaken(result.confusion)
    rows: list[list[Content]] = []
    for name, row in point.classes.items():
        ap = average.get(name)
        missed: Content = Cell(f"{row.n_missed:,} of {row.n_objects:,}", row.n_missed) if row.n_objects else "–"
        cells = class_cells(row)
        rows.append([name, "–" if ap is None else ap, *cells, missed, taken.get(name, "–")])
    head = ["Class", "AP", "Threshold", "Recall", "Precision", "Precision at ratio 1", "FP per 1,000 wild images"]
    made = Table(
        [*head, "Missed objects", "Unknown objects taken for it"],
        rows,
        title=f"Classes at {point.name}",
        align="lrrrrrrrl",
    )
    return section(
        "Classes",
        _made_by(point),
        table(made, name="classes", search=True),
        name="classes",
        hint=f"Lost at {point.name}: {text(', '.join(point.unreached))}." if point.unreached else "",
    )


def _made_by(point: Operating) -> str:
    """Which classes claim what is on wild images: a sentence where few make most of it, and a chart."""
    sentence = main_sources(point)
    drawn = chart("sources", "Which classes the false detections on wild images claim") if point.total.n_open else ""
    return (f"<p>{text(sentence)}</p>" if sentence else "") + drawn


def _mistaken(found: Confusion) -> dict[str, str]:
    """The unknown classes that are most often taken for each known one."""
    taken = {}
    for name, row in zip(found.rows, found.counts, strict=True):
        ranked = sorted(zip(row[found.n_known :], found.columns[found.n_known :], strict=True), key=lambda one: -one[0])
        words = [f"{column} {n}" for n, column in ranked[:3] if n]
        if words:
            taken[name] = ", ".join(words)
    return taken


def _wilderness(rows: Sequence[Wilderness]) -> str:
    if not rows:
        return ""
    cells: list[list[Content]] = [
        [
            row.point.name,
            row.variant,
            Cell(interval(row.awi, row.awi_low, row.awi_high), row.awi),
            Cell(number(row.slope, 4), row.slope),
            ", ".join(row.unreached) or "–",
        ]
        for row in rows
    ]
    head = ["At", "Variant", "Mean impact (AWI)", "Slope", "Classes that are left out"]
    return section(
        "Wilderness Impact",
        '<div class="panel"><label class="slider" for="ratio">Wilderness ratio '
        '<output id="ratio-value" for="ratio"></output>'
        '<input type="range" id="ratio" min="0" max="1" step="1" value="0"></label>'
        '<p id="summary" role="status" aria-live="polite"></p></div>',
        chart("wilderness", "Wilderness Impact over the wilderness ratio"),
        table(Table(["At"], [], title="At this wilderness ratio"), name="at-ratio"),
        table(Table(head, cells, title="Over all ratios", align="llrrl"), name="awi"),
        name="operating",
        hint="False detections on wild images per accepted detection on known images, by the ratio of these images.",
    )


def _errors(result: OpenSetEvaluation) -> str:
    return section(
        "Kinds of errors",
        chart("errors", "Wrong detections by kind"),
        table(errors_table(result.errors), name="errors"),
        name="errors",
    )


def _confusion(result: OpenSetEvaluation) -> str:
    found = result.confusion
    if not found.rows or not found.columns:
        return ""
    return section(
        "What detections lie on",
        chart("detections", "Detected class (rows) and object (columns): known classes, then unknown ones"),
        name="confusion",
        hint=f"At {point_name(found.recall)} and wilderness ratio {found.ratio:.3g}.",
    )


def _precision(result: OpenSetEvaluation) -> str:
    """Mean average precision by every rule."""
    means = result.mean_average_precision
    rows: list[list[Content]] = [
        [f"{kind.replace('_', ' ')}, IoU {means.iou:g}", value, means.wild[kind]] for kind, value in means.known.items()
    ]
    if result.details is not None:
        coco = result.details.coco
        rows.append(["COCO, IoU .5:.95", coco.mean, "–"])
        rows += [
            [f"COCO, IoU .5:.95, {name} objects", "–" if v is None else v, "–"] for name, v in coco.by_size.items()
        ]
    head = ["Average precision", "Known images", f"With wild images, ratio {means.ratio:.2g}"]
    return section(
        "Mean average precision", table(Table(head, rows, title="Mean over classes"), name="map"), name="map"
    )


def _background(result: OpenSetEvaluation) -> str:
    if not result.background:
        return ""
    rows: list[list[Content]] = [
        [
            name,
            Cell(f"{row.n:,}", row.n),
            Cell(f"{row.mean:+.3f}", row.mean),
            Cell(f"{row.sd:.3f}", row.sd),
            Cell(percent(row.share_background_higher), row.share_background_higher),
        ]
        for name, row in result.background.items()
    ]
    return section(
        "Object against background",
        chart("background", "p(class) - p(background) of correct detections"),
        table(
            Table(
                ["Class", "Correct detections", "Mean difference", "sd", "Background higher"],
                rows,
                title="Would rejecting where the background wins help?",
            ),
            name="background",
            search=True,
        ),
        name="background",
    )


_PARTS = {
    "known": "known ground truth",
    "known_found": "known results",
    "wild": "wild ground truth",
    "wild_found": "wild results",
}


def _origin(result: OpenSetEvaluation) -> str:
    """What was measured, how, and with what."""
    settings = {
        name.replace("_", " "): ", ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in result.settings.items()
        if value is not None
    }
    rows: list[list[Content]] = [
        [called, result.files[part], result.fingerprints[part]] for part, called in _PARTS.items()
    ]
    files = Table(["What", "File", "Fingerprint"], rows, title="Files", align="lll")
    return section(
        "Settings, files and versions",
        table(files, name="files"),
        definitions({**settings, "fingerprint of all data": result.fingerprint, **provenance()}),
        name="foot",
    )


def _sign_off(name: str, result: OpenSetEvaluation, gate: Sequence[GateResult]) -> str:
    """Lines to sign on paper, beside what ties them to these data."""
    passed = gate_summary(gate) if gate else "no bars were set"
    blank = '<span class="blank"></span>'
    lines = {"Detector": text(name), "Data": text(result.fingerprint), "Gate": text(passed)}
    lines |= dict.fromkeys(("Release or not, and why", "Name", "Date"), blank)
    pairs = "".join(f"<dt>{term}</dt><dd>{content}</dd>" for term, content in lines.items())
    return section("Sign-off", f"<dl>{pairs}</dl>", name="sign-off")
