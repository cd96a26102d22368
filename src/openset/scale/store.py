"""Finished parts on disk, so that a command that was stopped goes on where it was."""

import hashlib
import shutil
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openset._core.kinds import OpenKind
from openset._io.atomic import replacing
from openset._io.paths import reason
from openset._io.room import as_size
from openset.errors import OpenSetError
from openset.scale.counting import Counted
from openset.scale.source import Source

_EVERY = 10.0  # seconds between two saves of the counts
_FORMAT = "2"


class Store:
    """A folder for one evaluation: in `--temp`, where finished parts stay until it is done, or one that never stays."""

    def __init__(self, source: Source, temp: Path | None) -> None:
        identity = "\n".join([_FORMAT, *(f"{p.file} {p.first} {p.rows} {p.size} {p.changed}" for p in source.parts)])
        digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
        self.kept = temp is not None
        try:
            if temp is None:
                self.folder = Path(tempfile.mkdtemp(prefix="openset-"))
            else:
                self.folder = temp / f"openset-{digest}"
                self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OpenSetError(f"Cannot make a folder for temporary files in {temp}: {reason(error)}.") from error
        self._saved = time.monotonic()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or not self.kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    def check_room(self, n_bytes: int) -> None:
        """Stop before the work if what it writes does not fit."""
        free = shutil.disk_usage(self.folder).free
        if n_bytes > free:
            raise OpenSetError(
                f"Exact values need {as_size(n_bytes)} in {self.folder.parent}, where {as_size(free)} are free: name "
                "another folder with --temp, or use --bounds, which needs none."
            )

    # ---- counts ----------------------------------------------------------------------------------------------------

    def save_counts(self, counted: Counted, done: Sequence[int], *, now: bool = False) -> None:
        """Remember the counts of the parts that are done; not too often."""
        if not self.kept or not (now or time.monotonic() - self._saved > _EVERY):
            return
        with replacing(self.folder / "counted.npz") as temporary, temporary.open("wb") as stream:
            np.savez(
                stream,
                done=np.array(sorted(done)),
                kinds=np.array([[str(kind.label), kind.group] for kind in counted.kinds], dtype=np.str_),
                **{name: getattr(counted, name) for name in ("fine", "lowest", "highest", "classes", "class_totals")},
            )
        self._saved = time.monotonic()

    def load_counts(self) -> tuple[Counted | None, set[int]]:
        """What `save_counts` left; nothing where it is not whole."""
        content = _load(self.folder / "counted.npz")
        if content is None:
            return None, set()
        kinds = tuple(OpenKind(int(label), str(group)) for label, group in content["kinds"])
        arrays = {name: content[name] for name in ("fine", "lowest", "highest", "classes", "class_totals")}
        return Counted(kinds, **arrays), set(content["done"].tolist())

    # ---- sorted parts ----------------------------------------------------------------------------------------------

    def rows_file(self, place: int) -> Path:
        """Where the sorted rows of a part are."""
        return self.folder / f"rows-{place}.bin"

    def save_sorted(self, place: int, cuts: Any, classes: Any) -> None:
        """Remember what `sort_part` told of a part whose rows are written."""
        if self.kept:
            with replacing(self.folder / f"rows-{place}.npz") as temporary, temporary.open("wb") as stream:
                np.savez(stream, cuts=cuts, classes=classes)

    def load_sorted(self, place: int, itemsize: int) -> tuple[Any, Any] | None:
        """What `save_sorted` left, if the rows are there as well."""
        content = _load(self.folder / f"rows-{place}.npz")
        file = self.rows_file(place)
        if content is None or not file.is_file() or file.stat().st_size != int(content["cuts"][-1]) * itemsize:
            return None
        return content["cuts"], content["classes"]


def _load(file: Path) -> dict[str, Any] | None:
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as content:
            return {name: content[name] for name in content.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
