"""Where and with which settings a command was given, for its workers in other processes or on other machines."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from openset._core.plugins import load_again, loaded
from openset.errors import OpenSetError

_PASSED_ON = ("OPENSET_DATA", "OPENSET_CACHE", "OMP_NUM_THREADS", "HF_HOME", "HF_HUB_OFFLINE")


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


@dataclass(frozen=True)
class Caller:
    """The folder, the environment variables and the plugins of a command, as they were when this was made."""

    folder: Path = field(default_factory=Path.cwd)
    """Paths that the user gave are relative to this."""
    environment: Mapping[str, str] = field(default_factory=_environment)
    plugins: Sequence[tuple[str, str]] = field(default_factory=loaded)
    """Files of the user's own that it has run."""

    def take_over(self) -> None:
        """Work in its folder, with its variables and its plugins from now on."""
        try:
            os.chdir(self.folder)
        except OSError as error:
            raise OpenSetError(
                f"A worker cannot see {self.folder}: start the command in a folder that all machines share."
            ) from error
        os.environ.update(self.environment)
        load_again(self.plugins)
