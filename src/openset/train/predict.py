"""A trained run applied to new images: class or "unknown", with the frozen threshold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openset._io.json_files import read_json
from openset._io.pictures import BadImageError, decode
from openset.data.images import SUFFIXES, fitted
from openset.errors import OpenSetError
from openset.operating import Origin, Threshold
from openset.posthoc import Outputs, softmax
from openset.train import checkpoint
from openset.train.build import make_bare_network
from openset.train.config import Config, read_config
from openset.train.feed import as_inputs
from openset.train.infer import forward_views
from openset.train.network import Network

_BATCH = 64


@dataclass(frozen=True)
class Prediction:
    """What the run says about one image."""

    file: str
    prediction: str
    """Name of the class, or "unknown"."""
    best_class: str
    """The known class that fits best, also where the image is rejected."""
    probability: float
    unknown_score: float
    threshold: float


@dataclass(frozen=True)
class TrainedRun:
    """A finished run, ready to be used."""

    config: Config
    network: Network
    class_names: tuple[str, ...]
    input_shape: tuple[int, ...]
    stored_shape: tuple[int, ...]
    """Of the training images, before they were resized; vectors have the same shape twice."""
    threshold: Threshold

    @classmethod
    def read(cls, folder: str | Path, threshold: str | Path | None = None, *, force: bool = False) -> "TrainedRun":
        """Open a run folder; `threshold` is another threshold file to use.

        The threshold must have been chosen for the run's score, classes and weights, unless `force` is given.
        """
        out = Path(folder)
        if not (out / "summary.json").exists():
            unfinished = (out / "config.yaml").exists()
            hint = f"train it to its end: openset train --resume --out {out}" if unfinished else "give the --out folder"
            raise OpenSetError(f"{out} is not a finished run; {hint}.")
        summary: dict[str, Any] = read_json(out / "summary.json")
        config = read_config(out / "config.yaml")
        try:
            names, shape = tuple(summary["class_names"]), tuple(int(one) for one in summary["input_shape"])
            stored = tuple(int(one) for one in summary.get("stored_shape", (*shape[1:], shape[0])))
            weights = out / "checkpoints" / f"{Path(summary['weights']).name}.safetensors"
        except (KeyError, TypeError, ValueError) as error:
            raise OpenSetError(f"{out / 'summary.json'} is incomplete: {error} is missing or wrong.") from error
        tensors, _ = checkpoint.read_tensors(weights)
        cut = config.augment.crop
        inside = (shape[0], cut, cut) if cut and len(shape) == 3 else shape
        # The shapes of shift and scale are those of the stored tensors; their values are loaded below.
        network = make_bare_network(config, inside, len(names), tensors.get("shift"), tensors.get("scale"))
        checkpoint.load_weights(network, tensors, weights)
        file = Path(threshold or out / "threshold.json")
        frozen = Threshold.read(file)
        if not force:
            meta = {"score": network.method.score_used(), "model": checkpoint.fingerprint_of(weights)}
            try:
                frozen.check(Origin.known_by(meta, names))
            except OpenSetError as error:
                raise OpenSetError(f"{file} and {out}: {error}") from error
        return cls(config, network.eval(), names, shape, stored, frozen)

    def outputs(self, inputs: torch.Tensor) -> Outputs:
        """Logits and features of inputs in [0, 1], (n, C, H, W), or of vectors."""
        embedding, logits = forward_views(self.network, inputs, self.config.augment)
        method = self.network.method
        return Outputs(None, logits.numpy(), embedding.numpy(), method.background, head=method.linear_head())

    def predict(self, images: Sequence[tuple[str, Any]]) -> list[Prediction]:
        """Predictions for named PIL images."""
        if len(self.input_shape) != 3:
            raise OpenSetError("This run was trained on feature vectors, not on images.")
        height, width, channels = self.stored_shape
        found = []
        for start in range(0, len(images), _BATCH):
            some = images[start : start + _BATCH]
            pixels = np.stack([fitted(image, (height, width, channels)) for _, image in some])
            outputs = self.outputs(as_inputs(pixels, self.config.data))
            assert outputs.logits is not None
            shares = softmax(outputs.logits, background=outputs.background)
            score = self.network.method.unknown_score(outputs)
            rejected = self.threshold.reject(score)
            for (name, _), best, share, value, unknown in zip(
                some, outputs.known_logits().argmax(axis=1), shares, score, rejected, strict=True
            ):
                label = self.class_names[best]
                wording = "unknown" if unknown else label
                found.append(Prediction(name, wording, label, float(share[best]), float(value), self.threshold.value))
        return found


def find_images(paths: Sequence[Path]) -> list[Path]:
    """Image files, and those in folders, in order."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise OpenSetError(f"There is no file or folder {path}.")
        inside = sorted(one for one in path.rglob("*") if one.suffix.lower() in SUFFIXES) if path.is_dir() else [path]
        if not inside:
            raise OpenSetError(f"The folder {path} has no images ({', '.join(sorted(SUFFIXES))}).")
        found += inside
    return found


def read_images(files: Sequence[Path]) -> Iterator[tuple[str, Any, str]]:
    """Name, image and trouble: one of the last two is empty."""
    for file in files:
        try:
            yield str(file), decode(file, str(file), upright=True), ""
        except BadImageError as error:
            yield str(file), None, str(error)
