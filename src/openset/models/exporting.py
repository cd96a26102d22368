"""A training run as an ONNX file that says what it is: classes, preparation of images, score and weights."""

import io
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openset._core.versions import versions
from openset._io.atomic import replacing
from openset.errors import OpenSetError
from openset.models.onnx_files import METADATA
from openset.models.runs import RunModel
from openset.posthoc import SCORES

if TYPE_CHECKING:
    from torch import Tensor, nn

_OPSET = 17
CLOSE = 1e-4
"""By how much the file's answers may differ from the run's, of the largest logit."""


def export_onnx(model: RunModel, out: Path) -> float:
    """Write the run as ONNX and compare both on made-up inputs; returns the largest difference of a logit.

    The views that the run averages over are part of the file, so that one pass gives what the run would say.
    """
    import onnx
    import torch

    if out.suffix.lower() != ".onnx":
        raise OpenSetError(f"Cannot write {out}: an exported run goes into a file that ends in .onnx.")
    if model.score is not None and model.score["name"] not in SCORES:
        raise OpenSetError(
            f"{model.name} has a score of its own, {model.score['name']}, which only a training run can compute: "
            "export a run of another method."
        )
    rng = np.random.default_rng(0)
    some = torch.from_numpy(rng.random((2, *_shape(model)), dtype=np.float32))
    content = io.BytesIO()
    network = _whole(model)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # what it says about folding constants is of no use to anybody
        try:
            torch.onnx.export(
                network,
                (some,),
                content,  # type: ignore[arg-type]
                input_names=["inputs"],
                output_names=["logits", "features"],
                dynamic_axes={name: {0: "n"} for name in ("inputs", "logits", "features")},
                opset_version=_OPSET,
                dynamo=False,
            )
        except Exception as error:  # an operation that ONNX does not have is told in many ways
            line = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise OpenSetError(f"{model.name} cannot be written as ONNX: {line[:200].rstrip('.')}.") from error
    proto = onnx.load_model_from_string(content.getvalue())
    entry = proto.metadata_props.add()
    metadata = {**_metadata(model), "head": _head(model, proto)}
    entry.key, entry.value = METADATA, json.dumps(metadata, allow_nan=False)
    with replacing(out) as temporary:
        temporary.write_bytes(proto.SerializeToString())
    return _difference(model, out, rng)


def _shape(model: RunModel) -> tuple[int, ...]:
    """Of one input, as the network sees it."""
    if model.images is None:
        return model.run_.input_shape
    from PIL import Image

    return model.images(Image.new("RGB", (8, 8))).shape


def _metadata(model: RunModel) -> dict[str, Any]:
    return {
        "schema": 1,
        "class_names": list(model.class_names),
        "preparation": model.preparation or None,
        "score": model.score,
        "background": model.background,
        "features": "features",
        "model": model.fingerprint,
        "made": versions("onnx"),
    }


def _head(model: RunModel, proto: Any) -> dict[str, str | None] | None:
    """Under which names the file stores the last layer; None where it is not linear, or not stored as it is."""
    from onnx import numpy_helper

    if model.head is None:
        return None
    stored = {one.name: numpy_helper.to_array(one) for one in proto.graph.initializer}

    def name_of(wanted: Any) -> str | None:
        same = (name for name, one in stored.items() if one.shape == wanted.shape and np.array_equal(one, wanted))
        return next(same, None)

    weight, bias = model.head
    assert weight is not None
    found = name_of(weight) or name_of(weight.T)
    named = None if bias is None else name_of(bias)
    return None if found is None or (bias is not None and named is None) else {"weight": found, "bias": named}


def _whole(model: RunModel) -> "nn.Module":
    """The network with the views it averages over, logits first."""
    from torch import nn

    from openset.train.infer import mean_of_views

    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = model.run_.network

        def forward(self, inputs: "Tensor") -> tuple["Tensor", "Tensor"]:
            features, logits = mean_of_views(self.network, inputs, model.run_.config.augment)
            return logits, features

    return Whole().eval()


def _difference(model: RunModel, out: Path, rng: np.random.Generator) -> float:
    """The largest difference of a logit between the file and the run; a file that differs is not left behind."""
    from openset.models.card import Options
    from openset.models.onnx import open_onnx

    inputs = list(rng.random((5, *_shape(model)), dtype=np.float32))
    there, here = open_onnx(str(out), Options()).run(inputs), model.run(inputs)
    off = float(np.abs(there.logits - here.logits).max())
    if off > CLOSE * max(1.0, float(np.abs(here.logits).max())):
        out.unlink()
        raise OpenSetError(
            f"The ONNX file of {model.name} would give other logits than the run (by {off:.2g}): it is not written."
        )
    return off
