"""ONNX files, run by onnxruntime: no torch is needed."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from openset.errors import OpenSetError, did_you_mean, needing
from openset.models.card import Answers, Family, Model, Options, Takes, register
from openset.models.class_lists import check_number, read_class_names
from openset.models.onnx_files import OnnxFile
from openset.models.preparation import CenterCrop, Preparation, as_plain, differences, from_plain
from openset.models.weights import fingerprint_of
from openset.posthoc import Head, ScoreSpec

_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}


def open_onnx(name: str, options: Options) -> Model:
    """The network in an ONNX file; one that `openset export` wrote tells its classes, preparation and score."""
    file = OnnxFile.read(name)
    metadata = file.metadata
    probe = make_session(file.path)
    (taken,) = _only_input(probe, name)
    chosen = options.features or metadata.get("features")
    outputs = [one.name for one in probe.get_outputs()]
    if chosen is not None and chosen not in outputs:
        raise OpenSetError(f"{name} has no output '{chosen}' for --features. {did_you_mean(str(chosen), outputs)}")
    logits = find_logits(probe, str(file.path), chosen)
    layer = file.last_layer(logits)
    if chosen is None and layer is not None:
        chosen = layer[0]
        if chosen not in outputs:
            probe = make_session(file.with_output(chosen), str(file.path))
    return _described(OnnxModel(f"onnx:{name}", Session(probe, taken, logits, chosen), layer), file, metadata, options)


def make_session(content: Any, name: str = "") -> Any:
    """An onnxruntime session of a file's path or content, on the processor."""
    with needing("Running an ONNX file"):
        import onnxruntime
    onnxruntime.set_default_logger_severity(4)  # a damaged file makes it print, in colours, what is told below
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    if os.environ.get("OMP_NUM_THREADS", "").isdigit():
        settings.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    given = content if isinstance(content, bytes) else str(content)
    try:
        return onnxruntime.InferenceSession(given, settings, providers=["CPUExecutionProvider"])
    except Exception as error:  # it has a dozen kinds that share no base of their own
        raise OpenSetError(f"onnxruntime cannot run {name or content}: {_line(error)}.") from error


def _only_input(session: Any, name: str) -> list[Any]:
    inputs = session.get_inputs()
    if len(inputs) != 1 or inputs[0].type not in _TYPES or len(inputs[0].shape) not in (2, 4):
        shown = ", ".join(f"{one.name} {one.type} {one.shape}" for one in inputs)
        raise OpenSetError(
            f"{name} must take one input of numbers, images (n, 3, H, W) or vectors (n, D), and takes {shown}."
        )
    return list(inputs)


def find_logits(session: Any, name: str, features: str | None = None) -> str:
    """The output that holds the logits, (n, K): the only such one beside the features, or the one called so."""
    fit = [one for one in session.get_outputs() if one.name != features and one.type in _TYPES and len(one.shape) == 2]
    named = [one for one in fit if one.name == "logits"]
    if len(fit) == 1 or named:
        return str((named or fit)[0].name)
    shown = ", ".join(f"{one.name} {one.shape}" for one in session.get_outputs())
    if not fit:
        raise OpenSetError(f"{name} has no output of shape (n, K), one logit for each class; its outputs are {shown}.")
    raise OpenSetError(
        f"{name} has several outputs of shape (n, K): {shown}. Call the one with the logits 'logits', or name the one "
        "with the features with --features."
    )


@dataclass(frozen=True, eq=False)
class Session:
    """An onnxruntime session with the names of what goes in and comes out."""

    session: Any
    taken: Any
    logits: str
    features: str | None

    def run(self, inputs: Any) -> Answers:
        """Logits and features; a file made for batches of one size gets batches of that size."""
        values = np.asarray(inputs, dtype=_TYPES[self.taken.type])
        size = self.taken.shape[0]
        if not isinstance(size, int) or size == len(values):
            return self._pass(values)
        found = []
        for start in range(0, len(values), size):
            some = values[start : start + size]
            filled = np.concatenate([some, np.repeat(some[-1:], size - len(some), axis=0)])
            found.append([None if one is None else one[: len(some)] for one in self._pass(filled)])
        logits, features = zip(*found, strict=True)
        return Answers(np.concatenate(logits), None if features[0] is None else np.concatenate(features))

    def _pass(self, values: Any) -> Answers:
        wanted = [self.logits, *([] if self.features is None else [self.features])]
        try:
            found = self.session.run(wanted, {self.taken.name: values})
        except Exception as error:
            raise OpenSetError(f"onnxruntime cannot run the network on this input: {_line(error)}.") from error
        for what, made in zip(("logits", "features"), found, strict=False):
            if made.ndim != 2 or len(made) != len(values):
                raise OpenSetError(
                    f"The ONNX file's {what} must have shape (n, columns), and have {list(made.shape)} for "
                    f"{len(values)} samples."
                )
        return Answers(found[0], found[1] if len(found) > 1 else None)


@dataclass(eq=False)
class OnnxModel:
    """An ONNX file as a model."""

    name: str
    session: Session
    layer: tuple[str, Head] | None
    takes: Takes = "vectors"
    class_names: tuple[str, ...] | None = None
    background: bool = False
    fingerprint: str = ""
    preparation: dict[str, Any] = field(default_factory=dict)
    score: dict[str, Any] | None = None
    own_score: None = None
    notes: list[str] = field(default_factory=list)
    images: Preparation | None = None
    channels_last: bool = False

    @property
    def head(self) -> Head | None:
        """The last layer, if it is the one that the features enter."""
        return None if self.layer is None or self.layer[0] != self.session.features else self.layer[1]

    def prepare(self, sample: Any) -> Any:
        """A picture as the network takes it; a vector as it is."""
        if self.images is None:
            return np.asarray(sample, dtype=np.float32)
        made = self.images(sample)
        return made.transpose(1, 2, 0) if self.channels_last else made

    def run(self, batch: Sequence[Any]) -> Answers:
        """What the network says about prepared samples."""
        return self.session.run(np.stack(batch))


def _described(model: OnnxModel, file: OnnxFile, metadata: dict[str, Any], options: Options) -> OnnxModel:
    """With classes, preparation and score: those in the file, or what the user says."""
    where = f"The entry 'openset' in {file.path}"
    shape = model.session.taken.shape
    if len(shape) == 4:
        model.takes = "images"
        model.channels_last = shape[1] not in (1, 3) and shape[3] in (1, 3)
        own = from_plain(metadata["preparation"], where) if metadata.get("preparation") else None
        model.images, notes = _images(own, shape, model, options)
        model.preparation = as_plain(model.images)
        model.notes += notes
    elif options.size or options.mean or options.std:
        raise OpenSetError(f"{model.name} takes vectors, not images: leave out --size, --mean and --std.")
    names = metadata.get("class_names")
    if names is not None and not (isinstance(names, list) and all(isinstance(one, str) for one in names)):
        raise OpenSetError(f"{where}: 'class_names' must be a list of names.")
    model.class_names = None if names is None else tuple(names)
    model.background = bool(metadata.get("background", False))
    if options.classes is not None:
        model.class_names = read_class_names(options.classes)
    columns = model.session.session.get_outputs()
    width = next(one.shape[1] for one in columns if one.name == model.session.logits)
    if isinstance(width, int):
        check_number(model.class_names, width - model.background, model.name, options.classes or file.path)
    if isinstance(metadata.get("score"), dict):
        score = metadata["score"]
        model.score = ScoreSpec.of(str(score.get("name")), score.get("params")).as_json()
    exported = metadata.get("model")
    as_exported = isinstance(exported, str) and model.preparation == (metadata.get("preparation") or {})
    model.fingerprint = str(exported) if as_exported else fingerprint_of(file.files(), model.preparation)
    return model


def _images(
    own: Preparation | None, shape: Sequence[Any], model: OnnxModel, options: Options
) -> tuple[Preparation, list[str]]:
    """How images are prepared, and what is to be said about it."""
    asked = (options.size, options.mean, options.std)
    if own is not None and not isinstance(own, CenterCrop):
        if any(one is not None for one in asked):
            raise OpenSetError(f"{model.name} tells how its images are prepared: leave out --size, --mean and --std.")
        return own, []
    if own is not None:
        used = own.changed(*asked)
        return used, differences(own, used, model.name)
    channels, side = (shape[3], shape[1]) if model.channels_last else (shape[1], shape[2])
    size = options.size or side
    if not isinstance(size, int):
        raise OpenSetError(f"{model.name} takes images of any size: say which with --size, for example --size 224.")
    if isinstance(side, int) and side != size:
        raise OpenSetError(f"{model.name} takes images of {side} pixels, not {size}: leave out --size.")
    count = channels if channels in (1, 3) else 3
    plain = CenterCrop(size, size, (0.0,) * count, (1.0,) * count, channels=count)
    used = plain.changed(None, options.mean, options.std)
    if options.mean is None or options.std is None:
        note = (
            f"{model.name} does not tell how its images are prepared: the middle square at {size} pixels, "
            f"mean {_plainly(used.mean)}, std {_plainly(used.std)} of values in [0, 1]. Say what it was trained with "
            "by --mean and --std."
        )
        return used, [note]
    return used, []


def _plainly(values: tuple[float, ...]) -> str:
    return f"{values[0]:g}" if len(set(values)) == 1 else ",".join(f"{one:g}" for one in values)


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")


register(
    Family(
        name="onnx",
        title="an ONNX file, run by onnxruntime",
        example="onnx:FILE.onnx",
        options=("features", "classes", "size", "mean", "std"),
        needs=("onnx", "onnxruntime"),
        open=open_onnx,
    )
)
