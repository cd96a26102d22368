"""Opening data: one function that opens every kind of data by name or path."""

import warnings
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from openset._core.text import shown
from openset.data.catalog import CATALOG, Card
from openset.data.dataset import Dataset
from openset.data.folders import Listing, list_class_folders, list_cub, list_flat, open_listing, subfolders, unwrap
from openset.data.place import data_root
from openset.errors import OpenSetError, OpenSetWarning, check_choice, did_you_mean

Opener = Callable[[], Dataset]
Lister = Callable[[], Listing]
_SUFFIXES = (".parquet", ".npz", ".csv")
_TEST_NAMES = ("test", "val", "valid", "validation")


def open_dataset(
    data: str | Path,
    split: str | None = None,
    *,
    root: str | Path | None = None,
    on_corrupt: str = "stop",
    classes: Collection[str] | None = None,
    name: str | None = None,
) -> Dataset:
    """Open one part of a data set.

    Args:
        data: a name (`digits`, `mnist`, `cifar10`, `imagenet`, ...; see `openset.data.CATALOG`), or a path: a folder of
            class folders, a folder with `train` and `test` inside, ILSVRC's or CUB's own layout, a CSV list
            `path,label`, a Parquet file of images or feature vectors, an NPZ file of feature vectors.
        split: `train`, `test`, `val`, or `all` for data without parts. None: the only part, or `train`.
        root: folder that holds data sets by name (`<root>/cifar10/train.parquet`), before the hub is asked;
            else `OPENSET_DATA`. The paths in a CSV list are relative to it, or else to the list's own folder.
        on_corrupt: `stop` at an image that cannot be decoded, or `skip` all of these, with a warning that counts them.
        classes: read only these classes where that saves time (a folder per class).
        name: what to call data from a path in the ids of its samples; default: the name of the file or folder.

    Small images come as a memory-mapped array that is made the first time; large ones stay encoded.

    >>> digits = open_dataset("digits", "train")
    >>> digits.images.shape[1:], digits.class_names[:3]
    ((8, 8, 1), ('0', '1', '2'))
    """
    check_choice("open_dataset", "on_corrupt", on_corrupt, ["stop", "skip"])
    parts = _parts(data, root, on_corrupt, classes, name)
    chosen = split if split is not None else ("train" if "train" in parts else next(iter(parts)))
    if chosen not in parts:
        raise OpenSetError(f"{data} has no part '{chosen}'; it has {', '.join(parts)}.")
    dataset = parts[chosen]()
    for note in dataset.notes:
        warnings.warn(shown(f"{dataset.name}: {note}"), OpenSetWarning, stacklevel=2)
    return dataset


def splits_of(data: str | Path, *, root: str | Path | None = None) -> tuple[str, ...]:
    """The parts a data set has: `train` and `test`, perhaps `val`, or only `all`.

    >>> splits_of("digits")
    ('train', 'test')
    """
    return tuple(_parts(data, root, "stop"))


def parts_here(name: str, *, root: str | Path | None = None) -> tuple[str, ...]:
    """The parts of a named data set that are on this machine, so that opening them needs no network."""
    from openset.data.arrays import is_stored
    from openset.data.hub import cache_key, in_hub_cache

    card = CATALOG[name]
    if card.hub is None:
        return ("train", "test")
    local = data_root(root) / name
    if local.is_dir():
        return () if _other_form(local) else splits_of(name, root=root)
    if in_hub_cache(card):
        return ("train", "test")
    return tuple(part for part in ("train", "test") if is_stored(cache_key(card, part)))


def classes_here(name: str, part: str, *, root: str | Path | None = None) -> frozenset[str] | None:
    """Of a named data set that lies here in a folder per class, the classes of a part; None where it does not."""
    card, outer = CATALOG[name], data_root(root) / name
    inner = unwrap(outer) if outer.is_dir() else outer
    folder = inner / ("train" if part == "train" else card.test_folder)
    if not folder.is_dir() or any(file.suffix in _SUFFIXES for file in outer.iterdir()):
        return None
    return frozenset(subfolders(folder)) & frozenset(card.class_names) or None


def _other_form(folder: Path) -> str:
    """The archive in which a data set is offered, where it is one that is not read; else nothing.

    Batches of CIFAR are pickled, and reading them could run code; the .mat files of SVHN hold each image in strips.
    """
    named = (folder / name for name in ("cifar-10-batches-py", "cifar-100-python"))
    return next((file.name for file in (*named, *sorted(folder.glob("*.mat"))) if file.exists()), "")


def _parts(
    data: str | Path,
    root: str | Path | None,
    on_corrupt: str,
    classes: Collection[str] | None = None,
    name: str | None = None,
) -> dict[str, Opener]:
    """What can be opened, by part; nothing is decoded yet."""
    if isinstance(data, str) and data in CATALOG:
        card = CATALOG[data]
        if card.hub is None:
            from openset.data.embedded import open_digits

            return {part: partial(open_digits, part) for part in ("train", "test")}
        local = data_root(root) / data
        if local.is_dir():
            return _parts_of_path(local, data, card, None, on_corrupt, classes)
        from openset.data.hub import open_hub

        return {
            part: partial(open_hub, card, part, root=data_root(root), on_corrupt=on_corrupt)
            for part in ("train", "test")
        }
    path = _existing(data, root)
    called = name or (path.stem if path.is_file() else path.resolve().name)
    return _parts_of_path(path, called, None, root, on_corrupt, classes)


def _existing(data: str | Path, root: str | Path | None) -> Path:
    places = [Path(data)] if root is None else [Path(data), Path(root) / data]
    for place in places:
        if place.exists():
            return place
    raise OpenSetError(f"There is no data set and no file or folder '{data}'. {did_you_mean(str(data), CATALOG)}")


def _parts_of_path(
    path: Path,
    name: str,
    card: Card | None,
    root: str | Path | None,
    on_corrupt: str,
    classes: Collection[str] | None,
) -> dict[str, Opener]:
    if path.is_file():
        return {"all": _file_opener([path], name, "all", card, root, on_corrupt)}
    tables = _tables(path, name, card, root, on_corrupt)
    if tables:
        return tables
    if form := _other_form(path):
        raise OpenSetError(
            f"{path / form} is not read: put {path / 'train.parquet'} and {path / 'test.parquet'} there, with the "
            "columns 'image' (PNG or JPEG as bytes) and 'label', or leave that folder out to load it from the hub."
        )
    inner = unwrap(path)
    if (inner / "train_test_split.txt").is_file() and (inner / "images").is_dir():
        names = card.class_names if card else tuple(subfolders(inner / "images"))
        listers: dict[str, Lister] = {part: partial(list_cub, inner, part, names) for part in ("train", "test")}
    else:
        listers = _folder_listers(inner, path, card, classes)

    def opener(part: str) -> Opener:
        return lambda: open_listing(listers[part](), name, part, card=card, on_corrupt=on_corrupt)

    return {part: opener(part) for part in listers}


def _tables(folder: Path, name: str, card: Card | None, root: str | Path | None, on_corrupt: str) -> dict[str, Opener]:
    """Files such as train.parquet and test.parquet, or train-00000-of-00005.parquet, in one folder."""
    parts: dict[str, Opener] = {}
    for part, stems in (("train", ("train",)), ("val", ("val", "valid", "validation")), ("test", ("test",))):
        for stem in stems:
            found = sorted(
                file
                for file in folder.iterdir()
                if file.suffix in _SUFFIXES and (file.stem == stem or file.stem.startswith(f"{stem}-"))
            )
            if found:
                parts[part] = _file_opener(found, name, part, card, root, on_corrupt)
                break
    if "test" not in parts and "val" in parts:
        parts["test"] = parts.pop("val")
    return parts


def _file_opener(
    paths: list[Path], name: str, part: str, card: Card | None, root: str | Path | None, on_corrupt: str
) -> Opener:
    from openset.data.lists import open_list
    from openset.data.tables import open_npz, open_parquet

    suffix = paths[0].suffix.lower()
    if len(paths) > 1 and any(path.suffix.lower() != ".parquet" for path in paths):
        raise OpenSetError(
            f"{paths[0]} and {paths[1].name} are both the part '{part}': join them into one file, or move one away."
        )
    if suffix == ".parquet":
        return partial(open_parquet, paths, name, part, card=card, on_corrupt=on_corrupt)
    if suffix == ".npz":
        return partial(open_npz, paths[0], name, part)
    if suffix == ".csv":
        return partial(open_list, paths[0], name, part, root=Path(root) if root else None, on_corrupt=on_corrupt)
    raise OpenSetError(
        f"{paths[0]}: cannot read '{suffix}' files as data; use .parquet, .npz, .csv or a folder of images."
    )


def _folder_listers(folder: Path, outer: Path, card: Card | None, classes: Collection[str] | None) -> dict[str, Lister]:
    inside = subfolders(folder)
    if "train" not in inside or not subfolders(folder / "train"):  # a class may be called train, too
        names = card.class_names if card else None
        return {"all": partial(list_class_folders, folder, "", names, classes=classes)}
    wanted = (card.test_folder, *_TEST_NAMES) if card else _TEST_NAMES
    test = next((name for name in wanted if name in inside), None)
    val = "val" if "val" in inside and test != "val" else None
    named = {"train": "train"} | ({"val": val} if val else {}) | ({"test": test} if test else {})
    found = {name for part in named.values() for name in subfolders(folder / part)}
    names = card.class_names if card else tuple(sorted(found))
    return {
        part: partial(list_flat, folder, sub, names, outer=outer)
        if not set(subfolders(folder / sub)) & set(names)
        else partial(list_class_folders, folder, sub, names, classes=classes)
        for part, sub in named.items()
    }
