"""All names that can be reproduced, and what each needs; nothing heavy is loaded here."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from openset.errors import OpenSetError, check_choice, did_you_mean

if TYPE_CHECKING:
    from openset.reproduction.findings import Report
    from openset.reproduction.options import Options

SCALES = ("smoke", "cpu", "paper")


@dataclass(frozen=True)
class Needs:
    """What one scale of a reproduction asks for."""

    data: str
    time: str
    device: str = "CPU"

    def __str__(self) -> str:
        return f"{self.data}; {self.time}; {self.device}"


@dataclass(frozen=True)
class Entry:
    """One table or figure."""

    name: str
    title: str
    place: str
    """Module and function that make it."""
    needs: Mapping[str, Needs]
    """By scale."""


_EMBEDDED = "no data (digits of scikit-learn)"
_GPU = "one GPU"

ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "openauc/table2",
            "OpenAUC of each method on each data set, five splits",
            "table2:reproduce",
            {
                "smoke": Needs(_EMBEDDED, "about a minute"),
                "cpu": Needs("MNIST, CIFAR10, CIFAR100", "45 trainings of 5 to 30 minutes on two cores"),
                "paper": Needs("MNIST, SVHN, CIFAR10, CIFAR100, TinyImageNet", "about 700 hours", _GPU),
            },
        ),
    )
}


def find(name: str) -> Entry:
    """The entry of that name."""
    if name not in ENTRIES:
        raise OpenSetError(f"There is nothing named '{name}' to reproduce. {did_you_mean(name, ENTRIES)}")
    return ENTRIES[name]


def reproduce(name: str, options: "Options") -> "Report":
    """Run or resume one reproduction."""
    entry = find(name)
    check_choice("reproduce", "scale", options.scale, entry.needs)
    module, _, function = entry.place.partition(":")
    report: Report = getattr(import_module(f"openset.reproduction.{module}"), function)(options)
    return report
