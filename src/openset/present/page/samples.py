"""The samples that slip through and the knowns that are lost, with their pictures or texts, for the page to show."""

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from openset._core.text import shortened
from openset._io.sample_contents import SampleContents
from openset.results.views.samples import class_texts, worst_samples
from openset.scores import Scores

if TYPE_CHECKING:
    from PIL.Image import Image

_SAMPLES, _FEWEST, _MOST = 4000, 40, 200
"""How many samples of either kind a page holds in all, and of one model at least and at most."""
_PICTURES, _SIDE = 160, 112
_BYTES = 1_200_000
"""Of all pictures together."""
_LETTERS = 400


def sample_lists(
    models: Sequence[Scores], contents: SampleContents | None
) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
    """Lists of samples for each model, their contents by id, and a sentence where contents are missing."""
    most = int(np.clip(_SAMPLES // len(models), _FEWEST, _MOST))
    lists = [_lists(scores, most) for scores in models]
    shown, note = _contents(lists, models, contents)
    return lists, shown, note


def _lists(scores: Scores, most: int) -> dict[str, Any]:
    found = worst_samples(scores, most=most)
    names = class_texts(scores)
    made = {}
    for kind, rows in (("slipped", found.slipped), ("lost", found.lost)):
        made[kind] = {
            "id": [f"row {row}" for row in rows] if scores.ids is None else scores.ids[rows].tolist(),
            "class": names[rows].tolist(),
            "taken_for": [scores.class_name(int(label)) for label in scores.predictions[rows]],
            "score": scores.unknown_score[rows].astype(np.float64).tolist(),
            "kind": ["negative" if label == -1 else "unknown" for label in scores.labels[rows]],
            "group": None if scores.groups is None else scores.groups[rows].tolist(),
        }
    return made


def _contents(
    lists: Sequence[dict[str, Any]], models: Sequence[Scores], contents: SampleContents | None
) -> tuple[dict[str, Any], str]:
    """Contents of the worst samples of all models, as many as there is room for."""
    if contents is None:
        return {}, ""
    if all(scores.ids is None for scores in models):
        return {}, "The samples have no ids, so their pictures or texts cannot be found."
    made: dict[str, Any] = {}
    missing: list[str] = []
    size = pictures = 0
    for name in _worst_first(lists):
        if pictures == _PICTURES or size > _BYTES or len(missing) > _PICTURES:
            break
        found = contents.find(name)
        if found is None:
            missing.append(name)
        elif isinstance(found, str):
            made[name] = {"text": found if len(found) <= _LETTERS else found[: _LETTERS - 1] + "…"}
        else:
            made[name] = {"image": _thumbnail(found)}
            pictures += 1
        size += sum(map(len, made.get(name, {}).values()))
    if not missing:
        return made, ""
    many = f"{len(missing)} samples" if made else "the samples' ids"
    return made, f"Nothing was found for {many}, '{shortened(missing[0])}' for example."


def _worst_first(lists: Sequence[dict[str, Any]]) -> list[str]:
    """Ids of all lists in turn: the worst of each, then the second of each."""
    longest = max(len(one[kind]["id"]) for one in lists for kind in one)
    found = (one[kind]["id"][place : place + 1] for place in range(longest) for one in lists for kind in one)
    return list(dict.fromkeys(name for names in found for name in names))


def _thumbnail(picture: "Image") -> str:
    """A small JPEG as an address that needs no file; tiny images are enlarged without blur."""
    from PIL.Image import Resampling

    scale = _SIDE / max(picture.size)
    how = Resampling.NEAREST if scale > 1 else Resampling.LANCZOS
    small = picture.resize([max(1, round(side * scale)) for side in picture.size], how)
    out = io.BytesIO()
    small.convert("RGB").save(out, "JPEG", quality=78)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()
