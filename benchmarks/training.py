"""Images per second of methods and backbones, the cost of each loss over plain cross-entropy, and peak memory.

python benchmarks/training.py                     all tables, a few minutes
python benchmarks/training.py --only losses       one of: losses, backbones, options
Run it on a quiet machine. Every number is the median over rounds; in each round the variants take turns, so that a
slow moment hits all of them. Peak memory is measured in a process of its own.
"""

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import torch

from openset.methods import METHODS, Moment
from openset.train.build import make_bare_network
from openset.train.config import read_config

K = 6
Step = Callable[[], None]


def make_step(
    method: str,
    backbone: str = "classifier32",
    *,
    options: Sequence[str] = (),
    batch: int = 128,
    side: int = 32,
    precision: str = "fp32",
    channels_last: bool = True,
    compiled: bool = False,
) -> Step:
    """One training step of the classifier, ready to be timed."""
    overrides = [f"backbone={{name: {backbone}}}", f"method={{name: {method}}}", *options]
    config = read_config(None, [*overrides, f"engine.channels_last={str(channels_last).lower()}"])
    shape = (64,) if backbone == "mlp" else (3, side, side)
    network = make_bare_network(config, shape, K)
    labels = torch.arange(batch) % K
    if METHODS[method].uses_negatives:
        labels[-batch // 4 :] = -1
        network.method.prepare(labels)
    inputs = torch.rand(batch, *shape)
    if channels_last and inputs.ndim == 4:
        inputs = inputs.contiguous(memory_format=torch.channels_last)
    parameters = list(network.method.parameters_of("classifier", network.backbone))
    optimizer = torch.optim.SGD(parameters, lr=0.01, momentum=0.9)
    run = torch.compile(network) if compiled else network
    moment = Moment(0, 0, 1.0)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            loss, _ = run(inputs, labels, moment, "classifier")
        loss.backward()
        optimizer.step()

    return step


def take_turns(steps: dict[str, Step], rounds: int) -> dict[str, float]:
    """Median seconds of each step."""
    for step in steps.values():
        step()
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            began = time.perf_counter()
            step()
            times[name].append(time.perf_counter() - began)
    return {name: statistics.median(found) for name, found in times.items()}


def loss_alone(method: str, options: Sequence[str], rounds: int, batch: int = 128) -> float:
    """Median seconds of loss and gradient on given logits: what a method adds, free of the network's noise."""
    config = read_config(None, [f"method={{name: {method}}}", *options])
    made = METHODS[method](128, K, **config.method.options)
    logits = torch.randn(batch, K, requires_grad=True)
    labels = torch.arange(batch) % K

    def step() -> None:
        if method == "softmax":
            made.classification(logits, labels).backward()
        else:
            made.criterion(logits, labels, plan=made.criterion.plan(labels, 0)).backward()

    return take_turns({"loss": step}, rounds)["loss"]


def peak_megabytes(words: Sequence[str]) -> float:
    """Peak memory of a process that does three steps."""
    done = subprocess.run([sys.executable, __file__, "--peak", *words], check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout))


def losses(rounds: int) -> None:
    """Each loss against cross-entropy, classifier32, batch 128."""
    pairings = {f"openauc {p}": ("openauc", [f"method.pairing={p}"]) for p in ("slots", "halves", "all")}
    pairings["openauc all, squared hinge"] = ("openauc", ["method.pairing=all", "method.surrogate=squared_hinge"])
    others = {name: (name, []) for name in METHODS if name not in ("softmax", "maxlogit", "openauc")}
    variants: dict[str, tuple[str, list[str]]] = {"softmax": ("softmax", []), **pairings, **others}
    steps = {name: make_step(method, options=options) for name, (method, options) in variants.items()}
    found = take_turns(steps, rounds)
    plain = loss_alone("softmax", [], 300)
    print("\nclassifier32, batch 128: step, overhead over cross-entropy, and of the loss alone")
    for name, seconds in found.items():
        method, options = variants[name]
        alone = ""
        if method in ("softmax", "openauc", "acc_auc"):
            extra = loss_alone(method, options, 300) - plain
            alone = f"  loss alone {1e3 * extra:+.2f} ms = {extra / found['softmax']:+.2%} of a step"
        print(f"  {name:28s} {1e3 * seconds:8.1f} ms {seconds / found['softmax'] - 1:+7.1%}{alone}")


def backbones(rounds: int) -> None:
    """Images per second."""
    print("\nbackbones, softmax, batch 128 (resnet50: batch 16, 64 pixels), with peak memory")
    for name, batch, side in (("mlp", 128, 8), ("fastnet", 128, 32), ("classifier32", 128, 32), ("resnet50", 16, 64)):
        seconds = take_turns({name: make_step("softmax", name, batch=batch, side=side)}, rounds)[name]
        memory = peak_megabytes([name, str(batch), str(side)])
        print(f"  {name:28s} {batch / seconds:8,.0f} images/s  {memory:6,.0f} MB")


def options(rounds: int) -> None:
    """Precision, memory format and compilation."""
    print("\nfastnet, 32 pixels, batch 128, softmax")
    variants = {
        "fp32": {"channels_last": False},
        "fp32, channels_last": {},
        "bf16, channels_last": {"precision": "bf16"},
    }
    steps = {name: make_step("softmax", "fastnet", **one) for name, one in variants.items()}  # type: ignore[arg-type]
    try:
        steps["fp32, channels_last, compile"] = make_step("softmax", "fastnet", compiled=True)
        steps["fp32, channels_last, compile"]()
    except Exception as error:  # a compiler may be missing
        steps.pop("fp32, channels_last, compile", None)
        print(f"  compile is not possible here: {str(error).splitlines()[0][:80]}")
    for name, seconds in take_turns(steps, rounds).items():
        print(f"  {name:28s} {128 / seconds:8,.0f} images/s")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["losses", "backbones", "options"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--peak", nargs=3, metavar=("BACKBONE", "BATCH", "SIDE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.peak:
        name, batch, side = given.peak
        step = make_step("softmax", name, batch=int(batch), side=int(side))
        for _ in range(3):
            step()
        print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
        return
    print(f"torch {torch.__version__}, {given.threads} threads, {platform.machine()}, {given.rounds} rounds")
    for table in (losses, backbones, options):
        if given.only in (None, table.__name__):
            table(given.rounds)


if __name__ == "__main__":
    main()
