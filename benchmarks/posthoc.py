"""All post-hoc scores in one run against the slowest of them alone, and one sample through each fitted score.

Seconds are those of the processor, which other programs do not change much.

python benchmarks/posthoc.py [--samples 50000] [--train 50000] [--features 512] [--classes 1000]
"""

import argparse
import resource
import time

import numpy as np

from openset.posthoc import SCORES, Outputs, fit, score


def outputs(n, head, seed):
    """Activations around one direction per class, as after a ReLU; single precision, as networks store them."""
    weight, bias = head
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % len(weight)
    features = np.maximum(weight[labels] * 20 + rng.standard_normal((n, weight.shape[1]), dtype=np.float32), 0)
    return Outputs(features @ weight.T + bias, features, labels=labels, head=head)


def fresh(stored):
    """The same outputs with nothing kept from before."""
    return Outputs(stored.logits, stored.features, labels=stored.labels, head=stored.head)


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("samples", 50_000), ("train", 50_000), ("features", 512), ("classes", 1000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    sizes = parser.parse_args()
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((sizes.classes, sizes.features), dtype=np.float32)
    head = (
        weight / np.linalg.norm(weight, axis=1, keepdims=True),
        0.1 * rng.standard_normal(sizes.classes).astype("f"),
    )
    train, test = outputs(sizes.train, head, 1), outputs(sizes.samples, head, 2)
    print(f"{sizes.samples:,} x {sizes.features}, {sizes.classes:,} classes, fitted on {sizes.train:,}")

    shared_train, shared_test = fresh(train), fresh(test)
    together = {}
    for name in SCORES:
        start = time.process_time()
        score(shared_test, name, shared_train)
        together[name] = time.process_time() - start
    total = sum(together.values())
    slowest = max(together, key=together.get)
    start = time.process_time()
    score(fresh(test), slowest, fresh(train))
    alone = time.process_time() - start

    print(f"\n{'score':<22} {'in the run, s':>14} {'one sample, ms':>15}")
    one = test.rows(np.array([0]))
    for name, seconds in sorted(together.items(), key=lambda item: -item[1]):
        fitted = fit(name, shared_train)
        fitted.score(fresh(one))
        times = []
        for _ in range(20):
            start = time.perf_counter()
            fitted.score(fresh(one))
            times.append(time.perf_counter() - start)
        print(f"{name:<22} {seconds:>14.2f} {1000 * np.median(times):>15.2f}")
    print(
        f"\nall {len(together)}: {total:.1f} s; {slowest} alone: {alone:.1f} s; ratio {total / alone:.2f} (at most 3)"
    )
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB at most")


if __name__ == "__main__":
    main()
