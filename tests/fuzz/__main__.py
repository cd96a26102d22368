"""Damaged input for every command: `python -m fuzz 20000`, or one number again: `python -m fuzz --only 123`."""

import argparse
import os
import sys
import tempfile
from datetime import date
from pathlib import Path

from fuzz.running import fuzz

parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
parser.add_argument("n", nargs="?", type=int, default=2000, help="how many inputs")
parser.add_argument("--first", type=int, default=0, help="number of the first one")
parser.add_argument("--only", type=int, help="this number alone; its files are kept")
parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
asked = parser.parse_args()

today = int(date.today().strftime("%Y%m%d"))
seed = int(os.environ.get("OPENSET_FUZZ_SEED") or today)
numbers = range(asked.first, asked.first + asked.n) if asked.only is None else range(asked.only, asked.only + 1)
place = Path(tempfile.mkdtemp(prefix="openset-fuzz-"))
sys.exit(fuzz(seed, numbers, place, asked.jobs))
