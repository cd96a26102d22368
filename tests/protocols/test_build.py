import numpy as np
import pytest

from openset.errors import OpenSetError, OpenSetWarning
from openset.protocols import load
from pictures import encoded, pixels, write_image, write_parquet, write_photos


@pytest.fixture
def photos(tmp_path):
    """Three folders of somebody's own photos."""
    for name in ("flower", "temple"):
        write_photos(tmp_path / "photos" / "known" / name, 10)
    write_photos(tmp_path / "photos" / "negative", 6)
    for name in ("boat", "tram"):
        write_photos(tmp_path / "photos" / "unknown" / name, 3)
    return tmp_path / "photos"


def write_yaml(folder, text):
    (folder / "mine.yaml").write_text(text)
    return folder / "mine.yaml"


def counts(protocol):
    return {name: part.counts for name, part in protocol.parts.items()}


def test_three_folders_become_a_protocol(photos):
    protocol = load(photos)
    assert protocol.name == "photos"
    assert protocol.class_names == ("flower", "temple")
    assert protocol.negative_classes == ("negative",)
    assert protocol.unknown_classes == ("boat", "tram")
    assert counts(protocol) == {"train": (14, 4, 0), "val": (2, 1, 0), "test": (4, 1, 6)}
    assert protocol.test.groups is None
    assert protocol.test.shape is None
    assert protocol.train.array([0], size=24).shape == (1, 24, 24, 3)
    assert "known/flower/IMG_0.jpg" in {name for part in protocol.parts.values() for name in part.ids}


def test_fixed_parts_inside_the_known_folder_are_kept(tmp_path):
    for part, count in (("train", 4), ("test", 2)):
        write_photos(tmp_path / "photos" / "known" / part / "flower", count)
    write_photos(tmp_path / "photos" / "unknown", 3)
    protocol = load(tmp_path / "photos")
    assert counts(protocol) == {"train": (3, 0, 0), "val": (1, 0, 0), "test": (2, 0, 3)}
    assert all(name.startswith("known/test/") for name in protocol.test.ids[protocol.test.labels == 0])


def test_more_unknown_folders_are_groups(photos):
    (photos / "unknown").rename(photos / "unknown-near")
    write_photos(photos / "unknown-far", 3)
    protocol = load(photos)
    assert set(protocol.test.groups[protocol.test.labels == -2]) == {"near", "far"}
    assert protocol.unknown_classes == ("unknown-far", "boat", "tram")


def test_a_photo_added_later_changes_the_fingerprint_but_not_the_parts_of_others(photos):
    before = load(photos)
    write_photos(photos / "unknown" / "tram", 1, start=3)
    after = load(photos)
    assert after.fingerprint != before.fingerprint
    assert after.train.ids.tolist() == before.train.ids.tolist()


def test_the_fingerprint_does_not_depend_on_where_the_folder_lies(photos, tmp_path):
    before = load(photos).fingerprint
    (tmp_path / "elsewhere").mkdir()
    moved = photos.rename(tmp_path / "elsewhere" / "photos")
    assert load(moved).fingerprint == before


def test_a_class_in_two_folders_is_refused(photos):
    write_photos(photos / "unknown" / "temple", 2)
    with pytest.raises(OpenSetError, match=r"class 'temple' is both known \(known\) and unknown \(unknown\)"):
        load(photos)


def test_an_empty_class_folder_is_refused(photos):
    (photos / "known" / "bridge").mkdir()
    with pytest.raises(OpenSetError, match="bridge has no images"):
        load(photos)


def test_a_class_with_too_few_photos_is_named(photos):
    write_photos(photos / "known" / "bridge", 2)
    with pytest.raises(OpenSetError, match=r"known class 'bridge' of known has no samples for val \(2 in all\)"):
        load(photos)


def test_skipped_photos_are_counted_in_the_notes(photos):
    (photos / "known" / "flower" / "IMG_3.jpg").write_bytes(b"no image")
    with pytest.warns(OpenSetWarning, match=r"1 of 20 images were left out"):
        protocol = load(photos, on_corrupt="skip")
    assert any("IMG_3.jpg" in note for note in protocol.notes)
    assert sum(part.counts[0] for part in protocol.parts.values()) == 19


def test_yaml_beside_the_photos(photos):
    path = write_yaml(photos, "name: mine\ndata: unknown\nknown: [boat]\nunknown: [tram]\nvalidation: 0.5\ntest: 0.3\n")
    protocol = load(path)
    assert protocol.name == "mine"
    assert counts(protocol) == {"train": (1, 0, 0), "val": (1, 0, 0), "test": (1, 0, 3)}


def test_yaml_data_may_lie_below_the_data_root(photos, tmp_path):
    (tmp_path / "recipes").mkdir()
    path = write_yaml(tmp_path / "recipes", "data: known\nknown: [flower]\n")
    assert load(path, data_root=photos).unknown_classes == ("temple",)
    with pytest.raises(OpenSetError, match="there is no data 'known', neither a known name nor in"):
        load(path)


@pytest.mark.parametrize("data", ["../photos", "/etc", "known/../../x"])
def test_yaml_data_may_not_climb_out(photos, data):
    with pytest.raises(OpenSetError, match="leads out of"):
        load(write_yaml(photos, f"data: {data}\nknown: [a]\n"))


def test_several_unknown_data_sets_are_groups_and_are_brought_to_one_shape(tmp_path):
    for label in range(3):
        for number in range(4):
            write_image(tmp_path / "tiles" / f"tile{label}" / f"{number}.png", 9 * label + number, (16, 16, 3))
    write_photos(tmp_path / "views" / "sea", 2)
    path = write_yaml(
        tmp_path,
        "data: tiles\nknown: [tile0, tile1]\n"
        "unknown: {near: [tile2], digits: {data: digits, classes: [7]}, views: {data: views}}\n",
    )
    protocol = load(path)
    groups = protocol.test.groups
    assert {name: int((groups == name).sum()) for name in np.unique(groups)} == {
        "": 2,
        "digits": 60,
        "near": 4,
        "views": 2,
    }
    everything = protocol.test.array()
    assert everything.shape == (68, 16, 16, 3)
    first, last = protocol.test[0], protocol.test[-1]
    assert (everything[0] == first).all()
    assert (everything[-1] == last).all()
    assert any("Images of digits (8x8x1) are brought to 16x16x3 like those of tiles" in note for note in protocol.notes)
    mixed = protocol.test.array([67, 0, 5])
    assert (mixed == everything[[67, 0, 5]]).all()


@pytest.mark.parametrize("unknown", ["{data: views, classes: [sea]}", "{far: {data: views, classes: [sea]}}"])
def test_the_known_images_give_the_shape_whichever_data_is_opened_first(tmp_path, unknown):
    for number in range(4):
        write_image(tmp_path / "tiles" / "tile" / f"{number}.png", number, (16, 16, 3))
        write_image(tmp_path / "views" / "sea" / f"{number}.png", number, (32, 32, 3))
    protocol = load(write_yaml(tmp_path, f"data: tiles\nunknown: {unknown}\n"))
    assert {part.shape for part in protocol.parts.values()} == {(16, 16, 3)}
    assert "Images of views (32x32x3) are brought to 16x16x3 like those of tiles." in protocol.notes


def test_known_images_of_many_sizes_are_named_whichever_data_is_opened_first(tmp_path):
    write_photos(tmp_path / "photos" / "boat", 4)
    for number in range(4):
        write_image(tmp_path / "tiles" / "tile" / f"{number}.png", number, (16, 16, 3))
    protocol = load(write_yaml(tmp_path, "data: photos\nunknown: {data: tiles, classes: [tile]}\n"))
    assert protocol.train.shape is None
    with pytest.raises(OpenSetError, match="The images of photos differ in size"):
        protocol.train.array([0])


def test_two_folders_may_end_in_the_same_word(tmp_path):
    write_photos(tmp_path / "mine" / "birds" / "owl", 6)
    write_photos(tmp_path / "yours" / "birds" / "jay", 6)
    write_photos(tmp_path / "yours" / "birds" / "owl", 6)
    text = "data: mine/birds\nknown: [owl]\nunknown: {data: yours/birds, classes: [jay]}\n"
    protocol = load(write_yaml(tmp_path, text))
    assert protocol.test.ids[-1] == "yours/birds/jay/IMG_5.jpg"
    assert "mine/birds/owl/IMG_0.jpg" in {name for part in protocol.parts.values() for name in part.ids}


def test_random_splits(photos):
    path = write_yaml(photos, "data: unknown\nrandom: {known: 1, splits: 3, seed: 4}\ntest: 0.3\nvalidation: 0.5\n")
    first = load(path, split=0)
    assert set(first.class_names) | set(first.unknown_classes) == {"boat", "tram"}
    assert load(path, split=0).fingerprint == first.fingerprint


def test_features_from_npz(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], 10)
    np.savez(tmp_path / "f.npz", features=rng.normal(size=(30, 4)), labels=labels)
    protocol = load(write_yaml(tmp_path, "data: f.npz\nknown: [a, b]\n"))
    assert protocol.train.array().dtype == np.float32
    assert protocol.train.array([0, 1]).shape == (2, 4)
    assert protocol.test.counts == (4, 0, 10)


def test_features_and_images_do_not_mix(tmp_path):
    np.savez(tmp_path / "f.npz", features=np.zeros((6, 4)), labels=np.zeros(6, dtype=int))
    path = write_yaml(tmp_path, "data: digits\nunknown: {x: {data: f.npz}}\n")
    with pytest.raises(OpenSetError, match="feature vectors and images cannot be mixed"):
        load(path)


def test_features_must_have_one_length(tmp_path):
    for name, width in (("a", 4), ("b", 5)):
        np.savez(tmp_path / f"{name}.npz", features=np.zeros((6, width)), labels=np.zeros(6, dtype=int))
    with pytest.raises(OpenSetError, match=r"the feature vectors differ in length \(4 and 5\)"):
        load(write_yaml(tmp_path, "data: a.npz\nknown: [0]\nunknown: {data: b.npz}\n"))


def test_an_official_validation_part_is_used(tmp_path):
    for part, count in (("train", 3), ("val", 2), ("test", 1)):
        images = [encoded(pixels(seed)) for seed in range(2 * count)]
        write_parquet(tmp_path / "set" / f"{part}.parquet", images, ["a"] * count + ["b"] * count)
    protocol = load(write_yaml(tmp_path, "data: set\nknown: [a]\n"))
    assert counts(protocol) == {"train": (3, 0, 0), "val": (2, 0, 0), "test": (1, 0, 1)}
    assert all(name.startswith("set/val/") for name in protocol.val.ids)


def test_a_validation_part_without_the_classes_in_question_does_not_count(tmp_path):
    for part, labels in (("train", "aaaabb"), ("val", "bb"), ("test", "ab")):
        write_parquet(tmp_path / "set" / f"{part}.parquet", [encoded(pixels(n)) for n in range(len(labels))], [*labels])
    protocol = load(write_yaml(tmp_path, "data: set\nknown: [a]\n"))
    assert counts(protocol) == {"train": (3, 0, 0), "val": (1, 0, 0), "test": (1, 0, 1)}


@pytest.mark.parametrize(
    ("official", "expected"),
    [
        ("others", {"train": (6, 3, 0), "val": (2, 2, 0), "test": (4, 1, 1)}),  # the negatives come with a part for it
        ("mine", {"train": (8, 2, 0), "val": (2, 1, 0), "test": (4, 1, 1)}),  # the known classes do
    ],
)
def test_validation_is_held_out_of_the_data_that_has_no_part_for_it(tmp_path, official, expected):
    classes = {"mine": ["a", "b"], "others": ["c"]}
    for data, train, val, test in (("mine", 4, 1, 2), ("others", 3, 2, 1)):
        for part, count in (("train", train), ("val", val if data == official else 0), ("test", test)):
            labels = [name for name in classes[data] for _ in range(count)]
            if labels:
                images = [encoded(pixels(seed)) for seed in range(len(labels))]
                write_parquet(tmp_path / data / f"{part}.parquet", images, labels)
    write_photos(tmp_path / "views" / "sea", 1)
    text = "data: mine\nknown: [a, b]\nnegative: {data: others}\nunknown: {data: views}\n"
    protocol = load(write_yaml(tmp_path, text))
    assert counts(protocol) == expected
    held = {name.rsplit("/", 2)[0]: name.rsplit("/", 2)[1] for name in protocol.val.ids}
    assert held == {"mine": "train", "others": "train"} | {official: "val"}


def test_known_classes_need_a_training_part(synthetic_root, tmp_path):
    path = write_yaml(tmp_path, "data: cifar100\nknown: [apple]\n")
    with pytest.raises(OpenSetError, match="cifar100 has no part 'train' on this machine"):
        load(path, data_root=synthetic_root)


def test_halves_share_each_class_out_in_row_order(synthetic_root):
    protocol = load("mnist-letters", data_root=synthetic_root)
    learned = [
        int(name.rsplit("/", 1)[1]) for part in (protocol.train, protocol.val) for name in part.ids[part.labels == -1]
    ]
    tested = [int(name.rsplit("/", 1)[1]) for name in protocol.test.ids[protocol.test.labels == -1]]
    assert {row % 6 for row in learned} == {0, 1, 2}
    assert {row % 6 for row in tested} == {3, 4, 5}


def test_the_lists_and_the_pixels_both_enter_the_fingerprint(tmp_path):
    def protocol(known, seed):
        folder = tmp_path / f"{known}{seed}"
        images = [encoded(pixels(seed + row)) for row in range(12)]
        write_parquet(folder / "set.parquet", images, ["a", "b", "c"] * 4)
        return load(write_yaml(folder, f"data: set.parquet\nknown: [{known}]\nname: x\n"))

    base = protocol("a", 0).fingerprint
    assert protocol("b", 0).fingerprint != base
    assert protocol("a", 1).fingerprint != base


def test_the_share_out_enters_the_fingerprint(photos):
    text = "data: known\nknown: [flower]\n"
    prints = {load(write_yaml(photos, text + extra)).fingerprint for extra in ("", "test: 0.4\n", "validation: 0.4\n")}
    assert len(prints) == 3


def test_titles_are_words(synthetic_root):
    protocol = load("imagenet-p2", data_root=synthetic_root)
    assert protocol.class_names[0] == "n02087394"
    assert protocol.titles[protocol.class_names[0]] == "Rhodesian ridgeback"


def test_large_images_reach_a_loader(synthetic_root):
    torch = pytest.importorskip("torch")
    protocol = load("cub", data_root=synthetic_root)
    loader = torch.utils.data.DataLoader(protocol.test.loader_dataset(size=20), batch_size=64, num_workers=2)
    images, labels, positions = next(iter(loader))
    assert images.shape == (64, 3, 20, 20)
    assert labels.tolist() == protocol.test.labels[:64].tolist()
    assert positions.tolist() == list(range(64))


def write_vectors(path, labels):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, features=np.random.default_rng(0).normal(size=(len(labels), 4)), labels=labels)


@pytest.mark.parametrize("names", [["0", "1", "2", "3"], ["owl", "wren", "jay", "crow"]], ids=["numbers", "words"])
@pytest.mark.parametrize("seen", [2, 3])
def test_classes_that_only_the_test_has_are_there(tmp_path, names, seen):
    write_vectors(tmp_path / "set" / "train.npz", np.repeat(names[:seen], 6))
    write_vectors(tmp_path / "set" / "test.npz", np.repeat(names, 2))
    for unknown in ("", f"unknown: [{names[2]}, {names[3]}]\n"):
        protocol = load(write_yaml(tmp_path, f"data: set\nknown: [{names[0]}, {names[1]}]\n{unknown}"))
        assert set(protocol.unknown_classes) == set(names[2:])
        assert protocol.test.counts == (4, 0, 4)


def test_a_table_in_pieces_is_read_whole_or_refused(tmp_path):
    for number in range(2):
        write_vectors(tmp_path / "set" / f"train-{number}.npz", np.repeat([0, 1], 6))
    write_vectors(tmp_path / "set" / "test.npz", np.repeat([0, 1], 2))
    path = write_yaml(tmp_path, "data: set\nknown: [0]\n")
    with pytest.raises(OpenSetError, match=r"train-0\.npz and train-1\.npz are both the part 'train': join them"):
        load(path)
