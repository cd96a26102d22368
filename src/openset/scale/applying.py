"""A frozen threshold applied to many files without labels: one file is one task, on any engine."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from openset._io.paths import reason
from openset.errors import OpenSetError
from openset.operating.applying import Applied, apply_to_files, notes_on_files
from openset.operating.decisions import Decider
from openset.scale.engines import ENGINES


@dataclass(frozen=True, eq=False)
class _Apply:
    decider: Decider
    folder: Path | None

    def __call__(self, task: tuple[Path, str]) -> Applied:
        file, name = task
        return apply_to_files(self.decider, [file], None if self.folder is None else self.folder / name)


def apply_on(
    decider: Decider,
    files: Sequence[Path],
    out: Path | None = None,
    *,
    engine: str = "local",
    workers: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Applied:
    """Decide about every sample, and write the decisions on each file to a Parquet file of its own in the folder `out`.

    The folder appears when all of it is done.
    """
    folder = None if out is None else _begin(out)
    tasks = [(file, f"{place:06d}-{file.stem}.parquet") for place, file in enumerate(files)]
    found: dict[int, Applied] = {}
    try:
        with ENGINES[engine](workers) as runner:
            for place, one in runner.run(_Apply(decider, folder), tasks):
                found[place] = one
                if progress is not None:
                    progress(one.n)
        if folder is not None and out is not None:
            folder.chmod(0o755)
            folder.rename(out)
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
    counted = tuple(one for place in sorted(found) for one in found[place].files)
    return Applied(counted, tuple(notes_on_files(decider, counted)), found[0].first)


def _begin(out: Path) -> Path:
    if out.suffix:
        raise OpenSetError(
            f"--out {out}: with --engine the decisions are files of a folder: give a name without ending."
        )
    if out.exists():
        raise OpenSetError(f"{out} is there already: name a new folder for the decisions.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.absolute().parent))
    except OSError as error:
        raise OpenSetError(f"Cannot make a folder beside {out}: {reason(error)}.") from error
