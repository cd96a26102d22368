"""What a model is run on: images, texts or vectors with their ids, and their labels where somebody knows them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset._core.fingerprint import fingerprint
from openset._core.labels import LabelWords, as_column, read_labels
from openset._io.paths import is_folder
from openset._io.score_files import naming
from openset._io.tables import read_table
from openset._io.text_files import text_lines
from openset.data.fingerprints import file_state
from openset.data.images import SUFFIXES
from openset.data.place import inside
from openset.errors import OpenSetError, did_you_mean
from openset.models.card import Takes
from openset.models.loading import Loader, OfProtocol, PictureFiles, Texts

if TYPE_CHECKING:
    from openset.protocols import Protocol

TABLES = (".csv", ".tsv", ".parquet")
_PATHS = ("path", "image", "file")


@dataclass(frozen=True)
class Samples:
    """Samples that are read one by one; a `BadImageError` of `load` names the one that cannot be read."""

    name: str
    ids: NDArray[np.str_]
    load: Loader
    labels: NDArray[np.int64] | None = None
    groups: NDArray[np.str_] | None = None
    open_classes: NDArray[np.str_] | None = None
    class_names: tuple[str, ...] | None = None
    """Of the labels, where the data says."""
    meta: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    state: str = ""
    """What else tells these samples from others of the same ids."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def fingerprint(self) -> str:
        """Changes with the samples, their labels and their order."""
        return fingerprint([self.ids, self.labels, np.array(self.state)])

    def between(self, first: int, stop: int) -> "Samples":
        """Some of them, without what all of them have in common: to be run by another process."""
        columns = ("ids", "labels", "groups", "open_classes")
        some: dict[str, Any] = {
            name: None if (whole := getattr(self, name)) is None else whole[first:stop] for name in columns
        }
        return replace(self, **some, load=self.load.between(first, stop), notes=())


@dataclass(frozen=True)
class Reading:
    """How data is to be read."""

    class_names: tuple[str, ...] | None = None
    """Of the model: labels by name are looked up there."""
    words: LabelWords = field(default_factory=LabelWords)
    part: str = "test"
    split: int = 0
    data_root: Path | None = None
    skip_corrupt: bool = False
    column: str = "text"
    labels: str = "auto"
    """Whether folders named like classes are labels: auto, folders or none."""


def open_samples(data: Sequence[str], takes: Takes, reading: Reading) -> Samples:
    """The samples in folders, image files, lists and tables, or of a protocol."""
    if len(data) == 1 and _is_protocol(data[0]):
        return _of_protocol(data[0], takes, reading)
    for one in data:
        if not Path(one).exists():
            from openset.protocols import PROTOCOLS

            near = did_you_mean(one, PROTOCOLS)
            protocol = f", and no such protocol. {near}" if near.startswith("Did") else "."
            raise OpenSetError(f"There is no file or folder {one}{protocol}")
    if takes == "texts":
        return _of_texts([Path(one) for one in data], reading)
    if takes == "vectors":
        raise OpenSetError(f"The model takes vectors: give a protocol of feature vectors, not {data[0]}.")
    if len(data) == 1 and Path(data[0]).suffix.lower() in (*TABLES, ".txt"):
        return _of_list(Path(data[0]), reading)
    return _of_images([Path(one) for one in data], reading)


# ---- images --------------------------------------------------------------------------------------------------------


def find_images(paths: Sequence[Path]) -> list[Path]:
    """Image files, and those in folders, in order."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise OpenSetError(f"There is no file or folder {path}.")
        inside_ = sorted(_images_below(path)) if path.is_dir() else [path]
        if not inside_:
            raise OpenSetError(f"The folder {path} has no images ({', '.join(sorted(SUFFIXES))}).")
        found += inside_
    return found


def _images_below(folder: Path) -> Iterator[Path]:
    for one in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in one.relative_to(folder).parts)
        if one.suffix.lower() in SUFFIXES and not hidden:
            yield one


def _of_images(paths: Sequence[Path], reading: Reading) -> Samples:
    files = find_images(paths)
    labels, notes = _by_folder(paths, files, reading)
    return _of_files(
        [str(one) for one in files], files, labels, reading, ", ".join(map(str, paths[:3])), notes, folders=True
    )


def _of_files(
    ids: Sequence[str],
    files: Sequence[Path],
    labels: Sequence[str] | None,
    reading: Reading,
    name: str,
    notes: tuple[str, ...] = (),
    *,
    folders: bool = False,
) -> Samples:
    where = (lambda row: str(files[row])) if folders else (lambda row: f"row {row}")
    found = None if labels is None else _numbers(labels, reading, where)
    if found is not None and found[1] is not None and reading.class_names is None:
        notes = (*notes, _BY_ORDER)
    states = [file_state(one.stat()) if one.is_file() else (0, 0, 0, 0) for one in files]
    return Samples(
        name,
        _unique(ids, name),
        PictureFiles(files),
        labels=None if found is None else found[0],
        open_classes=None if found is None else _open_classes(labels or (), found[0]),
        class_names=None if found is None else found[1],
        notes=notes,
        state=fingerprint([np.array(states, dtype=np.int64)]),
    )


_BY_ORDER = "The model does not name its classes: the names in the data, in alphabetical order, are taken for them."


def _by_folder(
    paths: Sequence[Path], files: Sequence[Path], reading: Reading
) -> tuple[list[str] | None, tuple[str, ...]]:
    """The folder right below the one that was given, where these are named like the model's classes."""
    if reading.labels == "none" or len(paths) != 1 or not is_folder(paths[0]):
        if reading.labels == "folders":
            raise OpenSetError("--labels folders needs one folder with a folder for each class in it.")
        return None, ()
    tops = [one.relative_to(paths[0]).parts[:-1][:1] for one in files]
    names = sorted({top[0] for top in tops if top})
    known = set(reading.class_names or ())
    fit = [name for name in names if name in known or reading.words.meaning(name) is not None]
    if reading.labels == "auto" and (not names or len(fit) < len(names) or not all(tops)):
        some_fit = (
            f"{len(fit)} of {len(names)} folders in {paths[0]} are named like classes of the model, so the images are "
            "taken to have no labels; --labels folders takes the folders for labels."
        )
        nameless = (
            f"The model does not name its classes, so the folders in {paths[0]} are not taken for labels; --classes "
            "names them in the order of the logits."
        )
        return None, (nameless,) if names and not known else (some_fit,) if fit else ()
    loose = next((file for file, top in zip(files, tops, strict=True) if not top), None)
    if loose is not None:
        raise OpenSetError(f"{loose} lies in no folder of a class: move it into one, or use --labels none.")
    some = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return [top[0] for top in tops], (f"The folders in {paths[0]} are the labels ({some}).",)


def _of_list(path: Path, reading: Reading) -> Samples:
    """A table with a column `path`, and perhaps `label` and `id`; or a text file with one path per line."""
    if path.suffix.lower() == ".txt":
        names = [line.strip() for line in text_lines(path) if line.strip()]
        labels: list[str] | None = None
        ids: list[str] | None = None
    else:
        table = read_table(path, names=(*_PATHS, "label", "id"))
        column = next((one for one in _PATHS if one in table.columns), None)
        if column is None:
            raise OpenSetError(
                f"{path} has no column 'path' with image files; its columns are {', '.join(table.columns)}."
            )
        names = _texts(table, column, path) or []
        labels, ids = _texts(table, "label", path), _texts(table, "id", path)
    if not names:
        raise OpenSetError(f"{path} lists no images.")
    files = [inside(path.parent, name, f"{path}, row {row}") for row, name in enumerate(names, start=1)]
    try:
        return _of_files(ids or names, files, labels, reading, str(path))
    except OpenSetError as error:
        raise naming(path, error) from error


# ---- texts ---------------------------------------------------------------------------------------------------------


def _of_texts(paths: Sequence[Path], reading: Reading) -> Samples:
    """A table with a column of texts, and perhaps `label` and `id`."""
    if len(paths) != 1:
        raise OpenSetError("Give one table of texts (.csv, .tsv or .parquet).")
    path = paths[0]
    if is_folder(path) or path.suffix.lower() not in TABLES:
        raise OpenSetError(f"The model reads texts: {path} must be a table of them (.csv, .tsv or .parquet).")
    table = read_table(path, names=("text", "label", "id"))
    if reading.column not in table.columns:
        raise OpenSetError(
            f"{path} has no column '{reading.column}'; its columns are {', '.join(table.columns)}. Name the one with "
            "the texts with --column."
        )
    texts, labels, ids = (_texts(table, one, path) for one in (reading.column, "label", "id"))
    assert texts is not None
    empty = next((row for row, text in enumerate(texts) if not text.strip()), None)
    if empty is not None:
        raise OpenSetError(f"{path}: there is no text in row {empty}: write one, or take the row out.")
    try:
        found = None if labels is None else _numbers(labels, reading, lambda row: f"row {row}")
        unique = _unique(ids or [str(row) for row in range(len(texts))], str(path))
    except OpenSetError as error:
        raise naming(path, error) from error
    return Samples(
        str(path),
        unique,
        Texts(texts),
        labels=None if found is None else found[0],
        open_classes=None if found is None else _open_classes(labels or (), found[0]),
        class_names=None if found is None else found[1],
        notes=(_BY_ORDER,) if found is not None and reading.class_names is None and found[1] is not None else (),
        state=fingerprint([np.array(texts)]) if len(texts) < 10**5 else str(path.stat().st_mtime_ns),
    )


def _texts(table: Any, column: str, path: Path) -> list[str] | None:
    import polars as pl

    if column not in table.columns:
        return None
    kind = table[column].dtype
    if kind.is_nested() or kind == pl.Binary:
        raise OpenSetError(f"{path}: column '{column}' holds {kind}; use text or numbers.")
    return ["" if one is None else str(one) for one in table[column].to_list()]


# ---- protocols -----------------------------------------------------------------------------------------------------


def _is_protocol(name: str) -> bool:
    from openset.protocols import PROTOCOLS, parse_stand_in
    from openset.protocols.from_lists import find_lists

    path = Path(name)
    if name in PROTOCOLS and not path.exists():
        return True
    if parse_stand_in(name) is not None or path.suffix.lower() in {".yaml", ".yml", ".json"}:
        return True
    return is_folder(path) and (
        find_lists(path) is not None
        or ((path / "known").is_dir() and any(one.name.startswith("unknown") for one in path.iterdir()))
    )


def _of_protocol(name: str, takes: Takes, reading: Reading) -> Samples:
    from openset.protocols import load

    on_corrupt = "skip" if reading.skip_corrupt else "stop"
    protocol = load(name, split=reading.split, data_root=reading.data_root, on_corrupt=on_corrupt)
    if reading.part not in protocol.parts:
        raise OpenSetError(f"{name} has no part '{reading.part}'; it has {', '.join(protocol.parts)}.")
    part = protocol.parts[reading.part]
    vectors = part.sources[0].kind == "features"
    if takes != ("vectors" if vectors else "images"):
        raise OpenSetError(
            f"The model takes {takes}, and the samples of {name} are {'vectors' if vectors else 'images'}."
        )
    return Samples(
        f"{name} ({reading.part})",
        part.ids,
        OfProtocol(name, reading.part, reading.split, reading.data_root, on_corrupt, protocol.fingerprint, opened=part),
        labels=_as_model(protocol, part.labels, reading.class_names, name),
        groups=part.groups,
        open_classes=part.open_classes,
        class_names=protocol.class_names,
        meta={"protocol": protocol.name, "split": reading.split, "data": protocol.fingerprint},
        notes=protocol.notes,
        state=protocol.fingerprint,
    )


def _as_model(
    protocol: "Protocol", labels: NDArray[np.int64], names: tuple[str, ...] | None, where: str
) -> NDArray[np.int64]:
    """Labels by the model's numbers: classes are matched by their names, or by their titles."""
    if names is None or names == protocol.class_names:
        return labels
    place = {name: number for number, name in enumerate(names)}
    numbers = [place.get(one, place.get(protocol.titles.get(one, ""), -1)) for one in protocol.class_names]
    lost = next((one for one, number in zip(protocol.class_names, numbers, strict=True) if number < 0), None)
    if lost is not None:
        raise OpenSetError(
            f"The known class '{lost}' of {where} is no class of the model, which has {', '.join(names[:5])}"
            f"{', ...' if len(names) > 5 else ''}: its protocol must know classes of the model."
        )
    return np.where(labels >= 0, np.array(numbers, dtype=np.int64)[np.clip(labels, 0, None)], labels)


# ---- labels --------------------------------------------------------------------------------------------------------


def _numbers(
    labels: Sequence[str], reading: Reading, where: Callable[[int], str]
) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Labels by number, and the names of the classes that they are of."""
    found = read_labels(
        as_column("labels", np.array(labels)), None, reading.class_names, words=reading.words, where=where
    )
    assert found.labels is not None
    numbers = np.asarray(found.labels, dtype=np.int64)
    known = None if found.class_names is None else len(found.class_names)
    wrong = numbers < -2 if known is None else (numbers < -2) | (numbers >= known)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise OpenSetError(f"label is {numbers[row]} in {where(row)}, which is no class of the model.")
    return numbers, found.class_names


def _open_classes(labels: Sequence[str], numbers: NDArray[np.int64]) -> NDArray[np.str_]:
    return np.array([name if number < 0 else "" for name, number in zip(labels, numbers.tolist(), strict=True)])


def _unique(ids: Sequence[str], name: str) -> NDArray[np.str_]:
    found, times = np.unique(np.array(ids), return_counts=True)
    if times.max() > 1:
        raise OpenSetError(f"{name}: '{found[times.argmax()]}' occurs {times.max()} times; ids must be unique.")
    return np.array(ids, dtype=np.str_)
