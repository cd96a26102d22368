"""The file that `openset tune` leaves: which value of a field was chosen, and why; `bench` and `train` can use it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openset._io.json_files import read_json
from openset.errors import OpenSetError

Setting = int | float | str | bool

NOT_TO_VARY = ("protocol", "split", "seed", "data_root")
"""Fields that say what is trained on, not how."""


@dataclass(frozen=True)
class Choice:
    """A field of the recipe and the value that was chosen for it."""

    file: Path
    field: str
    value: Setting
    protocol: str
    """For which it was chosen."""

    def fields(self, overrides: Sequence[str], given: Mapping[str, Any] | None = None) -> dict[str, Setting]:
        """What to set in a recipe; it is an error if the user sets the same field in another way too."""
        if self.field == "method.name" and (given or {}).get(self.field):
            raise OpenSetError(f"{self.file} chooses the method {self.value}: name that one instead of --tuned.")
        overridden = {one.partition("=")[0].strip() for one in overrides}
        if self.field in overridden or (given or {}).get(self.field) is not None:
            raise OpenSetError(f"'{self.field}' is set by {self.file} and by another option: leave one of them out.")
        return {self.field: self.value}

    def note(self, protocols: Sequence[str]) -> str:
        """What is used, and whether it was chosen for something else."""
        other = [name for name in protocols if name != self.protocol]
        elsewhere = f" It was chosen for {self.protocol}, not for {', '.join(other)}." if other else ""
        return f"{self.field} = {self.value}, from {self.file}.{elsewhere}"


def read_choice(path: Path) -> Choice:
    """Read what `openset tune` has written."""
    content = read_json(path)
    try:
        field, value, protocol = content["field"], content["chosen"], content["protocol"]
    except (KeyError, TypeError) as error:
        raise OpenSetError(f"{path} is not a file that openset tune has written: {error} is missing.") from error
    named = isinstance(field, str) and re.fullmatch(r"[a-z_]+(\.[a-z_]+)*", field) and isinstance(protocol, str)
    if not named or field in NOT_TO_VARY or not isinstance(value, Setting):
        raise OpenSetError(f"{path} is not a file that openset tune has written: it chooses {field!r} = {value!r:.60}.")
    return Choice(path, field, value, protocol)
