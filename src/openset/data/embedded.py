"""The digits that come with scikit-learn: data for first steps, which needs no files and no network."""

import numpy as np

from openset._core.fingerprint import fingerprint
from openset.data.catalog import CATALOG
from openset.data.dataset import Dataset, row_ids


def open_digits(split: str) -> Dataset:
    """The first two thirds of the rows of each class train, the rest tests: mostly other writers."""
    from sklearn.datasets import load_digits

    table = load_digits()
    classes = table.target.astype(np.int64)
    training = np.zeros(len(classes), dtype=bool)
    for label in range(10):
        rows = np.flatnonzero(classes == label)
        training[rows[: 2 * len(rows) // 3]] = True
    rows = np.flatnonzero(training if split == "train" else ~training)
    images = np.round(table.images[rows] * (255 / 16)).astype(np.uint8)[..., np.newaxis]
    labels = classes[rows]
    return Dataset(
        name="digits",
        split=split,
        labels=labels,
        class_names=CATALOG["digits"].class_names,
        ids=row_ids("digits", split, rows),
        fingerprint=fingerprint([images, labels]),
        images=images,
    )
