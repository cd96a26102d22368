"""Training runs of openset as models."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openset.errors import needing
from openset.models.card import Answers, Family, Model, Options, Takes, register
from openset.models.preparation import AsTrained, as_plain
from openset.posthoc import Head, Outputs
from openset.posthoc.numerics import Array

if TYPE_CHECKING:
    from openset.train.predict import TrainedRun


@dataclass(eq=False)
class RunModel:
    """A finished run as a model."""

    name: str
    run_: "TrainedRun"
    class_names: tuple[str, ...]
    background: bool
    fingerprint: str
    score: dict[str, Any] | None
    own_score: Callable[[Outputs], Array]
    head: Head | None
    takes: Takes
    notes: list[str]
    preparation: dict[str, Any]
    images: AsTrained | None

    def prepare(self, sample: Any) -> Any:
        """A picture brought to the stored shape of the training images; a vector as it is."""
        return np.asarray(sample, dtype=np.float32) if self.images is None else self.images(sample)

    def run(self, batch: Sequence[Any]) -> Answers:
        """Logits and features, averaged over the views that the run asks for."""
        import torch

        from openset.train.infer import forward_views

        inputs = torch.from_numpy(np.stack(batch))
        features, logits = forward_views(self.run_.network, inputs, self.run_.config.augment)
        return Answers(logits.numpy(), features.numpy())


def open_run(name: str, _: Options) -> Model:
    """The run in a folder."""
    return open_run_folder(Path(name))


def open_run_folder(folder: Path) -> RunModel:
    """The run in a folder, with all that a run has."""
    with needing("Using a training run"):
        from openset.train.predict import TrainedRun
    trained = TrainedRun.read(folder)
    config, method = trained.config, trained.network.method
    images = None
    if len(trained.input_shape) == 3:
        height, width, channels = trained.stored_shape
        images = AsTrained((height, width, channels), config.data.size, config.data.channels, config.augment.crop)
    return RunModel(
        name=str(folder),
        run_=trained,
        class_names=trained.class_names,
        background=method.background,
        fingerprint=trained.fingerprint,
        score=method.score_used(),
        own_score=method.unknown_score,
        head=method.linear_head(),
        takes="vectors" if images is None else "images",
        notes=[],
        preparation={} if images is None else as_plain(images),
        images=images,
    )


def is_run(path: Path) -> bool:
    """Whether a path is the folder of a run, also of an unfinished one, which is then told."""
    return any((path / name).exists() for name in ("summary.json", "config.yaml"))


register(
    Family(
        name="run",
        title="a training run of openset",
        example="a run folder",
        options=(),
        needs=("torch", "lightning_fabric", "safetensors"),
        open=open_run,
        holds=is_run,
    )
)
