"""The Ray cluster that `RAY_ADDRESS` names, or a local one that ends with the command; and why work on it failed."""

import logging
import os
import socket
from collections.abc import Mapping

from openset._core.processor import SWITCH
from openset.errors import OpenSetError, need

ADDRESS = "RAY_ADDRESS"
_ANSWER = 10.0  # seconds that a cluster has to answer in


def check_installed() -> None:
    """Ray must be there."""
    need("--engine ray", "ray")


def connect(cores: int | None = None) -> Mapping[str, float]:
    """Reach the cluster, or start a local one; returns what it has: CPU, GPU and so on. `ray.shutdown` ends it.

    A local one has as many cores as asked for. Workers compute with the vector instructions that this process uses, as
    others round in another way.
    """
    check_installed()
    import ray

    address = named_address()
    try:
        _check_answers(address)
        ray.init(
            address=address or "local",  # never one that somebody else has started here
            num_cpus=None if address else cores,
            runtime_env={"env_vars": {SWITCH: os.environ[SWITCH]}} if SWITCH in os.environ else None,
            include_dashboard=None if address else False,
            logging_level=logging.ERROR,
            log_to_driver=False,
        )
    except Exception as error:  # of many kinds, and of none: on a busy machine its own parts may not answer in time
        where = f"The Ray cluster at {address} ({ADDRESS})" if address else "A local Ray cluster"
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise OpenSetError(f"{where} cannot be reached or started: {first}") from error
    return dict(ray.cluster_resources())


def connect_with(needed: Mapping[str, float], who: str) -> Mapping[str, float]:
    """The same; on this machine, what `who` ("A cell") needs must be there, while a cluster may still grow."""
    import ray

    have = connect()
    for name, amount in needed.items():
        if named_address() is None and amount > have.get(name, 0):
            ray.shutdown()
            raise OpenSetError(
                f"{who} needs {amount:g} {name}, and this machine has {have.get(name, 0):g}: ask for less, or name a "
                f"cluster in {ADDRESS}."
            )
    return have


def named_address() -> str | None:
    """Where the user says that a cluster is; None for one on this machine."""
    return os.environ.get(ADDRESS) or None


def _check_answers(address: str | None) -> None:
    """Whether anybody answers at an address: Ray itself would wait for many minutes."""
    host, _, port = (address or "").rpartition("/")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER).close()


def reason_of(error: Exception) -> str:
    """Why work on a cluster failed, in one sentence; "" where only Ray's own words tell."""
    import ray

    if "No module named 'openset" in str(error):
        return (
            "The workers cannot import openset: pip install 'openset[ray,torch,data]' on every machine of the cluster."
        )
    if isinstance(error, ray.exceptions.RayTaskError) and isinstance(error.cause, OpenSetError):
        return str(error.cause)
    return ""


def first_words(error: Exception) -> str:
    """The kind of an error, and the first line of what it says."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0] if text else ''}"
