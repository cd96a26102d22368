"""Names of a model's classes from a file: one name per line, or a JSON list or object of them."""

from pathlib import Path

from openset._io.json_files import read_json
from openset._io.paths import existing
from openset._io.text_files import text_lines
from openset.errors import OpenSetError


def read_class_names(path: Path) -> tuple[str, ...]:
    """The names in the order of the logits; `{"0": "cat", ...}` is what many models keep beside them."""
    file = existing(path)
    if file.suffix.lower() == ".json":
        content = read_json(file)
        if isinstance(content, dict) and all(str(number) in content for number in range(len(content))):
            content = [content[str(number)] for number in range(len(content))]
        names = content if isinstance(content, list) else []
    else:
        names = [line.strip() for line in text_lines(file) if line.strip()]
    if not names or not all(isinstance(name, str) for name in names):
        raise OpenSetError(f"{file} must name the classes: one per line, or a JSON list of names.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OpenSetError(f"{file} names the class '{twice}' twice.")
    return tuple(names)


def check_number(names: tuple[str, ...] | None, n_logits: int, model: str, source: Path | str) -> None:
    """Names must be as many as logits."""
    if names is not None and len(names) != n_logits:
        raise OpenSetError(f"{model} has {n_logits} classes and {source} names {len(names)}.")
