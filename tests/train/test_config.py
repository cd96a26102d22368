from importlib.resources import files
from pathlib import Path

import pytest

from openset.errors import OpenSetError
from openset.train.config import Named, find_recipe, read_config

RECIPES = Path(str(files("openset").joinpath("recipes")))


def write(tmp_path, text):
    file = tmp_path / "recipe.yaml"
    file.write_text(text)
    return file


def test_a_recipe_sets_fields_and_keeps_defaults(tmp_path):
    recipe = "method: {name: openauc, weight: 0.2}\noptimizer: {lr: 1e-2}\naugment: {randaugment: [1, 8]}\n"
    config = read_config(write(tmp_path, recipe))
    assert config.method == Named("openauc", {"weight": 0.2})
    assert config.optimizer.lr == 0.01  # YAML takes 1e-2 for text
    assert config.optimizer.momentum == 0.9
    assert config.augment.randaugment == (1, 8)


def test_the_command_line_wins(tmp_path):
    file = write(tmp_path, "method: gcpl\noptimizer: {lr: 0.1, name: adam}\n")
    config = read_config(file, ["optimizer.lr=0.5", "method.weight=0.7"], split=3)
    assert (config.optimizer.lr, config.optimizer.name, config.split) == (0.5, "adam", 3)
    assert config.method == Named("gcpl", {"weight": 0.7})


def test_what_is_written_is_read_back(tmp_path):
    config = read_config(None, ["method.mix_at=2", "augment.randaugment=[2, 9]", "data.mean=[0.5]", "backbone.width=8"])
    config.write(tmp_path / "config.yaml")
    assert read_config(tmp_path / "config.yaml") == config


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("optimizer.lrr=1", r"no field 'optimizer.lrr'. Did you mean 'lr'\?"),
        ("optimiser.lr=1", r"no field 'optimiser'. Did you mean 'optimizer'\?"),
        ("optimizer.lr=fast", "'optimizer.lr' must be a number, got 'fast'"),
        ("optimizer.lr=.nan", "'optimizer.lr' must be a number"),
        ("optimizer.lr=0", "'optimizer.lr' must be above 0"),
        ("optimizer.name=sdg", r"'optimizer.name' cannot be 'sdg'. Did you mean 'sgd'\?"),
        ("train.epochs=2.5", "'train.epochs' must be a whole number, got 2.5"),
        ("train.epochs=true", "'train.epochs' must be a whole number, got True"),
        ("train.epochs=0", "'train.epochs' must be 1 or more, got 0"),
        ("augment.flip=1", "'augment.flip' must be true or false, got 1"),
        ("augment.shrink=24", "'augment.shrink' .pixels. and 'augment.shrink_epochs' belong together"),
        ("augment.shrink_epochs=-1", "'augment.shrink_epochs' must be 0 or more"),
        ("train.patience=2", "'train.patience' waits for a better epoch"),
        ("augment.flip_in_turn=true", "it needs 'augment.flip: true'"),
        ("augment.randaugment=3", r"'augment.randaugment' must be a list such as \[1, 2\], got 3"),
        ("augment.randaugment=[1]", "'augment.randaugment' must be .number of operations, magnitude"),
        ("augment.randaugment=[1, x]", r"'augment.randaugment\[1\]' must be a whole number, got 'x'"),
        ("augment.crop=-1", "'augment.crop' must be 0 or more"),
        ("augment.crop_padding=-1", "'augment.crop_padding' must be 0 or more"),
        ("augment.cutout=-1", "'augment.cutout' must be 0 or more"),
        ("data.size=-1", "'data.size' must be 0 or more"),
        ("optimizer.weight_decay=-1", "'optimizer.weight_decay' must be 0 or more, got -1"),
        ("optimizer.momentum=1.5", r"'optimizer.momentum' must be in \[0, 1\), got 1.5"),
        ("optimizer={momentum: 0, nesterov: true}", "'optimizer.nesterov' needs an 'optimizer.momentum' above 0"),
        ("engine.accelerator=gpuu", r"'engine.accelerator' cannot be 'gpuu'. Did you mean 'gpu'\?"),
        ("engine.precision=64-true", "'engine.precision' cannot be '64-true'"),
        ("method={name: openauc, 1: 2}", "'method' has an option 1: options are words such as 'weight'"),
        ("data.channels=2", "'data.channels' must be 1, 3 or 0"),
        ("train.ema=95", "'train.ema' must be in"),
        ("method=openaucc", r"no method named 'openaucc'. Did you mean 'openauc'\?"),
        ("method.weigth=1", r"method openauc has no option 'weigth'. Did you mean 'weight'\?"),
        ("method.weight=much", "'method.weight' must be a number, got 'much'"),
        ("method.pairing=slot", r"'method.pairing' cannot be 'slot'. Did you mean 'slots'\?"),
        ("method=[1]", r"'method' must be a name, or fields with a name: got \[1\]"),
        ("backbone=fastnets", r"no backbone named 'fastnets'. Did you mean 'fastnet'\?"),
        ("backbone.widht=3", r"backbone fastnet has no option 'widht'. Did you mean 'width'\?"),
        ("seed.x=1", "'seed' has no fields|'seed' must be"),
        ("optimizer=3", "'optimizer' must have fields, got 3"),
        ("split", "'split' is not a setting; write FIELD=VALUE"),
        ("split=[", "The value in 'split=.' cannot be read"),
        ("split=" + "[" * 5000, "The value in 'split=.+' cannot be read"),
        ("split=" + "1" * 5000, "The value in 'split=.+' cannot be read"),
    ],
)
def test_wrong_settings_are_named(setting, message):
    with pytest.raises(OpenSetError, match=message):
        read_config(None, [setting])


def test_wrong_recipes_are_named(tmp_path):
    with pytest.raises(OpenSetError, match=r"recipe.yaml: 'optimizer.lr' must be a number"):
        read_config(write(tmp_path, "optimizer: {lr: fast}"))
    with pytest.raises(OpenSetError, match=r"recipe\.yaml, line 1: not valid YAML"):
        read_config(write(tmp_path, "optimizer: {lr: "))
    with pytest.raises(OpenSetError, match=r"recipe.yaml must have fields"):
        read_config(write(tmp_path, "- 1"))
    with pytest.raises(OpenSetError, match="There is no file"):
        read_config(tmp_path / "other.yaml")
    with pytest.raises(OpenSetError, match=r"no recipe file or recipe named 'fast/digit'. Did you mean 'fast/digits'"):
        find_recipe("fast/digit")


def test_a_recipe_cannot_run_code(tmp_path):
    with pytest.raises(OpenSetError, match="not valid YAML"):
        read_config(write(tmp_path, "seed: !!python/object/apply:os.getpid []"))


@pytest.mark.parametrize("file", sorted(RECIPES.rglob("*.yaml")), ids=lambda file: str(file.relative_to(RECIPES)))
def test_every_shipped_recipe_is_valid(file):
    config = read_config(file)
    assert read_config(str(file.relative_to(RECIPES).with_suffix(""))) == config


def test_a_term_that_would_never_join_is_refused():
    with pytest.raises(OpenSetError, match=r"'method.start' \(9\) must lie before the end .* --set method.start=4.0"):
        read_config("fast/mnist", ["train.epochs=6", "method.start=9"])
    with pytest.raises(OpenSetError, match=r"'method.start' \(6\) must lie before the end"):
        read_config("fast/mnist", ["train.epochs=6", "method.start=6"])
    assert read_config("fast/mnist", ["train.epochs=6", "method.start=4"]).train.epochs == 6
    assert read_config("fast/mnist", ["train.epochs=6"], **{"method.name": "maxlogit"}).train.epochs == 6


def test_a_recipe_may_have_options_for_several_methods(tmp_path):
    recipe = write(
        tmp_path,
        "method: {name: openauc, weight: 0.3}\nmethods: {gcpl: {temperature: 0.03}, openauc: {alpha: 1, weight: 9}}",
    )

    def options(*overrides, **given):
        return dict(read_config(recipe, overrides, **given).method.options)

    assert options() == {"weight": 0.3, "alpha": 1.0}  # what the method says itself comes first
    assert options(**{"method.name": "gcpl"}) == {"temperature": 0.03}
    assert options("method=gcpl") == {"temperature": 0.03}
    assert options("method.temperature=0.5", **{"method.name": "gcpl"}) == {"temperature": 0.5}
    assert options(**{"method.name": "rpl"}) == {}
    assert "methods" not in read_config(recipe).as_plain()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("methods: [gcpl]", r"recipe.yaml: 'methods' must have a method's name and its options in each line"),
        ("methods: {gcpll: {weight: 1}}", r"no method named 'gcpll'. Did you mean 'gcpl'\?"),
        ("methods: {gcpl: 3}", r"'methods.gcpl' must have options such as weight: 0.2, got 3"),
        ("methods: {gcpl: {wieght: 1}}", r"method gcpl has no option 'wieght'. Did you mean 'weight'\?"),
        ("method: gcpl\nmethods: {gcpl: {temperature: hot}}", "'method.temperature' must be a number, got 'hot'"),
    ],
)
def test_wrong_options_of_methods_are_named(tmp_path, line, message):
    with pytest.raises(OpenSetError, match=message):
        read_config(write(tmp_path, line))


def test_another_method_than_the_recipes_takes_only_the_options_it_means():
    def options(name):
        return read_config("fast/mnist", **{"method.name": name}).method.options

    assert options("openauc") == options("acc_auc")
    assert options("openauc").keys() == {"start"}
    assert options("maxlogit") == options("arpl") == {}
    smooth = {"method": {"name": "openauc", "weight": 0.3, "label_smoothing": 0.1}}
    for other in ("softmax", "arpl"):  # the weight of another loss means something else
        assert read_config(smooth, **{"method.name": other}).method.options == {"label_smoothing": 0.1}
    assert read_config(smooth, ["method.weight=0.5"], **{"method.name": "arpl"}).method.options["weight"] == 0.5


@pytest.mark.parametrize("value", ["[" * 5000, "\n" + "- " * 2000 + "a", "1" * 5000, "2020-13-45"])
def test_a_recipe_that_no_reader_can_take_is_one_sentence(value, tmp_path):
    file = tmp_path / "recipe.yaml"
    file.write_text(f"protocol: {value}\n")
    with pytest.raises(OpenSetError, match=r"recipe\.yaml.*: not valid YAML: "):
        read_config(file)


def test_a_window_is_no_larger_than_the_image():
    with pytest.raises(OpenSetError, match=r"'augment.crop' \(300\) must not be above 'data.size' \(256\)"):
        read_config(None, ["data.size=256", "augment.crop=300"])
