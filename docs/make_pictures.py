"""Draws every picture of the gallery.

    python docs/make_pictures.py [folder]

Results of evaluations are real: the digits of `openset demo`. Figures of training, benches and detection show made-up
numbers, which the gallery says; they show how a figure looks, not how good a method is.
"""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

from openset import plots
from openset.demo import run_split
from openset.evaluation import evaluate
from openset.scores import Scores
from openset.views import BenchRow, GammaLog, Sensitivity, TrainingLog

PICTURES = Path(__file__).parent / "pictures"
ILLUSTRATION_CLASSES = ("bicycle", "bird", "bus", "car", "cat", "dog", "person", "sofa")


def demo_scores() -> dict[str, Scores]:
    """Two classifiers on the same handwritten digits; two of the four unknown digits play the negatives."""
    found = {}
    for result in run_split(0):
        scores = result.test
        assert scores.open_classes is not None
        names = np.unique(scores.open_classes[scores.labels < 0])
        labels = np.where(np.isin(scores.open_classes, names[:2]), -1, scores.labels)
        found[result.method] = Scores(
            labels,
            scores.predictions,
            scores.unknown_score,
            scores.probabilities,
            scores.class_names,
            ids=scores.ids,
            open_classes=scores.open_classes,
        )
    return found


def illustrations() -> Mapping[str, Figure]:
    """Figures of results that take hours to compute, with made-up numbers."""
    rng = np.random.default_rng(0)
    epochs = list(range(1, 121))
    gammas = {
        name: GammaLog(
            epochs,
            [1 - 0.85 * np.exp(-e / pace) + 0.01 * rng.normal() for e in epochs],
            [floor + (1 - floor) * np.exp(-e / 12) + 0.01 * rng.normal() for e in epochs],
        )
        for name, pace, floor in (("S", 18, 0.45), ("BG", 24, 0.7), ("EOS", 30, 0.9))
    }
    weights = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    tuned = {
        name: Sensitivity(
            weights, [(best - 0.3 * (w - 0.15) ** 2 + 0.008 * rng.normal(size=5)).tolist() for w in weights]
        )
        for name, best in (("CIFAR10", 0.86), ("TinyImageNet", 0.71))
    }
    log = TrainingLog(
        epochs,
        {
            "training loss": [2.2 * np.exp(-e / 25) + 0.1 for e in epochs],
            "validation accuracy": [0.93 - 0.8 * np.exp(-e / 15) for e in epochs],
            "validation OpenAUC": [0.84 - 0.6 * np.exp(-e / 20) for e in epochs],
        },
    )
    methods = {"softmax": 0.78, "maxlogit": 0.80, "arpl": 0.82, "openauc": 0.85}
    bench = [
        BenchRow(protocol, method, (base - harder + 0.012 * rng.normal(size=5)).tolist())
        for protocol, harder in (("svhn", 0.0), ("cifar10", 0.05), ("tinyimagenet", 0.2))
        for method, base in methods.items()
    ]
    return {
        "gamma-over-epochs": plots.gamma_over_epochs(gammas),
        "sensitivity": plots.sensitivity(tuned),
        "training-curves": plots.training_curves(log),
        "bench": plots.bench(bench),
        **_detection(rng),
    }


def _detection(rng: np.random.Generator) -> Mapping[str, Figure]:
    ratios = np.arange(1, 47) / 10
    rows = {
        name: [
            SimpleNamespace(recall=recall, ratios=ratios, impact=steep * recall * ratios + 0.002 * rng.normal(size=46))
            for recall in (0.1, 0.3, 0.5)
        ]
        for name, steep in (("two-stage", 0.035), ("one-stage", 0.06))
    }
    errors = {
        "two-stage": SimpleNamespace(ratio=1.0, closed_set=(940, 18, 12, 9, 0, 21), open_set=(940, 18, 12, 9, 30, 34)),
        "one-stage": SimpleNamespace(
            ratio=1.0, closed_set=(910, 30, 20, 12, 0, 28), open_set=(910, 30, 20, 12, 62, 55)
        ),
    }
    unknown = ("zebra", "kite", "elephant", "oven")
    counts = rng.poisson(1.2, (8, 12)) + np.eye(8, 12, dtype=int) * 60
    counts[:, 8:] = rng.poisson(4, (8, 4))
    confusion = SimpleNamespace(
        rows=ILLUSTRATION_CLASSES, columns=(*ILLUSTRATION_CLASSES, *unknown), n_known=8, counts=counts
    )
    background = {}
    for name in ILLUSTRATION_CLASSES:
        values = (2 * rng.beta(6, 1.5, 400) - 1).clip(-1, 1)
        background[name] = SimpleNamespace(histogram=np.histogram(values, 20, (-1, 1))[0], mean=float(values.mean()))
    return {
        "wilderness": plots.wilderness(rows),
        "detection-errors": plots.detection_errors(errors),
        "detection-confusion": plots.detection_confusion(confusion),
        "object-versus-background": plots.object_versus_background(background),
    }


def main(folder: Path = PICTURES) -> None:
    """Draw all pictures, small enough for a web page."""
    models = demo_scores()
    evaluations = [evaluate(scores, n_resamples=300) for scores in models.values()]
    made = plots.write_figures(folder, list(models), list(models.values()), evaluations, formats=["png"])
    for name, figure in illustrations().items():
        made += plots.save(figure, folder / name, formats=["png"])
    for path in made:
        shrink(path)
    screenshot(folder, models)
    print(f"{len(made)} pictures are in {folder}.")


def shrink(path: Path) -> None:
    """At most 1,000 pixels wide and 256 colours: sharp on a page, and a fifth of the size."""
    from PIL import Image

    from openset.files import replacing

    with Image.open(path) as opened:
        picture = opened.convert("RGB")
    picture.thumbnail((1000, 2000))
    with replacing(path) as temporary:
        picture.quantize(256, method=Image.Quantize.MAXCOVERAGE).save(temporary, "PNG", optimize=True)


def screenshot(folder: Path, models: Mapping[str, Scores]) -> None:
    """The report of the same two classifiers in Chromium, light and dark; left out where there is no Chromium."""
    import shutil

    from openset.report import Model, against_best, evaluation_page, write_page

    browser = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        browser = None
    if browser is None:
        print("No picture of the report: that needs Chromium and the Python package playwright.")
        return
    names, scores = list(models), list(models.values())
    made = [Model(name, one, evaluate(one)) for name, one in models.items()]
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        page_file = Path(place) / "report.html"
        write_page(page_file, evaluation_page(made, tests=against_best(names, scores, 1)))
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        for scheme in ("light", "dark"):
            page = started.new_page(viewport={"width": 1180, "height": 900}, color_scheme=scheme)
            page.goto(page_file.as_uri())
            page.wait_for_selector("html[data-ready]")
            page.locator("#operating").scroll_into_view_if_needed()
            page.evaluate("document.getElementById('operating').scrollIntoView()")
            page.screenshot(path=folder / f"report-{scheme}.png")
            shrink(folder / f"report-{scheme}.png")
        started.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
