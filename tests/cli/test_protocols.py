import json

import pytest

from openset.cli import main
from pictures import imagenet_classes, write_imagenet, write_photos


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENSET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("OPENSET_DATA", raising=False)


@pytest.fixture
def photos(tmp_path):
    for name in ("flower", "temple"):
        write_photos(tmp_path / "photos" / "known" / name, 6)
    write_photos(tmp_path / "photos" / "unknown", 3)
    return tmp_path / "photos"


def run(capsys, *words):
    """Exit code, and what is printed."""
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in ("protocols", *words)])
    printed = capsys.readouterr()
    return stopped.value.code, printed.out, printed.err


def refused(capsys, *words):
    code, _, text = run(capsys, *words)
    assert code == 2
    assert len(text.strip().splitlines()) == 1
    assert "Traceback" not in text
    return text


def test_list_says_what_is_on_this_machine(capsys, tmp_path):
    code, text, _ = run(capsys, "list", "--json", tmp_path / "list.json")
    assert code == 0
    lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert lines["digits"].split()[1:5] == ["6", "2", "2", "5"]
    assert lines["digits"].rstrip().endswith("yes")
    assert lines["imagenet-p3"].split()[1:5] == ["151", "97", "164", "1"]
    assert lines["imagenet-p3"].rstrip().endswith("no")
    assert len(json.loads((tmp_path / "list.json").read_text())["protocols"]) == 16


def test_three_folders_of_photos_in_one_command(capsys, photos, tmp_path):
    code, text, _ = run(capsys, "show", photos, "--figure", tmp_path / "sheet.png")
    assert code == 0
    assert "flower, temple" in text
    assert "Fingerprint:" in text
    assert (tmp_path / "sheet.png").stat().st_size > 1000


def test_a_definition_is_not_overwritten(capsys, tmp_path):
    file = tmp_path / "one.yaml"
    file.write_text("name: one\ndata: digits\nknown: ['1', '2']\nunknown: ['3']\n")
    before = file.read_text()
    for words in (("show",), ("show", "--figure", file), ("export", "--out", tmp_path / "lists")):
        printed = refused(capsys, words[0], file, *words[1:], *(() if "--figure" in words else ("--json", file)))
        assert "it is read by this command" in printed
        assert file.read_text() == before
    run(capsys, "export", file, "--out", tmp_path / "lists")
    printed = refused(capsys, "export", file, "--lists", tmp_path / "lists", "--out", tmp_path / "lists")
    assert "it is read by this command" in printed


def test_show_without_data_downloads_nothing(capsys):
    code, text, _ = run(capsys, "show", "imagenet-p2")
    assert code == 0
    assert "Data not on this machine: imagenet" in text
    assert "hunting dog" in text
    assert "28,895" in text
    assert "8 of the 55 are toy dogs" in text


def test_show_mentions_published_duplicates(capsys, tmp_path):
    _, text, _ = run(capsys, "show", "svhn", "--split", "1", "--json", tmp_path / "svhn.json")
    assert "splits 0 = 1 have the same known classes" in text
    assert json.loads((tmp_path / "svhn.json").read_text())["classes"]["known"] == ["3", "8", "7", "6", "2", "5"]


def test_export_of_imagenet(capsys, tmp_path):
    write_imagenet(tmp_path / "data" / "imagenet", imagenet_classes())
    code, text, _ = run(capsys, "export", "imagenet-p1", "--data-root", tmp_path / "data", "--out", tmp_path / "lists")
    assert code == 0
    assert "464 known, 268 negative, 0 unknown" in text
    assert (tmp_path / "lists" / "train.csv").read_text().startswith("train/n02085620/n02085620_train_0.JPEG,0\n")
    words = ("show", "imagenet-p1", "--data-root", tmp_path / "data", "--lists", tmp_path / "lists")
    assert run(capsys, *words)[0] == 0
    assert run(capsys, "show", tmp_path / "lists", "--data-root", tmp_path / "data" / "imagenet")[0] == 0


def test_a_corrupt_photo_can_be_left_out(capsys, photos, tmp_path):
    (photos / "known" / "flower" / "IMG_1.jpg").write_bytes(b"no image")
    assert "IMG_1.jpg cannot be decoded" in refused(capsys, "show", photos, "--figure", tmp_path / "s.png")
    code, text, error = run(capsys, "export", photos, "--out", tmp_path / "out", "--skip-corrupt")
    assert code == 0
    assert "Note: known: 1 of 12 images were left out" in text
    assert error == ""


def test_bad_input_is_one_sentence(capsys, photos, tmp_path):
    assert "Did you mean 'cifar10'" in refused(capsys, "show", "cifar-10")
    assert "There is no protocol, YAML file or folder 'zzz" in refused(capsys, "show", "z" * 400)
    assert "There is no data root zzz" in refused(capsys, "show", photos, "--data-root", "z" * 400)
    assert "no split 7" in refused(capsys, "show", "digits", "--split", "7")
    (photos / "mine.yaml").write_text("data: known\nknown: [flowr]\nunknown: [temple]\n")
    assert "known has no class 'flowr' (known). Did you mean 'flower'" in refused(capsys, "show", photos / "mine.yaml")
    (photos / "mine.yaml").write_text("data: known\nknown: [flower]\nunknown: [flower, temple]\n")
    assert "class 'flower' of known is both known and unknown" in refused(capsys, "show", photos / "mine.yaml")
    (photos / "known" / "bridge").mkdir()
    assert "bridge has no images" in refused(capsys, "export", photos, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_bad_lists_are_one_sentence(capsys, photos, tmp_path):
    lists = tmp_path / "lists"
    run(capsys, "export", photos, "--out", lists)
    good = (lists / "test.csv").read_text()
    (lists / "test.csv").write_text(good + "known/flower/gone.jpg,0\n")
    row = good.count("\n") + 1
    assert f"test.csv, row {row}: there is no image" in refused(capsys, "show", lists, "--data-root", photos)
    (lists / "test.csv").write_text(good + "../../etc/passwd,0\n")
    assert "leads out of" in refused(capsys, "show", lists, "--data-root", photos)


def test_make_writes_a_protocol_that_can_be_shown(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("beagle", "pug", "tabby", "van"):
        write_photos(tmp_path / "photos" / name, 6)
    (tmp_path / "tree.csv").write_text("class,parent\nbeagle,dog\npug,dog\ntabby,cat\nvan,car\n")
    words = ("--data", "photos", "--hierarchy", "tree.csv", "--known", "dog", "--negative", "cat", "--unknown", "car")
    code, text, _ = run(capsys, "make", "p.yaml", *words, "--json", "p.json")
    assert code == 0
    assert "p.yaml: 2 known, 1 negative, 1 unknown classes." in text
    assert json.loads((tmp_path / "p.json").read_text())["known"] == ["beagle", "pug"]
    code, text, _ = run(capsys, "show", "p.yaml")
    assert code == 0
    assert "beagle, pug" in text
    assert "no class or parent 'dgo'" in refused(capsys, "make", "q.yaml", *words[:4], "--known", "dgo")
    assert "is a .yaml or a .json file" in refused(capsys, "make", "q.txt", *words)
    assert not (tmp_path / "q.yaml").exists()
