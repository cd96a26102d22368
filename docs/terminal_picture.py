"""Draw what a command prints as an SVG: python docs/terminal_picture.py OUT.svg WIDTH openset evaluate scores.csv."""

import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text


def main() -> None:
    """Run the command in a terminal of the given width and save its output as a picture."""
    out, width, *command = sys.argv[1:]
    environment = os.environ | {"FORCE_COLOR": "1", "COLUMNS": width, "TERM": "xterm-256color"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    found = subprocess.run(command, env=environment | {"PATH": path}, capture_output=True, text=True, check=True)
    printed = found.stdout
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=int(width), file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(printed.rstrip()))
    picture = console.export_svg(title=" ".join(command), theme=MONOKAI)
    # No font from the network: any monospace will do.
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    Path(out).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
