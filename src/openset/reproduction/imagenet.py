"""ImageNet protocols: S, BG and EOS; OSCR curves, confidence over epochs, scores of unknowns, CCR at given FPR."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openset.curves import oscr_of
from openset.methods import METHODS as CARDS
from openset.metrics import ccr_at_fpr, closed_set_accuracy, confidence, open_auc
from openset.reproduction import claims_imagenet as claims
from openset.reproduction.drawing import draw
from openset.reproduction.findings import Claim, Line, Report, Table, Value
from openset.reproduction.options import Options
from openset.reproduction.study import make_cell, run_folders
from openset.results.views import probability_histogram
from openset.results.views.runs import GammaLog, TrainingLog
from openset.scores import Scores

METHODS = ("softmax", "background", "entropic")
PROTOCOLS = {
    "smoke": ("digits",),
    "cpu": ("tinyimagenet-p2",),
    "paper": ("imagenet-p1", "imagenet-p2", "imagenet-p3"),
}
_SHORTER = {
    "mnist-letters": ["train.epochs=4"],
    **{f"tinyimagenet-p{number}": ["train.keep=[]"] for number in (1, 2, 3)},  # nothing continues from half a training
}
FPRS = (0.001, 0.01, 0.1, 1.0)
_STAND_IN = {
    "smoke": "The digits of scikit-learn (six known, two negative, two unknown) stand in for ImageNet: only the "
    "paper's words are put to the test, and on other data.",
    "cpu": "Classes of TinyImageNet, chosen in WordNet as the paper chose those of ImageNet, on photographs of 64 x 64 "
    "pixels and a small network (--protocols mnist-letters: digits and letters): a stand-in for ImageNet. Only the "
    "paper's words are put to the test, and on other data.",
}


@dataclass(frozen=True, eq=False)
class Model:
    """A trained method on one protocol."""

    scores: Scores
    log: GammaLog
    background: bool


def models(options: Options, name: str) -> dict[str, dict[str, Model]]:
    """S, BG and EOS on each protocol, trained unless they are there."""
    split = options.splits[0] if options.splits else 0
    cells = []
    for protocol in options.protocols or PROTOCOLS[options.scale]:
        for method in options.methods or METHODS:
            shorter = _SHORTER.get(protocol, []) if options.scale != "paper" else []
            cells.append(make_cell(name, options, protocol, method, split, options.seeds[0], overrides=shorter))
    run_folders(cells, options)
    found: dict[str, dict[str, Model]] = {}
    for cell in cells:
        scores, log = Scores.read(cell.folder / "scores_test.parquet"), _log(cell.folder)
        background = CARDS[cell.config.method.name].background
        found.setdefault(cell.key.protocol, {})[cell.key.method] = Model(scores, log, background)
    return found


def _log(folder: Path) -> GammaLog:
    log = GammaLog.mean([TrainingLog.read(folder / "log.csv")])
    assert log is not None  # these protocols have negatives
    return log


def areas(found: Mapping[str, Model], against: str) -> dict[str, float]:
    """OpenAUC of each method against negatives or unknowns."""
    return {
        name: open_auc(one.scores.labels, one.scores.predictions, one.scores.unknown_score, against=against)
        for name, one in found.items()
    }


def _accuracy(one: Model) -> float:
    return closed_set_accuracy(one.scores.labels, one.scores.predictions)


def _report(
    options: Options, name: str, title: str, tables: list[Table], claims_made: list[Claim], figures: list[Path]
) -> Report:
    notes = [_STAND_IN[options.scale]] if options.scale in _STAND_IN else []
    return Report(name, title, options.scale, tables, claims_made, notes, figures)


def fig2(options: Options) -> Report:
    """OSCR curves against negatives and unknowns."""
    lines, claims_made, figures = [], [], []
    for protocol, found in models(options, "imagenet/fig2").items():
        negative, unknown = areas(found, "negative"), areas(found, "unknown")
        claims_made += [
            claims.similar_closed_set({name: _accuracy(one) for name, one in found.items()}, protocol),
            claims.better_on_negatives(negative, protocol),
            claims.entropic_beats_background(negative, protocol),
            claims.gain_is_lost_on_unknowns(negative, unknown, protocol),
        ]
        for kind, values in (("negative", negative), ("unknown", unknown)):
            lines += [
                Line({"protocol": protocol, "method": name, "against": kind}, Value(v)) for name, v in values.items()
            ]
        curves = {
            kind: {name: oscr_of(one.scores.counts(kind)) for name, one in found.items()}
            for kind in ("negative", "unknown")
        }
        figures += draw(options, "imagenet/fig2", f"oscr-{protocol}", "oscr", curves)
    table = Table("OpenAUC (area under the OSCR curve), percent", lines)
    return _report(options, "imagenet/fig2", "OSCR curves of S, BG and EOS", [table], claims_made, figures)


def fig3(options: Options) -> Report:
    """Confidence on validation data over epochs."""
    lines, claims_made, figures = [], [], []
    for protocol, found in models(options, "imagenet/fig3").items():
        claims_made += [
            claims.knowns_grow_confident({name: one.log.gamma_plus for name, one in found.items()}, protocol),
            claims.entropic_stays_low({name: one.log.gamma_minus for name, one in found.items()}, protocol),
        ]
        for name, one in found.items():
            also = {"gamma+ first": Value(one.log.gamma_plus[0]), "gamma+ last": Value(one.log.gamma_plus[-1])}
            also["gamma- first"] = Value(one.log.gamma_minus[0])
            lines.append(Line({"protocol": protocol, "method": name}, Value(one.log.gamma_minus[-1]), also=also))
        logs = {name: one.log for name, one in found.items()}
        figures += draw(options, "imagenet/fig3", f"confidence-{protocol}", "gamma_over_epochs", logs)
    table = Table("Confidence on validation data; ours: gamma- after the last epoch", lines, percent=False, digits=3)
    return _report(options, "imagenet/fig3", "Confidence over training", [table], claims_made, figures)


def fig4(options: Options) -> Report:
    """Histograms of probabilities."""
    lines, claims_made, figures = [], [], []
    for protocol, found in models(options, "imagenet/fig4").items():
        high = {name: high_share(one.scores) for name, one in found.items()}
        claims_made += [claims.entropic_suppresses(high, protocol), claims.softmax_is_sure(high, protocol)]
        lines += [Line({"protocol": protocol, "method": name}, Value(value)) for name, value in high.items()]
        shown = {name: probability_histogram(one.scores) for name, one in found.items()}
        figures += draw(options, "imagenet/fig4", f"probabilities-{protocol}", "score_histograms", shown)
    table = Table("Unknowns with a largest probability of .9 and above, percent", lines)
    return _report(options, "imagenet/fig4", "Probabilities of knowns and unknowns", [table], claims_made, figures)


def high_share(scores: Scores) -> float:
    """Fraction of unknowns that are taken for a known class with probability .9 or more."""
    assert scores.probabilities is not None
    return float((scores.probabilities[scores.labels == -2].max(axis=1) >= 0.9).mean())


def ccr(options: Options) -> Report:
    """CCR at given FPR, and gamma on the test part."""
    lines: list[Line] = []
    claims_made: list[Claim] = []
    for protocol, found in models(options, "imagenet/ccr").items():
        claims_made.append(claims.similar_closed_set({name: _accuracy(one) for name, one in found.items()}, protocol))
        for name, one in found.items():
            own = one.scores
            for kind in ("negative", "unknown"):
                for fpr in FPRS:
                    value = ccr_at_fpr(own.labels, own.predictions, own.unknown_score, fpr=fpr, against=kind)
                    lines.append(
                        Line({"protocol": protocol, "method": name, "metric": f"CCR@FPR {fpr:g}, {kind}"}, Value(value))
                    )
            assert own.probabilities is not None
            sure = confidence(own.labels, own.probabilities, background=one.background, against="negative")
            for title, value in (("gamma+", sure.gamma_plus), ("gamma-", sure.gamma_minus)):
                lines.append(Line({"protocol": protocol, "method": name, "metric": title}, Value(value)))
    table = Table("CCR at given FPR, and confidence on the test part, percent", lines)
    made = _report(options, "imagenet/ccr", "CCR at given FPR", [table], claims_made, [])
    note = "The published table is in the paper's supplement, which is not transcribed here: no values are beside ours."
    return Report(made.name, made.title, made.scale, made.tables, made.claims, [*made.notes, note])


def table1(options: Options) -> Report:
    """Classes and samples of each protocol."""
    from openset.protocols import find
    from openset.reproduction.published import published

    lines = []
    for protocol, row in published("imagenet")["table1"]["rows"].items():
        roles: Any = find(protocol).splits
        counts = {
            "known": len(roles[0].known.classes or ()),
            "negative": sum(len(one.classes or ()) for one in roles[0].negative),
            "unknown": sum(len(one.classes or ()) for one in roles[0].unknown),
        }
        for kind, numbers in row.items():
            lines.append(
                Line(
                    {"protocol": protocol, "kind": kind, "count": "classes"},
                    Value(counts[kind]),
                    Value(numbers["classes"]),
                )
            )
        if options.scale == "paper":
            lines += _sample_lines(options, protocol, row)
    same = all(line.difference == 0 for line in lines)
    claim = Claim("Classes and samples of the three protocols", "Table 1", same, {"results compared": len(lines)})
    notes = [] if options.scale == "paper" else ["Samples are counted at --scale paper, which needs the images."]
    table = Table("Classes and samples", lines, percent=False, digits=0)
    return Report("imagenet/table1", "The three protocols", options.scale, [table], [claim], notes)


def _sample_lines(options: Options, protocol: str, row: Mapping[str, Any]) -> list[Line]:
    from openset.protocols import load

    opened = load(protocol, data_root=options.data_root, on_corrupt=options.on_corrupt)
    return [
        Line(
            {"protocol": protocol, "kind": kind, "count": f"samples, {part}"},
            Value(samples.counts[number]),
            Value(row[kind]["samples"][place]),
        )
        for place, (part, samples) in enumerate(opened.parts.items())
        for number, kind in enumerate(("known", "negative", "unknown"))
    ]
