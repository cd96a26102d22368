"""All plots of a result document, written to a folder."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from openset._core.checks import open_mask
from openset.curves import oscr_of, roc_of, unknown_recall_of
from openset.metrics import open_set_confusion_matrix
from openset.operating import at_acceptance
from openset.present.plots import classes, curves, histograms, matrices
from openset.present.plots.style import plain, save
from openset.results.document import Document
from openset.results.views import class_rates, oscr_band, probability_histogram, risk_curve, score_histogram
from openset.scores import Scores

_PANELS = 9
_ACCEPTANCE = 0.95
_CHOSEN_HERE = f"threshold that accepts {_ACCEPTANCE:.0%} of these knowns"
"""A plot at a threshold says that no validation data chose it."""


def write_figures(folder: str | Path, document: Document, *, formats: Sequence[str] = ("pdf", "png")) -> list[Path]:
    """Write every plot that the scores of a document allow, as PDF and PNG; returns the files.

    Plots of one model (confusion, classes, unknown recall) show the one with the largest OpenAUC, and name it where
    there are several. File names are fixed words, so that no model's name can lead out of the folder.
    """
    best = document.ranking[0]
    written = []
    for name, make in _figures(document, best):
        figure = make()
        above = [plain(document.names[best])] if name.endswith("-best") else []
        above += [_CHOSEN_HERE] if name.startswith(("confusion", "per-class")) else []
        if above:
            figure.suptitle("; ".join(above), fontsize=8)
        written += save(figure, Path(folder) / name, formats=formats)
    return written


def _figures(document: Document, best: int) -> Iterator[tuple[str, Callable[[], Figure]]]:
    models = document.models
    named = dict(zip(document.names, models, strict=True))
    chosen = models[best]
    parts = list(dict.fromkeys(part for one in document.evaluations for part in one.against))
    named_parts = [part for part in parts if part in ("negative", "unknown")]
    apart = named_parts if len(named_parts) == 2 else parts[:1]
    lines = {
        part: {name: oscr_of(scores.counts(part)) for name, scores in named.items() if _has(scores, part)}
        for part in parts
    }
    # Bands of many models would cover each other.
    bands = (
        {part: {n: oscr_band(named[n], against=part) for n in lines[part]} for part in apart}
        if len(models) <= 4
        else {}
    )
    shown = {part: lines[part] for part in apart if lines[part]}
    yield "oscr-log", lambda: curves.oscr(shown, bands=bands, log=True)
    yield "oscr-linear", lambda: curves.oscr(shown, bands=bands, log=False)
    main = parts[0]
    yield "roc", lambda: curves.roc({name: roc_of(scores.counts(main)) for name, scores in named.items()}, against=main)
    suffix = "-best" if len(models) > 1 else ""
    yield (
        f"unknown-recall{suffix}",
        lambda: curves.unknown_recall(unknown_recall_of(chosen.counts(main)), against=main),
    )
    yield (
        "risk",
        lambda: curves.risk({name: risk_curve(scores, against=main) for name, scores in named.items()}, against=main),
    )
    few = dict(list(named.items())[:_PANELS])
    yield "score-histograms", lambda: histograms.score_histograms({n: score_histogram(s) for n, s in few.items()})
    probable = {name: scores for name, scores in few.items() if scores.probabilities is not None}
    if probable:
        yield (
            "probability-histograms",
            lambda: histograms.score_histograms({n: probability_histogram(s) for n, s in probable.items()}),
        )
    threshold = at_acceptance(chosen, _ACCEPTANCE).value
    many_open = chosen.open_classes is not None and len(set(chosen.open_classes.tolist())) > 2 * chosen.n_classes + 20
    yield (
        f"confusion{suffix}",
        lambda: matrices.confusion(
            open_set_confusion_matrix(
                chosen.labels,
                chosen.predictions,
                chosen.unknown_score,
                threshold=threshold,
                open_classes=None if many_open else chosen.open_classes,
                class_names=chosen.class_names,
                n_classes=chosen.n_classes,
            )
        ),
    )
    yield f"per-class-ccr{suffix}", lambda: classes.per_class_ccr(class_rates(chosen, threshold))


def _has(scores: Scores, part: str) -> bool:
    """Whether there are such open-set samples; one model may lack the negatives, or a group, that another has."""
    if part in ("all", "negative", "unknown"):
        return bool(open_mask(scores.labels, part).any())
    return scores.groups is not None and part in scores.groups[scores.labels < 0]
