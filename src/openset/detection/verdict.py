"""What the figures of a detector mean, in the words that the terminal and the page share."""

from openset.views.detection import DetectionResult, WildernessResult

TRAINING_RULE = "The figures hold only if the detector never saw the wild classes in training, not even without labels."


def headline(result: DetectionResult) -> WildernessResult:
    """The row that the verdict speaks of: recall .3, or the first one without it, as the confusions do."""
    return next((row for row in result.wilderness if row.recall == 0.3), result.wilderness[0])


def verdict(result: DetectionResult) -> str:
    """What the figures mean for someone about to put the detector to work.

    The word goes by the share of precision that is lost when every known image comes with one wild image.
    """
    row = headline(result)
    precision = row.n_true / (row.n_true + row.n_false)
    lost = 1 - 1 / (1 + row.slope)
    words = ((0.01, "hardly"), (0.05, "noticeably"), (0.2, "strongly"))
    word = next((word for bound, word in words if lost < bound), "severely")
    wild = "" if row.ratios[-1] >= 1 else f" (projected from ratio {row.ratios[-1]:.2g})"
    return (
        f"{word} affected by unknown objects. At recall {row.recall:g} the precision of {precision:.3f} "
        f"becomes {precision * (1 - lost):.3f} when every known image comes with one wild image{wild}; 1,000 wild "
        f"images raise {row.fp_per_1000:.0f} false detections ({row.variant} variant)."
    )
