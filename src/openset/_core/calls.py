"""Text such as `knn(k=10)` or `msp,energy,'knn(k=10)'`: names with options, as people write them on a command line."""

import re
from typing import Any

from openset.errors import OpenSetError

_CALL = re.compile(r"\s*([A-Za-z_][\w.\-]*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Name and options of `name` or `name(key=value, ...)`.

    Values are whole numbers, numbers, true, false, none, or words, which may be in quotation marks.

    >>> parse_call("gen(gamma=0.1, top=100)")
    ('gen', {'gamma': 0.1, 'top': 100})
    >>> parse_call("msp")
    ('msp', {})
    """
    found = _CALL.fullmatch(text)
    if not found:
        raise OpenSetError(f"'{text}' is not understood: write a name, or name(key=value, ...).")
    name, inside = found.groups()
    options: dict[str, Any] = {}
    for part in split_list(inside or ""):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or not key.isidentifier() or not value:
            raise OpenSetError(f"'{text}': '{part}' is not understood; options are written key=value.")
        if key in options:
            raise OpenSetError(f"'{text}' has the option '{key}' twice.")
        options[key] = _value(value)
    return name, options


def split_list(text: str) -> list[str]:
    """Entries between commas; commas inside brackets or quotation marks belong to their entry, the marks do not.

    >>> split_list("msp, 'knn(k=10)', gen(gamma=0.1, top=5)")
    ['msp', 'knn(k=10)', 'gen(gamma=0.1, top=5)']
    """
    entries, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign == "," and depth == 0:
            entries.append("")
            continue
        depth += {"(": 1, ")": -1}.get(sign, 0)
        entries[-1] += sign
    if depth or quote:
        raise OpenSetError(f"'{text}' is not understood: a bracket or a quotation mark has no partner.")
    return [entry for entry in (_unquoted(entry.strip()) for entry in entries) if entry]


def _unquoted(text: str) -> str:
    whole = len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and text[0] not in text[1:-1]
    return text[1:-1].strip() if whole else text


def _value(text: str) -> Any:
    plain = _unquoted(text)
    if plain != text:
        return plain
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
