"""Two models' scores brought to the same samples in the same order, with classes numbered alike."""

from typing import TYPE_CHECKING

import numpy as np

from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.scores import Scores


def align(first: "Scores", second: "Scores") -> tuple["Scores", "Scores"]:
    """Bring two models' scores into the same order of the same samples: by id, else by equal labels in order.

    Where both name their classes, and number them differently, the numbers are made the same.
    """
    if first.class_names is not None and second.class_names is not None and first.class_names != second.class_names:
        names = tuple(dict.fromkeys((*first.class_names, *second.class_names)))
        first, second = first.renumbered(names), second.renumbered(names)
    if first.ids is not None and second.ids is not None:
        order_first, order_second = np.argsort(first.ids), np.argsort(second.ids)
        if not np.array_equal(first.ids[order_first], second.ids[order_second]):
            only_first = np.setdiff1d(first.ids, second.ids)
            only_second = np.setdiff1d(second.ids, first.ids)
            name = only_first[0] if len(only_first) else only_second[0]
            raise OpenSetError(
                f"The two models were not run on the same samples: {len(only_first)} ids occur only in the first and "
                f"{len(only_second)} only in the second, '{name}' for example."
            )
        second = second.take(order_second[np.argsort(order_first)])
    if len(first) != len(second):
        raise OpenSetError(
            f"The two models were not run on the same samples: {len(first)} and {len(second)}. "
            "An id column lets them be compared sample by sample."
        )
    if not np.array_equal(first.labels, second.labels):
        row = int(np.argmax(first.labels != second.labels))
        labels = f"label {first.labels[row]} in the first and {second.labels[row]} in the second"
        if first.ids is not None and second.ids is not None:
            raise OpenSetError(f"The two models do not agree on what is true: '{first.ids[row]}' has {labels}.")
        raise OpenSetError(
            f"The two models were not run on the same samples in the same order: row {row} has {labels}. "
            "Give both an id column."
        )
    _check_groups(first, second)
    # Where only the largest number tells how many classes there are, a class that one model never named counts too.
    n_classes = max(first.n_classes, second.n_classes)
    return first.among(n_classes), second.among(n_classes)


def _check_groups(first: "Scores", second: "Scores") -> None:
    if first.groups is None or second.groups is None:
        return
    differ = (first.labels < 0) & (first.groups != second.groups)
    if differ.any():
        row = int(np.argmax(differ))
        name = f"row {row}" if first.ids is None else f"'{first.ids[row]}'"
        raise OpenSetError(
            f"The two models do not agree on the groups of the open-set samples: {name} is in group "
            f"'{first.groups[row]}' in the first and '{second.groups[row]}' in the second."
        )
