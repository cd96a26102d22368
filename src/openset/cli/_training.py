"""A progress bar for training: loss, accuracy, images per second, time left."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openset.train.config import Config
    from openset.train.loop import Watch
    from openset.train.state import State


@contextmanager
def training_bar(config: "Config", title: str = "Training") -> Iterator["Watch | None"]:
    """A bar on standard error; None where nobody watches."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from openset._io.terminal import make_console

    screen = make_console(stderr=True)
    if not screen.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[numbers]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(title, total=None, numbers="reading data")

        def watch(state: "State", steps: int, speed: float) -> None:
            bar.update(
                task,
                total=config.train.epochs * steps,
                completed=state.epoch * steps + state.step,
                description=f"{title} epoch {state.epoch + 1}/{config.train.epochs}",
                numbers=f"loss {state.loss_sum / state.seen:.3f}  accuracy {state.right / state.seen:.1%}  "
                f"{speed:,.0f} images/s",
            )

        yield watch
