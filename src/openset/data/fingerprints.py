"""Telling whether image files are still the ones they were."""

import hashlib
import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FileState = tuple[int, int]
"""Size of a file in bytes and when it last changed: another picture under the same name has another stamp."""


def file_state(stat: os.stat_result) -> FileState:
    """The stamp of a file."""
    return stat.st_size, stat.st_mtime_ns


def digest_of(names: Sequence[str], labels: NDArray[np.int64], marks: Sequence[object]) -> str:
    """One word for files with their labels and whatever else is told of each."""
    digest = hashlib.sha256("\n".join(f"{name}|{mark}" for name, mark in zip(names, marks, strict=True)).encode())
    digest.update(labels.tobytes())
    return digest.hexdigest()


def fingerprint_of_files(
    names: Sequence[str], labels: NDArray[np.int64], stamps: Sequence[FileState], pixels: str = ""
) -> str:
    """Of `pixels`, the fingerprint of the decoded images, where there is one; else sizes stand for the content.

    When a file was written does not count: a copy is the same data.
    """
    marks = [pixels] * len(names) if pixels else [size for size, _ in stamps]
    return digest_of(names, labels, marks)[:16]
