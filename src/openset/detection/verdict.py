"""What the figures of a detector mean, in the words that the terminal and the page share."""

from openset.results.views.detection import DetectionResult, WildernessResult

TRAINING_RULE = "The figures hold only if the detector never saw the wild classes in training, not even without labels."


def headline(result: DetectionResult) -> WildernessResult:
    """The row that the verdict speaks of: recall .3, or the first one without it, as the confusions do."""
    return next((row for row in result.wilderness if row.recall == 0.3), result.wilderness[0])


def verdict(result: DetectionResult) -> str:
    """What the figures mean for someone about to put the detector to work.

    The word goes by the share of precision that is lost when every known image comes with one wild image. Precision
    is that of all detections together, so it is the same for every variant of the Wilderness Impact.
    """
    row = headline(result)
    accepted = row.n_true + row.n_false
    false_on_wild = _false_at_ratio_one(result, row)
    lost = false_on_wild / (accepted + false_on_wild)
    words = ((0.01, "hardly"), (0.05, "noticeably"), (0.2, "strongly"))
    word = next((word for bound, word in words if lost < bound), "severely")
    ratio = result.n_wild / result.n_known
    projected = "" if ratio >= 1 else f" (projected from ratio {ratio:.2g})"
    return (
        f"{word} affected by unknown objects. At recall {row.recall:g} the precision of {row.n_true / accepted:.3f} "
        f"becomes {row.n_true / (accepted + false_on_wild):.3f} when every known image comes with one wild image"
        f"{projected}; 1,000 wild images raise {row.fp_per_1000:.0f} false detections."
    )


def _false_at_ratio_one(result: DetectionResult, row: WildernessResult) -> float:
    """Accepted detections on as many wild images as there are known ones: counted, or projected if there are fewer."""
    if result.n_wild < result.n_known:
        return row.fp_per_1000 * result.n_known / 1000
    errors = next(found for found in result.errors if found.recall == row.recall)
    return sum(errors.open_set) - sum(errors.closed_set)
