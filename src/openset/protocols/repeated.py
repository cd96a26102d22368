"""The same image in a part to learn from and in the one to test on: what was learned by heart is no test."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np

from openset.data.dataset import Dataset
from openset.protocols.samples import Samples

_MANY = 50_000
"""Photographs whose files are not compared: reading them all would take minutes."""


def repeated_notes(sources: Sequence[Dataset], parts: Mapping[str, Samples]) -> list[str]:
    """What to say of test samples that are also trained or validated on, byte by byte; nothing if there are none."""
    if sum(len(data) for data in sources if data.kind == "encoded") > _MANY:
        return []
    learned = {digest: one for part in ("train", "val") for digest, one in _digests(sources, parts[part])}
    same = [(learned[digest], one) for digest, one in _digests(sources, parts["test"]) if digest in learned]
    if not same:
        return []
    first, second = same[0]
    note = (
        f"Also in the parts to learn from: {len(same):,} of {len(parts['test']):,} test samples, such as {second}, "
        f"which is the same as {first}. They make results look better than they are: remove one of each."
    )
    return [note]


def _digests(sources: Sequence[Dataset], samples: Samples) -> list[tuple[bytes, str]]:
    """Of each sample its content, in short, and its id."""
    found = []
    for number, data in enumerate(sources):
        mine = np.flatnonzero(samples.source == number)
        for row, place in zip(samples.rows[mine].tolist(), mine.tolist(), strict=True):
            content = _content(data, row)
            if content is not None:
                found.append((blake2b(content, digest_size=16).digest(), str(samples.ids[place])))
    return found


def _content(data: Dataset, row: int) -> bytes | None:
    """Pixels, numbers, or the bytes of a file; None where they cannot be read, which is said elsewhere."""
    if data.encoded is not None and data.images is None:
        return data.encoded.content(row)
    stored = data.images if data.images is not None else data.features
    assert stored is not None
    return bytes(np.asarray(stored[row]).tobytes())
