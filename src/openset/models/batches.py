"""Running a model over samples in batches, which are read ahead."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openset._io.pictures import BadImageError
from openset.errors import OpenSetError
from openset.models.card import Answers, Model
from openset.models.samples import Samples

_AHEAD = 3
"""Batches that are read while another is computed."""


class Done(NamedTuple):
    """What a model says about some of the samples."""

    rows: NDArray[np.int64]
    answers: Answers | None
    """None where no sample of the batch could be read."""
    bad: list[str]
    """Why others of the batch could not be read."""

    @property
    def n(self) -> int:
        """Samples of the batch, readable or not."""
        return len(self.rows) + len(self.bad)


def run_batches(
    model: Model, samples: Samples, *, batch: int = 32, starts: Iterable[int] | None = None, workers: int = 2
) -> Iterator[Done]:
    """What the model says, batch by batch, in order; `starts` are the first rows of the batches, by default all."""
    places = iter(range(0, len(samples), batch) if starts is None else starts)

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
