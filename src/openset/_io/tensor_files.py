"""Safetensors files whose bytes follow from what is in them: the library writes its marks in any order."""

import json

_WIDTH = 8  # bytes of the header's length, and what its own length is a multiple of


def in_order(content: bytes) -> bytes:
    """The same file with the marks in its header sorted, so that equal weights are equal files, with one fingerprint.

    >>> marks = {"b": "2", "a": "1"}
    >>> header = json.dumps({"__metadata__": marks, "w": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})
    >>> in_order(len(header).to_bytes(8, "little") + header.encode() + b"!")[8:41]
    b'{"__metadata__":{"a":"1","b":"2"}'
    """
    start = _WIDTH + int.from_bytes(content[:_WIDTH], "little")
    header = json.loads(content[_WIDTH:start])
    header["__metadata__"] = dict(sorted(header.get("__metadata__", {}).items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _WIDTH)
    return len(text).to_bytes(_WIDTH, "little") + text + content[start:]
