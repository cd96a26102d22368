import numpy as np
import polars as pl
import pytest


@pytest.fixture
def write_parts(tmp_path):
    """Write rows as several Parquet files of small groups of rows, dealt out like cards; returns the folder."""

    def write(labels, predictions, score, groups=None, *, parts=3, group_rows=7, name="rows"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        columns = {"label": np.asarray(labels), "prediction": np.asarray(predictions), "unknown_score": score}
        if groups is not None:
            columns["group"] = groups
        table = pl.DataFrame(columns)
        for part in range(min(parts, len(table))):
            table[part::parts].write_parquet(folder / f"{part}.parquet", row_group_size=group_rows)
        return folder

    return write
