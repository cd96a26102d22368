"""Draws every picture of the gallery, by the commands that the gallery shows.

    python docs/make_pictures.py [folder]

The commands are read from `gallery.md` and run one after the other in a folder that is thrown away; the figures they
write are kept. With a second argument, the name of a new folder, everything else they write stays there.
"""

import contextlib
import re
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path

from openset.cli import main as openset

HERE = Path(__file__).parent
COMMAND = re.compile(r"^\$ openset (.*)$", re.MULTILINE)


def commands() -> list[list[str]]:
    """The commands of the gallery, as words."""
    return [shlex.split(line) for line in COMMAND.findall((HERE / "gallery.md").read_text(encoding="utf-8"))]


def shown() -> list[str]:
    """The pictures of the gallery, by their names."""
    return re.findall(r"\(pictures/([\w-]+)\.png\)", (HERE / "gallery.md").read_text(encoding="utf-8"))


def run(words: list[str]) -> None:
    """One command, as a user would run it; stops where it fails."""
    print("$ openset", shlex.join(words), flush=True)
    began = time.perf_counter()
    try:
        openset(words)
    except SystemExit as stopped:
        if stopped.code:
            raise
    print(f"({time.perf_counter() - began:.0f} s)\n", flush=True)


def main(folder: Path = HERE / "pictures", work: Path | None = None) -> None:
    """Run everything, then keep the pictures that the gallery shows, small enough for a web page."""
    with contextlib.ExitStack() as stack:
        place = work or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place.mkdir(parents=True, exist_ok=True)
        folder = folder.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        stack.enter_context(contextlib.chdir(place))
        for words in commands():
            run(words)
        # Where several commands draw the same figure, the last of these shows the most models.
        made = {
            file.stem: file
            for part in ("train", "vary", "detection", "evaluate", "bench", "openauc/time", "elephant/families")
            for file in Path("figures", part).glob("*.png")
        }
        for name in shown():
            if not name.startswith("report-"):  # those are made by `screenshots`
                shutil.copyfile(made[name], folder / f"{name}.png")
        screenshots(folder)
        for name in shown():
            shrink(folder / f"{name}.png")
    print(f"{len(shown())} pictures are in {folder}.")


def shrink(path: Path) -> None:
    """At most 1,000 pixels wide and 256 colours: sharp on a page, and a fifth of the size."""
    from PIL import Image

    from openset._io.atomic import replacing

    with Image.open(path) as opened:
        picture = opened.convert("RGB")
    picture.thumbnail((1000, 2000))
    with replacing(path) as temporary:
        picture.quantize(256, method=Image.Quantize.MAXCOVERAGE).save(temporary, "PNG", optimize=True)


def screenshots(folder: Path) -> None:
    """The pages in Chromium; the pictures that are there are kept where there is no Chromium."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        browser = None
    if browser is None:
        print("No pictures of the report: they need Chromium and the Python package playwright.")
        return
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        for name, file, scheme, part in (
            ("report-light", "report.html", "light", "operating"),
            ("report-dark", "report.html", "dark", "operating"),
            ("report-detector", "detector.html", "light", "gallery"),
        ):
            page = started.new_page(viewport={"width": 1180, "height": 900}, color_scheme=scheme)
            page.goto(Path(file).resolve().as_uri())
            page.wait_for_selector("html[data-ready]")
            page.evaluate(f"document.getElementById('{part}').scrollIntoView()")
            page.screenshot(path=folder / f"{name}.png")
        started.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
