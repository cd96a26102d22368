"""The fraction of unknowns over time against what validation promised, with an alarm."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openset._io.score_stream import Batch, open_stream
from openset.errors import OpenSetError, check_share
from openset.intervals import clopper_pearson
from openset.operating.alarm import Evidence
from openset.operating.applying import FileDecisions, decide_files, notes_on_files
from openset.operating.decisions import Decider
from openset.operating.rates import Rate
from openset.operating.threshold import Threshold

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 1
_LENGTH = re.compile(r"([1-9]\d{0,5}(s|mo|m|h|d|w|q|y))+", re.ASCII)
"""A length of time as polars writes it; 0d would make a window of every sample."""


@dataclass(frozen=True)
class Promise:
    """What validation says about the fraction of samples that the threshold will reject."""

    expected: float
    """Of what arrives, if nothing changes; without `unknown_share`, of knowns."""
    largest: float
    """The most that is in line with the validation samples, but for a chance of `risk`."""
    unknown_share: float
    risk: float
    n_known: int

    @classmethod
    def of(cls, threshold: Threshold, *, unknown_share: float = 0.0, risk: float = 0.005) -> "Promise":
        """From what the threshold does on the data it was chosen on.

        Of n knowns r were rejected, and `largest` is the upper end of the exact one-sided interval of r / n. For a
        threshold that is itself a score of a known (`at_acceptance`, `conformal`) this is the very distribution of the
        fraction of new knowns that it rejects. Of unknowns any number may be rejected, up to all.
        """
        check_share("watch", "unknown_share", unknown_share, zero=True, one=False)
        samples = threshold.made.get("samples")
        n_known = samples.get("known") if isinstance(samples, dict) else None
        acceptance = threshold.achieved.get("acceptance")
        if not isinstance(n_known, int) or n_known < 1 or acceptance is None:
            raise OpenSetError(
                "The threshold file does not tell on how many knowns it was chosen and how many of them it accepts, so "
                "nothing is promised: choose it with openset threshold on validation scores."
            )
        rejected = n_known - round(acceptance * n_known)
        upper = clopper_pearson(rejected, n_known, level=1 - 2 * risk).high
        caught = 1 - threshold.achieved.get("fpr", 0.0)
        expected = (1 - unknown_share) * (1 - acceptance) + unknown_share * caught
        return cls(expected, (1 - unknown_share) * upper + unknown_share, unknown_share, risk, n_known)


@dataclass(frozen=True)
class WatchedWindow:
    """One stretch of samples."""

    name: str
    unknown: Rate
    evidence: float
    """What betting against the promise has won by its end."""
    alarm: bool
    """Whether the alarm had been reached by its end."""

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON; evidence beyond all numbers is the largest of them."""
        evidence = min(self.evidence, float(np.finfo(np.float64).max))
        return {"name": self.name, "unknown": self.unknown.as_json(), "evidence": evidence, "alarm": self.alarm}


@dataclass(frozen=True)
class Watched:
    """A stream, window by window."""

    windows: tuple[WatchedWindow, ...]
    promise: Promise
    alpha: float
    notes: tuple[str, ...] = ()

    @property
    def limit(self) -> float:
        """Evidence at which the alarm goes off: half of `alpha` is for it, half for the validation samples."""
        return 2 / self.alpha

    @property
    def alarm(self) -> WatchedWindow | None:
        """The window that raised the alarm."""
        return next((one for one in self.windows if one.alarm), None)

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "alarm": None if self.alarm is None else self.alarm.name,
            "alpha": self.alpha,
            "limit": self.limit,
            "promise": asdict(self.promise),
            "windows": [one.as_json() for one in self.windows],
            "notes": list(self.notes),
        }


@dataclass
class Watch:
    """Counts samples window by window, as they come.

    >>> made = Watch(Promise(0.05, 0.06, 0.0, 0.005, 1000))
    >>> for day, rejected in (("Monday", 5), ("Tuesday", 40)):
    ...     made.add(day, 100, rejected)
    >>> made.result().alarm.name
    'Tuesday'
    """

    promise: Promise
    alpha: float = 0.01
    windows: list[WatchedWindow] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_share("watch", "alpha", self.alpha, one=False)
        self._evidence = Evidence(self.promise.largest)

    def add(self, name: str, n: int, rejected: int) -> None:
        """One more window."""
        evidence = self._evidence.add(n, rejected)
        alarm = evidence >= 2 / self.alpha or any(one.alarm for one in self.windows)
        self.windows.append(WatchedWindow(name, Rate("unknown", "all", rejected, n), evidence, alarm))

    def result(self, notes: Sequence[str] = ()) -> Watched:
        """All of it."""
        return Watched(tuple(self.windows), self.promise, self.alpha, tuple(notes))


def watch_files(
    decider: Decider,
    files: Sequence[str | Path],
    *,
    time: str | None = None,
    every: str = "1d",
    rows: int | None = None,
    unknown_share: float = 0.0,
    alpha: float = 0.01,
    progress: Callable[[int], object] | None = None,
) -> Watched:
    """Share of unknowns in files, in their order: a window per file, per `rows`, or per `every` of a column `time`."""
    check_share("watch", "alpha", alpha, one=False)
    if 1 - alpha == 1:
        raise OpenSetError(
            f"watch: 'alpha' is {alpha:g}, which is too small: no number of samples could raise an alarm."
        )
    if time is not None and not _LENGTH.fullmatch(every):
        raise OpenSetError(f"--every '{every}' is no length of time: write for example 1d, 12h or 30m.")
    promise = Promise.of(decider.threshold, unknown_share=unknown_share, risk=alpha / 2)
    watch = Watch(promise, alpha)
    counted: dict[str, FileDecisions] = {}
    name, n, rejected = "", 0, 0
    for label, mask in _labelled(decider, files, time, every, rows, counted, progress):
        if n and label != name:
            watch.add(name, n, rejected)
            n = rejected = 0
        name, n, rejected = label, n + len(mask), rejected + int(mask.sum())
    watch.add(name, n, rejected)
    return watch.result(notes_on_files(decider, list(counted.values())))


def _labelled(
    decider: Decider,
    files: Sequence[str | Path],
    time: str | None,
    every: str,
    rows: int | None,
    counted: dict[str, FileDecisions],
    progress: Callable[[int], object] | None,
) -> Iterator[tuple[str, Any]]:
    """Runs of samples of one window each: its name, and which are rejected."""
    streams = [open_stream(file) for file in files]
    by_rows = rows if rows is not None else (1000 if len(files) == 1 and time is None else None)
    seen, last = 0, None
    for stream, batch, found, origin in decide_files(
        decider, streams, beside=[] if time is None else [time], progress=progress
    ):
        decided = counted.setdefault(str(stream.file), FileDecisions(str(stream.file)))
        decided.origin = origin
        decided.count(found)
        if time is not None:
            labels, last = _times(batch, time, every, str(stream.file), last)
        elif by_rows is not None:
            start = (seen + np.arange(len(found))) // by_rows * by_rows
            labels = np.char.add("row ", start.astype(str)).tolist()
        else:
            labels = [str(stream.file)] * len(found)
        seen += len(found)
        edges = [0, *(np.flatnonzero(np.array(labels[1:]) != np.array(labels[:-1])) + 1).tolist(), len(labels)]
        for begin, end in pairwise(edges):
            yield labels[begin], found.rejected[begin:end]


def _times(batch: Batch, column: str, every: str, file: str, last: Any) -> tuple[list[str], Any]:
    """The beginning of each sample's window, as text; times must not go back."""
    import polars as pl

    given = batch.beside[column]
    times = _as_times(given, column, file, batch)
    before = times.shift(1, fill_value=last) if last is not None else times.shift(1).fill_null(times[0])
    back = (times < before).arg_max() if (times < before).any() else None
    if back is not None:
        raise OpenSetError(
            f"{file}: '{column}' goes back in {batch.columns.where(back)} ({given[back]}): sort the rows by time."
        )
    try:
        windows = times.dt.truncate(every)
    except pl.exceptions.PolarsError as error:
        raise OpenSetError(f"--every '{every}' is no length of time: write for example 1d, 12h or 30m.") from error
    except BaseException as error:  # polars panics on some
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise OpenSetError(f"--every '{every}' is no length of time: write for example 1d, 12h or 30m.") from error
    return windows.dt.to_string("%Y-%m-%d %H:%M:%S").str.replace(" 00:00:00$", "").to_list(), times[-1]


def _as_times(given: "pl.Series", column: str, file: str, batch: Batch) -> "pl.Series":
    import polars as pl

    if given.dtype.is_temporal() and given.dtype in (pl.Datetime, pl.Date):
        times = given.cast(pl.Datetime("us"))
    elif given.dtype.is_numeric():
        times = (given.cast(pl.Float64) * 1e6).cast(pl.Int64, strict=False).cast(pl.Datetime("us"))
    elif given.dtype == pl.String:
        times = _from_text(given)
    else:
        raise OpenSetError(f"{file}: column '{column}' holds {given.dtype}, not times.")
    if times.null_count():
        row = int(times.is_null().arg_max() or 0)
        cell = given[row]
        shown = "missing" if cell is None or not str(cell).strip() else f"'{str(cell)[:40]}'"
        raise OpenSetError(
            f"{file}: '{column}' is {shown} in {batch.columns.where(row)}, which is no time: write 2026-03-01, "
            "2026-03-01 12:30:00 or seconds since 1970."
        )
    return times


def _from_text(given: "pl.Series") -> "pl.Series":
    """ISO dates and times, with or without a zone, or seconds since 1970."""
    import polars as pl

    texts = given.str.strip_chars()
    made = texts.str.to_datetime("%+", strict=False, time_zone="UTC").dt.replace_time_zone(None).cast(pl.Datetime("us"))
    for form in ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"):
        made = made.fill_null(texts.str.to_datetime(form, strict=False).cast(pl.Datetime("us")))
    made = made.fill_null(texts.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us")))
    seconds = (texts.cast(pl.Float64, strict=False) * 1e6).cast(pl.Int64, strict=False).cast(pl.Datetime("us"))
    return made.fill_null(seconds)
