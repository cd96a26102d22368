"""A whole run: data, training, scores, threshold and a summary in one folder."""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from openset import operating
from openset._core.fingerprint import fingerprint
from openset._core.numbers import counted
from openset._io.folder_lock import age
from openset._io.json_files import read_json, write_json
from openset._io.npz import read_npz, write_npz
from openset.errors import OpenSetError
from openset.evaluation import HEADLINE, Result, evaluate, find_result
from openset.methods import METHODS
from openset.protocols import Part, Protocol, load, parse_stand_in
from openset.protocols.held_out import held_out_by_hash
from openset.reading import read_outputs
from openset.results.document import Document
from openset.results.provenance import provenance
from openset.scores import Scores
from openset.train import checkpoint
from openset.train.build import input_shape, make_fabric, make_network
from openset.train.config import Config, Named, read_config
from openset.train.feed import Feed
from openset.train.frozen import Embed, as_they_are, backbone_frozen
from openset.train.infer import as_arrays, run_network, scores_of
from openset.train.loggers import make_loggers, reporting
from openset.train.loop import Watch, fit
from openset.train.predict import TrainedRun
from openset.train.processes import is_first_process, join, leave
from openset.train.state import as_now, differences, kept_state
from openset.train.threads import threads_for

if TYPE_CHECKING:
    from lightning_fabric import Fabric

    from openset.methods import Method
    from openset.posthoc import Head, Outputs
    from openset.train.network import Network

WEIGHTS = Path("checkpoints")
STATE = WEIGHTS / "state.safetensors"
_FEW = 10_000
"""Training samples whose outputs are made in seconds."""
_MANY_EPOCHS = 4
"""From here on one more look at every training sample takes less than a tenth of the training."""


def holds_vectors(protocol: str, data_root: str | None) -> bool:
    """Whether a user's own protocol is of feature vectors; folders and the bundled protocols are of images."""
    stand_in = parse_stand_in(protocol)
    written = protocol if stand_in is None else stand_in.protocol
    if Path(written).suffix.lower() not in {".yaml", ".yml", ".json"}:
        return False
    try:
        shape = load(protocol, data_root=data_root).train.shape
    except OpenSetError:  # reported when the run starts
        return False
    return shape is not None and len(shape) == 1


def for_vectors(config: Config) -> Config:
    """The config with the backbone for feature vectors, where nobody chose one."""
    return replace(config, backbone=Named("mlp")) if config.backbone == Config().backbone else config


def settle_method(config: Config, *, named: bool, on_corrupt: str = "stop") -> tuple[Config, str]:
    """The config with the recipe's method for negatives, where there are some and the user named no method; a note."""
    other, settled = config.method_with_negatives, replace(config, method_with_negatives="")
    if not other or named:
        return settled, ""
    try:
        labels = _protocol(config, on_corrupt).train.labels
    except OpenSetError:  # reported when the run starts
        return settled, ""
    negatives = int((np.asarray(labels) == -1).sum())
    if not negatives:
        return settled, ""
    note = (
        f"{counted(negatives, 'negative sample')} to train on: the method is {other}, which learns from them, instead "
        f"of {config.method.name}; --method names another."
    )
    return replace(settled, method=Named(other)), note


def begin(config: Config | None, out: Path, *, resume: bool) -> Config:
    """Settle what a run folder is for, before any work: a new run, or one that resumes."""
    stored = out / "config.yaml"
    if not is_first_process(config) and config is not None:
        return config
    if config is None and not resume:
        raise OpenSetError("Say what to train: a recipe, or --protocol and --method.")
    if resume and not stored.exists():
        raise OpenSetError(f"{out} holds no run to resume (there is no config.yaml in it).")
    if config is None:
        return read_config(stored)
    finished, begun = (out / "summary.json").exists(), (out / STATE).exists()
    if not finished and not begun:  # a start that failed has left nothing but its config
        config.write(stored)
        return config
    if not resume:
        done = "a finished run" if finished else "an unfinished run"
        raise OpenSetError(f"{out} holds {done}: add --resume to resume it, or give another --out.")
    before = read_config(stored)
    for field, then, now in differences(before.as_plain(), config.as_plain()):
        raise OpenSetError(
            f"{out} was made with {field} = {then!r}, now it is {now!r}: "
            "leave the recipe out to resume with its own, or give another --out."
        )
    return replace(before, data=config.data, data_root=config.data_root, train=config.train)


def train(
    config: Config,
    out: Path,
    *,
    on_corrupt: str = "stop",
    watch: Watch | None = None,
    tell: Callable[[str], object] = str,
    loggers: Sequence[str] = (),
) -> dict[str, Any]:
    """Train as `config` says and write everything to `out`; returns the summary.

    The folder must have been settled by `begin`. What is already there is not done again. Images that cannot be
    decoded `stop` it, or it can `skip` them. `loggers` are names of `openset.train.loggers`; they change nothing.
    """
    if (out / "summary.json").exists():
        tell(f"{out} is finished; nothing to do.")
        return dict(read_json(out / "summary.json"))
    made_loggers = make_loggers(loggers, out)
    fabric = make_fabric(config, made_loggers)
    join(fabric)
    protocol = _protocol(config, on_corrupt)
    if fabric.is_global_zero:
        for note in protocol.notes:
            tell(note)
    method_class = METHODS[config.method.name]
    labels = np.asarray(protocol.train.labels)
    if method_class.uses_negatives and not (labels == -1).any():
        raise OpenSetError(
            f"The method '{config.method.name}' learns from negatives, and the protocol '{config.protocol}' has none: "
            "choose another method or a protocol with negative classes."
        )
    if fabric.is_global_zero and not method_class.uses_negatives and (labels == -1).any():
        users = ", ".join(name for name, card in METHODS.items() if card.uses_negatives)
        ignored = counted(int((labels == -1).sum()), "negative training sample")
        tell(f"The method '{config.method.name}' ignores {ignored}; methods that learn from negatives: {users}.")
    used = labels >= (-1 if method_class.uses_negatives else 0)
    rows = np.flatnonzero(used & _drawn(protocol.train, config.data.fraction))
    train_feed = Feed(protocol.train, config.data, rows, crop=config.augment.crop)
    val_feed = Feed(protocol.val, config.data)
    _try_threshold(config, protocol.val)
    network = make_network(config, train_feed, len(protocol.class_names))
    with threads_for(network, config, input_shape(train_feed, config)), reporting(made_loggers, config.as_plain()):
        return _fit_and_score(fabric, network, protocol, train_feed, val_feed, config, out, watch, tell)


def _fit_and_score(
    fabric: "Fabric",
    network: "Network",
    protocol: Protocol,
    train_feed: Feed,
    val_feed: Feed,
    config: Config,
    out: Path,
    watch: Watch | None,
    tell: Callable[[str], object],
) -> dict[str, Any]:
    samples = fingerprint([column for part in (protocol.train, protocol.val) for column in (part.ids, part.labels)])
    if fabric.is_global_zero and checkpoint.read_description(out / STATE).get("state", {}).get("done"):
        tell("The training is done; only scoring is left.")
    with backbone_frozen(network, config, fabric.device, protocol.fingerprint) as embed:
        feeds = embed(train_feed), embed(val_feed)
        run = fit(fabric, network, *feeds, config, folder=out / WEIGHTS, watch=watch, samples=samples)
        if not fabric.is_global_zero:
            leave(fabric)
            return {}
        kept = "last" if config.train.select == "last" else "best"
        tensors, _ = checkpoint.read_tensors(out / WEIGHTS / f"{kept}.safetensors")
        checkpoint.load_weights(network, tensors, out / WEIGHTS / f"{kept}.safetensors")
        outputs = score_parts(network, protocol, config, tell, embed)
    network.cpu()
    extra = {
        "weights": kept,
        "epochs": run.state.epoch,
        "best_epoch": run.state.best_epoch if kept == "best" else None,
        "seconds": round(run.state.seconds, 3),
        "resumed": run.state.resumed,
        "n_parameters": sum(parameter.numel() for parameter in network.parameters()),
        "input_shape": list(train_feed.load(np.arange(1))[0].shape[1:]),
        "stored_shape": list(train_feed.stored_shape),
        "devices": fabric.world_size,
        "device": str(fabric.device),
    }
    summary = write_results(config, protocol, network.method, outputs, out, extra)
    fabric.log_dict(_headline(summary), step=run.state.epoch)
    leave(fabric)
    return summary


def _headline(summary: dict[str, Any]) -> dict[str, float]:
    """What loggers are told of the test part."""
    results = [Result.from_json(one) for one in summary["metrics"]]
    found = {name: find_result(results, name) for name in HEADLINE}
    return {f"test_{name}": one.value for name, one in found.items() if one is not None}


def score_parts(
    network: "Network",
    protocol: Protocol,
    config: Config,
    tell: Callable[[str], object],
    embed: Embed = as_they_are,
) -> "dict[str, Outputs]":
    """Outputs of every part that they are kept of; validation first, which tells how long the others will take."""
    began = time.monotonic()
    outputs = {"val": run_network(network, embed(Feed(protocol.val, config.data)), config.augment)}
    speed = (time.monotonic() - began) / max(len(protocol.val), 1) / config.augment.test_views
    # Outputs of the training part only serve to fit post-hoc scores: one view of each of its many images will do.
    views = {"test": config.augment, "train": replace(config.augment, test_views=1)}
    if not keeps_train_outputs(config, len(protocol.train)):
        del views["train"]
        tell("Outputs of the training part are not kept (train.train_outputs=always keeps them).")
    seconds = sum(speed * len(protocol.parts[name]) * one.test_views for name, one in views.items())
    samples = " and ".join(f"{len(protocol.parts[name]):,} {name}" for name in views)
    tell(f"Scoring {samples} samples: about {age(max(seconds, 1))}.")
    for name, augment in views.items():
        outputs[name] = run_network(network, embed(Feed(protocol.parts[name], config.data)), augment)
    return {name: outputs[name] for name in protocol.parts if name in outputs}


def keeps_train_outputs(config: Config, n_train: int) -> bool:
    """Whether they are asked for or cheap: of few samples, or after a training of many times as many steps."""
    if config.train.train_outputs != "auto":
        return config.train.train_outputs == "always"
    return n_train <= _FEW or config.train.epochs >= _MANY_EPOCHS


def _protocol(config: Config, on_corrupt: str) -> Protocol:
    return load(config.protocol, split=config.split, data_root=config.data_root, on_corrupt=on_corrupt)


def _drawn(part: Part, fraction: float) -> NDArray[np.bool_]:
    """Which training samples are used: that fraction of each class."""
    if fraction == 1:
        return np.ones(len(part), dtype=np.bool_)
    return held_out_by_hash(np.asarray(part.ids), np.asarray(part.labels).astype(np.str_), fraction, "fraction")


def _try_threshold(config: Config, val: Part) -> None:
    """Try the threshold rule on the labels alone: a wrong one is reported before training, not after it."""
    nothing = np.zeros(len(val))
    operating.choose(Scores(val.labels, nothing.astype(int), nothing), config.train.threshold)


def share_beginning(config: Config, epochs: int, source: Path, out: Path) -> bool:
    """Let a new run continue where `source`, trained alike so far, was after `epochs`; False if it cannot.

    The folder must have been settled by `begin`. The result is what training from the start would give.
    """
    kept, own = kept_state(source / WEIGHTS, epochs), out / STATE
    if own.exists() or not kept.exists() or config.train.select != "last":  # the best weights may lie further back
        return False
    tensors, metadata = checkpoint.read_tensors(kept)
    if any(not field.startswith("method") for field, _, _ in differences(as_now(metadata, kept), config.as_plain())):
        return False
    checkpoint.write_tensors(own, tensors, {**metadata, "config": config.as_plain()})
    return True


def write_results(
    config: Config,
    protocol: Protocol,
    method: "Method",
    outputs: "dict[str, Outputs]",
    out: Path,
    extra: dict[str, Any],
) -> dict[str, Any]:
    """Outputs, scores, threshold and summary; the summary last, as the sign that all is there."""
    meta = {
        "protocol": protocol.name,
        "split": config.split,
        "method": config.method.name,
        "seed": config.seed,
        "data": protocol.fingerprint,
        "model": checkpoint.fingerprint_of(out / WEIGHTS / f"{extra['weights']}.safetensors"),
    }
    scores: dict[str, Scores] = {}
    for name, given in outputs.items():
        part = protocol.parts[name]
        write_npz(out / f"outputs_{name}.npz", as_arrays(given, part, protocol.class_names, meta))
        if name != "train":
            scores[name] = scores_of(method, given, part, protocol.class_names, meta)
            scores[name].write(out / f"scores_{name}.parquet")
    threshold = operating.choose(scores["val"], config.train.threshold)
    threshold.write(out / "threshold.json")
    on_test = threshold.apply(scores["test"])
    evaluation = evaluate(scores["test"])
    # What is to be known of the threshold stands on the page and in the summary, beside what is of the metric values.
    evaluation = replace(evaluation, notes=(*evaluation.notes, *threshold.notes, *on_test.notes))
    document = Document.of(
        [evaluation],
        names=[f"{config.method.name} on {protocol.name}, split {config.split}"],
        files=["scores_test.parquet"],
        origin=provenance("torch", "lightning-fabric", "safetensors", threads=torch.get_num_threads()),
    )
    summary = {
        **meta,
        "class_names": list(protocol.class_names),
        **extra,
        "threshold": {"value": threshold.value, "rule": threshold.rule},
        "on_test": on_test.as_json(),
        **document.as_json(),
        "data_notes": list(protocol.notes),
        "notes": list(evaluation.notes),
        "config": config.as_plain(),
    }
    write_json(out / "summary.json", summary)
    return summary


def rescore(config: Config, source: Path, out: Path, *, on_corrupt: str = "stop") -> dict[str, Any]:
    """Results of a method that shares the training of the finished run `source`: other scores, the same weights."""
    stored = dict(read_json(source / "summary.json"))
    protocol = _protocol(config, on_corrupt)
    method = METHODS[config.method.name](1, len(protocol.class_names), **config.method.options)
    head = _stored_head(source, stored) if method.linear_head() is not None else None
    outputs = {
        name: _stored_outputs(source, name, part, config, background=method.background, head=head)
        for name, part in protocol.parts.items()
        if name != "train" or (source / "outputs_train.npz").exists()
    }
    _copy_weights(source, out)
    return write_results(config, protocol, method, outputs, out, _training_facts(stored, source))


def reapply(config: Config, source: Path, out: Path, *, on_corrupt: str = "stop") -> dict[str, Any]:
    """Results of the finished run `source` on another protocol with the same training data: only the test part differs.

    The folder must have been settled by `begin`. Training and validation samples are compared, not trusted to agree.
    """
    stored = dict(read_json(source / "summary.json"))
    trained = TrainedRun.read(source)
    protocol = _protocol(config, on_corrupt)
    if stored["method"] != config.method.name or tuple(stored["class_names"]) != protocol.class_names:
        raise OpenSetError(f"{source} was trained for other classes or another method than {config.protocol} needs.")
    background = trained.network.method.background
    outputs = {
        name: _stored_outputs(source, name, protocol.parts[name], config, background=background)
        for name in ("train", "val")
        if name != "train" or (source / "outputs_train.npz").exists()
    }
    outputs["test"] = run_network(trained.network, Feed(protocol.test, config.data), config.augment)
    _copy_weights(source, out)
    return write_results(config, protocol, trained.network.method, outputs, out, _training_facts(stored, source))


def _stored_head(source: Path, stored: dict[str, Any]) -> "Head":
    """The last layer of a finished run, which outputs that an earlier version wrote do not hold."""
    tensors, _ = checkpoint.read_tensors(source / WEIGHTS / f"{Path(stored['weights']).name}.safetensors")
    bias = tensors.get("method.head.bias")
    return tensors["method.head.weight"].float().numpy(), None if bias is None else bias.float().numpy()


def _stored_outputs(
    source: Path, name: str, part: Part, config: Config, *, background: bool, head: "Head | None" = None
) -> "Outputs":
    """Outputs of a finished run, if they are of the samples that the protocol has now."""
    file = source / f"outputs_{name}.npz"
    arrays = read_npz(file)
    if not (np.array_equal(arrays["ids"], part.ids) and np.array_equal(arrays["labels"], part.labels)):
        raise OpenSetError(
            f"{file} is of other samples than {config.protocol} has now for '{name}': give another --out to train anew."
        )
    outputs = read_outputs(file, background=background)
    return outputs if outputs.head is not None else replace(outputs, head=head)


_KEPT = (
    "weights",
    "epochs",
    "best_epoch",
    "seconds",
    "resumed",
    "n_parameters",
    "input_shape",
    "stored_shape",
    "devices",
    "device",
)


def _training_facts(stored: dict[str, Any], source: Path) -> dict[str, Any]:
    """What a summary says of a training that another run did."""
    return {**{name: stored[name] for name in _KEPT if name in stored}, "trained_in": source.name}


def _copy_weights(source: Path, out: Path) -> None:
    (out / WEIGHTS).mkdir(parents=True, exist_ok=True)
    for file in (source / WEIGHTS).glob("*.safetensors"):
        if not file.name.startswith("state"):
            shutil.copyfile(file, out / WEIGHTS / file.name)
    shutil.copyfile(source / "log.csv", out / "log.csv")
