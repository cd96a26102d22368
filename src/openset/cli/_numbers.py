"""Lists on the command line: names by commas, numbers and ranges."""

from openset.errors import OpenSetError


def names(text: str) -> list[str]:
    """`a, b` as a and b."""
    return [name.strip() for name in text.split(",") if name.strip()]


def numbers(text: str, option: str) -> list[int]:
    """`0-2,5` as 0, 1, 2, 5."""
    found: list[int] = []
    for piece in names(text):
        first, _, last = piece.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise OpenSetError(f"{option}: '{piece}' is neither a number nor a range such as 0-4.")
        found += range(int(first), int(last or first) + 1)
    if not found:
        raise OpenSetError(f"{option}: give at least one number.")
    return found
