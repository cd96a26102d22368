"""Showing a page in the browser of whoever sits at this machine."""

import os
import sys
from pathlib import Path


def has_desktop() -> bool:
    """Whether a window can appear: a browser of the terminal would take the terminal from the command."""
    if sys.platform in {"win32", "darwin"}:
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_page(page: Path) -> bool:
    """Open a page; False where there is no desktop, or no browser on it."""
    import webbrowser

    if not has_desktop():
        return False
    try:
        return webbrowser.open(page.resolve().as_uri())
    except webbrowser.Error:
        return False
