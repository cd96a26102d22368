"""The one error a user sees: a plain sentence that says what is wrong and what to do."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.util import find_spec
from typing import SupportsFloat


class OpenSetError(ValueError):
    """Input that cannot be used; the message names it and says what to do."""


class OpenSetWarning(UserWarning):
    """Input that can be used, but probably does not mean what the user thinks."""


class OpenSetDeprecationWarning(OpenSetWarning, FutureWarning):
    """Something that a later version will no longer accept; the message says what to use instead."""


def warn_deprecated(sentence: str, *, removed_in: str, stacklevel: int = 2) -> None:
    """Warn, once per place, of what still works but will not in version `removed_in`.

    >>> warn_deprecated("alpha is now called level.", removed_in="0.4")  # doctest: +SKIP
    OpenSetDeprecationWarning: alpha is now called level. openset 0.4 will no longer accept the old form.
    """
    message = f"{sentence} openset {removed_in} will no longer accept the old form."
    warnings.warn(message, OpenSetDeprecationWarning, stacklevel=stacklevel + 1)


class MissingPackageError(ImportError, OpenSetError):
    """An optional package that is not installed; the message says which extra brings it."""


_EXTRAS = {
    "torch": ("PyTorch", "torch"),
    "lightning_fabric": ("Lightning Fabric", "torch"),
    "safetensors": ("safetensors", "torch"),
    "torchmetrics": ("torchmetrics", "torch"),
    "matplotlib": ("matplotlib", "plot"),
    "datasets": ("Hugging Face datasets", "data"),
    "huggingface_hub": ("Hugging Face Hub", "data"),
    "PIL": ("Pillow", "data"),
    "yaml": ("PyYAML", "data"),
    "torchvision": ("torchvision", "vision"),
    "timm": ("timm", "vision"),
    "transformers": ("transformers", "transformers"),
    "ray": ("Ray", "ray"),
    "submitit": ("submitit", "slurm"),
    "pyarrow": ("pyarrow", "stores"),
    "onnx": ("onnx", "onnx"),
    "onnxruntime": ("onnxruntime", "onnx"),
}
"""Packages by the name under which they are imported: what people call them, and the extra that brings them."""


def _missing(what: str, module: str, because: str = "") -> MissingPackageError:
    title, extra = _EXTRAS.get(module, (f"the package '{module}'", ""))
    install = f"openset[{extra}]" if extra else module
    return MissingPackageError(f"{what} needs {title}: pip install '{install}'{because}.", name=module)


def is_installed(*modules: str) -> bool:
    """Whether all these modules could be imported; they are only looked for."""
    return all(find_spec(module) is not None for module in modules)


def need(what: str, *modules: str) -> None:
    """Say which extra to install if a module is not there, without importing it.

    >>> need("Counting", "math")
    """
    for module in modules:
        if not is_installed(module):
            raise _missing(what, module)


@contextmanager
def needing(what: str) -> Iterator[None]:
    """Imports of optional packages for `what`; one that fails becomes a sentence with the extra to install.

    >>> with needing("Drawing"):
    ...     import no_such_package
    Traceback (most recent call last):
    openset.errors.MissingPackageError: Drawing needs the package 'no_such_package': pip install 'no_such_package'.
    """
    try:
        yield
    except OpenSetError:
        raise
    except ImportError as error:
        raise missing_package(what, error) from error


def missing_package(what: str, error: ImportError) -> MissingPackageError:
    """The sentence for an import that failed: a package is not there, or does not fit to what else is installed."""
    module = (error.name or "").partition(".")[0] or "package"
    absent = isinstance(error, ModuleNotFoundError) and not is_installed(module)
    return _missing(what, module, "" if absent else f" (what is installed does not load: {error})")


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """A hint such as `Did you mean 'open_auc'?`, or the list of choices when nothing is near.

    >>> did_you_mean("openauc", ["open_auc", "auroc"])
    "Did you mean 'open_auc'?"
    >>> did_you_mean("zzz", ["open_auc", "auroc"])
    'Choose from: auroc, open_auc.'
    """
    names = sorted(choices)
    near = get_close_matches(word, names, n=1)
    return f"Did you mean '{near[0]}'?" if near else f"Choose from: {', '.join(names)}."


def is_number(value: object) -> bool:
    """Whether a value can be compared with numbers: a tensor of one number can, text and None cannot."""
    if isinstance(value, float | int):  # at once: every resample of an interval asks
        return True
    return isinstance(value, SupportsFloat) and getattr(value, "ndim", 0) == 0


def check_share(function: str, name: str, value: float, *, zero: bool = False, one: bool = True) -> float:
    """Return `value` if it is a fraction; a percentage gets the hint that the user needs.

    >>> check_share("fpr_at_tpr", "tpr", 95)
    Traceback (most recent call last):
    openset.errors.OpenSetError: fpr_at_tpr: 'tpr' must be in (0, 1], got 95. Did you mean 0.95?
    """
    number = is_number(value)
    inside = number and (value > 0 or (zero and value == 0)) and (value < 1 or (one and value == 1))
    if inside:
        return float(value)
    span = f"{'[' if zero else '('}0, 1{']' if one else ')'}"
    if not number:
        raise OpenSetError(f"{function}: '{name}' must be in {span}, got {value!r}.")
    hint = f" Did you mean {value / 100:g}?" if 2 <= value < 100 else ""  # 1.5 is a typo, not a percentage
    raise OpenSetError(f"{function}: '{name}' must be in {span}, got {value:g}.{hint}")


def check_choice(function: str, name: str, value: str, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`."""
    allowed = list(choices)
    if value in allowed:
        return value
    raise OpenSetError(f"{function}: '{name}' cannot be {value!r}. {did_you_mean(str(value), allowed)}")
