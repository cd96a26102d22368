"""Kill -9 commands at random moments, run them again, and compare: `python -m chaos 100` prints "100 kills: ..."."""

import argparse
import os
import sys
import tempfile
from datetime import date
from pathlib import Path

from chaos.kills import kill_many

parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
parser.add_argument("n", nargs="?", type=int, default=20, help="how many kills")
asked = parser.parse_args()
today = int(date.today().strftime("%Y%m%d"))
with tempfile.TemporaryDirectory(prefix="openset-chaos-") as place:
    sys.exit(kill_many(asked.n, int(os.environ.get("OPENSET_CHAOS_SEED") or today), Path(place)))
