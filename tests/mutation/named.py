"""Mistakes that were made on purpose once and that no test noticed then: `python -m mutation --named` tries them."""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]
SOURCES = TESTS.parent / "src"


@dataclass(frozen=True)
class Mistake:
    """One text of a module, what it is exchanged for, and the test that should notice."""

    what: str
    file: str
    right: str
    wrong: str
    test: str


MISTAKES = (
    Mistake(
        "min_cost: misclassification costs also where the sample is rejected",
        "operating/rules.py",
        "(counts.acceptance - counts.ccr) * misclassified",
        "(1 - counts.ccr) * misclassified",
        "operating/test_rules.py",
    ),
    Mistake(
        "conformal: the rank without its rounding guard",
        "operating/rules.py",
        "math.ceil(round((len(known) + 1) * (1 - alpha), 9))",
        "math.ceil((len(known) + 1) * (1 - alpha))",
        "operating/test_rules.py",
    ),
    Mistake(
        "audit: >= for > between caught and lost",
        "audit.py",
        "if len(caught) > len(lost)",
        "if len(caught) >= len(lost)",
        "test_audit.py",
    ),
    Mistake(
        "audit: >= for > between pairs", "audit.py", "pairs = between > 0", "pairs = between >= 0", "test_audit.py"
    ),
    Mistake(
        "audit: side right for left",
        "audit.py",
        'np.searchsorted(opens, model.score[high], side="left")',
        'np.searchsorted(opens, model.score[high], side="right")',
        "test_audit.py",
    ),
    Mistake("audit: side left for right", "audit.py", 'side="right"\n', 'side="left"\n', "test_audit.py"),
    Mistake(
        "probabilities renormalised although --background",
        "reading.py",
        "if not background and np.abs(probabilities.sum(axis=1) - 1).max() <= _ROUNDING:",
        "if True:",
        "_io/test_score_files.py",
    ),
    Mistake(
        "detection errors: >= for > between known and unknown overlap",
        "detection/measure/errors.py",
        "unknown_iou > iou",
        "unknown_iou >= iou",
        "detection/test_evaluation.py",
    ),
    Mistake(
        "results: a file name is stronger than an id",
        "detection/read/results.py",
        "index.update({one: place for place, one in enumerate(truth.image_ids)})  # an id is stronger",
        "index = {one: place for place, one in enumerate(truth.image_ids)} | index",
        "detection/test_coco.py",
    ),
    Mistake(
        "the moving average of weights without its short start",
        "train/loop.py",
        "    decay = min(decay, (1 + step) / (10 + step))\n",
        "",
        "train/test_average.py",
    ),
)


def try_named(names: str = "") -> int:
    """Tell of each mistake whether its test fails; 1 if one does not."""
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="openset-mutation-") as place:
        for one in MISTAKES:
            if names in one.what:
                noticed = _is_noticed(one, Path(place))
                survivors += not noticed
                print(f"{'killed  ' if noticed else 'SURVIVED'} {one.what}", flush=True)
    print(f"{survivors} survived")
    return int(survivors > 0)


def _is_noticed(mistake: Mistake, place: Path) -> bool:
    shutil.copytree(SOURCES, place / "src", dirs_exist_ok=True)
    file = place / "src" / "openset" / mistake.file
    text = file.read_text(encoding="utf-8")
    assert text.count(mistake.right) == 1, mistake.what
    file.write_text(text.replace(mistake.right, mistake.wrong), encoding="utf-8")
    words = [str(TESTS / mistake.test), "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    environment = {**os.environ, "PYTHONPATH": str(place / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=TESTS.parent, env=environment, capture_output=True, check=False
    )
    assert done.returncode in (0, 1), done.stdout.decode()[-2000:]
    return done.returncode == 1
