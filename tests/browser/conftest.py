"""A real browser: headless Chromium, which may load nothing but files."""

import shutil

import numpy as np
import pytest

from openset.evaluation import evaluate
from openset.present.page import evaluation_page, write_page
from openset.results.document import Document
from openset.scores import Scores

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def chromium():
    """The browser that the system has."""
    driver = pytest.importorskip("playwright.sync_api", reason="the Python package playwright is not installed")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine (on Debian: apt-get install chromium)")
    with driver.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=found, args=FLAGS, timeout=30_000)
        except driver.TimeoutError:  # seen once on a busy machine: the browser hung while starting
            browser = playwright.chromium.launch(executable_path=found, args=FLAGS, timeout=60_000)
        yield browser
        browser.close()


class Tab:
    """A page and everything that went wrong in it."""

    def __init__(self, page):
        self.page, self.problems, self.requests = page, [], []
        page.on(
            "console",
            lambda line: self.problems.append(line.text) if line.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, file):
        """Open a file and wait until everything is drawn."""
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("html[data-ready]")
        return self.page

    def number(self, name):
        """The number on a tile."""
        return self.page.inner_text(f'[data-number="{name}"]')

    def go_to(self, step):
        """Move the slider as a hand would: the value, then the event."""
        move = "(slider, step) => { slider.value = step; slider.dispatchEvent(new Event('input')); }"
        self.page.eval_on_selector("#threshold", move, step)

    def work_of_moves(self, n, to=None):
        """How many elements each of n moves of the slider makes."""
        return self.page.evaluate(
            """([n, to]) => {
                const slider = document.getElementById('threshold'), counts = [];
                let made = 0;
                const own = {};
                for (const name of ['createElement', 'createElementNS']) {
                    own[name] = document[name];
                    document[name] = (...words) => { made += 1; return own[name].apply(document, words); };
                }
                for (let i = 0; i < n; i++) {
                    made = 0;
                    slider.value = to === null ? Math.round(+slider.max * (i + 1) / (n + 2)) : to;
                    slider.dispatchEvent(new Event('input'));
                    counts.push(made);
                }
                Object.assign(document, own);
                return counts;
            }""",
            [n, to],
        )


@pytest.fixture
def tab(chromium):
    """A fresh tab on a laptop's screen, in which nothing may go wrong."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    made = Tab(context.new_page())
    yield made
    context.close()
    assert made.problems == []
    assert [url for url in made.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def synthetic(n=1200, n_classes=5, *, seed=0, class_names=None, open_names=("zebra", "kite", "sofa"), gap=1.6):
    """Scores of one of several models on the same samples."""
    data, own = np.random.default_rng(0), np.random.default_rng(seed + 1)
    labels = np.where(data.random(n) < 0.5, data.integers(0, n_classes, n), data.choice([-1, -2], n))
    predictions = np.where((labels >= 0) & (own.random(n) < 0.9), labels, own.integers(0, n_classes, n))
    score = own.normal(size=n) + gap * (labels == -2) + (gap + 0.8) * (labels == -1)
    return Scores(
        labels,
        predictions,
        score,
        class_names=class_names or [f"class {i}" for i in range(n_classes)],
        open_classes=np.where(labels < 0, data.choice(list(open_names), n), ""),
    )


def write_report(path, models, names=None, **options):
    """A report of the models."""
    evaluations = [evaluate(one, intervals=False) for one in models]
    write_page(path, evaluation_page(Document.of(evaluations, names=names, models=models), **options))
    return path


@pytest.fixture(scope="session")
def three(tmp_path_factory):
    """Three models, and the page about them; the third is the best."""
    models = [synthetic(seed=i, gap=1.2 + 0.5 * i) for i in range(3)]
    file = write_report(tmp_path_factory.mktemp("page") / "report.html", models, ["softmax", "entropic", "ours"])
    return models, file


@pytest.fixture(scope="session")
def make_report(tmp_path_factory):
    """Makes a page of other models."""

    def make(models, names=None, **options):
        return write_report(tmp_path_factory.mktemp("page") / "report.html", models, names, **options)

    make.synthetic = synthetic
    return make
