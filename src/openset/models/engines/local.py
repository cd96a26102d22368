"""This process, one batch after the other."""

from collections.abc import Callable

from openset.models.batches import Done, run_batches
from openset.models.card import Model
from openset.models.engines._base import ENGINES, Engine, Making
from openset.models.parts import Parts
from openset.models.samples import Samples


@ENGINES.register("local")
class Local(Engine):
    """The model that is open already; samples are read ahead by threads."""

    title = "this process"

    def run(
        self,
        model: Model,
        making: Making,
        samples: Samples,
        parts: Parts,
        *,
        batch: int,
        progress: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Part by part; reading ahead does not stop between them."""
        missing = parts.missing()
        places = [(number, first) for number in missing for first in range(*parts.rows(number), batch)]
        ends = {number: max(first for one, first in places if one == number) for number in missing}
        waiting: list[Done] = []
        found = run_batches(model, samples, batch=batch, starts=[first for _, first in places])
        for (number, first), done in zip(places, found, strict=True):
            waiting.append(done)
            if first == ends[number]:
                parts.write(number, *making.content(model, samples, waiting))
                waiting = []
            progress(done.n)
