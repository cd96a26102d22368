"""For tests that kill trainings: finding one that is well under way, and where trainings went on afterwards."""

import json
import time

from openset._io.folder_lock import is_held, owner_of
from openset.train.checkpoint import read_description


def in_training(out, *, least=3, most=40, but=()):
    """A run folder below `out` whose training is well under way, once there is one, and the process that does it.

    None of the folders in `but`.
    """
    end = time.monotonic() + 900
    while time.monotonic() < end:
        for file in out.rglob("state.safetensors"):
            folder = file.parent.parent
            owner, epoch = owner_of(folder), read_description(file).get("state", {}).get("epoch", 0)
            if folder not in but and owner is not None and least <= epoch <= most and is_held(folder):
                return folder, owner.process
        time.sleep(0.02)
    raise AssertionError("nothing was trained")


def resumptions(out):
    """Where each training went on, by run; rescored runs say it of the training that they share."""
    return {
        str(file.parent.relative_to(out)): json.loads(file.read_text())["resumed"] for file in out.rglob("summary.json")
    }
