"""Values that the papers print, transcribed; facts, not ours."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def published(paper: str) -> dict[str, Any]:
    """All transcribed values of a paper: openauc, imagenet or elephant."""
    text = (files("openset.reproduction") / "published" / f"{paper}.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
