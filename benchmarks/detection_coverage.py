"""How often 95 % intervals of AWI contain the true value: python benchmarks/detection_coverage.py.

Simulated detectors: objects of each class come by Poisson counts per image, some images are harder than others (so
detections of one image go together), scores of correct, false and wild detections are normal. The truth is the same
evaluation of a detector on a very large set of images.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from openset.detection.measure.evaluation import evaluate_data
from openset.detection.measure.sets import OpenSetData, arrange
from openset.detection.read.coco import Detections, GroundTruth

RECALLS = (0.1, 0.3, 0.5)
VARIANTS = ("paper", "macro", "official")
RATIOS = (0.5, 1.0, 1.5, 2.0)


def simulate(n_known: int, n_wild: int, seed: int, *, classes: int = 5, objects: float = 0.4) -> OpenSetData:
    """A detector on images drawn from one world: class c is found with probability .9 - .05 c."""
    random = np.random.default_rng(seed)

    def events(n_images: int, rate: float, ease: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Images and classes of events, the more frequent the larger `ease` of the image."""
        counts = random.poisson(rate * ease[:, None], (n_images, classes))
        image, category = np.nonzero(counts)
        times = counts[image, category]
        return np.repeat(image, times), np.repeat(category, times)

    hard_known, hard_wild = random.normal(0, 0.5, n_known), random.normal(0, 0.5, n_wild)
    ones = np.ones(n_known)
    image, category = events(n_known, objects, ones)
    found = random.random(len(image)) < 0.9 - 0.05 * category
    place = np.arange(len(image))
    box = np.column_stack([20.0 * place, np.zeros(len(place)), np.full((len(place), 2), 10.0)])
    score = random.normal(1.5, 1, len(image)) + hard_known[image]
    false_image, false_category = events(n_known, 0.3 * objects, np.exp(hard_known))
    false_score = random.normal(0, 1, len(false_image)) + hard_known[false_image]
    wild_image, wild_category = events(n_wild, 0.3 * objects, np.exp(hard_wild))
    wild_score = random.normal(0.3, 1, len(wild_image)) + hard_wild[wild_image]

    def squash(values: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-values))

    def away(n: int) -> np.ndarray:
        return np.tile([0.0, 100.0, 10.0, 10.0], (n, 1))

    def truth(name: str, n: int, image: np.ndarray, category: np.ndarray, box: np.ndarray, prefix: str) -> GroundTruth:
        no = np.zeros(len(image), dtype=bool)
        names = tuple(f"{prefix}{c}" for c in range(classes))
        return GroundTruth(
            name, tuple(range(n)), ("",) * n, tuple(range(classes)), names, image, category, box, no, no
        )  # fmt: skip

    nothing = np.zeros(0, dtype=np.int64)
    return arrange(
        truth("known", n_known, image, category, box, "class "),
        Detections(
            "known results",
            np.r_[image[found], false_image],
            np.r_[category[found], false_category],
            np.r_[box[found], away(len(false_image))],
            squash(np.r_[score[found], false_score]),
        ),
        truth("wild", n_wild, nothing, nothing, np.zeros((0, 4)), "wild "),
        Detections("wild results", wild_image, wild_category, away(len(wild_image)), squash(wild_score)),
    )


def coverage(
    n_known: int, n_wild: int, *, repeats: int, bootstrap: int, variants: Sequence[str]
) -> dict[tuple[str, float], tuple[float, ...]]:
    """By variant and recall: intervals that contain the truth, lie below and above it, bias and mean width."""

    def rows(data: OpenSetData, n: int):
        return evaluate_data(data, recalls=RECALLS, variant=variants, ratios=RATIOS, bootstrap=n).wilderness

    many = simulate(60_000, 120_000, 10**6)
    true = {(row.variant, row.recall): row.awi for row in rows(many, 0)}
    found = {key: [] for key in true}
    for seed in range(repeats):
        for row in rows(simulate(n_known, n_wild, seed), bootstrap):
            key = row.variant, row.recall
            if row.awi_low is not None:
                found[key].append((row.awi_low, row.awi, row.awi_high))
    out = {}
    for key, intervals in found.items():
        low, value, high = np.array(intervals).T
        t = true[key]
        out[key] = tuple(map(float, (((low <= t) & (t <= high)).mean(), (high < t).mean(), (low > t).mean(),
                                     (value / t).mean() - 1, ((high - low) / t).mean())))  # fmt: skip
    return out


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--bootstrap", type=int, default=400)
    parser.add_argument("--variant", choices=VARIANTS, action="append")
    parser.add_argument("--known", type=int, default=300)
    parser.add_argument("--wild", type=int, default=600)
    options = parser.parse_args()
    print(f"{options.known} known and {options.wild} wild images, {options.repeats} detectors")
    print("| variant | recall | coverage | below | above | bias | width |\n|---|---:|---:|---:|---:|---:|---:|")
    found = coverage(
        options.known,
        options.wild,
        repeats=options.repeats,
        bootstrap=options.bootstrap,
        variants=options.variant or ("paper", "macro"),
    )
    for (variant, recall), numbers in sorted(found.items()):
        print(f"| {variant} | {recall:g} | " + " | ".join(f"{number:.1%}" for number in numbers) + " |")


if __name__ == "__main__":
    main()
