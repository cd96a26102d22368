"""A finished training run, opened to be used on other samples."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openset._io.json_files import read_json
from openset.errors import OpenSetError
from openset.train import checkpoint
from openset.train.build import make_bare_network
from openset.train.config import Config, read_config
from openset.train.network import Network


@dataclass(frozen=True)
class TrainedRun:
    """A finished run, ready to be used."""

    config: Config
    network: Network
    class_names: tuple[str, ...]
    input_shape: tuple[int, ...]
    stored_shape: tuple[int, ...]
    """Of the training images, before they were resized; vectors have the same shape twice."""
    fingerprint: str
    """Of its weights."""

    @classmethod
    def read(cls, folder: str | Path) -> "TrainedRun":
        """Open a run folder."""
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
        return cls(config, network.eval(), names, shape, stored, checkpoint.fingerprint_of(weights))
