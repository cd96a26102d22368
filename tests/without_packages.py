"""Runs `openset` commands where some packages are not installed: python without_packages.py '{"absent": [...], ...}'.

Prints for each command its exit code and what it said, as JSON.
"""

import contextlib
import importlib.machinery
import io
import json
import sys
import traceback


class Remaining:
    """Finds every module but those that are said to be absent."""

    def __init__(self, absent):
        self.absent = absent

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.absent:
            return None
        return importlib.machinery.PathFinder.find_spec(name, path, target)


def run(words):
    """Exit code and standard error of one command; a traceback is a code of its own."""
    from openset.cli import demo, main
    from openset.studies import demo as parts

    demo._RESAMPLES, parts.N_SPLITS = 2, 1  # the shortest demonstration
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
        try:
            main(words)
        except SystemExit as stop:
            return stop.code or 0, told.getvalue()
        except BaseException:
            return -1, traceback.format_exc()
    return 0, told.getvalue()


if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    sys.meta_path = [one for one in sys.meta_path if one is not importlib.machinery.PathFinder]
    sys.meta_path.append(Remaining(set(task["absent"])))
    sys.stdout.write(json.dumps([run(words) for words in task["commands"]]))
