"""Data frames of any library as polars frames, and back, through narwhals."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from openset.errors import OpenSetError, needing

if TYPE_CHECKING:
    import polars as pl

LIBRARIES = ("polars", "pandas", "pyarrow")


def as_polars(frame: Any) -> "pl.DataFrame":
    """A frame of pandas, polars, pyarrow or another library that narwhals reads; missing values become null.

    >>> import polars as pl
    >>> as_polars(pl.DataFrame({"label": ["cat", None]}))["label"].to_list()
    ['cat', None]
    """
    import polars as pl

    with needing("Reading data frames"):
        import narwhals as nw
    try:
        given = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        hint = " Collect it first." if hasattr(frame, "collect") else ""
        raise OpenSetError(
            f"A frame of pandas, polars or pyarrow is needed, got {type(frame).__name__}.{hint}"
        ) from error
    repeated = next((name for name in given.columns if given.columns.count(name) > 1), None)
    if repeated is not None:
        raise OpenSetError(f"the frame has the column '{repeated}' twice.")
    return pl.DataFrame([_column(pl, str(name), given[name]) for name in given.columns])


def _column(pl: Any, name: str, series: Any) -> "pl.Series":
    """Numbers by their array, everything else value by value: no library but NumPy is needed for that."""
    if series.dtype.is_numeric() and not series.null_count():
        found: pl.Series = pl.Series(name, series.to_numpy())
        return found
    values = [None if value is None or value != value else value for value in series.to_list()]  # noqa: PLR0124
    if series.dtype.is_numeric():
        return pl.Series(name, values)
    return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)


def make_frame(columns: Mapping[str, Sequence[Any]], library: str) -> Any:
    """A frame of `library` ("polars", "pandas" or "pyarrow")."""
    if library not in LIBRARIES:
        raise OpenSetError(f"There is no frame library '{library}'. Choose from: {', '.join(LIBRARIES)}.")
    with needing(f"A frame of {library}"):
        import narwhals as nw

        backend: Any = library
        return nw.from_dict(dict(columns), backend=backend).to_native()
