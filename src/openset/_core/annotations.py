"""Names for annotations that `help()` shows as they are written, where a type spells out as a paragraph."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike as ArrayLike  # noqa: PLC0414  so that others may import it
else:

    class _Name:
        """An annotation that is only its name."""

        def __init__(self, name: str) -> None:
            self.name = name

        def __repr__(self) -> str:
            return self.name

        def __or__(self, other: object) -> "_Name":
            return _Name(f"{self.name} | {_text(other)}")

        def __ror__(self, other: object) -> "_Name":
            return _Name(f"{_text(other)} | {self.name}")

    def _text(other: object) -> str:
        return other.__name__ if isinstance(other, type) else repr(other)

    ArrayLike = _Name("ArrayLike")
"""Whatever `numpy.asarray` takes."""
