"""Lists of class names in files: their order, or their ids, give the classes numbers."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from openset._io.json_files import read_json
from openset._io.text_files import text_lines
from openset._io.yaml_files import read_yaml
from openset.detection.read.entries import column, is_id, texts
from openset.errors import OpenSetError

NAME_FILES = ("classes.txt", "obj.names", "classes.json", "data.yaml", "data.yml", "dataset.yaml")

Classes = tuple[list[dict[str, Any]], str]
"""Categories as in COCO files, and the file whose lines gave them their numbers, if it is one that has no ids."""


class FromZero(dict[int, str]):
    """Names by numbers that are only their order in a list, from 0, and not ids that somebody wrote down."""

    @classmethod
    def of(cls, names: Iterable[str]) -> "FromZero":
        """Count them."""
        return cls(enumerate(names))


def by_line(names: Sequence[str], file: Path) -> Classes:
    """Classes numbered from 0 in the order of a file."""
    return [{"id": i, "name": name} for i, name in enumerate(names)], str(file)


def read_numbering(file: Path) -> Mapping[Any, str]:
    """Names of a detector's classes by their numbers: in the order of the lines, from 0, or by the ids of a list.

    A JSON file may be a list of names or of `{"id": 1, "name": "cat"}`; YAML files have `names`, text one per line.
    """
    if file.suffix == ".json":
        content = read_json(file)
        if isinstance(content, list) and content and isinstance(content[0], Mapping):
            return {one["id"]: one["name"] for one in categories_in_json(file)}
    return FromZero.of(names_in(file))


def categories_in_json(file: Path) -> list[dict[str, Any]]:
    """Classes with their ids from a JSON list."""
    entries = read_json(file)
    if not isinstance(entries, list):
        raise OpenSetError(f'{file} must be a list such as [{{"id": 1, "name": "cat"}}, {{"id": 2, "name": "dog"}}].')
    ids, names = (column(entries, name, str(file), 0) for name in ("id", "name"))
    return [{"id": one, "name": name} for one, name in zip(ids, texts(names, "name", str(file), 0), strict=True)]


def names_file(places: Iterable[Path]) -> Path | None:
    """The first file of class names; their order gives the classes numbers from 0."""
    return next((place / name for place in places for name in NAME_FILES if (place / name).is_file()), None)


def names_in(file: Path) -> list[str]:
    """Class names in the order of a file."""
    if file.suffix == ".json":
        return _names_in_json(file)
    if file.suffix in (".yaml", ".yml"):
        return _names_in_yaml(file)
    return [line.strip() for line in text_lines(file) if line.strip()]


def _names_in_json(file: Path) -> list[str]:
    names = read_json(file)
    if not isinstance(names, list) or not all(map(is_id, names)):
        raise OpenSetError(f'{file} must be a list of class names, such as ["cat", "dog"].')
    return [str(name) for name in names]


def _names_in_yaml(file: Path) -> list[str]:
    try:
        names = read_yaml(file)["names"]
        found = [names[i] for i in range(len(names))]
        if any(isinstance(name, bool) for name in found):
            raise OpenSetError("YAML takes yes, no, on and off for truth values: put such a name in quotes")
        if isinstance(names, str) or not all(map(is_id, found)):
            raise TypeError
    except (OpenSetError, LookupError, TypeError) as error:
        because = f" ({error})" if isinstance(error, OpenSetError) else ""
        raise OpenSetError(
            f"{file} has no readable list 'names'; it is written like this: names: [cat, dog].{because}"
        ) from error
    return [str(name) for name in found]
