"""Outputs of a model on samples: one NPZ file, or a folder of Parquet parts where there are too many for one."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openset._io.folder_lock import hold
from openset._io.npz import write_npz
from openset._io.pictures import BadImageError
from openset.errors import OpenSetError
from openset.models.batches import Done
from openset.models.card import Floats, Model
from openset.models.class_lists import check_number
from openset.models.engines import ENGINES, Content, Engine, Opening
from openset.models.parts import Parts
from openset.models.samples import Samples

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_COLUMNS = {"id": "ids", "label": "labels", "group": "groups", "open_class": "open_classes"}
_BLOCKS = {"logit": "logits", "feature": "features"}
"""Columns of a part, one or many of a name, and the arrays that they are in an NPZ file."""


@dataclass(frozen=True)
class Written:
    """What a file or a folder of outputs holds."""

    n: int
    arrays: tuple[str, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    resumed: int
    """Samples that an earlier, stopped run had done."""


class Storing:
    """Outputs as columns of a table: id, label, ..., logit_0, logit_1, ..., feature_0, ..."""

    def content(self, model: Model, samples: Samples, batches: Sequence[Done]) -> Content:
        """Of one part."""
        import polars as pl

        rows = np.concatenate([one.rows for one in batches])
        given = {column: getattr(samples, name) for column, name in _COLUMNS.items()}
        columns: dict[str, Any] = {name: values[rows] for name, values in given.items() if values is not None}
        for block, matrix in _matrices(batches).items():
            columns |= {f"{block}_{number}": matrix[:, number] for number in range(matrix.shape[1])}
        meta = {
            **samples.meta,
            "model": model.fingerprint,
            "made_by": model.name,
            "preparation": model.preparation,
            "background": model.background,
        }
        left_out = [text for one in batches for text in one.bad]
        metadata = {"class_names": model.class_names or samples.class_names, "meta": meta, "left_out": left_out}
        return Content(pl.DataFrame(columns), metadata)


def _matrices(batches: Sequence[Done]) -> dict[str, Floats]:
    """Logits, and features where the model gives them."""
    answers = [one.answers for one in batches if one.answers is not None]
    blocks = {block: [getattr(one, name) for one in answers] for block, name in _BLOCKS.items()}
    return {block: np.concatenate(given) for block, given in blocks.items() if given and given[0] is not None}


def write_outputs(
    model: Model,
    samples: Samples,
    out: Path,
    *,
    engine: Engine | None = None,
    batch: int = 32,
    progress: Callable[[int], object] = lambda _: None,
    tell: Callable[[str], object] = lambda _: None,
) -> Written:
    """Run the model over all samples and write one NPZ file, or a folder of parts; what a stopped run did is used.

    Two at once of different models would take each other's parts for their own, so the second is refused.
    """
    if out.suffix.lower() not in _ENDS:
        raise OpenSetError(
            f"Cannot write {out}: outputs go into a file that ends in .npz, or, in parts, into a folder (no ending)."
        )
    plan = {"model": model.fingerprint, "samples": samples.fingerprint}
    parts = Parts.beside(out, plan, len(samples), batch)
    with hold(out.with_name(f".{out.name}.lock")):
        resumed = parts.begin(progress, tell)
        runner = engine or ENGINES["local"](Opening(model.name))
        runner.run(model, Storing(), samples, parts, batch=batch, progress=progress)
        if model.head is None and (runner.elsewhere or resumed == len(samples)):
            _run_one(model, samples)  # its last layer is known once it has run in this process
        n, arrays, left_out = _ENDS[out.suffix.lower()](parts, model, samples, out)
    return Written(n, tuple(arrays), tuple(left_out), (*samples.notes, *model.notes), resumed)


Ended = tuple[int, list[str], list[str]]
"""Number of samples, names of the arrays, and what was left out."""


def _end_as_folder(parts: Parts, model: Model, samples: Samples, out: Path) -> Ended:
    """Leave the parts as they are, under the name that was asked for."""
    n, names, left_out = 0, list[str](), list[str]()
    for table, metadata in parts.tables():
        n, names = n + table.height, names or table.columns
        left_out += metadata["left_out"]
        _check_classes(table, model, samples)
    _check_some(n, samples, left_out)
    parts.publish(out)
    named = {**{f"{block}_0": name for block, name in _BLOCKS.items()}, "label": "labels"}
    return n, [array for column, array in named.items() if column in names], left_out


def _end_as_npz(parts: Parts, model: Model, samples: Samples, out: Path) -> Ended:
    """Join the parts to one file, with the last layer beside them."""
    found = list(parts.tables())
    full, left_out = (
        [table for table, _ in found if table.height],
        [one for _, metadata in found for one in metadata["left_out"]],
    )
    _check_some(sum(one.height for one in full), samples, left_out)
    _check_classes(full[0], model, samples)
    arrays: dict[str, NDArray[Any]] = {
        name: np.concatenate([_block(one, block) for one in full])
        for block, name in _BLOCKS.items()
        if f"{block}_0" in full[0].columns
    }
    if "features" in arrays:
        weight, bias = model.head or (None, None)
        arrays |= {name: one for name, one in (("weight", weight), ("bias", bias)) if one is not None}
    for column, name in _COLUMNS.items():
        if column in full[0].columns:
            values = [value for one in full for value in one[column].to_list()]
            arrays[name] = np.array(values, dtype=getattr(samples, name).dtype)
    metadata = found[0][1]
    names = metadata["class_names"]
    if names is not None:
        arrays["class_names"] = np.array(names, dtype=np.str_)
    meta = {**metadata["meta"], "left_out": left_out}
    arrays["openset"] = np.array(json.dumps({"class_names": names, "meta": meta}, allow_nan=False))
    write_npz(out, arrays)
    parts.remove()
    shown = ("logits", "features", "weight", "bias", "labels")
    return len(arrays["logits"]), [name for name in shown if name in arrays], left_out


_ENDS: dict[str, Callable[[Parts, Model, Samples, Path], Ended]] = {".npz": _end_as_npz, "": _end_as_folder}


def _block(table: "pl.DataFrame", block: str) -> Floats:
    return table.select(f"^{block}_\\d+$").to_numpy(order="c")


def _run_one(model: Model, samples: Samples) -> None:
    """Run the model on the first sample that can be read."""
    for row in range(len(samples)):
        with suppress(BadImageError):
            model.run([model.prepare(samples.load(row))])
            return


def _check_some(n: int, samples: Samples, left_out: Sequence[str]) -> None:
    if not n:
        raise OpenSetError(f"None of the {len(samples)} samples can be read: {left_out[0]}.")


def _check_classes(table: "pl.DataFrame", model: Model, samples: Samples) -> None:
    if table.height:
        width = sum(name.startswith("logit_") for name in table.columns) - model.background
        check_number(model.class_names or samples.class_names, width, model.name, samples.name)
        if samples.labels is not None and samples.labels.max() >= width:
            row = int(samples.labels.argmax())
            raise OpenSetError(
                f"{samples.name}, {samples.ids[row]}: the label is {samples.labels[row]}, and {model.name} has {width} "
                f"classes, 0 to {width - 1}."
            )
