"""Would the tests notice? `python -m mutation 60` changes 60 places of the measuring code, one at a time."""

import argparse
import os
import sys

from mutation.running import mutate

parser = argparse.ArgumentParser(prog="mutation", description=__doc__)
parser.add_argument("n", nargs="?", type=int, default=60, help="how many changes, drawn at random; 0 = all")
parser.add_argument("--only", default="", help="modules whose path contains this text")
asked = parser.parse_args()
sys.exit(mutate(asked.n, int(os.environ.get("OPENSET_MUTATION_SEED") or 0), asked.only))
