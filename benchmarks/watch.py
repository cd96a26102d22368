"""The alarm of `openset watch` on simulated streams: how often it is false, and how soon it notices a real change.

Each stream has a validation set of its own, on whose knowns a threshold is chosen (at_acceptance=0.95), then windows of
new samples. Without a change all are knowns; with one, from the middle on a fraction of what arrives is unknown.

python benchmarks/watch.py [--streams 1000] [--validation 2000] [--windows 100] [--samples 200] [--alpha 0.01]
"""

import argparse

import numpy as np

from openset.operating import Threshold
from openset.operating.watching import Promise, Watch


def promise(n, alpha, rng):
    """What a validation set of n knowns promises, and the rate at which its threshold really rejects knowns."""
    accepted = int(np.ceil(0.95 * n))
    rejected = n - accepted
    true = rng.beta(rejected + 1, accepted)  # of the threshold at that place of n scores of any continuous kind
    frozen = Threshold(0.0, "at_acceptance=0.95", {"acceptance": accepted / n}, n, made={"samples": {"known": n}})
    return Promise.of(frozen, risk=alpha / 2), true


def stream(sizes, unknown, rng):
    """Samples after the change until the alarm; None without one, and below 0 where it came before."""
    promised, true = promise(sizes.validation, sizes.alpha, rng)
    watch = Watch(promised, sizes.alpha)
    change = sizes.windows // 2
    for place in range(sizes.windows):
        share = unknown if place >= change else 0.0
        rate = (1 - share) * true + share * 0.9  # nine of ten unknowns are rejected
        watch.add(str(place), sizes.samples, rng.binomial(sizes.samples, rate))
        if watch.windows[-1].alarm:
            return (place + 1 - change) * sizes.samples
    return None


def main():
    parser = argparse.ArgumentParser()
    defaults = {"streams": 1000, "validation": 2000, "windows": 100, "samples": 200}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--alpha", type=float, default=0.01)
    sizes = parser.parse_args()
    print(
        f"{sizes.streams:,} streams of {sizes.windows} windows x {sizes.samples} samples, validation "
        f"{sizes.validation:,} knowns, alpha {sizes.alpha:g}"
    )
    print("unknowns from the middle on | false alarms | noticed | samples until the alarm: median, 90 % within")
    for unknown in (0.0, 0.02, 0.05, 0.1, 0.2):
        rng = np.random.default_rng(0)
        found = [stream(sizes, unknown, rng) for _ in range(sizes.streams)]
        false = sum(one is not None and (unknown == 0 or one <= 0) for one in found)
        noticed = [one for one in found if one is not None and one > 0] if unknown else []
        delays = f"{np.median(noticed):,.0f}, {np.quantile(noticed, 0.9):,.0f}" if noticed else "-"
        found = f"{len(noticed) / sizes.streams:.1%}" if unknown else "-"
        print(f"{unknown:>27.0%} | {false / sizes.streams:>12.1%} | {found:>7} | {delays}")


if __name__ == "__main__":
    main()
