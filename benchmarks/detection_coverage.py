"""How often 95 % intervals contain the true value, and how often two equal detectors are called different.

    python benchmarks/detection_coverage.py                   # AWI of one detector
    python benchmarks/detection_coverage.py --wild-rate 0.02  # the same with few false detections, or none
    python benchmarks/detection_coverage.py --compare         # differences of two detectors

Simulated detectors: objects of each class come by Poisson counts per image, some images are harder than others (so
detections of one image go together, also those of two detectors), scores of correct, false and wild detections are
normal. The truth is the same evaluation of a detector on a very large set of images. Interpolated precision is a
maximum, so the `official` variant and mAP also depend on how many images there are: the column "of the mean" says how
often intervals contain the mean over all the simulated sets.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from openset.detection.comparison import compare
from openset.detection.measure.evaluation import evaluate_data
from openset.detection.measure.sets import OpenSetData, arrange
from openset.detection.read.coco import Detections, GroundTruth

RECALLS = (0.1, 0.3, 0.5)
VARIANTS = ("paper", "macro", "official")
RATIOS = (0.5, 1.0, 1.5, 2.0)
CLASSES = 5
OBJECTS = 0.4
"""Of each class on a known image, on average."""
FALSE = 0.12
"""False detections of each class on an image, on average."""


@dataclass(frozen=True)
class World:
    """Images that several detectors look at."""

    n_known: int
    n_wild: int
    image: np.ndarray
    category: np.ndarray
    """Of the objects."""
    hard_known: np.ndarray
    hard_wild: np.ndarray


def _events(random: np.random.Generator, rate: float, ease: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Images and classes of events, the more frequent the larger `ease` of the image."""
    counts = random.poisson(rate * ease[:, None], (len(ease), CLASSES))
    image, category = np.nonzero(counts)
    times = counts[image, category]
    return np.repeat(image, times), np.repeat(category, times)


def make_world(n_known: int, n_wild: int, seed: int) -> World:
    """Objects, and how hard each image is."""
    random = np.random.default_rng(seed)
    hard_known, hard_wild = random.normal(0, 0.5, n_known), random.normal(0, 0.5, n_wild)
    return World(n_known, n_wild, *_events(random, OBJECTS, np.ones(n_known)), hard_known, hard_wild)


def simulate(world: World, seed: int, *, wild_rate: float = FALSE, skill: float = 1.5) -> OpenSetData:
    """A detector in this world: class c is found with probability .9 - .05 c."""
    random = np.random.default_rng(seed)
    image, category = world.image, world.category
    found = random.random(len(image)) < 0.9 - 0.05 * category
    place = np.arange(len(image))
    box = np.column_stack([20.0 * place, np.zeros(len(place)), np.full((len(place), 2), 10.0)])
    score = random.normal(skill, 1, len(image)) + world.hard_known[image]
    false_image, false_category = _events(random, FALSE, np.exp(world.hard_known))
    false_score = random.normal(0, 1, len(false_image)) + world.hard_known[false_image]
    wild_image, wild_category = _events(random, wild_rate, np.exp(world.hard_wild))
    wild_score = random.normal(0.3, 1, len(wild_image)) + world.hard_wild[wild_image]

    def squash(values: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-values))

    def away(n: int) -> np.ndarray:
        return np.tile([0.0, 100.0, 10.0, 10.0], (n, 1))

    def truth(name: str, n: int, image: np.ndarray, category: np.ndarray, box: np.ndarray, prefix: str) -> GroundTruth:
        no = np.zeros(len(image), dtype=bool)
        names = tuple(f"{prefix}{c}" for c in range(CLASSES))
        return GroundTruth(
            name, tuple(range(n)), ("",) * n, tuple(range(CLASSES)), names, image, category, box, no, no
        )  # fmt: skip

    nothing = np.zeros(0, dtype=np.int64)
    return arrange(
        truth("known", world.n_known, image, category, box, "class "),
        Detections(
            "known results",
            np.r_[image[found], false_image],
            np.r_[category[found], false_category],
            np.r_[box[found], away(len(false_image))],
            squash(np.r_[score[found], false_score]),
        ),
        truth("wild", world.n_wild, nothing, nothing, np.zeros((0, 4)), "wild "),
        Detections("wild results", wild_image, wild_category, away(len(wild_image)), squash(wild_score)),
    )


Row = tuple[str, float | None, float, float | None, float | None]
"""What, recall, value and the ends of its interval."""


def awi_rows(options: argparse.Namespace, n_known: int, n_wild: int, seed: int, bootstrap: int) -> Iterator[Row]:
    """AWI by variant and recall."""
    data = simulate(make_world(n_known, n_wild, 2 * seed), 2 * seed + 1, wild_rate=options.wild_rate)
    variants = options.variant or VARIANTS
    found = evaluate_data(data, recalls=RECALLS, variant=variants, ratios=RATIOS, bootstrap=bootstrap)
    for row in found.wilderness:
        yield row.variant, row.recall, row.awi, row.awi_low, row.awi_high


def difference_rows(
    options: argparse.Namespace, n_known: int, n_wild: int, seed: int, bootstrap: int, better: list[int]
) -> Iterator[Row]:
    """Differences of two detectors; who is better is added to a list."""
    world = make_world(n_known, n_wild, 3 * seed)
    pair = (
        simulate(world, 3 * seed + 1, wild_rate=options.wild_rate),
        simulate(world, 3 * seed + 2, wild_rate=options.wild_rate / options.advantage),
    )
    variant = (options.variant or ["paper"])[0]
    found = compare(*pair, recalls=RECALLS, variant=variant, bootstrap=max(bootstrap, 2))
    better.append(found.better)
    for row in found.differences:
        yield row.name, row.recall, row.difference, row.low, row.high


def coverage(
    rows: Callable[[int, int, int, int], Iterator[Row]], options: argparse.Namespace
) -> Iterator[tuple[str, float | None, Sequence[float]]]:
    """By what and recall: intervals with the truth, below and above it, with the mean; bias; mean width; truth."""
    found: dict[tuple[str, float | None], list[tuple[float, float, float]]] = {}
    for seed in range(options.repeats):
        for name, recall, value, low, high in rows(options.known, options.wild, seed, options.bootstrap):
            if low is not None and high is not None:
                found.setdefault((name, recall), []).append((value, low, high))
    true = {(name, recall): value for name, recall, value, _, _ in rows(60_000, 120_000, 10**6, 0)}
    for key, intervals in found.items():
        value, low, high = np.array(intervals).T
        t, mean = true[key], value.mean()
        ends = (high < t).mean(), (low > t).mean()
        yield *key, (1 - sum(ends), *ends, ((low <= mean) & (mean <= high)).mean(), mean - t, (high - low).mean(), t)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--bootstrap", type=int, default=200)
    parser.add_argument("--variant", choices=VARIANTS, action="append")
    parser.add_argument("--known", type=int, default=300)
    parser.add_argument("--wild", type=int, default=600)
    parser.add_argument("--wild-rate", type=float, default=FALSE, help="of each class on a wild image")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--advantage", type=float, default=1.0, help="of the second detector: so many times fewer")
    options = parser.parse_args()
    better: list[int] = []

    def rows(n_known: int, n_wild: int, seed: int, bootstrap: int) -> Iterator[Row]:
        if options.compare:
            return difference_rows(options, n_known, n_wild, seed, bootstrap, better)
        return awi_rows(options, n_known, n_wild, seed, bootstrap)

    print(f"{options.known} known and {options.wild} wild images, {options.repeats} times, {options.bootstrap} draws")
    print("| what | recall | coverage | below | above | of the mean | bias | width | truth |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, recall, (*shares, bias, width, truth) in coverage(rows, options):
        at = "" if recall is None else f"{recall:g}"
        print(f"| {name} | {at} | {' | '.join(f'{s:.1%}' for s in shares)} | {bias:.4f} | {width:.4f} | {truth:.4f} |")
    if options.compare:
        winners = np.array(better[: options.repeats])
        print(f"called better: the first {(winners == 1).mean():.1%}, the second {(winners == 2).mean():.1%}")


if __name__ == "__main__":
    main()
