"""A watched stream as a table and in words."""

from openset._core.numbers import percent, percents
from openset.operating.watching import Watched
from openset.results.table import Cell, Content, Table


def watch_table(watched: Watched, *, last: int | None = None) -> Table:
    """One row per window, of the `last` ones where there are more; those from the alarm on stand out."""
    rows: list[list[Content]] = []
    for one in watched.windows[-last:] if last else watched.windows:
        share = percents(one.unknown.value, one.unknown.interval.low, one.unknown.interval.high)
        tone = "bad" if one.alarm else ""
        texts = [one.name, f"{one.unknown.n:,}", share, f"{one.evidence:.3g}"]
        values = [None, one.unknown.n, one.unknown.value, min(one.evidence, 1e300)]
        rows.append([Cell(shown, value, tone=tone) for shown, value in zip(texts, values, strict=True)])  # type: ignore[arg-type]
    return Table(
        ["Window", "Samples", "Unknown", "Evidence"], rows, title="Fraction of unknowns over time", note=_note(watched)
    )


def watch_verdict(watched: Watched) -> str:
    """What it means."""
    promise = watched.promise
    if watched.alarm is None:
        return (
            f"No alarm: the fraction of unknowns is in line with the {percent(promise.largest)} at most that "
            f"{promise.n_known:,} validation knowns promise."
        )
    one = watched.alarm
    share = percents(one.unknown.value, one.unknown.interval.low, one.unknown.interval.high)
    return (
        f"Alarm in window {one.name}: more unknowns than the {percent(promise.largest)} at most that "
        f"{promise.n_known:,} validation knowns promise ({share} in this "
        "window). Look at what is rejected: new classes, other preparation of the data, or a worn sensor."
    )


def _note(watched: Watched) -> str:
    return (
        f"Expected: {percent(watched.promise.expected)}. In brackets: 95 % intervals, exact (Clopper-Pearson). Alarm "
        f"where the evidence reaches {watched.limit:g}: while the promise holds, the chance that it ever does is at "
        f"most {watched.alpha:g}, however often one looks."
    )
