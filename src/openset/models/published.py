"""A network whose architecture a library publishes under a name, filled with the user's own weights."""

from collections.abc import Callable
from typing import Any

import numpy as np

from openset.errors import OpenSetError
from openset.models.card import Model, Options
from openset.models.class_lists import check_number, read_class_names
from openset.models.networks import TorchModel, stacked
from openset.models.preparation import CenterCrop, as_plain, differences
from openset.models.weights import fingerprint_of, load_into, n_outputs, read_weights


def open_published(
    name: str,
    make: Callable[[int | None], Any],
    preparation: Callable[[Any], CenterCrop],
    options: Options,
    how: str,
) -> Model:
    """The network that `make(number of classes)` builds, with the weights, classes and preparation of the options."""
    if options.weights is None:
        raise OpenSetError(f"Give the weights of {name} with --weights FILE.safetensors; {how}.")
    state = read_weights(options.weights)
    network = make(None)
    classes = n_outputs(network, state)
    if classes is not None:
        network = make(classes)
    own = preparation(network)
    load_into(network, state, options.weights)
    used = own.changed(options.size, options.mean, options.std)
    names = None if options.classes is None else read_class_names(options.classes)
    model = TorchModel(
        name,
        network,
        used,
        stacked,
        names,
        fingerprint_of([options.weights], as_plain(used)),
        as_plain(used),
        device=options.device,
        notes=differences(own, used, name),
    )
    if names is not None:
        blank = np.zeros((used.channels, used.crop, used.crop), dtype=np.float32)
        check_number(names, model.run([blank]).logits.shape[1], name, options.classes or "")
    return model
