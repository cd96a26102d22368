"""Several processes that train together: how they begin, and how they end without harm."""

import atexit
import gc
import os

import torch
from lightning_fabric import Fabric

from openset.train.config import Config


def is_first_process(config: Config | None) -> bool:
    """Whether this is the first of the processes that train together, or the only one.

    Tasks of one Slurm job train together where the config says that there are several processes; else each has a run
    of its own.
    """
    together = config is None or config.engine.devices * config.engine.nodes > 1
    names = ("LOCAL_RANK", "NODE_RANK", "RANK", *(["SLURM_PROCID"] if together else []))
    return all(os.environ.get(name, "0") == "0" for name in names)


def join(fabric: Fabric) -> None:
    """Start the processes, or meet those that were started."""
    atexit.unregister(_give_up_group)
    fabric.launch()


def leave(fabric: Fabric) -> None:
    """Wait for the others. Only after this may a process end.

    Threads of the processes' group can hold tensors for a moment after the last exchange. An interpreter that ends
    in that moment dies by a signal, though all work is done: so the group is given up before it ends. Not at once,
    for another training may follow; and not after a failure, when it would wait for answers that never come.
    """
    fabric.barrier()
    if fabric.world_size > 1:
        atexit.register(_give_up_group)


def _give_up_group() -> None:
    gc.collect()  # a network that still knows the group would keep its threads
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
