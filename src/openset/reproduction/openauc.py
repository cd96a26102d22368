"""OpenAUC, Table 1 and Figs. 1 and 2: metrics that can be fooled, and the weight of the ranking loss."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from openset.audit import Audit, audit
from openset.curves import UnknownRecallCurve
from openset.reproduction import claims_openauc
from openset.reproduction.drawing import draw
from openset.reproduction.findings import Claim, Line, Report, Table, Value
from openset.reproduction.options import Options
from openset.reproduction.published import published
from openset.reproduction.study import make_cell, read_study, run_folders, run_study
from openset.results.spread import Spread, spread_of
from openset.scores import Scores
from openset.studies.cell import Cell

if TYPE_CHECKING:
    from openset.results.views.runs import Sensitivity

_AUDITED = {"smoke": ("digits",), "cpu": ("cifar10",), "paper": ("cifar10",)}
_CURVED = {"smoke": ("digits",), "cpu": ("cifar10", "cifar+10"), "paper": ("cifar10", "cifar+10", "tinyimagenet")}
_TUNED = {"smoke": ("digits",), "cpu": ("cifar10",), "paper": ("cifar10",)}
WEIGHTS = {
    "smoke": (0.0, 0.1, 0.2, 0.4, 0.6),
    "cpu": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    "paper": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
}
_PROPERTIES = {
    "close": "P1 (close)",
    "open": "P2 (open)",
    "threshold": "P3 (threshold)",
    "numeric": "P4 (numeric)",
}
_MARKS = (
    "The paper's marks are proofs; ours are what the constructions did to these scores. 'not shown' means that a "
    "construction found no samples to work on."
)
_METRICS = ("f_macro", "f_micro", "youden_macro", "youden_micro", "normalized_accuracy")


def _scores(options: Options, name: str, protocols: tuple[str, ...]) -> dict[str, Scores]:
    """Test scores of CE+ (max logit) on each protocol, first split unless told otherwise; trained if needed."""
    split = options.splits[0] if options.splits else 0
    cells = [
        make_cell(name, replace(options, show=False), protocol, "maxlogit", split, options.seeds[0])
        for protocol in options.protocols or protocols
    ]
    run_folders(cells, options)
    return {cell.key.protocol: Scores.read(cell.folder / "scores_test.parquet") for cell in cells}


def _against(scores: Scores) -> str:
    """Unknowns alone, as in the paper, where there are negatives too."""
    return "unknown" if "unknown" in scores.against_choices() else "all"


def table1(options: Options) -> Report:
    """What each metric notices of the paper's constructions, on real scores."""
    tables, claims = [], []
    for protocol, scores in _scores(options, "openauc/table1", _AUDITED[options.scale]).items():
        found = audit(scores, against=_against(scores))
        tables.append(
            Table(f"Properties of metrics on the scores of CE+, {protocol}", property_lines(found), words=True)
        )
        claims.append(agrees(found, protocol))
        tables.append(
            Table(
                f"OpenAUC before and after each metric was fooled, {protocol}",
                [
                    Line(
                        {"metric": one.metric, "construction": one.construction, "pairs changed": str(one.changed)},
                        Value(one.open_auc_after),
                        also={
                            "metric before": Value(one.before),
                            "metric after": Value(one.after),
                            "OpenAUC before": Value(one.open_auc_before),
                        },
                    )
                    for one in found.findings
                ],
                heading="OpenAUC after",
            )
        )
    return Report(
        "openauc/table1",
        "How metrics can be fooled",
        options.scale,
        tables,
        claims,
        [
            _MARKS,
        ],
    )


def property_lines(found: Audit) -> list[Line]:
    """Marks of each metric, ours beside the published ones."""
    paper = published("openauc")["table1"]
    lines = []
    for row in found.table:
        marks = paper["rows"].get(row.metric)
        for place, (name, title) in enumerate(_PROPERTIES.items()):
            ours = _mark(getattr(row, name))
            lines.append(
                Line(
                    {
                        "metric": row.metric,
                        "property": title,
                        "ours": ours,
                        "published": _mark(marks[place]) if marks else "",
                    },
                    None,
                )
            )
    return lines


def _mark(has: bool | None) -> str:
    return "not shown" if has is None else "yes" if has else "no"


def agrees(found: Audit, where: str) -> Claim:
    """Every mark that could be shown is the published one; normalized accuracy's P2 is the known exception."""
    paper = published("openauc")["table1"]
    differ, shown = [], 0
    for row in found.table:
        for name, mark in zip(paper["properties"], paper["rows"].get(row.metric, ()), strict=False):
            ours = getattr(row, name)
            shown += ours is not None
            if ours is not None and ours != mark and (row.metric, name) != ("normalized accuracy", "open"):
                differ.append(f"{row.metric}, {name}")
    return Claim(
        "The consistency analysis of existing metrics for OSR",
        "Table 1",
        not differ if shown else None,
        {"on": where, "marks shown": shown, "other than published": ", ".join(differ) or "none"},
        "normalized accuracy is granted P2 by definition in the paper, and counted here by what the construction does",
    )


def fig1(options: Options) -> Report:
    """Classification metrics over the fraction of unknowns caught."""
    curves: dict[str, dict[str, list[float]]] = {}
    best: dict[str, float] = {}
    figures: list[Path] = []
    for protocol, scores in _scores(options, "openauc/fig1", _CURVED[options.scale]).items():
        curve = audit(scores, against=_against(scores)).curve
        curves[protocol] = as_lists(curve)
        best[protocol] = float(curve.unknown_recall[int(curve.normalized_accuracy.argmax())])
        figures += draw(options, "openauc/fig1", protocol, "unknown_recall", curve)
    lines = [
        Line(
            {"protocol": protocol, "metric": name, "unknowns caught": f"{recall:.0%}"}, Value(_at(curve, name, recall))
        )
        for protocol, curve in curves.items()
        for name in _METRICS
        for recall in (0.1, 0.5, 0.9, 0.95)
    ]
    return Report(
        "openauc/fig1",
        "What classification metrics say as more unknowns are caught",
        options.scale,
        [Table("Largest value of each metric where at least so many unknowns are caught, percent", lines)],
        [claims_openauc.metrics_fall(curves), claims_openauc.best_nacc_catches_few(best)],
        ["The published figure has no printed numbers: it is compared by what the text says about it."],
        figures,
    )


def as_lists(curve: UnknownRecallCurve) -> dict[str, list[float]]:
    """The curve as the claims take it."""
    return {name: np.asarray(getattr(curve, name)).tolist() for name in ("unknown_recall", *_METRICS)}


def _at(curve: Mapping[str, list[float]], name: str, recall: float) -> float:
    return max(value for share, value in zip(curve["unknown_recall"], curve[name], strict=True) if share >= recall)


def fig2(options: Options) -> Report:
    """OpenAUC over the weight lambda; 0 is plain training scored by the largest logit."""
    name = "openauc/fig2"
    protocols = options.protocols or _TUNED[options.scale]
    chosen = replace(options, splits=options.splits or (0,))
    cells = {
        (protocol, weight): [
            _weighted(name, chosen, protocol, weight, split, seed) for split in chosen.splits for seed in chosen.seeds
        ]
        for protocol in protocols
        for weight in WEIGHTS[options.scale]
    }
    every = [cell for some in cells.values() for cell in some]
    outcome = read_study(every, chosen) if options.show else run_study(every, chosen)
    lines, claims, drawn = [], [], {}
    for protocol in protocols:
        means: dict[float, float] = {}
        rows = []
        for weight in WEIGHTS[options.scale]:
            mine = {
                cell.key: outcome.finished[cell.key].value("open_auc").value
                for cell in cells[protocol, weight]
                if cell.key in outcome.finished
            }
            whole = len(mine) == len(cells[protocol, weight])
            labels = {
                "protocol": protocol,
                "lambda": f"{weight:g}",
                "cells": f"{len(mine)} of {len(cells[protocol, weight])}",
            }
            found = spread_of(list(mine.values()), [key.split for key in mine]) if mine else None
            lines.append(Line(labels, None if found is None else Value(found.value)))
            if whole and found is not None:
                means[weight] = found.value
                rows.append((weight, found))
        claims += [
            claims_openauc.weight_helps(means),
            claims_openauc.small_weight_is_best(means),
            claims_openauc.large_weight_hurts(means),
        ]
        if rows:
            drawn[protocol] = _sensitivity(rows)
    return Report(
        name,
        "Sensitivity to the weight of the ranking loss",
        options.scale,
        [Table("OpenAUC in percent by lambda", lines)],
        claims,
        [
            "The published figure has no printed numbers: it is compared by what the text says about it.",
            *outcome.notes(kept=options.keep_changed),
        ],
        draw(options, name, "sensitivity", "sensitivity", drawn) if drawn else [],
        [f"{key.title}: {reason}" for key, reason in outcome.failures],
    )


def _weighted(name: str, options: Options, protocol: str, weight: float, split: int, seed: int) -> Cell:
    if weight == 0:
        return make_cell(name, options, protocol, "maxlogit", split, seed)
    changes = [f"method.weight={weight:g}"]
    return make_cell(name, options, protocol, "openauc", split, seed, variant=f"weight{weight:g}", overrides=changes)


def _sensitivity(rows: list[tuple[float, Spread]]) -> "Sensitivity":
    from openset.results.views.runs import Sensitivity

    return Sensitivity([weight for weight, _ in rows], [spread for _, spread in rows])
