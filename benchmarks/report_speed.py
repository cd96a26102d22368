"""How long a report of three models on 100,000 samples takes: to build, to open, to answer the slider; and its size.

    python benchmarks/report_speed.py

Build time is what the page costs beyond reading and evaluating the scores. Opening ends when every chart is drawn.
"""

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from openset.evaluation import evaluate
from openset.present.page import evaluation_page, write_page
from openset.results.document import Document
from openset.scores import Scores

N_MODELS, N_SAMPLES, N_CLASSES = 3, 100_000, 50
MOVE = """() => [...Array(41)].map((_, i) => {
    const slider = document.getElementById('threshold'), start = performance.now();
    slider.value = Math.round(+slider.max * (i + 1) / 43);
    slider.dispatchEvent(new Event('input'));
    document.body.getBoundingClientRect();
    return performance.now() - start;
})"""


def make(seed: int) -> Scores:
    """Half known, a quarter negative, a quarter unknown; the same samples for every model."""
    data, own = np.random.default_rng(0), np.random.default_rng(seed + 1)
    labels = np.where(
        data.random(N_SAMPLES) < 0.5, data.integers(0, N_CLASSES, N_SAMPLES), data.choice([-1, -2], N_SAMPLES)
    )
    right = own.random(N_SAMPLES) < 0.85
    predictions = np.where((labels >= 0) & right, labels, own.integers(0, N_CLASSES, N_SAMPLES))
    score = own.normal(size=N_SAMPLES) + (1.2 + 0.4 * seed) * (labels < 0) + 0.5 * (labels == -1)
    names = np.where(labels < 0, np.char.add("open ", data.integers(0, 40, N_SAMPLES).astype(str)), "")
    return Scores(labels, predictions, score, open_classes=names)


def main() -> None:
    """Measure and print."""
    models = [make(seed) for seed in range(N_MODELS)]
    names = [f"model {i}" for i in range(N_MODELS)]
    made = [evaluate(one, intervals=False) for one in models]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        builds = []
        for _ in range(3):
            start = time.perf_counter()
            write_page(file, evaluation_page(Document.of(made, names=names, models=models)))
            builds.append(time.perf_counter() - start)
        print(f"{N_MODELS} models x {N_SAMPLES:,} samples, {N_CLASSES} classes")
        print(f"build   {min(builds):6.2f} s  (limit 5 s; of {len(builds)}: {', '.join(f'{b:.2f}' for b in builds)})")
        print(f"size    {file.stat().st_size / 1e6:6.2f} MB (limit 6 MB)")
        browse(file)


def browse(file: Path) -> None:
    """Open the page in Chromium and move its slider."""
    found = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        found = None
    if found is None:
        sys.exit("Opening it needs Chromium and the Python package playwright.")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=found, args=flags)
        opens, moves = [], []
        for _ in range(5):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            start = time.perf_counter()
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready]")
            opens.append(time.perf_counter() - start)
            moves += page.evaluate(MOVE)
            page.close()
        browser.close()
    print(f"open    {statistics.median(opens):6.2f} s  (limit 2 s; worst {max(opens):.2f})")
    print(f"slider  {statistics.median(moves):6.1f} ms (limit 50 ms; worst of {len(moves)}: {max(moves):.1f})")


if __name__ == "__main__":
    main()
