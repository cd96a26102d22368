"""`guard`: a classifier that says "unknown" where a frozen threshold rejects."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.numbers import exact
from openset._core.registry import Registry
from openset._io.json_files import parse_json
from openset.errors import OpenSetError
from openset.operating import Origin, Threshold
from openset.operating.decisions import Decisions, decide, score_for
from openset.operating.origin import numbered
from openset.posthoc import FittedScore, Head, Outputs, ScoreSpec, fit, load

Runner = Callable[[Any], Outputs]


@dataclass(frozen=True)
class Kind:
    """Something that can be guarded: how it is recognised, and how it is run for what a score needs."""

    name: str
    accepts: Callable[[Any], bool]
    runner: Callable[[Any, ScoreSpec], Runner]
    class_names: Callable[[Any], tuple[str, ...] | None]


KINDS: Registry[Kind] = Registry("kind of classifier")


class Guard:
    """A classifier with a frozen threshold; call it as the classifier is called, with a batch."""

    def __init__(
        self, run: Runner, threshold: Threshold, fitted: FittedScore, names: tuple[str, ...] | None, *, force: bool
    ) -> None:
        self.threshold, self.fitted, self.class_names = threshold, fitted, names
        self._run, self._force = run, force
        self._checked: int | None = None
        self._check(names)

    def __repr__(self) -> str:
        return f"Guard({self.fitted.spec} <= {exact(self.threshold.value)}, {self.threshold.rule})"

    def __call__(self, inputs: Any) -> NDArray[np.str_]:
        """Class names (numbers, as text, where nobody gave them names), or "unknown", of a batch."""
        return np.array(self.decide(inputs).labels, dtype=np.str_)

    def decide(self, inputs: Any) -> Decisions:
        """Labels with the unknown scores and margins behind them."""
        outputs = self._run(inputs)
        score = self.fitted.score(outputs)
        width = outputs.known_logits().shape[1]
        if width != self._checked:
            self._settle(width)
        return decide(self.threshold, outputs.predictions(), score, class_names=self.class_names)

    def _settle(self, width: int) -> None:
        """The names of so many classes, checked once: the model's own, else those of the threshold, else numbers."""
        names = self.class_names or self.threshold.origin.classes
        if names is None or len(names) != width:
            self._check(numbered(width))
        if self.class_names is not None and len(self.class_names) != width:
            raise OpenSetError(
                f"The classifier names {len(self.class_names)} classes and gives {width} logits: they must agree."
            )
        self.class_names = names if names is not None and len(names) == width else numbered(width)
        self._checked = width

    def _check(self, names: tuple[str, ...] | None) -> None:
        if not self._force:
            self.threshold.check(Origin(self.fitted.spec.as_json(), self.fitted.fingerprint, names))


def guard(
    model: Any,
    threshold: "Threshold | str | Path | float",
    *,
    score: str | None = None,
    fitted: "FittedScore | Outputs | str | Path | None" = None,
    force: bool = False,
) -> Guard:
    """Wrap a classifier so that it answers with a class or with "unknown".

    Args:
        model: a torch module that returns logits (or an object that has them), a fitted classifier of scikit-learn, or
            an onnxruntime session.
        threshold: a frozen threshold, its JSON file, or a number: unknown scores above it are rejected.
        score: the unknown score, such as `energy`; by default the one that the threshold was chosen for.
        fitted: for scores that learn: the fitted score or its .safetensors file, or training outputs.
        force: also use a threshold that was chosen for another score, fit or number of classes.

    A torch module must be in evaluation mode; the device and the gradients of its inputs are its caller's.

    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [9.0], [10.0]], ["low", "low", "high", "high"])
    >>> guard(model, 0.3, score="msp")([[0.0], [5.0], [10.0]]).tolist()
    ['low', 'unknown', 'high']
    """
    kind = next((one for one in KINDS.values() if one.accepts(model)), None)
    if kind is None:
        ways = ", ".join(one.name for one in KINDS.values())
        raise OpenSetError(f"guard cannot wrap a {type(model).__name__}: it takes {ways}.")
    frozen = _threshold(threshold)
    ready = _fitted(frozen, score, fitted)
    return Guard(kind.runner(model, ready.spec), frozen, ready, kind.class_names(model), force=force)


def _threshold(given: "Threshold | str | Path | float") -> Threshold:
    if isinstance(given, Threshold):
        return given
    if isinstance(given, str | Path):
        return Threshold.read(given)
    if not np.isfinite(given):
        raise OpenSetError(f"guard: 'threshold' must be a finite number, got {given}.")
    return Threshold(float(given), "by hand", {}, 0)


def _fitted(
    threshold: Threshold, score: str | None, fitted: "FittedScore | Outputs | str | Path | None"
) -> FittedScore:
    """The score, ready to be applied."""
    learned = load(fitted) if isinstance(fitted, str | Path) else fitted
    spec = score_for(threshold, score, learned)
    if isinstance(learned, FittedScore):
        return learned.matching(spec.card, spec.params)
    if spec.card.fitted and learned is None:
        raise OpenSetError(
            f"The score '{spec}' learns from training outputs: give them, or the fitted score, as fitted=."
        )
    return fit(spec, learned)


# ---- torch ---------------------------------------------------------------------------------------------------------


def _is_torch(model: Any) -> bool:
    torch = sys.modules.get("torch")  # who has such a model has imported it
    return torch is not None and isinstance(model, torch.nn.Module)


def _run_torch(model: Any, spec: ScoreSpec) -> Runner:
    import torch

    from openset.models.networks import LastLayer, logits_of

    deep = bool({"features", "head"} & set(spec.card.needs))
    found: list[LastLayer] = []
    head: list[Head | None] = []

    def run(inputs: Any) -> Outputs:
        if model.training:
            raise OpenSetError(
                "The network is in training mode, where its answers depend on chance: call model.eval()."
            )

        def forward() -> Any:
            return logits_of(model(**inputs) if hasattr(inputs, "keys") else model(inputs))

        with torch.inference_mode():
            if not deep:
                return Outputs(logits=_numpy(forward()), name="the network")
            if found:
                logits, features = found[0].watch(forward)
            else:
                layer, logits, features = LastLayer.find(model, forward)
                if layer.layer is None:
                    raise OpenSetError(
                        f"The score '{spec}' needs the features of the network, and they cannot be found: {layer.why}."
                    )
                found.append(layer)
                if "head" in spec.card.needs:
                    head.append(_double(layer.head()))
        return Outputs(
            logits=_numpy(logits),
            features=_numpy(features),
            head=head[0] if head else None,
            name="the network",
        )

    return run


def _double(head: Head | None) -> Head | None:
    """In the precision that scores compute in, so that it is not converted for every batch."""
    assert head is not None
    weight, bias = head
    return (None if weight is None else weight.astype(np.float64)), None if bias is None else bias.astype(np.float64)


def _numpy(tensor: Any) -> Any:
    return tensor.detach().float().cpu().numpy()


def _torch_names(model: Any) -> tuple[str, ...] | None:
    if getattr(getattr(model, "config", None), "id2label", None) is None:
        return None
    from openset.models.hf import classes_of

    return classes_of(model)


# ---- onnxruntime ---------------------------------------------------------------------------------------------------


def _is_session(model: Any) -> bool:
    runtime = sys.modules.get("onnxruntime")
    return runtime is not None and isinstance(model, runtime.InferenceSession)


def _run_session(model: Any, spec: ScoreSpec) -> Runner:
    from openset.models.onnx import Session, find_logits

    outputs = [one.name for one in model.get_outputs()]
    features = "features" if "features" in outputs else None
    if "features" in spec.card.needs and features is None:
        raise OpenSetError(
            f"The score '{spec}' needs features, and the session has no output of that name: {', '.join(outputs)}."
        )
    session = Session(model, model.get_inputs()[0], find_logits(model, "The session", features), features)

    background = bool(_described(model).get("background"))

    def run(inputs: Any) -> Outputs:
        answers = session.run(inputs)
        return Outputs(logits=answers.logits, features=answers.features, background=background, name="the session")

    return run


def _described(model: Any) -> dict[str, Any]:
    from openset.models.onnx_files import METADATA

    text = model.get_modelmeta().custom_metadata_map.get(METADATA, "{}")
    found = parse_json(text, f"The entry '{METADATA}' of the session")
    return found if isinstance(found, dict) else {}


def _session_names(model: Any) -> tuple[str, ...] | None:
    names = _described(model).get("class_names")
    return tuple(map(str, names)) if isinstance(names, list) else None


# ---- scikit-learn --------------------------------------------------------------------------------------------------


def _is_sklearn(model: Any) -> bool:
    return hasattr(model, "predict") and hasattr(model, "classes_")


def _run_sklearn(model: Any, spec: ScoreSpec) -> Runner:
    from openset.estimator.opened import Opened

    def run(samples: Any) -> Outputs:
        opened = Opened.of(model, samples)
        return replace(opened.outputs(spec.card), logits=opened.logits())  # which class is best is always needed

    return run


def _sklearn_names(model: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in model.classes_)


KINDS.add("torch", Kind("a torch module", _is_torch, _run_torch, _torch_names))
KINDS.add("onnx", Kind("an onnxruntime session", _is_session, _run_session, _session_names))
KINDS.add("sklearn", Kind("a fitted classifier of scikit-learn", _is_sklearn, _run_sklearn, _sklearn_names))
