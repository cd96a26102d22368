"""Files of weights and states that are damaged, or made to harm."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import save, save_file

from openset._io.checksums import checksum
from openset.errors import OpenSetError
from openset.train import checkpoint
from openset.train.state import State, as_now


def write(path, description):
    save_file({"w": torch.zeros(2)}, path, {"openset": description})
    return path


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ("[" * 100_000 + "]" * 100_000, "is not valid JSON: it is nested too deeply"),
        ('{"a": ' * 100_000, "is not valid JSON: it is nested too deeply"),
        ('{"epoch": ' + "1" * 5000 + "}", "is damaged: it holds a number of thousands of digits"),
        ("{", "is not valid JSON"),
        ('{"a": "\\ud800"}', "half a character"),
        ("3", "was not written by openset: its description is missing"),
    ],
)
def test_descriptions_that_are_none(tmp_path, description, message):
    path = write(tmp_path / "w.safetensors", description)
    with pytest.raises(OpenSetError, match=message) as caught:
        checkpoint.read_tensors(path)
    assert str(path) in str(caught.value)


def test_a_stored_config_is_never_taken_for_a_file(tmp_path):
    secret = tmp_path / "secret.yaml"
    secret.write_text("protocol: digits\n")
    for stored in (str(secret), "fast/digits", None, [1], 3):
        with pytest.raises(OpenSetError, match=r"w\.safetensors does not say how it was trained"):
            as_now({"config": stored}, tmp_path / "w.safetensors")
    with pytest.raises(OpenSetError, match="does not say how it was trained"):
        as_now({}, tmp_path / "w.safetensors")


def test_a_state_comes_back_whole_or_not_at_all(tmp_path):
    state = State(epoch=2, history=[{"loss": 0.5, "epoch": 1}], best=0.25, seconds=3.5, resumed=[[1, 4]])
    plain = json.loads(json.dumps(state.as_plain()))
    assert State.restored(plain, tmp_path) == state
    assert State.restored({**plain, "best": None}, tmp_path).best == float("-inf")
    broken = [
        None,
        [],
        {},
        {**plain, "history": "text"},
        {**plain, "history": [["loss", 0.5]]},
        {**plain, "history": [{"loss": "0.5"}]},
        {**plain, "epoch": "2"},
        {**plain, "seconds": None},
        {**plain, "resumed": 3},
        {**plain, "resumed": [3]},
        {**plain, "resumed": ["1, 2"]},
        {**plain, "another": 1},
    ]
    for content in broken:
        with pytest.raises(OpenSetError, match=r"s\.safetensors is damaged \(.*\): delete it to train again"):
            State.restored(content, tmp_path / "s.safetensors")


KINDS = {
    "w": torch.linspace(0, 1, 12).reshape(3, 4),
    "half": torch.ones(3, dtype=torch.bfloat16),
    "count": torch.tensor(7),
    "mask": torch.tensor([True, False]),
    "none": torch.zeros(0, 3),
}


def test_one_flipped_bit_in_weights_is_noticed(tmp_path):
    path = tmp_path / "w.safetensors"
    checkpoint.write_tensors(path, KINDS, {"epoch": 3})
    tensors, metadata = checkpoint.read_tensors(path)
    assert metadata == {"epoch": 3}
    assert all(torch.equal(tensors[name], tensor) for name, tensor in KINDS.items())
    whole = path.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    for place in range(start, len(whole)):
        broken = bytearray(whole)
        broken[place] ^= 1 << place % 8
        path.write_bytes(broken)
        with pytest.raises(OpenSetError, match=r"w\.safetensors is damaged: its content does not match its checksum"):
            checkpoint.read_tensors(path)
    path.write_bytes(whole.replace(rb"\"epoch\": 3", rb"\"epoch\": 4"))
    with pytest.raises(OpenSetError, match="does not match its checksum"):
        checkpoint.read_tensors(path)


@pytest.mark.parametrize("size", [1, 127, 128, 129, 300])
def test_each_bit_of_long_and_odd_tensors_counts(tmp_path, size):
    """Kilobytes are summed, what is left over is not."""
    path = tmp_path / "w.safetensors"
    made = {"a": torch.arange(size, dtype=torch.float64), "b": torch.arange(3, dtype=torch.uint8)}
    checkpoint.write_tensors(path, made, {})
    whole = path.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    assert checkpoint.read_tensors(path)[0]["a"].tolist() == list(range(size))
    for place in range(start, len(whole), 1 if size < 200 else 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        with pytest.raises(OpenSetError, match="does not match its checksum"):
            checkpoint.read_tensors(path)


def test_kilobytes_that_changed_places_are_noticed():
    one, two = np.arange(128.0), np.arange(128.0) + 1
    assert checksum("", {"a": np.append(one, two)}) != checksum("", {"a": np.append(two, one)})


def test_weights_of_the_version_before_are_checked_by_their_crc(tmp_path):
    """As a run of 0.2 wrote them: `{"checksum": "cf8862f0"}` was printed by that version."""
    path = tmp_path / "w.safetensors"
    tensors = {"w": torch.tensor([1.0, 2.0])}
    path.write_bytes(save(tensors, {"openset": "{}", "checksum": "cf8862f0"}))
    assert checkpoint.read_tensors(path)[0]["w"].tolist() == [1, 2]
    path.write_bytes(save({"w": torch.tensor([1.0, 2.5])}, {"openset": "{}", "checksum": "cf8862f0"}))
    with pytest.raises(OpenSetError, match="does not match its checksum"):
        checkpoint.read_tensors(path)


def test_weights_of_earlier_versions_have_no_checksum(tmp_path):
    tensors, metadata = checkpoint.read_tensors(write(tmp_path / "w.safetensors", '{"epoch": 3}'))
    assert (tensors["w"].tolist(), metadata) == ([0, 0], {"epoch": 3})


def test_equal_weights_are_equal_files(tmp_path):
    """Fingerprints of models are those of their files, and the library writes its marks in any order."""
    path = tmp_path / "w.safetensors"
    found = set()
    for _ in range(20):
        checkpoint.write_tensors(path, KINDS, {"epoch": 3, "klass": "Hütte"})
        found.add(path.read_bytes())
    assert len(found) == 1
    assert checkpoint.read_tensors(path)[1] == {"epoch": 3, "klass": "Hütte"}
