"""Large images for training: a torch data set whose items are decoded by the DataLoader's workers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset.data.dataset import Dataset
from openset.data.images import Shape, fitted
from openset.errors import OpenSetError, needing


def torch_dataset(
    sources: Sequence[Dataset],
    source: NDArray[np.int64],
    rows: NDArray[np.int64],
    labels: NDArray[np.int64],
    *,
    transform: Callable[[Any], Any] | None = None,
    shape: Shape | None = None,
) -> Any:
    """A map-style `torch.utils.data.Dataset` of (image, label, position).

    `transform` gets a PIL image (RGB, or L for grey data) and returns a tensor. Without it, `shape` must be given and
    the image is a uint8 tensor C x H x W.
    """
    with needing("A torch data set"):
        import torch
        from torch.utils.data import Dataset as TorchDataset

    if transform is None and shape is None:
        raise OpenSetError("Images that differ in size need a transform or a size before they fit into one batch.")

    class Images(TorchDataset[tuple[Any, int, int]]):
        def __len__(self) -> int:
            return len(rows)

        def __getitem__(self, position: int) -> tuple[Any, int, int]:
            image = sources[int(source[position])].picture(int(rows[position]))
            if transform is not None:
                return transform(image), int(labels[position]), position
            assert shape is not None
            pixels = np.array(fitted(image, shape).transpose(2, 0, 1), order="C")
            return torch.from_numpy(pixels), int(labels[position]), position

    return Images()
