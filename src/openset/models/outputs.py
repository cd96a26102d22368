"""Running a model over samples: in batches, with what is done kept on disk, so that a stopped run goes on."""

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openset._io.atomic import replacing
from openset._io.folder_lock import NAME as LOCK
from openset._io.folder_lock import hold
from openset._io.json_files import read_json, write_json
from openset._io.npz import read_npz, write_npz
from openset._io.pictures import BadImageError
from openset.errors import OpenSetError
from openset.models.card import Answers, Floats, Model
from openset.models.class_lists import check_number
from openset.models.samples import Samples

_PART = 2048
"""Samples after which what was computed goes to disk."""
_AHEAD = 3
"""Batches that are read while another is computed."""


class Done(NamedTuple):
    """What a model says about some of the samples."""

    rows: NDArray[np.int64]
    answers: Answers | None
    """None where no sample of the batch could be read."""
    bad: list[str]
    """Why others of the batch could not be read."""


@dataclass(frozen=True)
class Written:
    """What a file of outputs holds."""

    n: int
    parts: tuple[str, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    resumed: int
    """Samples that an earlier, stopped run had done."""


def run_batches(model: Model, samples: Samples, *, batch: int = 32, start: int = 0, workers: int = 2) -> Iterator[Done]:
    """What the model says, batch by batch, in order; samples are read ahead by threads."""
    places = iter(range(start, len(samples), batch))

    def read(first: int) -> tuple[list[int], list[Any], list[str]]:
        rows, ready, bad = [], [], []
        for row in range(first, min(first + batch, len(samples))):
            try:
                ready.append(model.prepare(samples.load(row)))
                rows.append(row)
            except BadImageError as error:
                bad.append(str(error))
        return rows, ready, bad

    ahead: deque[Future[tuple[list[int], list[Any], list[str]]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            while True:
                while len(ahead) < _AHEAD and (first := next(places, None)) is not None:
                    ahead.append(pool.submit(read, first))
                if not ahead:
                    return
                rows, ready, bad = ahead.popleft().result()
                answers = _finite(model.run(ready), samples, rows, model) if ready else None
                yield Done(np.array(rows, dtype=np.int64), answers, bad)
        finally:
            for one in ahead:
                one.cancel()


def _finite(answers: Answers, samples: Samples, rows: Sequence[int], model: Model) -> Answers:
    """Logits and features are numbers; else the sample is named, now and not when a score is made of them."""
    for what, values in (("logits", answers.logits), ("features", answers.features)):
        if values is not None and not np.isfinite(values).all():
            row = rows[int(np.argmin(np.isfinite(values).all(axis=1)))]
            raise OpenSetError(
                f"{model.name}: the {what} of {samples.ids[row]} are not finite numbers: look at the sample and at the "
                "weights."
            )
    return answers


def write_outputs(
    model: Model,
    samples: Samples,
    out: Path,
    *,
    batch: int = 32,
    progress: Callable[[int], object] = lambda _: None,
    tell: Callable[[str], object] = lambda _: None,
) -> Written:
    """Run the model over all samples and write one NPZ file; parts of a run that was stopped are used.

    Two at once into one file would take each other's parts for their own, so the second is refused.
    """
    if out.suffix.lower() != ".npz":
        raise OpenSetError(f"Cannot write {out}: outputs go into a file that ends in .npz.")
    parts = Parts(out.with_name(f".{out.name}.parts"), {"model": model.fingerprint, "samples": samples.fingerprint})
    with hold(parts.folder):
        return _write_outputs(model, samples, out, parts, batch=batch, progress=progress, tell=tell)


def _write_outputs(
    model: Model,
    samples: Samples,
    out: Path,
    parts: "Parts",
    *,
    batch: int,
    progress: Callable[[int], object],
    tell: Callable[[str], object],
) -> Written:
    resumed = parts.begin()
    if resumed:
        tell(f"Resuming: {resumed} of {len(samples)} samples are done.")
        progress(resumed)
    waiting: list[Done] = []
    n_waiting = 0
    for done in run_batches(model, samples, batch=batch, start=resumed):
        waiting.append(done)
        n_waiting += len(done.rows) + len(done.bad)
        if n_waiting >= _PART:
            parts.add(waiting, n_waiting)
            waiting, n_waiting = [], 0
        progress(len(done.rows) + len(done.bad))
    if waiting:
        parts.add(waiting, n_waiting)
    rows, logits, features, left_out = parts.joined()
    if not len(rows):
        raise OpenSetError(f"None of the {len(samples)} samples can be read: {left_out[0]}.")
    if model.head is None and features is not None and resumed == len(samples):
        model.run([model.prepare(samples.load(int(rows[0])))])  # all was done before: the last layer is still needed
    names = model.class_names or samples.class_names
    n_classes = logits.shape[1] - model.background
    check_number(names, n_classes, model.name, samples.name)
    if samples.labels is not None and samples.labels.max() >= n_classes:
        row = int(samples.labels.argmax())
        raise OpenSetError(
            f"{samples.name}, {samples.ids[row]}: the label is {samples.labels[row]}, and {model.name} has {n_classes} "
            f"classes, 0 to {n_classes - 1}."
        )
    head = model.head if features is not None else None
    weight, bias = head or (None, None)
    meta = {
        **samples.meta,
        "model": model.fingerprint,
        "made_by": model.name,
        "preparation": model.preparation,
        "background": model.background,
        "left_out": list(left_out),
    }
    arrays: dict[str, NDArray[Any] | None] = {
        "logits": logits,
        "features": features,
        "weight": weight,
        "bias": bias,
        "ids": samples.ids[rows],
        "labels": None if samples.labels is None else samples.labels[rows],
        "groups": None if samples.groups is None else samples.groups[rows],
        "open_classes": None if samples.open_classes is None else samples.open_classes[rows],
        "class_names": None if names is None else np.array(names, dtype=np.str_),
        "openset": np.array(json.dumps({"class_names": names, "meta": meta}, allow_nan=False)),
    }
    stored = {name: array for name, array in arrays.items() if array is not None}
    write_npz(out, stored)
    parts.remove()
    shown = tuple(name for name in ("logits", "features", "weight", "bias", "labels") if name in stored)
    return Written(len(rows), shown, tuple(left_out), (*samples.notes, *model.notes), resumed)


@dataclass(frozen=True)
class Parts:
    """Finished parts of outputs in a folder beside the file that they will be; `plan` says what they are of."""

    folder: Path
    plan: dict[str, str]

    def begin(self) -> int:
        """How many samples are done; parts of another model or other samples are removed."""
        try:
            same = read_json(self.folder / "plan.json") == self.plan
        except OpenSetError:
            same = False
        if not same:
            self.remove()
            write_json(self.folder / "plan.json", self.plan)
        return sum(int(read_npz(one)["n"]) for one in self._files())

    def _files(self) -> list[Path]:
        """Parts without a gap."""
        found: list[Path] = []
        while (file := self.folder / f"{len(found):06d}.npz").exists():
            found.append(file)
        return found

    def add(self, waiting: Sequence[Done], n: int) -> None:
        """Write one part."""
        answers = [one.answers for one in waiting if one.answers is not None]
        arrays: dict[str, Any] = {
            "n": np.array(n),
            "rows": np.concatenate([one.rows for one in waiting]),
            "bad": np.array([text for one in waiting for text in one.bad], dtype=np.str_),
        }
        if answers:
            arrays["logits"] = np.concatenate([one.logits for one in answers])
            if all(one.features is not None for one in answers):
                arrays["features"] = np.concatenate([one.features for one in answers if one.features is not None])
        with replacing(self.folder / f"{len(self._files()):06d}.npz") as temporary, temporary.open("wb") as stream:
            np.savez(stream, **arrays)  # not compressed: it does not stay

    def joined(self) -> tuple[NDArray[np.int64], Floats, Floats | None, list[str]]:
        """Rows, logits, features, and what could not be read."""
        found = [read_npz(one) for one in self._files()]
        full = [one for one in found if "logits" in one]
        bad = [str(text) for one in found for text in one["bad"].tolist()]
        rows = np.concatenate([one["rows"] for one in found])
        if not full:
            return rows, np.empty((0, 0)), None, bad
        logits = np.concatenate([one["logits"] for one in full])
        complete = all("features" in one for one in full)
        return rows, logits, np.concatenate([one["features"] for one in full]) if complete else None, bad

    def remove(self) -> None:
        """The file is written: its parts are not needed any more. The lock stays, and its owner removes it."""
        for file in self.folder.glob("*"):
            if file.name != LOCK:
                file.unlink()
