"""Open-set object detection: tables and figures, for simulated, bundled or the user's own detectors."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from openset.detection.choosing import best_f_beta
from openset.detection.measure.errors import Errors
from openset.detection.measure.ranking import matched
from openset.detection.measure.result import OpenSetEvaluation
from openset.detection.read.names import plain
from openset.errors import OpenSetError
from openset.reproduction import claims_elephant as claims
from openset.reproduction.detectors import SOME_ANIMALS, data_of, evaluations, limits_of
from openset.reproduction.drawing import draw
from openset.reproduction.findings import Claim, Line, Report, Table, Value
from openset.reproduction.options import Options
from openset.reproduction.published import published

BETAS = (0.5, 1.0, 1.5)
_RECALLS = (0.1, 0.2, 0.3, 0.4, 0.5)


def _report(
    options: Options,
    name: str,
    title: str,
    table: Table | Sequence[Table],
    claims_made: Sequence[Claim],
    figures: Sequence[Path] = (),
) -> Report:
    tables = [table] if isinstance(table, Table) else list(table)
    return Report(name, title, options.scale, tables, list(claims_made), figures=figures, before=limits_of(options))


def _beside(options: Options, paper: float | None, factor: float = 1.0) -> tuple[Value | None, bool]:
    """A published value, and whether a difference means anything: not between other data."""
    return (None, False) if paper is None else (Value(paper / factor), options.scale == "paper")


def _published(title: str, rows: Mapping[str, Sequence[float]], columns: Sequence[str], factor: float = 1.0) -> Table:
    """The paper's own table, to be read beside ours."""
    names = published("elephant")["titles"]
    lines = [
        Line({"detector": names[name], "": column}, Value(number / factor))
        for name, numbers in rows.items()
        for column, number in zip(columns, numbers, strict=True)
    ]
    return Table(title, lines, percent=factor != 1.0, digits=2 if factor != 1.0 else 4, heading="published")


def table1(options: Options) -> Report:
    """Mean average precision on known images, and with wild ones."""
    lines, means = [], {}
    for name, found in evaluations(options, recalls=(0.3,), bootstrap=0).items():
        precision = found.mean_average_precision
        means[name] = (precision.known["all_point"], precision.wild["all_point"])
        paper = published("elephant")["table1"]["rows"].get(name, (None, None))
        for place, images in enumerate(("known images", f"with wild images, ratio {precision.ratio:.2g}")):
            value, same = _beside(options, paper[place], 100)
            lines.append(Line({"detector": name, "images": images}, Value(means[name][place]), value, compare=same))
    tables = [Table("mAP in percent (all-point, IoU .5)", lines, digits=2)]
    if options.scale != "paper":
        rows = published("elephant")["table1"]["rows"]
        tables.append(_published("Published, in percent", rows, ("known images", "with wild images, ratio 1"), 100))
    claims_made = [claims.wild_images_cost_precision(means)]
    return _report(options, "elephant/table1", "mAP, closed and open", tables, claims_made)


def table2(options: Options) -> Report:
    """Average Wilderness Impact."""
    lines, impact = [], {}
    official = evaluations(options, variant="official", bootstrap=0)
    paper = published("elephant")["table2"]
    for name, found in evaluations(options).items():
        impact[name] = [row.awi for row in found.wilderness]
        for row, other in zip(found.wilderness, official[name].wilderness, strict=True):
            numbers = paper["rows"].get(name)
            number = numbers[paper["recalls"].index(row.recall)] if numbers else None
            value, same = _beside(options, number)
            labels = {"detector": name, "recall": f"{row.recall:g}", "ratios up to": f"{row.ratios[-1]:.2g}"}
            remark = f"without {', '.join(row.unreached)}" if row.unreached else ""
            also = {"official variant": Value(other.awi), "per unit of ratio": Value(row.slope)}
            ours = Value(row.awi, low=row.awi_low, high=row.awi_high)
            lines.append(Line(labels, ours, value, also, remark, compare=same))
    claims_made = [
        claims.impact_grows_with_recall(impact),
        claims.one_stage_is_hit_harder(impact),
        claims.dropout_is_worse(impact),
    ]
    tables = [Table("Average Wilderness Impact (pooled counts)", lines, percent=False, digits=4)]
    if options.scale != "paper":
        columns = [f"recall {recall:g}" for recall in paper["recalls"]]
        tables.append(_published("Published, ratios up to 4.6", paper["rows"], columns))
    return _report(options, "elephant/table2", "Average Wilderness Impact", tables, claims_made)


def fig5(options: Options) -> Report:
    """Wilderness Impact over the wilderness ratio."""
    found = evaluations(options)
    curves = {f"{name}, recall {row.recall:g}": row.impact for name, one in found.items() for row in one.wilderness}
    impact = {name: [row.awi for row in one.wilderness] for name, one in found.items()}
    claims_made = [
        claims.impact_grows_with_wilderness(curves),
        claims.impact_grows_with_recall(impact),
        claims.one_stage_is_hit_harder(impact),
    ]
    lines = [
        Line(
            {"detector": name, "recall": f"{row.recall:g}", "at ratio": f"{row.ratios[-1]:.2g}"},
            Value(row.impact[-1]),
            also={"per unit of ratio": Value(row.slope)},
        )
        for name, one in found.items()
        for row in one.wilderness
    ]
    drawn = draw(
        options, "elephant/fig5", "wilderness", "wilderness", {name: one.wilderness for name, one in found.items()}
    )
    table = Table("Wilderness Impact at the largest ratio", lines, percent=False, digits=4)
    return _report(options, "elephant/fig5", "Wilderness Impact over the wilderness ratio", table, claims_made, drawn)


def fig3(options: Options) -> Report:
    """Kinds of errors at recall .3, without and with wild images."""
    rows = {name: one.errors[0] for name, one in evaluations(options, recalls=(0.3,), bootstrap=0).items()}
    shares = {name: (wrong(row.closed_set), wrong(row.open_set)) for name, row in rows.items()}
    drawn = draw(options, "elephant/fig3", "errors", "detection_errors", rows)
    table = Table("Detections by kind at recall .3, percent", error_lines(rows))
    claims_made = [claims.errors_rise(shares), claims.yolo_is_worst(shares)]
    return _report(options, "elephant/fig3", "Impact of the open set on detection", table, claims_made, drawn)


def _file_name(detector: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in detector).replace("--", "-")


def wrong(counts: Sequence[int]) -> float:
    """Fraction of detections that are not correct."""
    return 1 - counts[0] / sum(counts) if sum(counts) else 0.0


def error_lines(rows: Mapping[str, Errors]) -> list[Line]:
    """One line per detector and kind of error: closed set beside open set."""
    from openset.detection.measure.errors import KINDS

    lines = []
    for name, row in rows.items():
        closed, opened = Errors.percent(row.closed_set), Errors.percent(row.open_set)
        for place, kind in enumerate(KINDS):
            labels = {"detector": name, "recall": f"{row.recall:g}", "kind": kind}
            also = {"known images alone": Value(closed[place] / 100)}
            lines.append(Line(labels, Value(opened[place] / 100), also=also))
    return lines


def figs9_11(options: Options) -> Report:
    """The same at recalls .1 to .5, one figure per detector."""
    found = evaluations(options, recalls=_RECALLS, bootstrap=0)
    shares = {name: [_unknown_share(row) for row in one.errors] for name, one in found.items()}
    lines, drawn = [], []
    for name, one in found.items():
        lines += [line for row in one.errors for line in error_lines({name: row})]
        rows = {f"recall {row.recall:g}": row for row in one.errors}
        drawn += draw(options, "elephant/fig9-11", f"errors-{_file_name(name)}", "detection_errors", rows)
    table = Table("Detections by kind, percent", lines)
    claims_made = [claims.unknowns_grow_with_recall(shares)]
    return _report(options, "elephant/fig9-11", "Impact of unknowns at recalls .1 to .5", table, claims_made, drawn)


def _unknown_share(row: Errors) -> float:
    counts = row.open_set
    return sum(counts[4:]) / sum(counts) if sum(counts) else 0.0


def fig4(options: Options) -> Report:
    """What unknown objects are taken for; where animals are hidden, only some are, so that relatives stay known."""
    lines, claims_made, drawn = [], [], []
    found = evaluations(options, recalls=(0.3,), hidden=SOME_ANIMALS, with_hidden=True, bootstrap=0)
    for name, one in found.items():
        within, total, expected = family_counts(one)
        claims_made.append(claims.confused_within_family(name, within, total, expected))
        lines.append(
            Line(
                {"detector": name, "detections on unknown objects": str(total)},
                Value(within / total) if total else None,
            )
        )
        drawn += draw(options, "elephant/fig4", f"confusion-{_file_name(name)}", "detection_confusion", one.confusion)
    table = Table("Of those, taken for a class of the same family, percent", lines)
    return _report(options, "elephant/fig4", "Confusion of knowns and unknowns", table, claims_made, drawn)


_FAMILIES = (
    ("bird", "cat", "cow", "dog", "horse", "sheep", "elephant", "bear", "zebra", "giraffe"),
    ("aeroplane", "bicycle", "boat", "bus", "car", "motorbike", "train", "truck"),
    ("chair", "diningtable", "sofa", "bench", "bed", "toilet"),
    ("tvmonitor", "laptop", "cell phone", "microwave", "oven", "refrigerator"),
)


def family_counts(found: OpenSetEvaluation) -> tuple[int, int, float]:
    """Detections on unknown objects of a family: those that claim one of it, all, and the fraction expected by chance.

    Chance: claims are as frequent as they are on all unknown objects together.
    """
    table = found.confusion
    family = {plain(name): number for number, names in enumerate(_FAMILIES) for name in names}
    claimed = [sum(row[table.n_known :]) for row in table.counts]
    within = total = 0
    expected = 0.0
    for column in range(table.n_known, len(table.columns)):
        own = family.get(plain(table.columns[column]))
        if own is None:
            continue
        counts = [row[column] for row in table.counts]
        same = [family.get(plain(name)) == own for name in table.rows]
        within += sum(count for count, is_same in zip(counts, same, strict=True) if is_same)
        total += sum(counts)
        share = sum(count for count, is_same in zip(claimed, same, strict=True) if is_same) / max(sum(claimed), 1)
        expected += share * sum(counts)
    return within, total, expected / total if total else 0.0


def table3(options: Options) -> Report:
    """Object minus background probability by class."""
    return _background(options, "elephant/table3", figure=False)


def fig8(options: Options) -> Report:
    """Histograms of the same."""
    return _background(options, "elephant/fig8", figure=True)


def _background(options: Options, name: str, *, figure: bool) -> Report:
    lines, drawn, shares = [], [], {}
    for detector, one in evaluations(options, recalls=(0.3,)).items():
        if one.background is None:
            continue
        paper = published("elephant")["table3"]["rows"]
        for kind, row in one.background.items():
            value, same = _beside(options, paper[kind][0] if kind in paper else None)
            if value is not None:
                value = Value(value.value, paper[kind][1])
            shares[f"{detector}, {kind}"] = row.share_background_higher
            also = {"background higher": Value(row.share_background_higher)}
            lines.append(
                Line({"detector": detector, "class": kind}, Value(row.mean, row.sd), value, also, compare=same)
            )
        if figure:
            drawn += draw(
                options, name, f"background-{_file_name(detector)}", "object_versus_background", one.background
            )
    if not lines:
        raise OpenSetError(
            f"{name} needs results with a 'background_score' on each detection: give such files with --known-gt, "
            "--wild-gt, --known-dt and --wild-dt."
        )
    table = Table(
        "Object minus background probability of correct detections, mean ± sd", lines, percent=False, digits=3
    )
    title = "Object against background probability"
    return _report(options, name, title, table, [claims.background_often_wins(shares)], drawn)


def table4(options: Options) -> Report:
    """The best F-beta of one class at each wilderness ratio."""
    paper = published("elephant")["table4"]
    lines, claims_made = [], []
    for name, data in data_of(options, hidden=("bird", "cat", "dog", "horse", "sheep")).items():
        _, ranked = matched(data)
        chosen = paper["class"] if paper["class"] in data.known.class_names else data.known.class_names[0]
        most = data.wild.n_images / data.known.n_images
        ratios = [ratio for ratio in paper["ratios"] if ratio <= most] if most >= 0.5 else [0.0, most / 2, most]
        thresholds: dict[float, list[float]] = {}
        for beta in BETAS:
            rows = [row for row in best_f_beta(data, ranked, beta=beta, ratios=ratios) if row.class_name == chosen]
            thresholds[beta] = [row.threshold for row in rows]
            for row in rows:
                column = paper["beta"][f"{beta:.1f}"]
                number = column["f_score"][paper["ratios"].index(row.ratio)] if row.ratio in paper["ratios"] else None
                beside = number if name == "retinanet" or options.scale != "paper" else None
                value, same = _beside(options, beside)
                labels = {"detector": name, "class": chosen, "beta": f"{beta:g}", "ratio": f"{row.ratio:.2f}"}
                also = {
                    "precision": Value(row.precision),
                    "recall": Value(row.recall),
                    "threshold": Value(row.threshold),
                }
                lines.append(Line(labels, Value(row.f_score), value, also, compare=same and beta != 0.5))
        claims_made.append(claims.thresholds_do_not_carry_over(name, thresholds))
    table = Table(
        "Largest F-beta (the printed column of beta .5 lacks the formula's denominator)", lines, percent=False, digits=3
    )
    return _report(options, "elephant/table4", "F-beta to choose an operating point", table, claims_made)
