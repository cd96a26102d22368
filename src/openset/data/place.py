"""Where data lies: the user's data root, the cache of decoded arrays, and paths that must stay inside a folder."""

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from openset._io.paths import is_folder
from openset.errors import OpenSetError

DATA_VARIABLE = "OPENSET_DATA"
CACHE_VARIABLE = "OPENSET_CACHE"


def cache_folder() -> Path:
    """Where decoded arrays are kept: `OPENSET_CACHE`, else `openset` in the user's cache folder."""
    if os.environ.get(CACHE_VARIABLE):
        return Path(os.environ[CACHE_VARIABLE])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "openset"


def data_root(root: str | Path | None = None) -> Path:
    """The folder of local data sets: what the caller says, else `OPENSET_DATA`, else `data` in the cache folder."""
    if root is not None:
        if not is_folder(root):
            raise OpenSetError(f"There is no data root {root}: give the folder that holds the data sets.")
        return Path(root)
    if os.environ.get(DATA_VARIABLE):
        return Path(os.environ[DATA_VARIABLE])
    return cache_folder() / "data"


def inside(folder: Path, relative: str, where: str) -> Path:
    """`folder / relative`, refused if the words of `relative` lead out of `folder`.

    Only the text is judged: a link that the owner of the folder has put there may lead where he likes.

    >>> inside(Path("photos"), "../secret.png", "list.csv, row 3").as_posix()
    Traceback (most recent call last):
    openset.errors.OpenSetError: list.csv, row 3: the path '../secret.png' leads out of photos, so it is not read.
    """
    plain = relative.replace("\\", "/")
    absolute = PurePosixPath(plain).is_absolute() or bool(PureWindowsPath(relative).drive)
    if absolute or Path(os.path.normpath(plain)).parts[:1] == ("..",):
        raise OpenSetError(f"{where}: the path {relative!r} leads out of {folder}, so it is not read.")
    return folder / relative
