"""What a cell of a grid is called."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """Which cell of a grid: no two cells of one grid have the same."""

    protocol: str
    method: str
    split: int
    seed: int
    variant: str = ""
    """A setting that differs from the recipe, such as `weight=0.2`."""

    @property
    def name(self) -> str:
        """What its row in tables is called."""
        return f"{self.method} {self.variant}".strip()

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.protocol} {self.method} split {self.split} seed {self.seed} {self.variant}".strip()
