"""Which recipe a cell is trained by, at each scale."""

from collections.abc import Sequence
from dataclasses import replace

from openset.errors import OpenSetError
from openset.train.config import Config, find_recipe, read_config

FAST = {
    "digits": "fast/digits",
    "mnist": "fast/mnist",
    "mnist-letters": "fast/mnist",
    "svhn": "fast/svhn",
    "cifar10": "fast/cifar10",
    "cifar+10": "fast/cifar+n",
    "cifar+50": "fast/cifar+n",
    "tinyimagenet": "fast/tinyimagenet",
    "tinyimagenet-p1": "fast/tinyimagenet",
    "tinyimagenet-p2": "fast/tinyimagenet",
    "tinyimagenet-p3": "fast/tinyimagenet",
    "cub": "fast/cub",
    "clinc150.yaml": "fast/vectors",
}
_OWN_RECIPE = ("maxlogit", "acc_auc", "openauc")
"""Rows of Table 2 that follow the recipe of CE+; the others follow the shorter one of their originals."""
_IMAGENET = {"imagenet-p1": "p1", "imagenet-p2": "p2", "imagenet-p3": "p3"}


def recipe_name(scale: str, protocol: str, method: str) -> str:
    """The recipe's name, as `openset train` takes it; derived ones are named after what they are derived from."""
    if scale != "paper":
        if protocol not in FAST:
            raise OpenSetError(
                f"There is no fast recipe for '{protocol}': choose from {', '.join(FAST)}, or --scale paper."
            )
        return FAST[protocol]
    if protocol in _IMAGENET:
        return f"imagenet/{_IMAGENET[protocol]}-{method}"
    if method in _OWN_RECIPE:
        return f"openauc/{protocol}-{method}"
    return f"openauc/{protocol}-maxlogit" if method == "arpl+" else f"baselines/cifar10-{method}"


def base_recipe(scale: str, protocol: str, method: str) -> Config:
    """The recipe before split, seed and the user's changes.

    Baselines on other data than CIFAR10 are derived: optimiser, schedule and epochs of `baselines/cifar10-METHOD`; the
    images (size, batch, crop, flip), backbone and, for TinyImageNet and CUB, the optimiser of
    `openauc/PROTOCOL-maxlogit`, without its RandAugment. `arpl+` is ARPL with the whole recipe of CE+.
    """
    name = recipe_name(scale, protocol, method)
    try:
        find_recipe(name)
    except OpenSetError as error:
        raise OpenSetError(
            f"There is no bundled recipe '{name}', which {protocol} needs at scale {scale}: choose other --protocols."
        ) from error
    found = read_config(name)
    if method == "arpl+":
        smoothed = {"label_smoothing": 0.2, "smoothing": "others"}  # ARPL+ on CUB; CE+ has .3
        return replace(found, method=replace(found.method, name="arpl", options=smoothed))
    if scale == "paper" and name.startswith("baselines/") and protocol != found.protocol:
        images = read_config(f"openauc/{protocol}-maxlogit")
        found = replace(
            found,
            protocol=protocol,
            data=images.data,
            augment=replace(images.augment, randaugment=()),
            backbone=images.backbone,
            optimizer=images.optimizer if protocol in ("tinyimagenet", "cub") else found.optimizer,
        )
    return found


def cell_config(
    scale: str,
    protocol: str,
    method: str,
    split: int,
    seed: int,
    *,
    overrides: Sequence[str] = (),
    data_root: str | None = None,
) -> Config:
    """The config of one cell: the recipe, for this protocol and method, with the user's changes."""
    plain = base_recipe(scale, protocol, method).as_plain()
    given = {"method.name": method.removesuffix("+"), "protocol": protocol, "split": split, "seed": seed}
    return read_config(plain, overrides, data_root=data_root, **given)
