"""Putting a page together: template, style, scripts and data in one file, written whole or not at all."""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from openset._core.text import half_character
from openset._io.atomic import write_text
from openset.errors import OpenSetError
from openset.present.page.html import text

_SCRIPTS = ("charts.js", "matrix.js", "tables.js", "operating.js", "details.js", "samples.js", "sections.js", "page.js")


@dataclass(frozen=True)
class Section:
    """A part of a page, with the static charts in it, by name."""

    html: str
    charts: Mapping[str, Any] = field(default_factory=dict)


def render(title: str, sections: Sequence[str], data: Mapping[str, Any]) -> str:
    """The whole page. `sections` are HTML made by `openset.present.page.html`; `data` is what the scripts draw."""
    script = "\n".join(_asset(name) for name in _SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        # Only this very script may run, and nothing may be loaded from anywhere.
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src 'sha256-{digest}'",
        "title": text(title),
        "style": _asset("page.css"),
        "sections": "\n".join(sections),
        "data": packed_json(data),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found.group(1)], _asset("page.html"))


def packed_json(content: Any) -> str:
    """JSON, compressed, as letters and digits: a third of the size, and no text in it can end the script element.

    >>> packed_json({"name": "</script>"})[:4]
    'H4sI'
    """
    plain = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        content = plain.encode()
    except UnicodeEncodeError as error:
        raise OpenSetError(f"The page cannot be written: {half_character(error)}.") from error
    return base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()


def write_page(path: str | Path, page: str) -> None:
    """Write a page, whole or not at all."""
    write_text(path, page)


@cache
def _asset(name: str) -> str:
    return (files("openset.present.page") / "assets" / name).read_text(encoding="utf-8")
