"""Reading an ONNX file: what it declares, where its weights lie, and which linear layer makes its logits."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openset._io.json_files import parse_json
from openset._io.paths import existing
from openset.data.place import inside
from openset.errors import OpenSetError, needing
from openset.posthoc import Head

METADATA = "openset"
"""Under this key of `metadata_props` an exported run says what it is."""


_HEAD = ("weight", "bias")


@dataclass(frozen=True)
class OnnxFile:
    """A checked ONNX file."""

    path: Path
    proto: Any
    external: bool
    """Whether weights lie in files beside it."""

    @classmethod
    def read(cls, path: str | Path) -> "OnnxFile":
        """The file, if it is one and its weights lie in its own folder."""
        with needing("Reading an ONNX file"):
            import onnx
        file = existing(path)
        try:
            proto = onnx.load(str(file), load_external_data=False)
        except Exception as error:  # the parser has many kinds of its own
            raise OpenSetError(f"{file} is not a readable ONNX file, or it is cut off.") from error
        if not proto.graph.output:
            raise OpenSetError(f"{file} is not an ONNX file of a network: its graph has no outputs.")
        places = list(_external(proto))
        for place in places:
            _check_place(file, place)
        return cls(file, proto, bool(places))

    @property
    def metadata(self) -> dict[str, Any]:
        """What `openset export` wrote into it; {} where another program wrote the file."""
        text = next((one.value for one in self.proto.metadata_props if one.key == METADATA), "{}")
        found = parse_json(text, f"The entry '{METADATA}' in {self.path}")
        if not isinstance(found, dict):
            raise OpenSetError(f"The entry '{METADATA}' in {self.path} is damaged: export the run again.")
        return found

    def files(self) -> list[Path]:
        """The file and those that hold its weights."""
        return [self.path, *sorted({self.path.parent / one for one in _external(self.proto)})]

    def last_layer(self, logits: str) -> tuple[str, Head] | None:
        """The name of what enters the linear layer that makes the logits, and its weight and bias."""
        if self.external:
            return None
        return _linear(self.proto.graph, logits) or self._stated()

    def _stated(self) -> tuple[str, Head] | None:
        """The last layer of an exported run, which averages over views behind it."""
        from onnx import numpy_helper

        names, features = self.metadata.get("head"), self.metadata.get("features")
        stored = {one.name: one for one in self.proto.graph.initializer}
        if not isinstance(names, dict) or names.get("weight") not in stored or not isinstance(features, str):
            return None
        weight, bias = (numpy_helper.to_array(stored[one]) if one in stored else None for one in map(names.get, _HEAD))
        width = len(self.metadata.get("class_names") or ()) + bool(self.metadata.get("background"))
        if weight is None or weight.ndim != 2 or width not in weight.shape:
            return None
        return features, (weight if len(weight) == width else weight.T, bias)

    def with_output(self, name: str) -> bytes:
        """The file's content with one more output: a value from inside the graph."""
        import onnx

        copy = onnx.ModelProto()
        copy.CopyFrom(self.proto)
        copy.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
        return copy.SerializeToString()


def _external(message: Any) -> Iterator[str]:
    """Places of weights outside the file, wherever in it they are spoken of."""
    from onnx import TensorProto

    if isinstance(message, TensorProto):
        if message.data_location == TensorProto.EXTERNAL:
            yield next((one.value for one in message.external_data if one.key == "location"), "")
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for one in value if isinstance(value, list) or hasattr(value, "append") else [value]:
                yield from _external(one)


def _check_place(file: Path, place: str) -> None:
    """Weights lie in the folder of the file, also when links are followed: a stranger's file must not read others."""
    folder = file.parent
    target = inside(folder, place, f"{file}, external data")
    if not target.is_file():
        raise OpenSetError(f"{file} needs the file {place or '(unnamed)'} beside it, which is not there.")
    real, home = Path(os.path.realpath(target)), Path(os.path.realpath(folder))
    if not real.is_relative_to(home):
        raise OpenSetError(f"{file}, external data: {place!r} is a link that leads out of {folder}, so it is not read.")


def _linear(graph: Any, logits: str) -> tuple[str, Head] | None:
    """`Gemm`, or `MatMul` and perhaps `Add`, with stored weights, whose result are the logits."""
    from onnx import numpy_helper

    makers = {name: node for node in graph.node for name in node.output}
    stored = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    node = makers.get(logits)
    while node is not None and node.op_type == "Identity":
        node = makers.get(node.input[0])
    bias = None
    if node is not None and node.op_type == "Add":
        bias = next((stored[one] for one in node.input if one in stored), None)
        others = [makers.get(one) for one in node.input if one not in stored]
        node = others[0] if bias is not None and others and getattr(others[0], "op_type", "") == "MatMul" else None
    if node is None or node.op_type not in ("Gemm", "MatMul") or node.input[1] not in stored:
        return None
    settings = {one.name: one for one in node.attribute}
    turned = "transB" in settings and bool(settings["transB"].i)
    usual = all(settings[key].f == 1.0 for key in ("alpha", "beta") if key in settings)
    weight = stored[node.input[1]] if turned else stored[node.input[1]].T
    if node.op_type == "Gemm" and len(node.input) > 2:
        bias = stored.get(node.input[2])
        usual = usual and bias is not None
    if not usual or ("transA" in settings and settings["transA"].i) or weight.ndim != 2:
        return None
    flat = None if bias is None else bias.reshape(-1)
    return (node.input[0], (weight, flat)) if flat is None or flat.shape == (len(weight),) else None
