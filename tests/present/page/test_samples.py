"""How much of the samples a page holds, and what it says when their contents are missing."""

import numpy as np
from PIL import Image

from openset.present.page.samples import _BYTES, _PICTURES, sample_lists
from openset.scores import Scores


class Noise:
    """Contents of the worst kind: large, and impossible to compress."""

    def __init__(self):
        self.asked = 0

    def find(self, name):
        self.asked += 1
        return Image.fromarray(np.random.default_rng(self.asked).integers(0, 256, (300, 500, 3), dtype=np.uint8))


class Texts:
    def find(self, name):
        return None if name.endswith("3") else "word " * 1000


def scores_of(n=3000, **options):
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(n) < 0.5, 0, -2)
    return Scores(labels, np.zeros(n, dtype=int), rng.normal(size=n), ids=np.arange(n).astype(str), **options)


def test_pictures_are_bounded_in_number_and_bytes():
    contents = Noise()
    lists, shown, note = sample_lists([scores_of()] * 3, contents)
    assert contents.asked <= _PICTURES
    assert sum(len(one["image"]) for one in shown.values()) < _BYTES + 20_000
    assert note == ""
    assert lists[0]["slipped"]["id"][0] in shown
    assert lists[0]["lost"]["id"][0] in shown


def test_many_models_share_the_room():
    lists, _, _ = sample_lists([scores_of()] * 50, None)
    assert {len(one[kind]["id"]) for one in lists for kind in one} == {80}


def test_texts_are_shortened_and_missing_ones_are_told():
    _, shown, note = sample_lists([scores_of(300)], Texts())
    assert {len(one["text"]) for one in shown.values()} == {400}
    assert note.startswith("Nothing was found for ")
    assert "3' for example." in note


def test_samples_without_ids_have_no_contents():
    scores = Scores([0, -2], [0, 0], [0.1, 0.9])
    lists, shown, note = sample_lists([scores], Texts())
    assert shown == {}
    assert "have no ids" in note
    assert lists[0]["slipped"]["id"] == ["row 1"]
