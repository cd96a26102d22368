"""Would the tests notice? `python -m mutation 60` changes 60 places of the measuring code, one at a time."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from mutation.named import try_named
from mutation.running import mutate

parser = argparse.ArgumentParser(prog="mutation", description=__doc__)
parser.add_argument("n", nargs="?", type=int, default=60, help="how many changes, drawn at random; 0 = all")
parser.add_argument("--first", type=int, default=0, help="begin at this one of the random order")
parser.add_argument("--only", default="", help="modules whose path contains this text")
parser.add_argument("--but", default=" ", help="not those whose path contains this text")
parser.add_argument("--map", type=Path, help="file to keep which test calls which function")
parser.add_argument("--named", action="store_true", help="the mistakes that once went unnoticed, instead")
asked = parser.parse_args()
if asked.named:
    sys.exit(try_named(asked.only))
with tempfile.TemporaryDirectory(prefix="openset-mutation-") as place:
    seed = int(os.environ.get("OPENSET_MUTATION_SEED") or 0)
    sys.exit(mutate(asked.n, seed, (asked.only, asked.but), asked.first, asked.map or Path(place) / "map.json"))
