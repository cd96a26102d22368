"""Image and text classifiers of the transformers library, from a folder or by their name on the hub."""

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from openset._io.json_files import read_json
from openset._io.paths import is_folder
from openset.data.hub import hub_is_reachable
from openset.errors import OpenSetError
from openset.models.card import Family, Model, Options, register
from openset.models.weights import PICKLED, fingerprint_of, pickle_refusal

_WANTED = ("*.safetensors", "*.json", "*.txt", "*.model")
"""What is downloaded of a model: weights and descriptions, no program and no pickled file."""
_KINDS = {"ForImageClassification": "images", "ForSequenceClassification": "texts"}


def open_transformers(name: str, options: Options) -> Model:
    """The classifier in a folder, or of that name on the hub."""
    folder = Path(name) if is_folder(name) else _download(name)
    config = read_json(folder / "config.json") if (folder / "config.json").exists() else None
    if not isinstance(config, dict):
        raise OpenSetError(f"{folder} is no folder of a transformers model: there is no config.json in it.")
    files = _weights(folder)
    takes = _kind(config, folder)
    with _quiet():
        return _READERS[takes](f"hf:{name}", folder, files, options)


def _kind(config: dict[str, Any], folder: Path) -> str:
    stated = config.get("architectures")
    named = [str(one) for one in stated] if isinstance(stated, list) else []
    for one in named:
        for ending, takes in _KINDS.items():
            if one.endswith(ending):
                return takes
    raise OpenSetError(
        f"{folder} holds {', '.join(named) or 'a model of no stated kind'}, which is no image or text classifier: "
        "fine-tune it with a classification head (AutoModelForImageClassification, "
        "AutoModelForSequenceClassification) and save that."
    )


def _weights(folder: Path) -> list[Path]:
    found = sorted(folder.glob("*.safetensors"))
    pickled = next((one for one in sorted(folder.iterdir()) if one.suffix in PICKLED), None)
    if not found and pickled is not None:
        raise pickle_refusal(pickled, f"with model.save_pretrained('{folder}') of transformers")
    if not found:
        raise OpenSetError(f"{folder} holds no weights: there is no .safetensors file in it.")
    return found


def _download(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    reachable = hub_is_reachable()
    try:
        return Path(snapshot_download(name, allow_patterns=list(_WANTED), local_files_only=not reachable))
    except HFValidationError as error:
        raise OpenSetError(f"There is no folder {name}, and it is no name of a model on the hub.") from error
    except Exception as error:  # many kinds, depending on what failed; all mean: no model
        why = f"the hub's copy cannot be loaded ({type(error).__name__})" if reachable else "the hub cannot be reached"
        raise OpenSetError(
            f"The model '{name}' is not on this machine, and {why}: put its folder (config.json, model.safetensors and "
            f"the files beside them) here, for example with 'hf download {name} --local-dir model' where there is a "
            "network, and write hf:model."
        ) from error


def _load(auto: Any, name: str, folder: Path) -> Any:
    """The network with all of its weights from the folder; none may be drawn at random."""
    try:
        network, report = auto.from_pretrained(
            folder, use_safetensors=True, trust_remote_code=False, local_files_only=True, output_loading_info=True
        )
    except Exception as error:  # each broken folder fails in its own way
        raise OpenSetError(f"Cannot load the model {name}: {_line(error)}.") from error
    absent = sorted({*map(_key, report["missing_keys"]), *map(_key, report["mismatched_keys"])})
    if absent:
        raise OpenSetError(
            f"{name} has no trained classification head: its weights lack '{absent[0]}'. Fine-tune it as a classifier "
            "and save that."
        )
    return network


def _key(entry: Any) -> str:
    return str(entry[0] if isinstance(entry, tuple) else entry)


def classes_of(network: Any) -> tuple[str, ...] | None:
    """Names of the classes of a network, where somebody gave them some."""
    labels = network.config.id2label or {}
    names = tuple(str(labels.get(number, labels.get(str(number), ""))) for number in range(len(labels)))
    unnamed = all(name == f"LABEL_{number}" for number, name in enumerate(names))
    return None if unnamed or "" in names or len(set(names)) < len(names) else names


def _image_model(name: str, folder: Path, files: list[Path], options: Options) -> Model:
    import torch
    from transformers import AutoImageProcessor, AutoModelForImageClassification

    from openset.models.networks import TorchModel

    try:
        processor = AutoImageProcessor.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:
        raise OpenSetError(
            f"{folder} does not tell how its images are prepared: put the preprocessor_config.json there that it was "
            f"trained with ({_line(error)})."
        ) from error
    network = _load(AutoModelForImageClassification, name, folder)

    def prepare(picture: Any) -> Any:
        return processor(images=picture.convert("RGB"), return_tensors="pt")["pixel_values"][0]

    def collate(batch: Sequence[Any]) -> dict[str, Any]:
        return {"pixel_values": torch.stack(list(batch))}

    described = {"kind": type(processor).__name__.removesuffix("Pil"), "file": "preprocessor_config.json"}
    print_ = fingerprint_of([*files, *_beside(folder, "preprocessor_config.json")])
    return TorchModel(name, network, prepare, collate, classes_of(network), print_, described, device=options.device)


def _text_model(name: str, folder: Path, files: list[Path], options: Options) -> Model:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from openset.models.networks import TorchModel

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:
        raise OpenSetError(
            f"{folder} holds no tokenizer for its texts: put its files there ({_line(error)})."
        ) from error
    network = _load(AutoModelForSequenceClassification, name, folder)
    longest = min(tokenizer.model_max_length, getattr(network.config, "max_position_embeddings", None) or 512)
    if tokenizer.pad_token is None:
        raise OpenSetError(f"{folder}: its tokenizer has no padding token, so texts cannot be run in batches: set one.")

    def collate(batch: Sequence[Any]) -> dict[str, Any]:
        return dict(tokenizer(list(batch), truncation=True, max_length=longest, padding=True, return_tensors="pt"))

    described = {"kind": type(tokenizer).__name__, "longest": longest}
    print_ = fingerprint_of([*files, *_beside(folder, "tokenizer.json", "vocab.txt")], longest)
    return TorchModel(
        name, network, str, collate, classes_of(network), print_, described, takes="texts", device=options.device
    )


_READERS: dict[str, Callable[[str, Path, list[Path], Options], Model]] = {"images": _image_model, "texts": _text_model}


def _beside(folder: Path, *names: str) -> list[Path]:
    return [folder / name for name in names if (folder / name).exists()]


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the library's bars and advice, which belong into a program of one's own."""
    from transformers.utils import logging as reports

    level, bars = reports.get_verbosity(), reports.is_progress_bar_enabled()
    reports.set_verbosity(logging.ERROR)
    reports.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        reports.set_verbosity(level)
        if bars:
            reports.enable_progress_bar()


register(
    Family(
        name="hf",
        title="transformers: image and text classifiers",
        example="hf:NAME_OR_FOLDER",
        options=("device",),
        needs=("torch", "transformers", "safetensors"),
        open=open_transformers,
    )
)
