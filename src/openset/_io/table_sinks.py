"""Writing tables some rows at a time, whole or not at all: CSV, TSV, Parquet or JSON by the ending of the name."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openset._io.atomic import replacing
from openset._io.tables import add_csv
from openset.errors import OpenSetError

if TYPE_CHECKING:
    import polars as pl

    Schema = Mapping[str, "pl.DataType | type[pl.DataType]"]


def check_sink(path: Path) -> None:
    """Refuse a name that no kind of table ends in."""
    if path.suffix.lower() not in _SINKS:
        raise OpenSetError(f"Cannot write '{path}': use a name that ends in {', '.join(_SINKS)}.")


def write_batches(
    path: str | Path,
    batches: "Iterable[pl.DataFrame]",
    schema: "Schema",
    *,
    name: str = "rows",
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Write tables of one schema, one below the other.

    A JSON file also holds `metadata`, and the rows as objects in a list of that `name`.
    """
    file = Path(path)
    check_sink(file)
    with replacing(file) as temporary:
        _SINKS[file.suffix.lower()](temporary, batches, schema, name, dict(metadata or {}))


def _write_text(file: Path, batches: "Iterable[pl.DataFrame]", schema: "Schema", separator: str) -> None:
    import polars as pl

    with file.open("wb") as stream:
        add_csv(stream, pl.DataFrame(schema=schema), separator=separator)
        for table in batches:
            add_csv(stream, table, separator=separator, header=False)


def _write_csv(file: Path, batches: "Iterable[pl.DataFrame]", schema: "Schema", _: str, __: dict[str, Any]) -> None:
    _write_text(file, batches, schema, ",")


def _write_tsv(file: Path, batches: "Iterable[pl.DataFrame]", schema: "Schema", _: str, __: dict[str, Any]) -> None:
    _write_text(file, batches, schema, "\t")


def _write_parquet(
    file: Path, batches: "Iterable[pl.DataFrame]", schema: "Schema", _: str, metadata: dict[str, Any]
) -> None:
    from polars.io.plugins import register_io_source

    failed: list[BaseException] = []

    def source(*__: Any) -> "Iterator[pl.DataFrame]":
        try:
            yield from batches
        except BaseException as error:  # polars would make an error of its own kind of it
            failed.append(error)
            raise

    stored = {"openset": json.dumps(metadata, allow_nan=False)}
    try:
        lazy = register_io_source(source, schema=dict(schema))
        lazy.sink_parquet(file, compression="snappy", statistics=False, metadata=stored)
    except BaseException:
        if failed:
            raise failed[0] from None
        raise


def _write_json(
    file: Path, batches: "Iterable[pl.DataFrame]", schema: "Schema", name: str, metadata: dict[str, Any]
) -> None:
    import polars as pl
    from polars import selectors

    del schema
    head = json.dumps({**metadata, name: []}, indent=2, ensure_ascii=False, allow_nan=False)
    with file.open("w", encoding="utf-8") as stream:
        stream.write(head.removesuffix("]\n}"))
        between = "\n    "
        for table in batches:
            lines = table.with_columns(selectors.float().cast(pl.Float64)).write_ndjson().rstrip("\n")
            stream.write(between + lines.replace("\n", ",\n    "))  # a line break inside a text is escaped
            between = ",\n    "
        stream.write("\n  ]\n}\n")


_SINKS: dict[str, Callable[..., None]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".parquet": _write_parquet,
    ".json": _write_json,
}
