"""Finding a protocol: bundled ones by name, a user's own by YAML file or by folder."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from openset._core.checks import RESERVED_GROUPS
from openset._core.registry import Registry
from openset._io.paths import is_folder
from openset._io.yaml_files import read_yaml
from openset.data.folders import subfolders
from openset.data.place import data_root
from openset.errors import OpenSetError, did_you_mean
from openset.protocols.definition import Definition, parse

PROTOCOLS: Registry[Definition] = Registry("protocol")

for _file in sorted(files("openset.protocols").joinpath("lists").iterdir(), key=lambda file: file.name):
    if _file.name.endswith(".json"):
        _name = _file.name.removesuffix(".json")
        PROTOCOLS.add(_name, parse(json.loads(_file.read_text(encoding="utf-8")), name=_name, where=_name))


def find(name: str | Path) -> Definition:
    """The definition of a bundled protocol, of a YAML file, or of a folder with known/ and unknown/ inside."""
    if isinstance(name, str) and name in PROTOCOLS:
        return PROTOCOLS[name]
    path = Path(name)
    if is_folder(path):
        return from_folder(path)
    if path.suffix.lower() in {".yaml", ".yml", ".json"}:
        path = path if path.exists() or len(path.parts) > 1 else _in_data_root(path)
        return parse(read_yaml(path), name=path.stem, where=str(path), folder=path.parent)
    raise OpenSetError(f"There is no protocol, YAML file or folder '{name}'. {did_you_mean(str(name), PROTOCOLS)}")


def _in_data_root(path: Path) -> Path:
    """The file of that name beside the data sets, if there is one; so a protocol can travel with its data."""
    kept = data_root() / path
    return kept if kept.exists() else path


def from_folder(folder: Path) -> Definition:
    """`known/<class>/`, `unknown/<class>/` and perhaps `negative/<class>/`; `unknown-far/` makes a group `far`.

    Photos of unknowns and negatives may also lie directly in their folder, without classes. Beside `unknown-far/` a
    second folder needs a group's name too: `unknown-near/`, not `unknown/`.
    """
    content: dict[str, Any] = {"data": "known"}
    for role in ("negative", "unknown"):
        groups = {name: name.partition("-")[2] or role for name in subfolders(folder) if name.partition("-")[0] == role}
        if list(groups.values()) == [role]:  # one folder only: no groups
            content[role] = {"data": next(iter(groups))}
        elif groups:
            _refuse_reserved(groups, role, folder)
            content[role] = {group: {"data": name} for name, group in groups.items()}
    if not (folder / "known").is_dir() or "unknown" not in content:
        raise OpenSetError(
            f"{folder} is no protocol: expected folders known/<class>/, unknown/ and perhaps negative/ inside, or the "
            f"lists train.csv, val.csv and test.csv; found {', '.join(subfolders(folder)) or 'no folders'}."
        )
    name = folder.resolve().name
    return parse(content, name=name, where=str(folder), folder=folder)


def _refuse_reserved(groups: dict[str, str], role: str, folder: Path) -> None:
    """A reserved name is best changed where it comes from, which is the name of a folder."""
    for name, group in groups.items():
        if group in RESERVED_GROUPS:
            better = next((word for word in ("near", "other") if word not in groups.values()), "rest")
            raise OpenSetError(
                f"{folder}: the samples in {name}/ would be a group called '{group}', which has a meaning of its own; "
                f"rename {name}/ to {role}-{better}/, for example."
            )
