"""Looking at every large image once, for those who want the bad ones left out."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from openset._io.json_files import write_json
from openset._io.pictures import BadImageError
from openset.data.arrays import key_digest, progress, report_bad
from openset.data.images import Encoded
from openset.data.place import cache_folder


def without_bad(
    encoded: Encoded, key: Sequence[object], on_corrupt: str, what: str
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Rows that can be decoded, and a sentence for each that cannot.

    With "stop" nothing is decoded in advance: the first bad image stops the run when its turn comes. With "skip"
    all are decoded once, and the outcome is remembered for as long as the files do not change.
    """
    rows = np.arange(len(encoded), dtype=np.int64)
    if on_corrupt == "stop":
        return rows, ()
    file = cache_folder() / "checked" / f"{key_digest(key)}.json"
    try:
        bad = {int(row): str(sentence) for row, sentence in json.loads(file.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        bad = _find_bad(encoded, what)
        write_json(file, {str(row): sentence for row, sentence in bad.items()})
    report_bad(list(bad.values()), len(encoded), what, on_corrupt)
    return np.delete(rows, list(bad)), tuple(bad.values())


def _find_bad(encoded: Encoded, what: str) -> dict[int, str]:
    def problem(row: int) -> str | None:
        try:
            encoded.load(row)
        except BadImageError as error:
            return str(error)
        return None

    with ThreadPoolExecutor() as pool:
        found = enumerate(pool.map(problem, progress(range(len(encoded)), f"checking {what}"), chunksize=64))
        return {row: sentence for row, sentence in found if sentence is not None}
