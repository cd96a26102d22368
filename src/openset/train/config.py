"""What a training run is: dataclasses, filled from a short YAML recipe and the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from openset._io.atomic import write_text
from openset._io.paths import existing
from openset._io.yaml_files import parse_yaml, read_yaml
from openset.errors import OpenSetError, check_share, did_you_mean, needing
from openset.train.fields import build, convert


@dataclass(frozen=True)
class Named:
    """A method or backbone with options: `openauc`, or `{name: openauc, weight: 0.2}`."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_plain(cls, content: Any, where: str) -> "Named":
        """From text or a mapping."""
        if isinstance(content, str):
            return cls(content)
        if not isinstance(content, Mapping) or not isinstance(content.get("name"), str):
            raise OpenSetError(f"'{where}' must be a name, or fields with a name: got {content!r}.")
        strange = next((key for key in content if not isinstance(key, str)), None)
        if strange is not None:
            raise OpenSetError(f"'{where}' has an option {strange!r}: options are words such as 'weight'.")
        return cls(content["name"], {key: value for key, value in content.items() if key != "name"})


@dataclass(frozen=True)
class Data:
    """How samples are read."""

    size: int = 0
    """Pixels per side that images are brought to; 0 = as they are."""
    channels: int = 0
    """1 or 3; 0 = as they are."""
    batch_size: int = 128
    """Samples per step, over all processes together."""
    workers: int = 2
    """Threads that read ahead."""
    mean: tuple[float, ...] = ()
    """Subtracted from pixels in [0, 1]; feature vectors are standardised by the training part instead."""
    std: tuple[float, ...] = ()
    """Pixels are divided by this."""
    fraction: float = 1.0
    """Of the training samples of each class that are used; which ones depends on nothing but their ids."""


@dataclass(frozen=True)
class Augment:
    """Changes of training images, drawn anew in every step."""

    randaugment: tuple[int, ...] = ()
    """[number of operations, magnitude of 30]."""
    crop_padding: int = 0
    """Pad by so many pixels and cut back at a random place."""
    padding: Literal["black", "reflect"] = "black"
    """What images are padded with."""
    crop: int = 0
    """Cut to this size at a random place; the middle when not training. Photos are first brought to `data.size` by
    their smaller side, so that every place of a long one is seen."""
    flip: bool = False
    """Mirror left and right, half of the time."""
    flip_in_turn: bool = False
    """With `flip`: each image in every other epoch, half of them in the even ones, instead of at random."""
    cutout: int = 0
    """Side of a square that is blanked at a random place."""
    shrink: int = 0
    """Pixels per side that images are shrunk to in the first epochs, which go faster; 0 = never."""
    shrink_epochs: int = 0
    """How many epochs those are."""
    test_views: Literal[1, 2, 3, 6] = 1
    """Views of an image whose outputs are averaged when not training: 2 with its mirror image, 3 shifted, 6 both."""


@dataclass(frozen=True)
class Optimizer:
    """How weights move."""

    name: Literal["sgd", "adam", "adamw", "muon"] = "sgd"
    lr: float = 0.05
    rest_lr: float = 1.0
    """Muon: learning rate of everything that is no filter of a convolution."""
    momentum: float = 0.9
    weight_decay: float = 5e-4
    nesterov: bool = False


@dataclass(frozen=True)
class Schedule:
    """How the learning rate changes."""

    name: Literal["cosine", "linear", "step", "constant"] = "cosine"
    restarts: int = 0
    """Cosine: how often it starts again, at equal distances."""
    warmup_epochs: float = 0.0
    milestones: tuple[int, ...] = ()
    """Step: epochs after which the rate is multiplied by `factor`."""
    factor: float = 0.1


@dataclass(frozen=True)
class Training:
    """How long, and which weights are kept."""

    epochs: int = 20
    accumulate: int = 1
    """Parts in which a batch goes through the network, to save memory."""
    ema: float = 0.0
    """Decay of a moving average of the weights; 0 = off."""
    select: Literal["last", "accuracy", "gamma"] = "last"
    """Which epoch's weights are used: the last, or the best on validation data."""
    patience: int = 0
    """Stop after so many epochs without a better value of `select`; 0 = never."""
    keep: tuple[int, ...] = ()
    """Epochs after which the whole state stays, for other training runs that start the same way."""
    save_minutes: float = 10.0
    """Save within epochs that take longer than this."""
    threshold: str = "at_acceptance=0.95"
    """Rule of the threshold, on validation data."""
    train_outputs: Literal["auto", "always", "never"] = "auto"
    """Keep outputs of the training part, to fit post-hoc scores on; auto = where that is cheap."""
    frozen: bool = False
    """Train the head alone: each image goes through the backbone once, as it is, without augmentation."""


@dataclass(frozen=True)
class Engine:
    """Where it runs; Lightning Fabric's words."""

    accelerator: Literal["auto", "cpu", "gpu", "cuda", "mps", "tpu"] = "auto"
    devices: int = 1
    nodes: int = 1
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"
    channels_last: bool = True
    compile: bool = False
    threads: int = 0
    """Of the CPU; 0 = one for small networks, else as many as PyTorch chooses (OMP_NUM_THREADS)."""


@dataclass(frozen=True)
class Config:
    """Everything that decides a training run."""

    protocol: str = "digits"
    split: int = 0
    data_root: str | None = None
    seed: int = 0
    method: Named = field(default_factory=lambda: Named("openauc"))
    method_with_negatives: str = ""
    """Method to use instead where there are negatives to train on and the user names none; "" = no other."""
    backbone: Named = field(default_factory=lambda: Named("fastnet"))
    pretrained: str = ""
    """Folder with weights that the backbone starts from (`openset pretrained`), or its name in the data root."""
    data: Data = field(default_factory=Data)
    augment: Augment = field(default_factory=Augment)
    optimizer: Optimizer = field(default_factory=Optimizer)
    schedule: Schedule = field(default_factory=Schedule)
    train: Training = field(default_factory=Training)
    engine: Engine = field(default_factory=Engine)

    def __post_init__(self) -> None:
        for name, value, least in (
            ("split", self.split, 0),
            ("seed", self.seed, 0),
            ("data.size", self.data.size, 0),
            ("data.batch_size", self.data.batch_size, 1),
            ("data.workers", self.data.workers, 1),
            ("train.epochs", self.train.epochs, 1),
            ("train.accumulate", self.train.accumulate, 1),
            ("train.patience", self.train.patience, 0),
            ("augment.crop", self.augment.crop, 0),
            ("augment.crop_padding", self.augment.crop_padding, 0),
            ("augment.cutout", self.augment.cutout, 0),
            ("augment.shrink", self.augment.shrink, 0),
            ("augment.shrink_epochs", self.augment.shrink_epochs, 0),
            ("optimizer.weight_decay", self.optimizer.weight_decay, 0),
            ("schedule.restarts", self.schedule.restarts, 0),
            ("schedule.warmup_epochs", self.schedule.warmup_epochs, 0),
            ("engine.devices", self.engine.devices, 1),
            ("engine.nodes", self.engine.nodes, 1),
            ("engine.threads", self.engine.threads, 0),
        ):
            if value < least:
                raise OpenSetError(f"'{name}' must be {least} or more, got {value:g}.")
        for name, rate in (("lr", self.optimizer.lr), ("rest_lr", self.optimizer.rest_lr)):
            if rate <= 0:
                raise OpenSetError(f"'optimizer.{name}' must be above 0, got {rate:g}.")
        check_share("recipe", "optimizer.momentum", self.optimizer.momentum, zero=True, one=False)
        if self.optimizer.name == "sgd" and self.optimizer.nesterov and not self.optimizer.momentum:
            raise OpenSetError("'optimizer.nesterov' needs an 'optimizer.momentum' above 0.")
        if 0 < self.data.size < self.augment.crop:
            raise OpenSetError(
                f"'augment.crop' ({self.augment.crop}) must not be above 'data.size' ({self.data.size})."
            )
        if self.augment.randaugment and len(self.augment.randaugment) != 2:
            raise OpenSetError("'augment.randaugment' must be [number of operations, magnitude], such as [1, 8].")
        if bool(self.augment.shrink) != bool(self.augment.shrink_epochs):
            raise OpenSetError("'augment.shrink' (pixels) and 'augment.shrink_epochs' belong together.")
        if self.augment.flip_in_turn and not self.augment.flip:
            raise OpenSetError("'augment.flip_in_turn' says how images are mirrored; it needs 'augment.flip: true'.")
        _check_frozen(self)
        if self.train.patience and self.train.select == "last":
            raise OpenSetError("'train.patience' waits for a better epoch: it needs 'train.select: accuracy' or gamma.")
        if self.data.channels not in (0, 1, 3):
            raise OpenSetError(f"'data.channels' must be 1, 3 or 0 (as stored), got {self.data.channels}.")
        check_share("recipe", "data.fraction", self.data.fraction)
        check_share("recipe", "train.ema", self.train.ema, zero=True, one=False)

    def as_plain(self) -> dict[str, Any]:
        """What a recipe would say."""
        plain: dict[str, Any] = asdict(self)
        for part in ("method", "backbone"):
            named = plain[part]
            plain[part] = {"name": named["name"], **named["options"]}
        return _listed(plain)

    def write(self, path: Path) -> None:
        """Write the whole recipe as YAML."""
        with needing("Writing YAML"):
            import yaml

        write_text(path, yaml.safe_dump(self.as_plain(), sort_keys=False))


def _check_frozen(config: Config) -> None:
    if config.train.frozen and not config.pretrained:
        raise OpenSetError("'train.frozen' leaves the backbone as it is: it needs 'pretrained', a folder of weights.")
    if config.train.frozen and config.augment.test_views != 1:
        raise OpenSetError("'train.frozen' lets the backbone see each image once: it needs 'augment.test_views: 1'.")


def _listed(value: Any) -> Any:
    """Tuples as lists, which YAML knows."""
    if isinstance(value, Mapping):
        return {key: _listed(one) for key, one in value.items()}
    return [_listed(one) for one in value] if isinstance(value, list | tuple) else value


def read_config(
    recipe: str | Path | Mapping[str, Any] | None = None, overrides: Sequence[str] = (), **given: Any
) -> Config:
    """A config from a recipe file (its name, or its content), changed by `given` fields and by overrides.

    >>> read_config(overrides=["optimizer.lr=0.01", "method.weight=0.2"]).method
    Named(name='openauc', options={'weight': 0.2})
    """
    if recipe is None or isinstance(recipe, Mapping):
        content, source = dict(recipe or {}), ""
    else:
        content, source = _read_recipe(find_recipe(recipe)), str(recipe)
    content = _with_pretrained(content, _backbone_asked_for(overrides, given), given.get("data_root"))
    for key, value in given.items():
        if value is not None:
            if key == "method.name":
                content["method"] = _options_for(value, content.get("method"))
            if key == "backbone.name":
                content["backbone"] = {}  # options are those of another backbone
            _set(content, key.split("."), value, key)
    for text in overrides:
        key, sign, value = text.partition("=")
        if not sign:
            raise OpenSetError(f"'{text}' is not a setting; write FIELD=VALUE, for example optimizer.lr=0.01.")
        _set(content, key.strip().split("."), _parse(value, text), key.strip())
    try:
        _use_options_of_methods(content)
        _settle_pretrained(content)
        config = build(Config, content)
        return _check_options(config)
    except OpenSetError as error:
        raise OpenSetError(f"{source}: {error}" if source else str(error)) from error


def _options_for(name: str, written: Any) -> Any:
    """What a recipe says of its method, for another one: options of a relative, and those that every method has."""
    from openset.methods import METHODS, Method, options_of

    if not isinstance(written, Mapping) or written.get("name") not in METHODS or name not in METHODS:
        return written
    old, new = METHODS[written["name"]], METHODS[name]
    related = issubclass(new, old) or issubclass(old, new)
    kept = [key for key in options_of(new) if key in written and (related or key in options_of(Method))]
    return {"name": name, **{key: written[key] for key in kept}}


def _backbone_asked_for(overrides: Sequence[str], given: Mapping[str, Any]) -> str:
    """The backbone that the user names, or any of its options; empty if none is named."""
    written = [text.partition("=")[2].strip() or text for text in overrides if text.strip().startswith("backbone")]
    return str(given.get("backbone.name") or next(iter(written), ""))


def _with_pretrained(content: dict[str, Any], asked_for: str, root: str | None) -> dict[str, Any]:
    """Take `with_pretrained: {pretrained: NAME, ...}` out of a recipe.

    Its fields replace others where that network is there and the user names no backbone, or names a pretrained one.
    """
    fields = content.get("with_pretrained")
    rest = {key: value for key, value in content.items() if key != "with_pretrained"}
    if fields is None:
        return rest
    if not isinstance(fields, Mapping) or not isinstance(fields.get("pretrained"), str):
        raise OpenSetError(f"'with_pretrained' must have fields, 'pretrained' among them, got {fields!r:.80}.")
    from openset.train.pretrained import is_there

    there = not asked_for and is_there(fields["pretrained"], root or content.get("data_root"))
    return {**rest, **fields} if there or asked_for.startswith("pretrained:") else rest


def _settle_pretrained(content: dict[str, Any]) -> None:
    """`backbone: pretrained:FOLDER` as the folder's backbone, its weights, and what its inputs are like."""
    named = Named.from_plain(content.get("backbone", Config().backbone.name), "backbone")
    if not named.name.startswith("pretrained:"):
        return
    from openset.train.pretrained import read_pretrained

    name = named.name.removeprefix("pretrained:")
    found = read_pretrained(name, content.get("data_root"))
    content["backbone"], content["pretrained"] = {**named.options, "name": found.backbone}, name
    data = content.get("data", {})
    if isinstance(data, Mapping):
        content["data"] = {**data, "channels": 3, "mean": list(found.mean), "std": list(found.std)}


def _use_options_of_methods(content: dict[str, Any]) -> None:
    """Take `methods: {gcpl: {temperature: 0.03}}` out of a recipe, and give the method in use what is there of it.

    What the field `method` says itself comes first.
    """
    from openset.methods import METHODS, options_of

    every = content.pop("methods", {})
    if not isinstance(every, Mapping):
        raise OpenSetError(f"'methods' must have a method's name and its options in each line, got {every!r}.")
    for name, options in every.items():
        known = options_of(METHODS[str(name)])
        if not isinstance(options, Mapping):
            raise OpenSetError(f"'methods.{name}' must have options such as weight: 0.2, got {options!r}.")
        for option in options:
            if option not in known:
                raise OpenSetError(f"method {name} has no option '{option}'. {did_you_mean(str(option), known)}")
    used = Named.from_plain(content.get("method", Config().method.name), "method")
    if used.name in every:
        content["method"] = {**every[used.name], **used.options, "name": used.name}


def find_recipe(recipe: str | Path) -> Path:
    """A file, or a recipe that comes with the package, by its name."""
    file = Path(recipe)
    if file.suffix in (".yaml", ".yml") or file.exists():
        return existing(file)
    folder = Path(str(files("openset").joinpath("recipes")))
    shipped = {str(one.relative_to(folder).with_suffix("")): one for one in folder.rglob("*.yaml")}
    if str(recipe) in shipped:
        return shipped[str(recipe)]
    raise OpenSetError(f"There is no recipe file or recipe named '{recipe}'. {did_you_mean(str(recipe), shipped)}")


def _read_recipe(file: Path) -> dict[str, Any]:
    content = read_yaml(file)
    if not isinstance(content, dict):
        raise OpenSetError(f"{file} must have fields such as 'protocol:' and 'method:'.")
    return content


def _parse(value: str, text: str) -> Any:
    try:
        return parse_yaml(value, text)
    except OpenSetError as error:
        raise OpenSetError(f"The value in '{text}' cannot be read.") from error


def _set(content: dict[str, Any], path: Sequence[str], value: Any, key: str) -> None:
    here = content
    for place, name in enumerate(path[:-1]):
        inner = here.get(name, {"name": Config().method.name} if name == "method" else {})
        if name in ("method", "backbone") and not isinstance(inner, dict):
            inner = {"name": inner}
        if name == "backbone" and "name" not in inner:
            inner = {"name": Config().backbone.name, **inner}
        if not isinstance(inner, dict):
            raise OpenSetError(f"'{'.'.join(path[: place + 1])}' has no fields, so '{key}' cannot be set.")
        here[name] = dict(inner)
        here = here[name]
    here[path[-1]] = value


def _check_options(config: Config) -> Config:
    """Options of the method and the backbone, checked by the names and types that their classes declare."""
    from dataclasses import replace

    from openset.backbones import find_backbone
    from openset.methods import METHODS, options_of

    checked: dict[str, Any] = {}
    for part, maker in (("method", METHODS[config.method.name]), ("backbone", find_backbone(config.backbone.name))):
        named: Named = getattr(config, part)
        known = {name: one for name, one in options_of(maker).items() if name != "model"}
        for name in named.options:
            if name not in known:
                raise OpenSetError(f"{part} {named.name} has no option '{name}'. {did_you_mean(name, known)}")
        options = {
            name: convert(value, known[name].annotation, f"{part}.{name}") for name, value in named.options.items()
        }
        checked[part] = Named(named.name, options)
    if config.method_with_negatives and not METHODS[config.method_with_negatives].uses_negatives:
        raise OpenSetError(f"'method_with_negatives' is {config.method_with_negatives}, which ignores negatives.")
    start, epochs = checked["method"].options.get("start", 0), config.train.epochs
    if start and start >= epochs:
        raise OpenSetError(
            f"'method.start' ({start:g}) must lie before the end of the training ('train.epochs', {epochs}); "
            f"for example --set method.start={epochs * 2 / 3:.1f}."
        )
    return replace(config, **checked)
