"""What a reader of the results should know: what is missing, too few, or not as it seems."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from openset._core.numbers import counted
from openset.detection.measure.rates import FEW_EVENTS, few, images_for_precision, images_for_rate
from openset.detection.measure.sets import Levels, OpenSetData
from openset.detection.measure.wilderness import IN_FILE_ORDER

if TYPE_CHECKING:
    from openset.detection.measure.result import OpenSetEvaluation


def notes_on(data: OpenSetData, levels: Levels, result: "OpenSetEvaluation") -> tuple[str, ...]:
    """All notes, those on the files first."""
    return (
        *data.notes,
        *([levels.note] if levels.note else []),
        *_silent(data, result),
        *_partly_annotated(data),
        *_lost(result),
        *_few_wild_images(result),
        *_file_order(result),
        *_no_intervals(result),
    )


def _silent(data: OpenSetData, result: "OpenSetEvaluation") -> Iterator[str]:
    """A detector that is silent on wild images is more often a missing file than a miracle."""
    if not len(data.wild_found):
        yield "there is not one detection on the wild images, so their results file is probably not complete"
    elif result.silence.suspicious:
        yield (
            f"{result.silence.wild} of the {result.n_wild} wild images have no detection at all, while the others "
            "hardly ever have just one, so the wild results are probably not complete: images that the detector was "
            "not run on count as images without a false detection"
        )


def _partly_annotated(data: OpenSetData) -> Iterator[str]:
    """Where annotations are missing, what asks for them is measured on fewer images, or not at all."""
    n, total = int(data.wild_annotated.sum()), data.wild.n_images
    asks = "OWOD's metrics and the kinds 'unknown unknown' and 'mixed unknown'"
    if not n:
        yield f"none of the {total} wild images has annotations, so {asks} are not defined there"
    elif n < total:
        yield f"{n} of the {total} wild images have annotations: {asks} are over these alone"


def _lost(result: "OpenSetEvaluation") -> Iterator[str]:
    for recall in result.lost_recalls:
        yield f"no class reaches recall {recall:g}, so nothing is reported there"
    nothing = result.mean_average_precision.without_objects
    if nothing:
        yield f"nothing is known about classes without an object to find: {', '.join(nothing)}"


def _few_wild_images(result: "OpenSetEvaluation") -> Iterator[str]:
    """What the number of wild images can show, where false detections are few."""
    for point in result.operating:
        rate, n = point.total.fp_per_1000, point.total.n_open
        if rate.value is None or n >= FEW_EVENTS:
            continue
        assert rate.low is not None
        assert rate.high is not None
        ends = f"the rate per 1,000 may be anything from {few(rate.low)} to {few(rate.high)}"
        if n:
            needs = images_for_precision(n, result.n_wild)
            yield (
                f"at {point.name} there are {counted(n, 'false detection')} on {result.n_wild:,} wild images: {ends}; "
                f"about {needs:,} wild images would tell it to within half of it"
            )
        else:
            yield (
                f"at {point.name} there is no false detection on {result.n_wild:,} wild images: {ends}; "
                f"to show at most 1 per 1,000 takes {images_for_rate(1):,} wild images without any"
            )


def _file_order(result: "OpenSetEvaluation") -> Iterator[str]:
    if any(row.variant == IN_FILE_ORDER for row in result.wilderness):
        yield (
            f"the variant '{IN_FILE_ORDER}' adds wild images in the order of their file, as the released program does: "
            "another order gives another value, and fewer images a smaller one; its interval is for sets of this size"
        )


def _no_intervals(result: "OpenSetEvaluation") -> Iterator[str]:
    """Few draws of few objects may miss them all; more draws help."""
    n = result.settings["bootstrap"]
    if n:
        for name in dict.fromkeys(row.point.name for row in result.wilderness if row.awi_low is None):
            yield f"there is no interval at {name}, where no class has an object in any of the {n} draws of images"
