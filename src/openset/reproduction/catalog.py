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


_DIGITS = "no data (digits of scikit-learn)"
_SIMULATED = "no data (simulated detectors)"
_GPU = "one GPU"
_VOC = "results of VOC detectors on wild images in OPENSET_DATA/wild, or YOLOv2's on VOC 2007 in OPENSET_DATA/detection"
_OWN = "results of your detectors on VOC 2007 test and 23,008 COCO images"


def _openauc(name: str, title: str, place: str, cpu: str, hours: str, paper: str) -> Entry:
    return Entry(
        f"openauc/{name}",
        title,
        place,
        {
            "smoke": Needs(_DIGITS, "under 2 minutes"),
            "cpu": Needs(cpu, hours),
            "paper": Needs(paper, "about 8 hours per training", _GPU),
        },
    )


def _cub(name: str, title: str) -> Entry:
    needs = {
        "smoke": Needs(_DIGITS, "under a minute"),
        "cpu": Needs("CUB, and a pretrained EfficientNet-Lite0 (openset pretrained)", "an hour of one core"),
        "paper": Needs("CUB", "days", _GPU),
    }
    return Entry(f"openauc/{name}", title, f"cub:{name}", needs)


def _imagenet(name: str, title: str) -> Entry:
    return Entry(
        f"imagenet/{name}",
        title,
        f"imagenet:{name}",
        {
            "smoke": Needs(_DIGITS, "under a minute"),
            "cpu": Needs("TinyImageNet, a stand-in", "about 15 minutes"),
            "paper": Needs("ImageNet", "nine training runs of one to four days", _GPU),
        },
    )


def _elephant(name: str, title: str, place: str = "", *, cpu: bool = True) -> Entry:
    needs = {"smoke": Needs(_SIMULATED, "seconds"), "paper": Needs(_OWN, "a minute; trains nothing")}
    if cpu:
        needs["cpu"] = Needs(_VOC, "a minute")
    return Entry(f"elephant/{name}", title, f"elephant:{place or name}", needs)


_REAL = "CIFAR10"
_CIFAR = "CIFAR10 and CIFAR100"

ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        _openauc("table1", "What each metric fails to notice", "openauc:table1", _REAL, "twenty minutes", _REAL),
        _openauc(
            "table2",
            "OpenAUC of each method on each data set, five splits",
            "table2:reproduce",
            "MNIST, SVHN, CIFAR10, CIFAR100, TinyImageNet",
            "150 training runs of 3 to 20 minutes on two cores",
            "MNIST, SVHN, CIFAR10, CIFAR100, TinyImageNet",
        ),
        _cub("table4", "CUB: accuracy, AUC and OpenAUC, easy to hard"),
        _cub("table5", "CUB: error rate and F-scores, easy to hard"),
        _openauc(
            "fig1",
            "Classification metrics as more unknowns are caught",
            "openauc:fig1",
            _CIFAR,
            "an hour",
            f"{_CIFAR}, TinyImageNet",
        ),
        _openauc("fig2", "Sensitivity to lambda", "openauc:fig2", _REAL, "seven runs of twenty minutes", _REAL),
        Entry(
            "openauc/time",
            "OpenAUC against minutes of training (our own)",
            "time_curve:reproduce",
            {"smoke": Needs(_DIGITS, "seconds"), "cpu": Needs(_REAL, "about an hour")},
        ),
        Entry(
            "openauc/when",
            "When the OpenAUC loss helps (our own)",
            "when:reproduce",
            {
                "smoke": Needs(_DIGITS, "a minute or two"),
                "cpu": Needs("CIFAR10, CUB, CLINC150 embeddings", "about 12 hours of one core; --protocols for a part"),
            },
        ),
        Entry(
            "imagenet/table1",
            "Classes and samples of the protocols",
            "imagenet:table1",
            {
                "smoke": Needs("no data (classes)", "seconds"),
                "cpu": Needs("no data (classes)", "seconds"),
                "paper": Needs("ImageNet (samples too)", "minutes"),
            },
        ),
        _imagenet("fig2", "OSCR curves of S, BG and EOS"),
        _imagenet("fig3", "Confidence over epochs"),
        _imagenet("fig4", "Probabilities of knowns and unknowns"),
        _imagenet("ccr", "CCR at given FPR"),
        _elephant("table1", "mAP, closed and open"),
        _elephant("table2", "Average Wilderness Impact"),
        _elephant("table3", "Object minus background probability", cpu=False),
        _elephant("table4", "F-beta by wilderness ratio"),
        _elephant("fig3", "Kinds of errors, closed and open"),
        _elephant("fig4", "What unknown objects are taken for"),
        _elephant("fig5", "Wilderness Impact over the ratio"),
        _elephant("fig8", "Histograms of object minus background", cpu=False),
        _elephant("fig9-11", "Kinds of errors at recalls .1 to .5", "figs9_11"),
        Entry(
            "elephant/families",
            "Wilderness Impact by family of detectors, on one backbone",
            "families:reproduce",
            {
                "smoke": Needs("no data (drawn scenes)", "seconds"),
                "cpu": Needs("no data (drawn scenes)", "about 3 minutes of one core per seed; --seeds 5-9"),
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
