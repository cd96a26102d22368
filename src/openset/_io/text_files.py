"""Text files of names, one per line."""

from pathlib import Path

from openset._io.paths import existing, reason
from openset.errors import OpenSetError


def text_lines(file: str | Path, *, may_be_empty: bool = False) -> list[str]:
    """Lines of a file, without their ends."""
    try:
        return existing(file, may_be_empty=may_be_empty).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise OpenSetError(f"{file} is not a text file in UTF-8; save it as UTF-8.") from error
    except OSError as error:
        raise OpenSetError(f"Cannot read {file}: {reason(error)}.") from error
