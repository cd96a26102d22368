"""YAML of strangers: no tags that could build objects, no depth that takes minutes, one sentence if it is wrong."""

import re
from pathlib import Path
from typing import Any

from openset._io.paths import existing, reason
from openset.errors import OpenSetError, needing

_DEEPEST = 100
"""Lists within lists; what people write has three or four."""


def read_yaml(path: str | Path) -> Any:
    """What a YAML file holds; JSON is YAML too."""
    file = existing(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise OpenSetError(f"{file}: not valid YAML: not in UTF-8; save it as UTF-8.") from error
    except OSError as error:
        raise OpenSetError(f"Cannot read {file}: {reason(error)}.") from error
    return parse_yaml(text, str(file))


def parse_yaml(text: str, where: str) -> Any:
    """What a text in YAML says; `where` it stands is named in errors."""
    with needing("Reading YAML"):
        import yaml
    try:
        if _depth(text) > _DEEPEST:
            raise RecursionError
        return yaml.safe_load(text)
    except RecursionError as error:
        raise OpenSetError(f"{where}: not valid YAML: lists within lists within lists, without end.") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a number, a date or a character that cannot be
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise OpenSetError(f"{where}{line}: not valid YAML: {problem}.") from error


def _depth(text: str) -> int:
    """How many brackets are open at once, or dashes in a row: the YAML reader takes minutes for thousands of them."""
    open_now = deepest = 0
    for bracket in re.finditer(r"[\[\]{}]", text):
        open_now = open_now + 1 if bracket[0] in "[{" else max(0, open_now - 1)
        deepest = max(deepest, open_now)
    return max(deepest, *(len(dashes[0]) // 2 for dashes in re.finditer(r"(?:- +){3,}", text)), 0)
