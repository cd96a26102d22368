"""YAML of strangers: no tags that could build objects, no aliases of aliases, one sentence if it is wrong."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openset._core.text import half_character, shortened
from openset._io.paths import existing, reason
from openset._io.room import as_size
from openset.errors import OpenSetError, needing

if TYPE_CHECKING:
    import yaml

_DEEPEST = 100
"""Lists within lists; what people write has three or four."""
_LONGEST = 2**24
"""Bytes of a file; the reader takes a second for each of the first hundred thousands."""
_MOST = 1_000_000
"""Values of a file, each counted as often as an alias names it: a few lines of aliases can fill any memory."""


def read_yaml(path: str | Path) -> Any:
    """What a YAML file holds; JSON is YAML too."""
    file = existing(path)
    try:
        if file.stat().st_size > _LONGEST:
            raise OpenSetError(f"{file} is {as_size(file.stat().st_size)} long; what is read as YAML has a few lines.")
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
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            if _count(node, {}, where) > _MOST:
                raise OpenSetError(f"{where}: its aliases stand for more than {_MOST:,} values; write them out.")
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except OpenSetError:
        raise
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


def _count(node: "yaml.Node", seen: dict[int, int], where: str) -> int:
    """How many values a node stands for, with all that its aliases name; each node is looked at once."""
    if id(node) in seen:
        if not seen[id(node)]:
            raise RecursionError  # an alias within what it names
        return seen[id(node)]
    seen[id(node)] = 0
    if isinstance(node.value, str):
        total = 1
        try:
            node.value.encode()
        except UnicodeEncodeError as error:
            raise OpenSetError(f"{where}, line {node.start_mark.line + 1}: {half_character(error)}.") from error
    else:
        _check_names(node, where)
        inner = [part for entry in node.value for part in (entry if isinstance(entry, tuple) else (entry,))]
        total = 1 + sum(_count(part, seen, where) for part in inner)
    seen[id(node)] = total
    return total


def _check_names(node: "yaml.Node", where: str) -> None:
    """The reader would take the second of two values of one name, and say nothing of the first."""
    seen: set[str] = set()
    for name in (entry[0] for entry in node.value if isinstance(entry, tuple)):
        if not isinstance(name.value, str) or name.value == "<<":  # a merge of aliases may stand more than once
            continue
        if name.value in seen:
            line = name.start_mark.line + 1
            raise OpenSetError(f"{where}, line {line}: the name '{shortened(name.value)}' occurs twice; keep one.")
        seen.add(name.value)
