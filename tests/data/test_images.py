import contextlib
import io

import numpy as np
import pytest
from PIL import Image, ImageOps

from openset._io.pictures import BadImageError, decode
from openset.data.images import ImageCells, ImageFiles, fitted, refitted, window
from pictures import encoded, pixels, write_image


def test_grey_stays_grey_and_everything_else_becomes_rgb():
    assert decode(io.BytesIO(encoded(pixels(0, (4, 5)))), "here").mode == "L"
    transparent = Image.fromarray(pixels(0, (4, 5, 3))).convert("RGBA")
    buffer = io.BytesIO()
    transparent.save(buffer, "PNG")
    assert decode(io.BytesIO(buffer.getvalue()), "here").mode == "RGB"


def test_pixels_survive_exactly():
    array = pixels(1)
    assert (np.asarray(decode(io.BytesIO(encoded(array)), "here")) == array).all()


@pytest.mark.parametrize(
    ("content", "why"), [(b"", "not an image"), (b"no image", "not an image"), (encoded(pixels(0))[:800], "truncated")]
)
def test_a_bad_image_is_named(content, why):
    with pytest.raises(BadImageError, match=f"photo 7 cannot be decoded .*{why}"):
        decode(io.BytesIO(content), "photo 7")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadImageError, match=r"gone\.png is missing"):
        ImageFiles(tmp_path, ("gone.png",)).load(0)


def test_an_image_with_more_pixels_than_memory_is_bad_not_fatal(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(BadImageError, match="here cannot be decoded"):
        decode(io.BytesIO(encoded(pixels(0))), "here")


def test_photos_are_turned_as_the_camera_noted_only_if_asked(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    Image.fromarray(pixels(0, (10, 20, 3))).save(tmp_path / "a.jpg", exif=exif)
    assert ImageFiles(tmp_path, ("a.jpg",)).load(0).size == (10, 20)
    assert ImageFiles(tmp_path, ("a.jpg",), upright=False).load(0).size == (20, 10)


def test_cells_may_be_bytes_or_structs_and_rows_may_be_chosen():
    cells = [encoded(pixels(0)), {"bytes": encoded(pixels(1)), "path": "x"}, None]
    table = ImageCells(cells, "table")
    assert (np.asarray(table.load(1)) == pixels(1)).all()
    with pytest.raises(BadImageError, match="table, row 2 holds no image bytes"):
        table.load(2)
    chosen = ImageCells(cells, "table", rows=np.array([1, 2]))
    assert len(chosen) == 2
    assert chosen.place(1) == "table, row 2"


def test_a_path_inside_a_table_is_never_followed(tmp_path):
    secret = write_image(tmp_path / "secret.png")
    with pytest.raises(BadImageError, match="holds no image bytes"):
        ImageCells([{"bytes": None, "path": str(secret)}], "table").load(0)


def test_transposed_images_are_turned_back():
    array = pixels(3, (5, 9))
    assert (np.asarray(ImageCells([encoded(array.T)], "table", transposed=True).load(0)) == array).all()


def test_fitting_keeps_the_middle_and_the_tone():
    wide = np.zeros((10, 30, 3), dtype=np.uint8)
    wide[:, 10:20] = (10, 100, 200)
    assert (fitted(Image.fromarray(wide), (10, 10, 3)) == (10, 100, 200)).all()
    grey = refitted(pixels(0, (2, 8, 8, 1)), (8, 8, 3))
    assert grey.shape == (2, 8, 8, 3)
    assert (grey == pixels(0, (2, 8, 8, 1))).all()
    assert refitted(np.empty((0, 8, 8, 1), dtype=np.uint8), (4, 4, 3)).shape == (0, 4, 4, 3)


@pytest.mark.parametrize(("kind", "dtype"), [("PNG", np.uint16), ("TIFF", np.uint16), ("TIFF", np.int32)])
def test_sixteen_bits_become_eight(kind, dtype):
    deep = np.linspace(0, 65535, 64).reshape(8, 8).astype(dtype)
    image = decode(io.BytesIO(encoded(deep, kind)), "here")
    assert image.mode == "L"
    assert np.abs(np.asarray(image) - deep / 257).max() <= 0.5


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8), "its pixels are fractions: save it with 8 or 16 bits"),
        (np.full((8, 8), 70000, dtype=np.int32), "its pixels have more than 16 bits: save it with 8 or 16"),
        (np.full((8, 8), -1, dtype=np.int32), "its pixels have more than 16 bits: save it with 8 or 16"),
    ],
)
def test_pixels_that_have_no_eight_bits_are_refused(array, why):
    with pytest.raises(BadImageError, match=rf"photo 7 cannot be decoded \({why}\)"):
        decode(io.BytesIO(encoded(array, "TIFF")), "photo 7")


def with_notes_of_the_camera():
    exif = Image.Exif()
    exif[0x0112], exif[282], exif[305] = 6, 72.0, "cam"
    buffer = io.BytesIO()
    Image.fromarray(pixels(0, (10, 20, 3))).save(buffer, "JPEG", exif=exif)
    return buffer.getvalue()


@pytest.mark.filterwarnings("ignore")  # the library mentions some of them
def test_broken_notes_of_the_camera_never_crash():
    content = with_notes_of_the_camera()
    for place in range(20, 110):
        for value in (0, 2, 3, 7, 255):
            broken = content[:place] + bytes([value]) + content[place + 1 :]
            with contextlib.suppress(BadImageError):
                assert decode(io.BytesIO(broken), "here", upright=True).size in {(10, 20), (20, 10)}


@pytest.mark.parametrize("note", range(1, 9))
def test_every_turn_of_a_camera_is_undone(note, tmp_path):
    exif = Image.Exif()
    exif[0x0112] = note
    Image.fromarray(pixels(0, (10, 20, 3))).save(tmp_path / "a.png", exif=exif)
    with Image.open(tmp_path / "a.png") as image:
        expected = ImageOps.exif_transpose(image)
    assert (np.asarray(decode(tmp_path / "a.png", "here", upright=True)) == np.asarray(expected)).all()


@pytest.mark.parametrize("shape", [(40, 90, 3), (90, 40), (16, 17, 3), (5, 9, 3)])
@pytest.mark.parametrize("place", [(0.0, 0.0), (0.3, 0.8), (0.999, 0.999)])
def test_a_window_is_cut_out_of_the_whole_image(shape, place):
    image = Image.fromarray(pixels(0, shape))
    height, width = (max(16, round(length * 16 / min(shape[:2]))) for length in shape[:2])
    top, left = int(place[0] * (height - 12 + 1)), int(place[1] * (width - 12 + 1))
    whole = np.asarray(image.convert("RGB").resize((width, height)))
    found = window(image, 16, 12, place)
    assert found.shape == (12, 12, 3)
    assert np.abs(found.astype(int) - whole[top : top + 12, left : left + 12]).max() <= 1
