"""Several files on the command line: what to call them, and which are splits of one model."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from openset.errors import OpenSetError

# split0, ours-split0; split0-seed0, the run folders of `train` and `bench`, to which `reproduce` adds a mark.
_SPLIT = re.compile(r"(?:(.*)[-_.])?(split[-_]?\d+(?:[-_]seed[-_]?\d+)?)(?:-[0-9a-f]{8})?")


def name_files(files: Sequence[Path]) -> list[str]:
    """Short names that still differ: the file's name, with folders in front only where needed.

    What all names end with says nothing and is left out: runs are called by their folders.

    >>> name_files([Path("runs/softmax/split0/scores_test.parquet"), Path("runs/openauc/split0/scores_test.parquet")])
    ['softmax', 'openauc']
    """
    for depth in range(1, 1 + max(len(file.parts) for file in files)):
        parts = [file.with_suffix("").parts[-depth:] for file in files]
        if len(set(parts)) == len(parts):
            while len(parts) > 1 and len({one[-1] for one in parts}) == 1 and min(map(len, parts)) > 1:
                parts = [one[:-1] for one in parts]
            return ["/".join(one) for one in parts]
    return [f"{file} ({files[:i].count(file) + 1})" if file in files[:i] else str(file) for i, file in enumerate(files)]


def group_files(files: Sequence[Path], pattern: str | None) -> dict[str, list[int]]:
    """Which files, by place, are splits of one model, by its name.

    These are files with the same match of `pattern` (--group-by); without one, `method/split0.parquet ...` and run
    folders, `method/split0-seed0/scores_test.parquet ...`.
    """
    if pattern is None:
        return _group_splits(files)
    groups: dict[str, list[int]] = {}
    for place, file in enumerate(files):
        try:
            found = re.search(pattern, str(file))
        except re.error as error:
            raise OpenSetError(f"--group-by '{pattern}' is not a regular expression: {error}.") from error
        if found:
            groups.setdefault(found.group(1 if found.groups() else 0), []).append(place)
    return {key: places for key, places in groups.items() if len(places) > 1}


def split_of(file: Path, meta: Mapping[str, object]) -> str | None:
    """Which split a file is of: what its name or folder says, or else what is written in it; None if nothing does.

    >>> split_of(Path("runs/ours/split3-seed1/scores_test.parquet"), {}), split_of(Path("a.csv"), {"split": 2})
    ('3', '2')
    """
    found = _find_split(file.absolute())
    split = meta.get("split")
    if found is None:
        return None if split is None else str(split)
    return str(int(re.findall(r"\d+", found[1])[0]))


def _group_splits(files: Sequence[Path]) -> dict[str, list[int]]:
    groups: dict[_Model, dict[int, str]] = {}
    for place, file in enumerate(files):
        found = _find_split(file.absolute())
        if found is not None:
            groups.setdefault(found[0], {})[place] = found[1]
    # A split that is there twice was made under two settings, whose mean would mean nothing.
    several = {model: list(of) for model, of in groups.items() if len(of) == len(set(of.values())) > 1}
    return dict(zip(_short_names(list(several)), several.values(), strict=True))


class _Model(NamedTuple):
    """What the files of one model have in common, the number of the split apart."""

    folder: Path
    prefix: str
    file: str
    """Name of the file where the split is a folder."""


def _find_split(file: Path) -> tuple[_Model, str] | None:
    if found := _SPLIT.fullmatch(file.stem):
        return _Model(file.parent, found[1] or "", ""), found[2]
    if found := _SPLIT.fullmatch(file.parent.name):
        return _Model(file.parent.parent, found[1] or "", file.stem), found[2]
    return None


def _short_names(models: Sequence[_Model]) -> list[str]:
    """Names that differ: the prefix or the last folder, with more in front, and the file behind, where needed."""
    paths = [(*model.folder.parts, *filter(None, [model.prefix])) for model in models]
    apart = len(set(paths)) == len(paths)  # or else there are scores_val and scores_test of the same runs
    ends = [() if apart or not model.file else (model.file,) for model in models]
    for depth in range(1, 1 + max(map(len, paths), default=0)):
        names = ["/".join((*path[-depth:], *end)) for path, end in zip(paths, ends, strict=True)]
        if len(set(names)) == len(names):
            return names
    return [str(model.folder / f"{model.prefix}*" / model.file) for model in models]
