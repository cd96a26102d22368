"""OpenAUC, Table 2: OpenAUC of each method on each data set, over five splits."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from openset.errors import OpenSetError, did_you_mean
from openset.reproduction import claims_openauc
from openset.reproduction.findings import Line, Report, Table, Value
from openset.reproduction.options import Options
from openset.reproduction.published import published
from openset.reproduction.study import Study, grid, make_cell, read_study, run_study
from openset.results.spread import MEANING, spread_of
from openset.studies.cell import Cell
from openset.studies.results_files import Finished, seeds_found

NAME = "openauc/table2"
SPLITS = (0, 1, 2, 3, 4)
PROTOCOLS = {
    "smoke": ("digits",),
    "cpu": ("mnist", "svhn", "cifar10", "cifar+10", "cifar+50", "tinyimagenet"),
    "paper": ("mnist", "svhn", "cifar10", "cifar+10", "cifar+50", "tinyimagenet"),
}
METHODS = {
    "smoke": ("softmax", "maxlogit", "scaled", "acc_auc", "openauc"),
    "cpu": ("softmax", "gcpl", "rpl", "arpl", "arpl_cs", "maxlogit", "scaled", "acc_auc", "openauc"),
    "paper": ("softmax", "gcpl", "rpl", "arpl", "arpl_cs", "maxlogit", "acc_auc", "openauc"),
}
STAND_IN = {"digits": "mnist"}
"""Other data, whose published values are shown beside ours, but not subtracted."""
_PAIRS = (("openauc", "maxlogit"), ("openauc", "acc_auc"), ("maxlogit", "softmax"), ("scaled", "maxlogit"))
_NOTES = {
    "smoke": "The digits of scikit-learn stand in for MNIST: published values are of other data and not comparable.",
    "cpu": "Trained by the fast recipes, not for 600 epochs. Softmax here is the training of CE+ scored by the "
    "largest probability; the published row is a shorter training.",
    "paper": "Trained by the published recipes.",
}

_PAIRED = (
    f"{MEANING} Differences are paired split by split and seed by seed, their intervals are Student's t over splits. "
    "The published splits contain repetitions: "
    "CIFAR10 0 and 1 have the same known classes, and so have CIFAR+N 1 and 2."
)


def reproduce(options: Options) -> Report:
    """Run the cells that are missing, or only read, and put ours beside the published values."""
    chosen = _chosen(options)
    trouble = [] if options.show else run_study(_cells(chosen), chosen).failures
    whole, outcome = _read(options, chosen)
    failures = tuple(f"{key.title}: {reason}" for key, reason in trouble)
    return _report(whole, outcome, failures)


def gaps(options: Options) -> list[Line]:
    """Differences between methods trained alike, from the results that are there."""
    return _gaps(*_read(options, _chosen(options)))


def _read(options: Options, chosen: Options) -> tuple[Options, Study]:
    """All that the results folder holds, of every split and seed."""
    seeds = sorted({*(() if options.show else options.seeds), *seeds_found(options.results, NAME, options.scale)})
    whole = replace(chosen, splits=SPLITS, seeds=seeds or options.seeds, show=True)
    return whole, read_study(_cells(whole), whole)


def _chosen(options: Options) -> Options:
    protocols = _some(options.protocols, PROTOCOLS[options.scale], "protocol", options.scale)
    methods = _some(options.methods, METHODS[options.scale], "method", options.scale)
    splits = options.splits or SPLITS
    wrong = next((split for split in splits if split not in SPLITS), None)
    if wrong is not None:
        raise OpenSetError(f"There is no split {wrong}: the published splits are 0 to 4.")
    return replace(options, protocols=protocols, methods=methods, splits=splits)


def _some(asked: Sequence[str], have: Sequence[str], kind: str, scale: str) -> Sequence[str]:
    for name in asked:
        if name not in have:
            raise OpenSetError(f"{NAME} has no {kind} '{name}' at scale {scale}. {did_you_mean(name, have)}")
    return [name for name in have if name in asked] if asked else have


def _cells(options: Options) -> list[Cell]:
    return grid(
        options,
        options.protocols,
        options.methods,
        lambda protocol, method, split, seed: make_cell(NAME, options, protocol, method, split, seed),
    )


def published_value(protocol: str, method: str) -> Value | None:
    """The result of Table 2, as a fraction."""
    table = published("openauc")["table2"]
    if protocol not in table["protocols"] or method not in table["rows"]:
        return None
    mean, sd = table["rows"][method][table["protocols"].index(protocol)]
    return Value(mean / 100, sd / 100)


def published_row(method: str) -> str:
    """What Table 2 calls a method; empty for one that it does not have."""
    return str(published("openauc")["table2"]["titles"].get(method, ""))


def _report(options: Options, outcome: Study, failures: Sequence[str]) -> Report:
    lines: list[Line] = []
    means: dict[str, dict[str, float]] = {}
    for protocol in options.protocols:
        found = {method: _of(outcome, protocol, method) for method in options.methods}
        lines += [_line(protocol, method, mine) for method, mine in found.items()]
        means |= {protocol: mean} if (mean := _alike(found)) else {}
    overall = Table("OpenAUC in percent, mean ± standard deviation over splits", lines)
    differences = _gaps(options, outcome)
    gaps = Table("Differences between methods trained alike, percent, 95 % interval", differences, signed=True)
    return Report(
        name=NAME,
        title="OpenAUC on the benchmark data sets",
        scale=options.scale,
        tables=[table for table in (overall, gaps) if table.lines],
        claims=[claims_openauc.best_everywhere(means), claims_openauc.acc_auc_inferior(means)],
        notes=[
            _NOTES[options.scale],
            _PAIRED,
            *outcome.notes(kept=options.keep_changed),
        ],
        failures=failures,
    )


def _of(outcome: Study, protocol: str, method: str) -> list[Finished]:
    return [one for key, one in outcome.finished.items() if (key.protocol, key.method) == (protocol, method)]


def _seeds(cells: Iterable[tuple[int, int]]) -> set[int]:
    """Seeds with which every split was run, of (split, seed)."""
    times = Counter(seed for _, seed in cells)
    return {seed for seed, n in times.items() if n == len(SPLITS)}


def _places(cells: Iterable[Finished]) -> list[tuple[int, int]]:
    return [(one.key.split, one.key.seed) for one in cells]


def _even(places: Collection[tuple[int, int]]) -> list[tuple[int, int]]:
    """Cells that make a mean in which every split counts alike: of the seeds that all splits have, if there are any."""
    seeds = _seeds(places)
    return [place for place in places if place[1] in seeds or not seeds]


def _counted(places: Collection[tuple[int, int]]) -> str:
    """`3 of 5 splits`, `5 of 5 splits, 2 seeds`."""
    seeds = len(_seeds(places))
    return f"{len({split for split, _ in places})} of {len(SPLITS)} splits" + (f", {seeds} seeds" if seeds > 1 else "")


def _alike(found: Mapping[str, Sequence[Finished]]) -> dict[str, float]:
    """Means of the published methods that are complete, over the seeds that all of these have."""
    seeds = {method: _seeds(_places(mine)) for method, mine in found.items() if published_row(method)}
    whole = {method: some for method, some in seeds.items() if some}
    common = set.intersection(*whole.values()) if whole else set()
    return {
        method: spread([one for one in found[method] if one.key.seed in common], "open_auc").value
        for method in whole
        if common
    }


def spread(cells: Sequence[Finished], metric: str) -> Value:
    """Mean and standard deviation of a metric over cells."""
    found = spread_of([one.value(metric).value for one in cells], [one.key.split for one in cells])
    return Value(found.value, found.sd)


def _line(protocol: str, method: str, found: Sequence[Finished]) -> Line:
    places = _even(_places(found))
    mine = [one for one in found if (one.key.split, one.key.seed) in places]
    title = published_row(method) or "not in the paper"
    stands_for = STAND_IN.get(protocol)
    paper = published_value(stands_for or protocol, method)
    values = {
        name: spread(mine, metric) if mine else None
        for name, metric in (("accuracy", "closed_set_accuracy"), ("AUROC", "auroc"), ("OpenAUC", "open_auc"))
    }
    labels = {"protocol": protocol, "method": method, "row": title, "cells": _counted(places)}
    also = {"accuracy": values["accuracy"], "AUROC": values["AUROC"]}
    return Line(
        labels,
        values["OpenAUC"],
        paper,
        also,
        remark=f"published: {stands_for}, other data" if stands_for else "",
        compare=stands_for is None and bool(_seeds(places)),
    )


def _gaps(options: Options, outcome: Study) -> list[Line]:
    """Differences paired cell by cell, with an interval over splits."""
    lines = []
    for protocol in options.protocols:
        for first, second in _PAIRS:
            if not {first, second} <= set(options.methods):
                continue
            pairs = pairs_of(_of(outcome, protocol, first), _of(outcome, protocol, second))
            places = _even(pairs)
            paper = [published_value(protocol, method) for method in (first, second)]
            gap = None if paper[0] is None or paper[1] is None else Value(paper[0].value - paper[1].value)
            labels = {"protocol": protocol, "difference of": f"{first} - {second}", "cells": _counted(places)}
            found = paired_gap({place: pairs[place] for place in places})
            lines.append(Line(labels, found, gap, compare=bool(_seeds(places))))
    return lines


def pairs_of(first: Iterable[Finished], second: Iterable[Finished]) -> dict[tuple[int, int], float]:
    """Difference in OpenAUC at each split and seed that both have."""
    one, other = (
        {(cell.key.split, cell.key.seed): cell.value("open_auc").value for cell in cells} for cells in (first, second)
    )
    return {place: one[place] - other[place] for place in one if place in other}


def paired_gap(found: Mapping[tuple[int, int], float]) -> Value | None:
    """Mean of the differences at splits and seeds; with an interval from two on."""
    if not found:
        return None
    gap = spread_of(list(found.values()), [split for split, _ in found])
    return Value(gap.value, low=gap.low, high=gap.high)
