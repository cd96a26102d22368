import os

import pytest
from PIL import Image

from openset.data import CATALOG, open_dataset, splits_of
from openset.errors import OpenSetError, OpenSetWarning
from pictures import write_cub, write_image, write_imagenet, write_photos


def test_a_folder_of_class_folders(tmp_path):
    write_photos(tmp_path / "birds" / "owl", 3)
    write_photos(tmp_path / "birds" / "jay" / "garden", 2)
    data = open_dataset(tmp_path / "birds")
    assert data.class_names == ("jay", "owl")
    assert data.labels.tolist() == [0, 0, 1, 1, 1]
    assert data.ids[0] == "birds/jay/garden/IMG_0.jpg"
    assert data.kind == "encoded"


def test_small_images_in_folders_become_an_array(tmp_path):
    for name in ("a", "b"):
        for number in range(2):
            write_image(tmp_path / "set" / name / f"{number}.png", number, (16, 16, 3))
    data = open_dataset(tmp_path / "set")
    assert data.images.shape == (4, 16, 16, 3)
    write_image(tmp_path / "set" / "a" / "0.png", 77, (16, 16, 3))  # another picture under the old name
    assert (open_dataset(tmp_path / "set").images[0] != data.images[0]).any()


def write_flat(path, tone):
    """A picture whose file has as many bytes whatever its tone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (16, 16), (tone, tone, tone)).save(path, "BMP")
    return path


def test_a_picture_replaced_by_an_older_one_of_the_same_size_is_noticed(tmp_path):
    for name in ("a", "b"):
        picture = write_flat(tmp_path / "set" / name / "0.bmp", 10)
    before = open_dataset(tmp_path / "set")
    os.utime(write_flat(picture, 20), ns=(1, 1))
    after = open_dataset(tmp_path / "set")
    assert (before.images[1] != after.images[1]).all()
    assert before.fingerprint != after.fingerprint


def test_a_picture_changed_in_place_with_its_size_and_time_kept_is_noticed(tmp_path):
    for name in ("a", "b"):
        picture = write_flat(tmp_path / "set" / name / "0.bmp", 10)
    before, stat = open_dataset(tmp_path / "set"), picture.stat()
    with picture.open("r+b") as stream:
        stream.seek(-50, os.SEEK_END)
        stream.write(b"\xff" * 50)
    os.utime(picture, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert (picture.stat().st_size, picture.stat().st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)
    after = open_dataset(tmp_path / "set")
    assert (before.images[1] != after.images[1]).any()
    assert before.fingerprint != after.fingerprint


def test_official_parts_share_their_class_ids(tmp_path):
    write_photos(tmp_path / "set" / "train" / "owl", 2)
    write_photos(tmp_path / "set" / "test" / "jay", 2)
    write_photos(tmp_path / "set" / "test" / "owl", 1)
    assert splits_of(tmp_path / "set") == ("train", "test")
    assert open_dataset(tmp_path / "set", "train").labels.tolist() == [1, 1]
    assert open_dataset(tmp_path / "set", "test").labels.tolist() == [0, 0, 1]


def test_val_validates_beside_test_and_tests_where_there_is_no_test(tmp_path):
    for part in ("train", "val", "test"):
        write_photos(tmp_path / "three" / part / "owl", 1)
    for part in ("train", "val"):
        write_photos(tmp_path / "two" / part / "owl", 1)
    assert splits_of(tmp_path / "three") == ("train", "val", "test")
    assert splits_of(tmp_path / "two") == ("train", "test")


def test_a_class_may_be_called_train(tmp_path):
    for name in ("train", "car"):
        write_photos(tmp_path / "vehicles" / name, 2)
    data = open_dataset(tmp_path / "vehicles")
    assert (data.split, data.class_names) == ("all", ("car", "train"))


def test_the_fingerprint_follows_names_and_sizes(tmp_path):
    write_photos(tmp_path / "set" / "owl", 2)
    before = open_dataset(tmp_path / "set").fingerprint
    assert open_dataset(tmp_path / "set").fingerprint == before
    write_photos(tmp_path / "set" / "owl", 1, start=2)
    assert open_dataset(tmp_path / "set").fingerprint != before


def test_an_empty_class_folder_is_named_with_what_it_holds_instead(tmp_path):
    write_photos(tmp_path / "set" / "owl", 1)
    (tmp_path / "set" / "jay").mkdir()
    with pytest.raises(OpenSetError, match="jay has no images: put JPEG or PNG files there or remove the folder"):
        open_dataset(tmp_path / "set")
    (tmp_path / "set" / "jay" / "IMG_1.heic").write_bytes(b"x")
    with pytest.raises(OpenSetError, match=r"jay has no images, only 1 files of the kind \.heic"):
        open_dataset(tmp_path / "set")


def test_files_that_are_left_out_are_mentioned(tmp_path):
    write_photos(tmp_path / "set" / "owl", 1)
    write_photos(tmp_path / "set", 2)
    (tmp_path / "set" / "owl" / "IMG_1.heic").write_bytes(b"x")
    (tmp_path / "set" / "owl" / ".DS_Store").write_bytes(b"x")
    with pytest.warns(OpenSetWarning) as caught:
        data = open_dataset(tmp_path / "set")
    assert len(data) == 1
    text = " ".join(str(one.message) for one in caught)
    assert "1 files that are not images in a known format were left out, such as owl/IMG_1.heic" in text
    assert "2 images in" in text
    assert ".DS_Store" not in text


def test_corrupt_photos_stop_when_reached_or_are_skipped(tmp_path):
    write_photos(tmp_path / "set" / "owl", 3)
    (tmp_path / "set" / "owl" / "IMG_1.jpg").write_bytes(b"no image")
    data = open_dataset(tmp_path / "set")
    with pytest.raises(OpenSetError, match=r"IMG_1\.jpg cannot be decoded"):
        data.array([0, 1], (8, 8, 3))
    with pytest.warns(OpenSetWarning, match=r"1 of 3 images were left out: .*IMG_1\.jpg"):
        skipped = open_dataset(tmp_path / "set", on_corrupt="skip")
    assert [name.rsplit("/", 1)[1] for name in skipped.ids] == ["IMG_0.jpg", "IMG_2.jpg"]
    assert skipped.array([0, 1], (8, 8, 3)).shape == (2, 8, 8, 3)


@pytest.mark.parametrize("wrapper", ["", "ILSVRC/Data/CLS-LOC"])
def test_ilsvrc_with_sorted_validation_folders(tmp_path, wrapper):
    names = CATALOG["imagenet"].class_names[:3]
    write_imagenet(tmp_path / "imagenet" / wrapper, names)
    train, test = (open_dataset("imagenet", part, root=tmp_path) for part in ("train", "test"))
    assert (len(train), len(test)) == (15, 6)
    assert train.ids[0] == f"imagenet/train/{names[0]}/{names[0]}_train_0.JPEG"
    assert train.kind == "encoded"  # tiny here, but ImageNet's are large
    assert train.titles[names[0]] == "tench"


def test_ilsvrc_reads_only_the_classes_asked_for(tmp_path):
    names = CATALOG["imagenet"].class_names[:3]
    write_imagenet(tmp_path / "imagenet", names)
    (tmp_path / "imagenet" / "train" / CATALOG["imagenet"].class_names[7]).mkdir()  # empty, but not asked for
    data = open_dataset("imagenet", "train", root=tmp_path, classes=[names[1]])
    assert data.labels.tolist() == [1] * 5


def flat_validation(folder, names):
    write_imagenet(folder, names, val=0)
    for number, _ in enumerate(names):
        write_image(folder / "val" / f"ILSVRC2012_val_0000000{number}.JPEG", number, (12, 16, 3))
    for name in names:
        (folder / "val" / name).rmdir()


@pytest.mark.parametrize("form", ["csv", "xml"])
def test_ilsvrc_with_flat_validation_and_either_list(tmp_path, form):
    names = CATALOG["imagenet"].class_names[:3]
    outer = tmp_path / "imagenet"
    flat_validation(outer / "ILSVRC" / "Data" / "CLS-LOC", names)
    shown = [names[2], names[0], names[1]]
    if form == "csv":
        rows = [f"ILSVRC2012_val_0000000{number},{name} 1 2 3 4" for number, name in enumerate(shown)]
        (outer / "LOC_val_solution.csv").write_text("ImageId,PredictionString\n" + "\n".join(rows))
    else:
        boxes = outer / "ILSVRC" / "Annotations" / "CLS-LOC" / "val"
        boxes.mkdir(parents=True)
        for number, name in enumerate(shown):
            (boxes / f"ILSVRC2012_val_0000000{number}.xml").write_text(f"<object><name>{name}</name></object>")
    assert open_dataset("imagenet", "test", root=tmp_path).labels.tolist() == [2, 0, 1]


@pytest.mark.parametrize("damage", [b"ILSVRC2012_val_00000009,\n", b"\xff,x\n"])
def test_a_damaged_list_of_validation_classes(tmp_path, damage):
    names = CATALOG["imagenet"].class_names[:1]
    flat_validation(tmp_path / "imagenet", names)
    list_of_classes = tmp_path / "imagenet" / "LOC_val_solution.csv"
    list_of_classes.write_bytes(b"ImageId,PredictionString\n" + damage)
    with pytest.raises(OpenSetError, match=r"LOC_val_solution|ILSVRC2012_val"):
        open_dataset("imagenet", "test", root=tmp_path)


def test_flat_validation_without_a_list_says_what_to_do(tmp_path):
    flat_validation(tmp_path / "imagenet", CATALOG["imagenet"].class_names[:2])
    with pytest.raises(OpenSetError, match=r"val has no class folders, .* put LOC_val_solution\.csv into"):
        open_dataset("imagenet", "test", root=tmp_path)


def test_tinyimagenet_as_unpacked(tmp_path):
    folder = tmp_path / "tinyimagenet" / "tiny-imagenet-200"
    names = CATALOG["tinyimagenet"].class_names[:2]
    for name in names:
        write_image(folder / "train" / name / "images" / f"{name}_0.JPEG", 0, (64, 64, 3))
    write_image(folder / "val" / "images" / "val_0.JPEG", 1, (64, 64, 3))
    (folder / "val" / "val_annotations.txt").write_text(f"val_0.JPEG\t{names[1]}\t0\t0\t62\t62\n")
    write_image(folder / "test" / "images" / "test_0.JPEG", 1, (64, 64, 3))  # without labels, so not used
    assert open_dataset("tinyimagenet", "train", root=tmp_path).images.shape == (2, 64, 64, 3)
    assert open_dataset("tinyimagenet", "test", root=tmp_path).labels.tolist() == [1]


def test_cub_as_unpacked(tmp_path):
    write_cub(tmp_path)
    train, test = (open_dataset("cub", part, root=tmp_path) for part in ("train", "test"))
    assert (len(train), len(test)) == (600, 400)
    assert train.labels[[0, 3]].tolist() == [0, 1]
    assert test.ids[0] == "cub/images/001.Black_footed_Albatross/bird_3.jpg"
    (tmp_path / "cub" / "CUB_200_2011" / "images" / train.class_names[0] / "bird_0.jpg").unlink()
    with pytest.raises(OpenSetError, match=r"images\.txt lists images/001\.Black_footed_Albatross/bird_0\.jpg"):
        open_dataset("cub", "train", root=tmp_path)


def write_own_cub(folder, **changes):
    """CUB's layout for three pictures of two classes; `changes` are other contents of its lists."""
    for name in ("a/0", "a/1", "b/0"):
        write_image(folder / "set" / "images" / f"{name}.png", shape=(8, 8, 3))
    lists = {
        "images": "1 a/0.png\n2 a/1.png\n3 b/0.png\n",
        "image_class_labels": "1 1\n2 1\n3 2\n",
        "train_test_split": "1 1\n2 0\n3 1\n",
    } | changes
    for name, text in lists.items():
        (folder / "set" / f"{name}.txt").write_text(text)
    return folder / "set"


def test_own_pictures_in_the_layout_of_cub(tmp_path):
    write_image(tmp_path / "set" / "images" / "a" / "a b.png", shape=(8, 8, 3))  # names may have blanks
    folder = write_own_cub(tmp_path, images="1 a/0.png\n2 a/a b.png\n3 b/0.png\n")
    train, test = (open_dataset(folder, part) for part in ("train", "test"))
    assert (train.class_names, train.labels.tolist(), test.ids.tolist()) == (
        ("a", "b"),
        [0, 1],
        ["set/images/a/a b.png"],
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": "1 ../../secret.png\n"}, r"images\.txt, image 1: the path '../../secret\.png' leads out of"),
        ({"images": "1 /etc/passwd\n"}, r"images\.txt, image 1: the path '/etc/passwd' leads out of"),
        ({"images": "1 a/0.png\n2\n"}, r"images\.txt, line 2: expected a number and a value, found '2'"),
        ({"image_class_labels": "1 1\n3 2\n"}, r"labels\.txt must give a class from 1 to 2 to image 2"),
        ({"image_class_labels": "1 1\n2 x\n3 2\n"}, r"labels\.txt must give a class from 1 to 2 to image 2"),
        ({"image_class_labels": "1 1\n2 1\n3 0\n"}, r"labels\.txt must give a class from 1 to 2 to image 3"),
        ({"train_test_split": "1 1\n2 0\n"}, r"split\.txt must say 1 or 0 of image 3"),
        ({"train_test_split": "1 0\n2 0\n3 0\n"}, r"split\.txt leaves no images for 'train'"),
    ],
)
def test_a_bad_list_of_cub_is_named(tmp_path, changes, message):
    write_image(tmp_path / "secret.png", shape=(8, 8, 3))
    with pytest.raises(OpenSetError, match=message):
        open_dataset(write_own_cub(tmp_path, **changes), "train")


def test_a_missing_list_of_cub_is_named(tmp_path):
    (write_own_cub(tmp_path) / "images.txt").unlink()
    with pytest.raises(OpenSetError, match=r"images\.txt cannot be read"):
        open_dataset(tmp_path / "set", "train")


def test_a_strange_folder_in_a_named_data_set_is_named(tmp_path):
    write_imagenet(tmp_path / "imagenet", ["n01440764"])
    write_photos(tmp_path / "imagenet" / "train" / "n0144076", 1)
    with pytest.raises(OpenSetError, match=r"n0144076 is not one of its classes. Did you mean 'n01440764'"):
        open_dataset("imagenet", "train", root=tmp_path)
