"""Detectors of the pytorch-ood package on stored outputs; any object with the same methods will do."""

from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from openset.errors import OpenSetError, check_choice
from openset.posthoc import Outputs, as_matrix


def detector_score(
    detector: Any, outputs: Outputs, fit: Outputs | None = None, *, on: Literal["features", "logits"] = "features"
) -> NDArray[np.float64]:
    """Unknown scores of a pytorch-ood detector: `fit_features(x, y)` if `fit` is given, then `predict_features(x)`.

    Its scores are already higher for outliers. `on` says what the detector works on. With the result make
    `Scores(labels, predictions, detector_score(...))`.

    >>> class Largest:
    ...     def predict_features(self, x):
    ...         return -x.max(dim=1).values
    >>> detector_score(Largest(), Outputs(logits=np.array([[1.0, 3.0], [2.0, 0.0]])), on="logits")
    array([-3., -2.])
    """
    check_choice("detector_score", "on", on, ["features", "logits"])
    if not hasattr(detector, "predict_features"):
        kind = type(detector).__name__
        raise OpenSetError(
            f"{kind} has no 'predict_features', so it cannot work on stored outputs: it needs the model."
        )
    if fit is not None:
        known = fit.known()
        assert known.labels is not None
        detector.fit_features(_tensor(known, on), torch.from_numpy(np.asarray(known.labels, dtype=np.int64)))
    found = detector.predict_features(_tensor(outputs, on))
    values = np.asarray(found.detach().cpu() if isinstance(found, torch.Tensor) else found, dtype=np.float64)
    return as_matrix("scores of the detector", values.reshape(-1, 1))[:, 0]


def _tensor(outputs: Outputs, on: str) -> torch.Tensor:
    return torch.from_numpy(outputs.embedding() if on == "features" else outputs.known_logits()).float()
