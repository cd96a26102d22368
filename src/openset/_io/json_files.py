"""JSON that every reader accepts, in and out."""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from openset._core.text import half_character, shortened
from openset._io.atomic import write_text
from openset._io.paths import existing, reason
from openset._io.room import check_room
from openset.errors import OpenSetError

_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
"""Where half a character may be spelt; most are pairs, which are whole."""


def write_json(path: str | Path, content: Any) -> None:
    """Write JSON that every reader accepts (no NaN, no Infinity)."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def as_json(value: Any) -> Any:
    """`value` made of what JSON can hold: NumPy's numbers as Python's, NaN and infinity as nothing.

    >>> as_json({"loss": np.float32(0.5), "last": (1, float("nan"))})
    {'loss': 0.5, 'last': [1, None]}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise TypeError(half_character(error)) from error
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str | int | float | bool | None) for key in value):
            raise TypeError("a key that is no text")
        return {as_json(key): as_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(entry) for entry in value]
    raise TypeError(f"a value of type {type(value).__name__}")


def read_json(path: str | Path) -> Any:
    """Read a JSON file; says where it breaks."""
    file = existing(path)
    try:
        check_room(file, "JSON", file.stat().st_size)
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise OpenSetError(f"{file} is not valid JSON: {error}.") from error
    except OSError as error:
        raise OpenSetError(f"Cannot read {file}: {reason(error)}.") from error
    return parse_json(text, str(file))


def parse_json(text: str, what: str) -> Any:
    """What a JSON text of a stranger says; `what` it is called in errors."""
    try:
        content = json.loads(text, object_pairs_hook=_each_name_once)
        if _HALF.search(text):
            json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise OpenSetError(f"{what}: {half_character(error)}.") from error
    except RecursionError as error:
        raise OpenSetError(f"{what} is not valid JSON: it is nested too deeply.") from error
    except json.JSONDecodeError as error:
        raise OpenSetError(f"{what} is not valid JSON: {error}.") from error
    except KeyError as error:
        raise OpenSetError(f"{what}: the name '{shortened(error.args[0])}' occurs twice; keep one.") from error
    except ValueError as error:  # Python's own limit
        raise OpenSetError(f"{what} is damaged: it holds a number of thousands of digits.") from error
    return content


def _each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name that stands twice has two values, and which one counts is different for every reader."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise KeyError(next(name for name in names if names.count(name) > 1))
    return content
