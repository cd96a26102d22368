import re
from functools import partial

import numpy as np
import polars as pl
import pytest

from openset import Scores, bootstrap
from openset._core.numbers import number
from openset.metrics import METRICS, auroc, ccr_at_fpr, open_auc
from openset.results.metric_bars import parse_metric_bar
from openset.scale.bins import Bins
from samples import random_dataset

QUICK = ("--resamples", "20")


def test_one_file_gives_every_metric(openset, scores_file, tmp_path, load):
    path = scores_file()
    found = openset("evaluate", path, "--json", tmp_path / "r.json", *QUICK)
    assert found.code == 0
    scores = Scores.read(path)
    value = open_auc(scores.labels, scores.predictions, scores.unknown_score)
    assert f"{value:.3f}".lstrip("0") in found.out
    for word in ("OpenAUC", "AUROC", "CCR at FPR 0.1", "known positive", "against negative", "best threshold"):
        assert word in found.out
    content = load(tmp_path / "r.json")
    entry = next(m for m in content["metrics"] if m["name"] == "open_auc" and m["against"] == "all")
    assert set(entry) == {"name", "params", "against", "value", "low", "high"}
    assert entry["value"] == value
    assert entry["low"] < value < entry["high"]
    assert {m["name"] for m in content["metrics"]} >= {
        name for name, card in METRICS.items() if card.variants and card.source == "counts"
    }
    assert content["files"][0]["fingerprint"] == scores.fingerprint
    assert content["provenance"]["openset"]


def test_several_files_get_a_row_each_and_splits_a_mean(openset, scores_file, tmp_path, load):
    (tmp_path / "ours").mkdir()
    files = [scores_file(f"ours/split{i}.parquet", noise=i / 10) for i in range(3)]
    other = scores_file("other.csv")
    found = openset("evaluate", *files, other, "--json", tmp_path / "r.json", "--latex", tmp_path / "t.tex", *QUICK)
    assert found.code == 0
    assert "ours (mean ± sd of 3 splits)" in " ".join(found.out.split())
    content = load(tmp_path / "r.json")
    values = [
        next(m["value"] for m in f["metrics"] if m["name"] == "open_auc" and m["against"] == "all")
        for f in content["files"][:3]
    ]
    group = content["groups"][0]
    entry = next(m for m in group["metrics"] if m["name"] == "open_auc" and m["against"] == "all")
    assert entry["value"] == pytest.approx(np.mean(values))
    assert entry["sd"] == pytest.approx(np.std(values, ddof=1))
    assert len(content["groups"]) == 1
    latex = (tmp_path / "t.tex").read_text()
    assert latex.count(r"\\") == 1 + 4 + 1
    assert r"\toprule" in latex
    assert r"$\pm$" in latex


def grouped(openset, load, tmp_path, files):
    """Names of the groups that evaluate makes by itself, and how many files each has."""
    assert openset("evaluate", *files, "--json", tmp_path / "r.json", "--no-intervals").code == 0
    return {group["name"]: len(group["files"]) for group in load(tmp_path / "r.json").get("groups", [])}


def test_splits_of_different_protocols_are_not_mixed(openset, scores_file, tmp_path, load):
    files = [
        scores_file(f"{protocol}/{method}/split{i}.parquet")
        for protocol in ("cifar10", "svhn")
        for method in ("openauc", "softmax")
        for i in range(2)
    ]
    assert grouped(openset, load, tmp_path, files[:2]) == {"openauc": 2}
    assert grouped(openset, load, tmp_path, files[:4]) == {"openauc": 2, "softmax": 2}
    assert grouped(openset, load, tmp_path, [*files[:2], *files[4:6]]) == {"cifar10/openauc": 2, "svhn/openauc": 2}
    assert len(grouped(openset, load, tmp_path, files)) == 4
    prefixed = [scores_file(f"{folder}/ours-split{i}.csv") for folder in "ab" for i in range(2)]
    assert grouped(openset, load, tmp_path, prefixed[:2]) == {"ours": 2}
    assert grouped(openset, load, tmp_path, prefixed) == {"a/ours": 2, "b/ours": 2}


def test_run_folders_are_splits(openset, scores_file, tmp_path, load):
    runs = [
        scores_file(f"digits/{method}/split{split}-seed{seed}/scores_test.parquet")
        for method in ("openauc-weight=0.05", "openauc-weight=0.1")
        for split in range(2)
        for seed in range(2)
    ]
    assert grouped(openset, load, tmp_path, runs) == {"openauc-weight=0.05": 4, "openauc-weight=0.1": 4}
    marked = [scores_file(f"study/openauc/split{i}-seed0-{i}a2b3c4d/scores_test.parquet") for i in range(2)]
    assert grouped(openset, load, tmp_path, marked) == {"openauc": 2}
    plain = [scores_file(f"plain/softmax/split{i}/scores_{part}.parquet") for part in ("val", "test") for i in range(2)]
    assert grouped(openset, load, tmp_path, plain) == {"softmax/scores_val": 2, "softmax/scores_test": 2}


def with_open_auc(path, thousandths):
    """Scores whose OpenAUC and AUROC are so many thousandths."""
    path.parent.mkdir(parents=True, exist_ok=True)
    above = np.arange(1000) < thousandths
    Scores(np.r_[0, np.full(1000, -2)], np.zeros(1001, int), np.r_[0.0, np.where(above, 1.0, -1.0)]).write(path)
    return path


SPLITS = {0: 560, 1: 781, 2: 954}


def test_seeds_of_a_split_are_one_observation(openset, tmp_path, load):
    files = [
        with_open_auc(tmp_path / f"runs/ours/split{split}-seed{seed}/scores_test.parquet", value)
        for split, value in SPLITS.items()
        for seed in range(4)
    ]
    found = openset("evaluate", *files, "--no-intervals", "--json", tmp_path / "r.json")
    group = load(tmp_path / "r.json")["groups"][0]
    entry = next(m for m in group["metrics"] if m["name"] == "open_auc" and not m["params"])
    # Twelve independent values would have [.658, .872].
    assert (round(entry["low"], 3), round(entry["high"], 3)) == (0.274, 1.256)
    assert entry["value"] == pytest.approx(0.765)
    assert entry["sd"] == pytest.approx(np.std([0.56, 0.781, 0.954], ddof=1))
    assert (entry["n"], entry["n_splits"]) == (12, 3)
    assert group["splits"] == [str(split) for split in SPLITS for _ in range(4)]
    assert "ours (mean ± sd of 3 splits," in found.out
    assert "12 runs)" in found.out
    assert ".765 ± .197" in found.out


def test_splits_with_more_seeds_do_not_count_more(openset, tmp_path, load):
    names = ("split0-seed0", "split0-seed1", "split0-seed2", "split1-seed0")
    files = [
        with_open_auc(tmp_path / name / "s.csv", value) for name, value in zip(names, (500, 600, 700, 800), strict=True)
    ]
    openset("evaluate", *files, "--no-intervals", "--json", tmp_path / "r.json")
    entries = load(tmp_path / "r.json")["groups"][0]["metrics"]
    assert next(m["value"] for m in entries if m["name"] == "auroc") == pytest.approx(0.7)


def test_files_of_one_pattern_have_the_splits_that_their_names_or_contents_tell(openset, tmp_path, load):
    for name, meta in (("a", {"split": 0}), ("b", {"split": 0}), ("c", {"split": 1}), ("d-split1", {}), ("e", {})):
        Scores([0, -2, -2], [0, 0, 0], [0.1, 0.2, 0.0], meta=meta).write(tmp_path / f"ours-{name}.parquet")
    files = sorted(tmp_path.glob("*.parquet"))
    openset("evaluate", *files, "--group-by", "ours", "--no-intervals", "--json", tmp_path / "r.json")
    group = load(tmp_path / "r.json")["groups"][0]
    assert group["splits"] == ["0", "0", "1", "1", str(files[-1])]
    assert group["metrics"][0]["n_splits"] == 3


def test_a_prefix_is_not_a_folder(openset, scores_file, tmp_path, load):
    files = [scores_file(f"ours-split{i}.parquet") for i in (0, 1)]
    files += [scores_file(f"ours/split{i}.parquet") for i in (2, 3)]
    assert sorted(grouped(openset, load, tmp_path, files).values()) == [2, 2]


def test_runs_of_one_split_under_different_settings_have_no_mean(openset, scores_file, tmp_path, load):
    names = ("split0-seed0-1a2b3c4d", "split0-seed0-5e6f7a8b", "split1-seed0-9c0d1e2f")
    files = [scores_file(f"openauc/{name}/scores_test.parquet") for name in names]
    assert grouped(openset, load, tmp_path, files) == {}


def test_groups_by_a_pattern(openset, scores_file, tmp_path, load):
    for name in ("a1", "a2", "b1", "b2"):
        scores_file(f"{name}.parquet")
    files = [tmp_path / f"{name}.parquet" for name in ("a1", "a2", "b1", "b2")]
    openset("evaluate", *files, "--group-by", r"([ab])\d\.parquet", "--json", tmp_path / "r.json", *QUICK)
    assert [group["name"] for group in load(tmp_path / "r.json")["groups"]] == ["a", "b"]


def test_logits_with_a_score(openset, tmp_path, load):
    rng = np.random.default_rng(0)
    labels = np.r_[rng.integers(0, 3, 60), np.full(40, -2)]
    logits = rng.standard_normal((100, 3)) + 3 * np.eye(3)[np.maximum(labels, 0)] * (labels >= 0)[:, None]
    np.savez(tmp_path / "l.npz", labels=labels, logits=logits, features=logits)
    np.savez(tmp_path / "train.npz", labels=labels[:60], logits=logits[:60], features=logits[:60])
    for words in (["--score", "energy"], ["--score", "knn", "--fit", tmp_path / "train.npz"]):
        assert openset("evaluate", tmp_path / "l.npz", *words, "--json", tmp_path / "r.json", *QUICK).code == 0
        entry = load(tmp_path / "r.json")["files"][0]
        expected = Scores.read(tmp_path / "l.npz", score=words[1], fit=words[3] if len(words) > 2 else None)
        value = next(m["value"] for m in entry["metrics"] if m["name"] == "auroc")
        assert value == auroc(expected.labels, expected.unknown_score)
        assert entry["meta"]["score"]["name"] == words[1]


@pytest.mark.parametrize(
    ("bar", "code"),
    [
        ("open_auc>=0.1", 0),
        ("open_auc >= 0.99", 1),
        ("auroc@unknown<0.99", 0),
        ("ccr_at_fpr(fpr=0.01)<=0.0001", 1),
        ("fpr_at_tpr(positive=unknown)<=1", 0),
    ],
)
def test_a_release_gate(openset, scores_file, bar, code):
    found = openset("evaluate", scores_file(), "--require", bar, *QUICK)
    assert found.code == code
    assert ("Bar missed: scores:" in found.err) == bool(code)


@pytest.mark.parametrize("bar", ["closed_set_accuracy", "brier_score", "expected_calibration_error"])
@pytest.mark.parametrize("where", ["", "@unknown"])
def test_a_bar_on_what_looks_at_knowns_alone(openset, tmp_path, make_scores, bar, where):
    make_scores(n=200, probabilities=True).write(tmp_path / "s.parquet")
    words = ("evaluate", tmp_path / "s.parquet", "--against", "unknown", "--no-intervals")
    for level, code in ((0, 0), (1.1, 1)):
        assert openset(*words, "--require", f"{bar}{where}>={level}").code == code
    assert openset("evaluate", tmp_path / "s.parquet", "--no-intervals", "--require", f"{bar}{where}>=0").code == 0


def test_bars_that_make_no_sense_are_refused_before_any_work(refused, scores_file):
    path = scores_file()
    said = refused("evaluate", path, "--require", "open_auc=>0.9")
    assert "write for example 'open_auc>=0.9'" in said
    examples = re.findall(r"'([a-z][^']*>=[\d.]+)'", said)  # what the message offers is understood
    assert [parse_metric_bar(one).name for one in examples] == ["open_auc", "open_auc", "ccr_at_fpr", "auroc"]
    assert "Did you mean 'open_auc'" in refused("evaluate", path, "--require", "opn_auc>=0.9")
    assert "against='far' is not" in refused("evaluate", path, "--require", "auroc@far>=0.9", *QUICK)


@pytest.mark.parametrize(
    ("bar", "sentence"),
    [
        ("auroc(against=letters)>=0.9", "Write auroc@letters."),
        ("ccr_at_fpr(fp=0.1)>=0.9", "ccr_at_fpr has no option 'fp'. Did you mean 'fpr'?"),
        ("open_auc(balanced=3)>=0.9", "'balanced' must be true or false, got 3"),
        ("expected_calibration_error(bins=2.5)<=0.9", "'bins' must be a whole number"),
        ("known_precision(threshold=0.5)>=0.9", "needs the option 'unknown_share'"),
        ("ccr_at_fpr(fpr=5)>=0.9", "'fpr' must be in [0, 1], got 5. Did you mean 0.05?"),
        ("brier_score<=0.9", "carry no probabilities"),
        ("confidence(part=gama)>=0.9", "carry no probabilities"),
    ],
)
def test_options_that_a_metric_does_not_have_are_one_sentence(refused, scores_file, bar, sentence):
    assert sentence in refused("evaluate", scores_file(), "--require", bar, *QUICK)


def letters_and_digits(tmp_path, name="s.parquet"):
    """Letters are easy to tell from the knowns, digits cannot be told from them."""
    labels = np.repeat([0, 1, -2, -2], 25)
    groups = np.repeat(["", "", "letters", "digits"], 25)
    scores = np.concatenate([np.arange(50) / 50, 2 + np.arange(25) / 25, np.arange(25) / 25])
    Scores(labels, np.maximum(labels, 0), scores, groups=groups).write(tmp_path / name)
    return tmp_path / name


def test_a_bar_holds_for_every_against_that_was_asked_for(openset, tmp_path):
    path = letters_and_digits(tmp_path)
    words = ("evaluate", path, "--require", "auroc>=0.6", "--no-intervals")
    assert openset(*words).code == 0  # .75 against all of them
    assert openset(*words, "--against", "letters").code == 0
    found = openset(*words, "--against", "letters", "--against", "digits")
    assert found.code == 1
    assert "Bar missed: s against digits: auroc>=0.6, found .4900." in found.err
    assert "letters" not in found.err


def test_a_bar_with_a_place_holds_there_alone(openset, tmp_path):
    path = letters_and_digits(tmp_path)
    words = ("evaluate", path, "--no-intervals", "--require")
    assert openset(*words, "auroc@letters>=0.9").code == 0
    assert openset(*words, "auroc@digits>=0.9").code == 1
    # Also where the tables show others.
    assert openset(*words, "auroc@letters>=0.9", "--against", "digits").code == 0
    assert openset(*words, "auroc@digits>=0.9", "--against", "letters").code == 1


def test_a_bar_on_the_end_of_an_interval(openset, refused, scores_file, tmp_path, load):
    path = scores_file()
    assert openset("evaluate", path, "--json", tmp_path / "r.json", *QUICK).code == 0
    entries = {(m["name"], m["against"]): m for m in load(tmp_path / "r.json")["metrics"] if not m["params"]}
    found = entries["open_auc", "all"]
    for end, step, code in (("low", -1e-6, 0), ("low", 1e-6, 1), ("high", -1e-6, 0), ("high", 1e-6, 1)):
        assert openset("evaluate", path, "--require", f"open_auc.{end}>={found[end] + step:.9f}", *QUICK).code == code
    said = refused("evaluate", path, "--require", "open_auc.low>=0.1", "--no-intervals")
    assert "leave out --no-intervals" in said


def test_a_bar_with_options_that_no_table_shows(openset, scores_file, tmp_path, load):
    path = scores_file()
    scores = Scores.read(path)
    value = ccr_at_fpr(scores.labels, scores.predictions, scores.unknown_score, fpr=0.07, against="unknown")
    bar = f"ccr_at_fpr(fpr=0.07)@unknown>={value + 1e-6:.9f}"
    found = openset("evaluate", path, "--require", bar, "--json", tmp_path / "r.json", *QUICK)
    assert found.code == 1
    own = [m for m in load(tmp_path / "r.json")["metrics"] if m["params"] == {"fpr": 0.07}]
    assert [(m["against"], m["value"]) for m in own] == [("unknown", value)]
    assert own[0]["low"] <= value <= own[0]["high"]
    expected = bootstrap(scores, "ccr_at_fpr", against="unknown", n_resamples=20, fpr=0.07)
    assert (own[0]["low"], own[0]["high"]) == (expected.low, expected.high)
    assert "CCR at FPR 0.07" in found.out


def test_every_file_is_held_against_the_bar(openset, scores_file):
    good, bad = scores_file("good.csv"), scores_file("bad.csv", noise=30.0)
    found = openset("evaluate", good, bad, "--require", "auroc>=0.65", "--no-intervals")
    assert found.code == 1
    assert "Bar missed: bad: auroc>=0.65" in found.err
    assert "good" not in found.err


def test_notes_are_shown(openset, tmp_path):
    Scores([0, 0, -2, -2], [0, 0, 0, 0], [5.0] * 4).write(tmp_path / "constant.csv")
    found = openset("evaluate", tmp_path / "constant.csv", *QUICK)
    assert found.code == 0
    assert "same unknown score" in " ".join(found.out.split())
    assert ".500" in found.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label,prediction,unknown_score\n0,0,0.1\n1,1,0.2\n", "Found 2 known samples and 0 open-set samples"),
        ("label,prediction,unknown_score\n-2,0,0.1\n-1,1,0.2\n", "Found 0 known samples and 2 open-set samples"),
        ("label,prediction,unknown_score\n0,0,x\n-2,1,0.2\n", "unknown_score is 'x' in line 2"),
        ("label,prediction,unknown_score\n0,0,1\n-3,1,0.2\n", "Label -3 in line 3"),
    ],
)
def test_bad_files_leave_nothing_behind(refused, tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    assert message in refused("evaluate", tmp_path / "bad.csv", "--json", tmp_path / "r.json", *QUICK)
    assert not (tmp_path / "r.json").exists()


def test_missing_files_and_wrong_groups(refused, scores_file, tmp_path):
    assert "There is no file" in refused("evaluate", tmp_path / "none.csv")
    assert "Did you mean 'unknown'" in refused("evaluate", scores_file(groups=["x"] * 300), "--against", "unknwon")
    assert "--group-by" in refused("evaluate", scores_file(), "--group-by", "(", *QUICK)


def test_an_output_that_cannot_be_written(refused, scores_file, tmp_path):
    (tmp_path / "taken").write_text("a file, not a folder")
    for option in ("--json", "--latex"):
        assert "Cannot write" in refused("evaluate", scores_file(), option, tmp_path / "taken" / "r.json", *QUICK)
        assert "it is a folder" in refused("evaluate", scores_file(), option, tmp_path, *QUICK)


def test_names_with_markup_are_shown_as_they_are(openset, tmp_path):
    for name in ("[red]a[/red].csv", "b.csv"):
        Scores([0, 0, -2, -2], [0, 0, 0, 0], [1.0, 2, 3, 4]).write(tmp_path / "x.csv")
        (tmp_path / "x.csv").rename(tmp_path / name.replace("/", "|"))
    files = sorted(tmp_path.iterdir())
    assert "[red]a" in openset("evaluate", *files, *QUICK).out
    assert "[red]a" in openset("evaluate", files[0], *QUICK).out


@pytest.mark.slow
def test_figures_where_only_one_file_has_negatives(openset, scores_file, tmp_path):
    pytest.importorskip("matplotlib")
    full = Scores.read(scores_file())
    kept = full.labels != -1
    Scores(full.labels[kept], full.predictions[kept], full.unknown_score[kept]).write(tmp_path / "few.csv")
    found = openset(
        "evaluate", tmp_path / "scores.parquet", tmp_path / "few.csv", "--figures", tmp_path / "f", "--no-intervals"
    )
    assert (found.code, found.err) == (0, "")
    assert (tmp_path / "f" / "oscr-log.png").exists()


def lines_at(width, monkeypatch, openset, *words):
    """What is printed in a terminal of this width."""
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": str(width), "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    printed = re.sub(r"\x1b\[[\d;]*m", "", openset("evaluate", *words).out).splitlines()
    assert max(map(len, printed)) <= width
    return printed


@pytest.mark.parametrize("width", [80, 120])
def test_long_names_are_folded_and_numbers_stay_whole(openset, scores_file, monkeypatch, width):
    files = [scores_file(f"{'r' * length}.csv") for length in (1, 50, 100)]
    printed = lines_at(width, monkeypatch, openset, *files, "--no-intervals")
    rows = [line.split() for line in printed if re.match(r" r+ +\S", line)]
    assert len(rows) == 3
    assert all(re.fullmatch(r"1?\.\d{3}", number) for row in rows for number in row[1:])
    assert {len(row) for row in rows} == {7}
    assert sum(line.count("r") for line in printed if re.fullmatch(r" r+[ .\d]*", line)) == 151


def test_long_titles_are_folded_and_intervals_stay_whole(openset, scores_file, monkeypatch):
    printed = "\n".join(lines_at(80, monkeypatch, openset, scores_file(), *QUICK))
    for row in (r"OpenAUC", r"AUROC", r"CCR at FPR 0\.1"):
        assert re.search(rf"^ {row}( +\.\d{{3}} \[\.\d{{3}}, \.\d{{3}}\]){{3}} $", printed, re.MULTILINE), row


def test_a_terminal_too_narrow_for_the_numbers_still_has_every_column(openset, scores_file, monkeypatch):
    printed = lines_at(40, monkeypatch, openset, scores_file("entropic.csv"), scores_file("b.csv"), "--no-intervals")
    rows = [line.split() for line in printed if re.match(r" (b|e\w*) +\.", line)]
    assert [len(row) for row in rows] == [7, 7]


def test_other_words_for_open_set_samples(openset, refused, tmp_path, load):
    path = tmp_path / "intents.csv"
    rows = ["book,book,0.1", "pay,book,0.3", "pay,pay,0.2", "oos,pay,0.9", "other,book,0.4"]
    path.write_text("\n".join(["label,prediction,unknown_score", *rows]))
    assert "label is 'oos' in line 5 (1 row) and is never predicted: did you mean unknown?" in refused("evaluate", path)
    words = ("--unknown-label", "oos", "--negative-label", "other")
    assert openset("evaluate", path, *words, "--no-intervals", "--json", tmp_path / "r.json").code == 0
    found = load(tmp_path / "r.json")["files"][0]
    assert (found["n_known"], found["n_negative"], found["n_unknown"]) == (3, 1, 1)
    for command in (["audit", path], ["threshold", path, "--rule", "at_fpr=0.5"], ["compare", path, path]):
        assert "did you mean unknown?" in refused(*command)
        assert openset(*command, *words).code == 0
    numbered = tmp_path / "numbers.csv"
    numbered.write_text("label,prediction,unknown_score\n0,0,0.1\n1,0,0.3\n-1,1,0.9\n10,1,0.4\n")
    words = ("--unknown-label", "-1", "--unknown-label", "10")
    assert openset("evaluate", numbered, *words, "--no-intervals", "--json", tmp_path / "r.json").code == 0
    assert load(tmp_path / "r.json")["files"][0]["n_unknown"] == 2


def test_what_contradicts_itself_is_told(openset, tmp_path):
    path = tmp_path / "scores.csv"
    rows = ["0,0,0.1,0.9,0.1", "1,0,0.3,0.2,0.8", "1,1,0.2,0.1,0.9", "-2,1,0.9,0.4,0.6"]
    path.write_text("\n".join(["label,prediction,unknown_score,prob_0,prob_1", *rows]))
    for command in (
        ["evaluate", path, "--no-intervals"],
        ["audit", path],
        ["threshold", path, "--rule", "at_fpr=0.5"],
        ["compare", path, path],
    ):
        assert "In 1 of 4 rows (row 1 first)" in " ".join(openset(*command).out.split())


# ---- many files that are one model ---------------------------------------------------------------------------------


@pytest.fixture
def fifty(tmp_path):
    """The same rows in one file and in fifty."""
    labels, predictions, score = random_dataset(2000, dtype=np.float32)
    Scores(labels, predictions, score).write(tmp_path / "one.parquet")
    (tmp_path / "logs").mkdir()
    for part in range(50):
        rows = slice(40 * part, 40 * part + 40)
        Scores(labels[rows], predictions[rows], score[rows]).write(tmp_path / "logs" / f"{part:02d}.parquet")
    return tmp_path


@pytest.mark.parametrize("name", ["logs", "logs/*.parquet"])
def test_a_folder_and_a_pattern_give_the_table_of_one_file(openset, fifty, load, name):
    one, many = fifty / "one.json", fifty / "many.json"
    single = openset("evaluate", fifty / "one.parquet", "--json", one, *QUICK)
    found = openset("evaluate", fifty / name, "--json", many, *QUICK)
    assert (single.code, found.code) == (0, 0)
    assert found.out.splitlines()[2:] == single.out.splitlines()[2:]
    assert load(many)["metrics"] == load(one)["metrics"]


@pytest.mark.parametrize(("first", "second"), [("one.parquet", "logs"), ("logs", "one.parquet")])
def test_many_rows_of_two_models_are_counted(openset, fifty, load, monkeypatch, first, second):
    plain = fifty / "plain.json"
    assert openset("compare", fifty / "one.parquet", fifty / "one.parquet", "--json", plain).code == 0
    monkeypatch.setattr("openset.evaluation.LARGE", 2000)
    found = openset("compare", fifty / first, fifty / second, "--engine", "local", "--json", fifty / "c.json")
    assert found.code == 0, found.err
    assert "2,000 rows in 50 files; exact values in two passes, and one pass over the rows of both" in found.err
    for one, memory in zip(load(fifty / "c.json")["comparisons"], load(plain)["comparisons"], strict=True):
        assert (one["name"], one["params"], one["n"]) == (memory["name"], memory["params"], memory["n"])
        assert one["first"]["value"] == memory["first"]["value"]
        assert (one["value"], one["p_value"]) == (0, 1)
    assert "2,000 samples, against all" in found.out


@pytest.mark.parametrize("rule", ["at_fpr=0.1", "best_f"])
def test_a_threshold_of_many_rows_is_counted(openset, fifty, load, monkeypatch, rule):
    words = ["threshold", fifty / "one.parquet", "--rule", rule, "--apply", fifty / "one.parquet", "--unknown-share"]
    memory = openset(*words, "0.2", "--json", fifty / "memory.json")
    monkeypatch.setattr("openset.evaluation.LARGE", 2000)
    words = [fifty / "logs" if word == fifty / "one.parquet" else word for word in words]
    found = openset(*words, "0.2", "--json", fifty / "counted.json")
    assert (memory.code, found.code) == (0, 0), found.err
    assert "2,000 rows in 50 files; the exact threshold in two passes." in found.err
    assert found.out.replace("logs", "one.parquet").split() == memory.out.split()
    one, other = load(fifty / "counted.json"), load(fifty / "memory.json")
    for key in ("value", "achieved", "applied", "n", "known_precision"):
        assert one[key] == other[key], key


def test_a_file_among_many_is_named_once(openset, fifty, monkeypatch):
    monkeypatch.setattr("openset.evaluation.LARGE", 2000)
    file = fifty / "logs" / "07.parquet"
    table = pl.read_parquet(file)
    table.with_columns(unknown_score=pl.lit(float("nan"), dtype=pl.Float32)).write_parquet(file)
    found = openset("threshold", fifty / "logs", "--rule", "at_fpr=0.1")
    assert found.code == 2
    assert f"Error: {file}: unknown_score is nan" in " ".join(found.err.split("\n"))


@pytest.mark.parametrize("name", ["logs", "logs/*.parquet"])
def test_the_other_commands_take_a_folder_and_a_pattern_too(openset, fifty, load, name):
    one, many = fifty / "one.json", fifty / "many.json"
    frozen = fifty / "t.json"
    for words in (
        ["compare", None, None, "--resamples", "5"],
        ["threshold", None, "--rule", "at_fpr=0.1", "--apply", None, "--out", frozen],
        ["apply", frozen, None],
    ):
        for given, out in ((fifty / "one.parquet", one), (fifty / name, many)):
            assert openset(*(given if word is None else word for word in words), "--json", out).code == 0
        of_one, of_many = load(one), load(many)
        for entry in (*of_one.get("comparisons", ()), *of_many.get("comparisons", ())):
            del entry["models"]  # their names differ
        if words[0] == "apply":
            assert len(of_many["files"]) == 50
        for key in {"comparisons", "metrics", "value", "achieved", "applied", "n", "unknown"} & set(of_one):
            assert of_many[key] == of_one[key], key


def test_decisions_on_the_engine_are_those_without_it(openset, fifty, load):
    frozen, out = fifty / "t.json", fifty / "decisions"
    assert openset("threshold", fifty / "one.parquet", "--rule", "at_fpr=0.1", "--out", frozen).code == 0
    words = ("apply", frozen, fifty / "logs", "--json")
    assert openset(*words, fifty / "plain.json", "--out", fifty / "d.parquet").code == 0
    found = openset(*words, fifty / "engine.json", "--out", out, "--engine", "local")
    assert found.code == 0, found.err
    assert load(fifty / "engine.json") == load(fifty / "plain.json")
    columns = ["decision", "prediction", "unknown_score", "margin"]
    parts = pl.concat(pl.read_parquet(file) for file in sorted(out.iterdir()))
    assert len(list(out.iterdir())) == 50
    whole = pl.read_parquet(fifty / "d.parquet")
    assert parts.select(pl.col(columns).cast(pl.String)).equals(whole.select(pl.col(columns).cast(pl.String)))
    again = openset(*words, fifty / "engine.json", "--out", out, "--engine", "local")
    assert (again.code, "folder" in again.err) == (2, True)
    assert (
        "a name without ending" in openset(*words, fifty / "e.json", "--out", fifty / "d.csv", "--engine", "local").err
    )
    assert not [one for one in fifty.iterdir() if one.name.startswith(".")]


def test_only_evaluate_reads_addresses_in_parts(openset, tmp_path):
    (tmp_path / "t.json").write_text("{}")
    found = openset("apply", tmp_path / "t.json", "s3://bucket/logs")
    assert found.code == 2
    assert "s3://bucket/logs: this command reads files on this machine alone" in found.err


def test_many_rows_are_counted_and_the_choice_is_told(openset, fifty, load, monkeypatch):
    monkeypatch.setattr("openset.evaluation.LARGE", 1000)
    openset("evaluate", fifty / "one.parquet", "--json", fifty / "one.json", *QUICK)
    found = openset("evaluate", fifty / "logs", "--json", fifty / "many.json", *QUICK)
    assert "logs: 2,000 rows in 50 files; exact values in two passes (up to 100,000,000 rows; --bounds" in found.err
    assert load(fifty / "many.json")["metrics"] == load(fifty / "one.json")["metrics"]
    monkeypatch.setattr("openset.scale.evaluation.MOST_EXACT", 1500)
    found = openset("evaluate", fifty / "logs", "--json", fifty / "bounds.json", "--csv", fifty / "b.csv", *QUICK)
    assert "bounds in one pass" in found.err
    assert "--exact takes" in found.err
    entries = load(fifty / "bounds.json")["metrics"]
    for entry, exact in zip(entries, load(fifty / "one.json")["metrics"], strict=True):
        assert entry["least"] <= exact["value"] <= entry["most"]
    assert (fifty / "b.csv").read_text().splitlines()[0].endswith("value,low,high,least,most")


def test_bounds_that_differ_as_printed_are_shown_and_a_bar_needs_what_is_certain(openset, fifty, load, monkeypatch):
    words = ("evaluate", fifty / "logs", "--bounds", "--no-intervals")
    monkeypatch.setattr("openset.scale.counting.Bins.fitted", partial(Bins.fitted, bits=1))
    found = openset(*words, "--json", fifty / "b.json")
    entry = next(m for m in load(fifty / "b.json")["metrics"] if m["name"] == "open_auc" and not m["params"])
    least, most = entry["least"], entry["most"]
    assert f"{least:.3f}" != f"{most:.3f}"
    assert f"{number(least)} to {number(most)}" in found.out
    assert openset(*words, "--require", f"open_auc>={(least + most) / 2}").code == 1
    assert openset(*words, "--require", f"open_auc>={least - 1e-9}").code == 0
    assert openset(*words, "--require", f"open_auc<={(least + most) / 2}").code == 1


def test_options_that_do_not_go_with_many_rows(refused, fifty, monkeypatch):
    logs = fifty / "logs"
    assert "exclude each other" in refused("evaluate", logs, "--bounds", "--exact")
    assert "There is no engine named 'rya'. Did you mean 'ray'?" in refused("evaluate", logs, "--engine", "rya")
    assert "score the rows first" in refused("evaluate", logs, "--score", "energy")
    assert "leave out --figures" in refused("evaluate", logs, "--bounds", "--figures", fifty / "figures")
    assert "Nothing matches" in refused("evaluate", fifty / "log" / "*.parquet")
