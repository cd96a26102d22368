"""openset: for models that must say "I don't know this".

The names below are loaded when first used, so that `import openset` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openset._core.memory import keep_memory as keep_memory
    from openset.errors import OpenSetError as OpenSetError
    from openset.estimator import OpenSetClassifier as OpenSetClassifier
    from openset.estimator import OpenSetKFold as OpenSetKFold
    from openset.estimator import RejectingClassifier as RejectingClassifier
    from openset.estimator import calibrate as calibrate
    from openset.estimator import open_auc_scorer as open_auc_scorer
    from openset.evaluation import Evaluation as Evaluation
    from openset.evaluation import evaluate as evaluate
    from openset.intervals import Comparison as Comparison
    from openset.intervals import Interval as Interval
    from openset.intervals import bootstrap as bootstrap
    from openset.intervals import compare as compare
    from openset.intervals import delong as delong
    from openset.metrics import open_auc as open_auc
    from openset.models.guarding import guard as guard
    from openset.operating import Threshold as Threshold
    from openset.operating import choose as choose
    from openset.present.plots.displays import OscrDisplay as OscrDisplay
    from openset.present.plots.displays import RejectionDisplay as RejectionDisplay
    from openset.results.document import Document as Document
    from openset.scores import Scores as Scores

__version__ = "0.2.0"

_HOME = {
    "Comparison": "openset.intervals",
    "Document": "openset.results.document",
    "Evaluation": "openset.evaluation",
    "Interval": "openset.intervals",
    "OpenSetClassifier": "openset.estimator",
    "OpenSetError": "openset.errors",
    "OpenSetKFold": "openset.estimator",
    "OscrDisplay": "openset.present.plots.displays",
    "RejectingClassifier": "openset.estimator",
    "RejectionDisplay": "openset.present.plots.displays",
    "Scores": "openset.scores",
    "Threshold": "openset.operating",
    "bootstrap": "openset.intervals",
    "calibrate": "openset.estimator",
    "choose": "openset.operating",
    "compare": "openset.intervals",
    "delong": "openset.intervals",
    "evaluate": "openset.evaluation",
    "guard": "openset.models.guarding",
    "keep_memory": "openset._core.memory",
    "open_auc": "openset.metrics",
    "open_auc_scorer": "openset.estimator",
}
__all__ = ["__version__", *_HOME]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'openset' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
