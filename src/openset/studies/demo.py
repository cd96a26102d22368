"""The demonstration: real images that come with scikit-learn, six digits known, four never seen."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openset.posthoc import knn
from openset.scores import Scores

N_KNOWN = 6
N_SPLITS = 5
METHODS = ("softmax", "maxlogit", "openauc")
"""Training methods that the demonstration compares."""


@dataclass(frozen=True)
class DemoSplit:
    """Scores of one model on one choice of known digits."""

    method: str
    split: int
    validation: Scores
    test: Scores


def run_split(split: int, *, seed: int = 0) -> list[DemoSplit]:
    """Train two classifiers on six random digits and score all ten; unknown digits appear in the test part alone."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import StandardScaler

    images, digits = load_digits(return_X_y=True)
    rng = np.random.default_rng([seed, split])
    known = np.sort(rng.permutation(10)[:N_KNOWN])
    labels = np.full(len(digits), -2)
    for label, digit in enumerate(known):
        labels[digits == digit] = label
    part = rng.permutation(len(digits)) % 10
    train = (part < 4) & (labels >= 0)
    validation = ((part == 4) | (part == 5)) & (labels >= 0)
    test = part >= 6

    scale = StandardScaler().fit(images[train])
    linear = LogisticRegression(max_iter=500).fit(scale.transform(images[train]), labels[train])
    nearest = KNeighborsClassifier(3).fit(images[train], labels[train])
    names = [f"digit {digit}" for digit in known]
    made: dict[str, dict[str, Scores]] = {"linear": {}, "neighbours": {}}
    for name, rows in (("validation", validation), ("test", test)):
        metadata: dict[str, Any] = {
            "class_names": names,
            "ids": np.char.add("digit-", np.flatnonzero(rows).astype(str)),
            "open_classes": np.where(labels[rows] < 0, np.char.add("digit ", digits[rows].astype(str)), ""),
        }
        logits = linear.decision_function(scale.transform(images[rows]))
        made["linear"][name] = Scores.from_logits(labels[rows], logits, score="msp", **metadata)
        made["neighbours"][name] = Scores(
            labels[rows],
            nearest.predict(images[rows]),
            knn(images[rows], fit_features=images[train], k=3),
            nearest.predict_proba(images[rows]),
            **metadata,
        )
    return [DemoSplit(method, split, parts["validation"], parts["test"]) for method, parts in made.items()]


def write_split(result: DemoSplit, folder: Path) -> tuple[Path, Path]:
    """Write the validation and test scores of one split; returns their paths."""
    validation = folder / "validation" / result.method / f"split{result.split}.parquet"
    test = folder / "test" / result.method / f"split{result.split}.parquet"
    result.validation.write(validation)
    result.test.write(test)
    return validation, test


def compare_networks(folder: Path, first: str = "openauc", second: str = "maxlogit") -> str:
    """One sentence: the mean difference in OpenAUC over the splits, with its interval, whatever its sign."""
    from openset._core.numbers import difference
    from openset._io.json_files import read_json
    from openset.results.spread import spread_of
    from openset.studies.summaries import value_of

    def values(method: str) -> list[float]:
        names = [folder / "digits" / method / f"split{split}-seed0" / "summary.json" for split in range(N_SPLITS)]
        return [value_of(read_json(name), "open_auc") for name in names]

    gap = spread_of([one - two for one, two in zip(values(first), values(second), strict=True)])
    assert gap.low is not None
    assert gap.high is not None
    sure = "" if gap.excludes_zero else " The interval holds 0: five splits do not tell them apart."
    shown = difference(gap.value, gap.low, gap.high)
    return f"OpenAUC of {first} minus {second}, mean over {N_SPLITS} splits: {shown}.{sure}"
