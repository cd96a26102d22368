"""Damage of every kind: of bytes, of texts, of trees of JSON and YAML, of tables and of arrays."""

import io
import json
import struct
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

ODD_TEXTS = [
    *("", " ", "\t", "unknown", "Unknown ", "unkown", "ood", "negative", "Cat", "cat\u200b", "caf\u00e9", "cafe\u0301"),
    *(
        "nan",
        "NaN",
        "inf",
        "-inf",
        "1e999",
        "-0",
        "0",
        "-1",
        "-2",
        "-3",
        "3.0",
        "3,0",
        "1_000",
        "0x10",
        "1e5",
        "٣",
        "²",
    ),
    *("9" * 25, "9" * 400, "9" * 5000, "-" * 300, "a" * 70_000, "None", "null", "true", "[]", "{}", "()", "%s", "{0}"),
    *("=1+1", "@SUM(A1)", "+1", "-cmd|' /C calc'!A0", "'", "''=x", '"', '""', '"a', "a,b", "a;b", "a\nb", "a\rb"),
    *("\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x00", "\x7f", "\u202eevil", "\ufeff", "\U0001f989", "\u2028"),
    *("<script>alert(1)</script>", "</script>", "<!--", "&amp;", "${7*7}", "{{7*7}}", "[bold]x[/bold]", "[/]", ":cat:"),
    *("../../etc/passwd", "/etc/passwd", "..", ".", "~", "C:\\x", "file:///etc/passwd", "\\\\host\\x", "a/b", "con"),
]
"""Texts that have gone wrong somewhere, in some program."""
ODD_NUMBERS: list[Any] = [
    *(0, 1, -1, -2, -3, 2, 7, 255, 256, 2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**30, 10**400),
    *(0.0, -0.0, 0.5, 1.5, 1e-320, 1e-30, 1e30, 1e308, -1e308, float("nan"), float("inf"), float("-inf")),
]
ODD_VALUES: list[Any] = [*ODD_NUMBERS, None, True, False, [], {}, [[]], [1, 2], {"a": 1}, [None], "", "1", "x", "nan"]


# ---- bytes -----------------------------------------------------------------------------------------------------------


def of_bytes(random: Random, data: bytes) -> bytes:
    """A few bits, bytes or stretches of a file changed, left out, doubled or moved."""
    made = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 2, 3, 8])):
        if not made:
            break
        place, length = random.randrange(len(made)), random.choice([1, 1, 2, 4, 8, 64])
        change = random.randrange(9)
        if change <= 1:
            made[place] ^= 1 << random.randrange(8)
        elif change == 2:
            made[place] = random.choice([0, 1, 127, 128, 255, random.randrange(256)])
        elif change == 3:
            del made[place : place + length]
        elif change == 4:
            made[place:place] = made[place : place + length] * random.choice([1, 2, 50])
        elif change == 5:
            made[place:place] = random.randbytes(length)
        elif change == 6:
            made[place : place + 4] = struct.pack("<I", random.choice([0, 1, 2**31 - 1, 2**32 - 1, len(made)]))
        elif change == 7:
            del made[place:]
        else:
            other = random.randrange(len(made))
            made[place : place + length] = made[other : other + length]
    return bytes(made)


def of_text(random: Random, data: bytes) -> bytes:
    """Words of a text file exchanged for odd ones, lines left out, doubled and shuffled, another encoding."""
    text = data.decode("utf-8", "replace")
    for _ in range(random.choice([1, 1, 2, 4])):
        lines = text.splitlines(keepends=True) or [""]
        place = random.randrange(len(lines))
        change = random.randrange(6)
        if change <= 1:
            at = random.randrange(len(text) + 1)
            end = min(len(text), at + random.choice([0, 1, 3, 10]))
            text = text[:at] + random.choice(ODD_TEXTS) + text[end:]
            continue
        if change == 2:
            del lines[place]
        elif change == 3:
            lines.insert(place, lines[random.randrange(len(lines))])
        elif change == 4:
            random.shuffle(lines)
        else:
            lines[place] = random.choice(ODD_TEXTS) + "\n"
        text = "".join(lines)
    encoding = random.choice(["utf-8"] * 12 + ["utf-8-sig", "utf-16", "latin-1", "cp1252"])
    ends = random.choice(["\n"] * 8 + ["\r\n", "\r"])
    return text.replace("\n", ends).encode(encoding, "replace")


# ---- tables ----------------------------------------------------------------------------------------------------------


def of_csv(random: Random, data: bytes) -> bytes:
    """Cells, columns and rows of a table changed as people and spreadsheets do, or as nobody does."""
    rows = [line.split(",") for line in data.decode().splitlines()]
    separator = ","
    if random.random() < 0.4:
        return _written_otherwise(random, rows)
    for _ in range(random.choice([1, 1, 2, 3])):
        row, column = random.randrange(len(rows)), random.randrange(len(rows[0]))
        change = random.randrange(12)
        if change <= 4:
            cells = rows[row]
            cells[min(column, len(cells) - 1)] = _cell(random)
        elif change == 5:
            rows[0][column] = random.choice(
                [*ODD_TEXTS[:30], "label", "Label ", "PREDICTION", "prob_9", "logit_0", "id"]
            )
        elif change == 6:
            for cells in rows:
                del cells[column : column + 1]
        elif change == 7:
            for cells in rows:
                cells.insert(column, cells[random.randrange(len(cells))] if cells else "")
        elif change == 8:
            rows.insert(row, [""] * random.choice([0, 1, len(rows[0])]))
        elif change == 9:
            rows.append(list(rows[row]))
        elif change == 10:
            separator = random.choice([";", "\t"])
        else:
            word, other = random.choice(rows[row] or [""]), _cell(random)
            rows = [[other if cell == word else cell for cell in cells] for cells in rows]
        if not rows or not rows[0]:
            break
    ends = random.choice(["\n"] * 8 + ["\r\n", "\r"])
    text = ends.join(separator.join(cells) for cells in rows) + ends * random.choice([0, 1, 1, 3])
    return (random.choice([""] * 8 + ["\ufeff", f"sep={separator}{ends}"]) + text).encode("utf-8", "replace")


def _written_otherwise(random: Random, rows: list[list[str]]) -> bytes:
    """The same table, or one that is as good, as another program might write it."""
    for _ in range(random.choice([1, 2, 3])):
        change, column = random.randrange(9), random.randrange(len(rows[0]))
        if change == 0:
            order = random.sample(range(len(rows[0])), len(rows[0]))
            rows = [[cells[place] for place in order] for cells in rows]
        elif change == 1:
            rows = [[f'"{cell}"' if not cell.startswith('"') else cell for cell in cells] for cells in rows]
        elif change == 2:
            rows[0] = [random.choice([cell.upper(), cell.title(), f" {cell} "]) for cell in rows[0]]
        elif change == 3:
            rows = [[*cells[:column], f"x{place}", *cells[column:]] for place, cells in enumerate(rows)]
        elif change == 4:
            rows[1:] = random.sample(rows[1:], len(rows) - 1)
        elif change == 5:
            rows = [rows[0], *(cells for cells in rows[1:] if random.random() < 0.8)]
        elif change == 6:
            words = {"unknown": ["Unknown", " unknown ", "UNKNOWN", "-2"], "negative": ["Negative", "-1", "negative "]}
            rows = [[random.choice(words.get(cell, [cell])) for cell in cells] for cells in rows]
        elif change == 7:
            old, new = (
                random.choice(["cat", "dog", "owl"]),
                random.choice(["wolf", "ü", "a b", "9 lives", "=x", "'=x", "-y"]),
            )
            rows = [[cell.replace(old, new) for cell in cells] for cells in rows]
        else:
            rows.insert(random.randrange(1, len(rows) + 1), [""] * len(rows[0]))
    separator, ends = random.choice([",", ",", ";", "\t"]), random.choice(["\n", "\n", "\r\n", "\r"])
    text = ends.join(separator.join(cells) for cells in rows) + ends
    return (random.choice(["", "", "", "\ufeff", f"sep={separator}{ends}"]) + text).encode()


def _cell(random: Random) -> str:
    cell = random.choice(ODD_TEXTS) if random.random() < 0.7 else str(random.choice(ODD_NUMBERS))
    return f'"{cell.replace(chr(34), chr(34) * 2)}"' if random.random() < 0.3 else cell


def of_parquet(random: Random, data: bytes) -> bytes:
    """Columns of other types and values, written anew; or the bytes changed."""
    import polars as pl

    if random.random() < 0.5:
        return of_bytes(random, data)
    table = pl.read_parquet(io.BytesIO(data))
    for _ in range(random.choice([1, 1, 2])):
        name = random.choice(table.columns)
        change = random.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8])
        if change <= 1:
            values: list[Any] = table[name].to_list()
            values[random.randrange(len(values))] = random.choice([*ODD_TEXTS, *ODD_NUMBERS, None])
            kinds = [pl.String, pl.Float64, pl.Int64, pl.Float32, pl.Categorical, pl.Int8, pl.Decimal(10, 2)]
            texts = [one if one is None else str(one) for one in values]
            column = pl.Series(name, texts, pl.String).cast(random.choice(kinds), strict=False)
            table = table.with_columns(column)
        elif change == 2:
            table = table.drop(name)
        elif change == 3:
            other = random.choice(
                ["label", "Label", "prediction", "prob_0", "prob_9", "id", "group", random.choice(ODD_TEXTS)]
            )
            table = table.rename({name: other}) if other not in table.columns else table
        elif change == 4:
            odd = [[[1]] * table.height, [{"a": 1}] * table.height, [b"x"] * table.height, [True] * table.height]
            table = table.with_columns(pl.Series(name, random.choice(odd)))
        elif change == 5:
            table = table.sample(random.choice([0, 1, table.height]), seed=random.randrange(99))
        elif change == 6:
            table = pl.concat([table] * random.choice([2, 30]))
        elif change == 8:
            table = table.select(random.sample(table.columns, len(table.columns))).sample(fraction=0.9, seed=1)
        else:
            table = table.with_columns(table[random.choice(table.columns)].alias(name))
        if not table.columns or not table.height:
            break
    out = io.BytesIO()
    metadata = {"openset": random.choice([_odd_json(random), json.dumps({"class_names": ["a", "b", "c"]})])}
    options: dict[str, Any] = {"metadata": metadata} if random.random() < 0.3 else {}
    table.write_parquet(out, compression=random.choice(["zstd", "uncompressed", "snappy", "gzip", "lz4"]), **options)
    return out.getvalue()


# ---- arrays ----------------------------------------------------------------------------------------------------------


def of_npz(random: Random, data: bytes) -> bytes:
    """Arrays of other types, shapes, orders and names, headers that lie; or the bytes changed."""
    if random.random() < 0.35:
        return of_bytes(random, data)
    with np.load(io.BytesIO(data)) as archive:
        arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
    members: dict[str, bytes] = {}
    for _ in range(random.choice([1, 1, 2])):
        name = random.choice(list(arrays))
        change = random.randrange(8)
        if change <= 3:
            arrays[name] = _odd_array(random, arrays[name])
        elif change == 4:
            del arrays[name]
        elif change == 5:
            arrays[random.choice(["gt", "ids", "groups", "class_names", "openset", "probabilities", "x"])] = arrays[
                name
            ]
        elif change == 6:
            members[name] = of_bytes(random, npy_bytes(arrays[name]))
        else:
            members[name] = of_text(random, npy_bytes(arrays[name])[:128]) + npy_bytes(arrays[name])[128:]
        if not arrays:
            break
    return archive_bytes(arrays, members, random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))


def npy_bytes(array: Any) -> bytes:
    """An array as it lies in an archive; objects are pickled, which no reader may undo."""
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def archive_bytes(arrays: dict[str, Any], members: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An NPZ file of arrays, some of them given as bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as made:
        for name, array in arrays.items():
            made.writestr(f"{name}.npy", members.get(name) or npy_bytes(array))
    return out.getvalue()


class _Marked:
    """An object whose unpickling would be noticed."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, ("PICKLED", "w"))


def _odd_array(random: Random, array: Any) -> Any:
    n = len(array) if array.ndim else 1
    kinds: list[Callable[[], Any]] = [
        lambda: array.astype(random.choice(["f4", "f8", "f2", "i1", "i8", "u8", "U5", "S3", "c16", "?", ">f8"])),
        lambda: np.array([_Marked()] * n, dtype=object),
        lambda: np.full(n, random.choice([x for x in ODD_NUMBERS if not abs(x) >= 2**63])),
        lambda: np.array([random.choice(ODD_TEXTS) for _ in range(n)]),
        lambda: np.array([(1, 2.0)] * n, dtype=[("a", "i4"), ("b", "f8")]),
        lambda: np.array(["2020-01-01"] * n, dtype="M8[D]"),
        lambda: array[: random.randrange(n + 1)],
        lambda: array[..., None],
        lambda: array.T,
        lambda: array.reshape(-1),
        lambda: np.zeros((n, 0)),
        lambda: np.array(random.choice(ODD_NUMBERS[:6])),
        lambda: np.concatenate([array] * 2),
        lambda: _spoilt(random, array),
        lambda: np.asfortranarray(array[::-1]),
    ]
    with np.errstate(all="ignore"):
        try:
            return random.choice(kinds)()
        except (ValueError, TypeError, OverflowError, IndexError, UnicodeEncodeError, np.exceptions.ComplexWarning):
            return array


def _spoilt(random: Random, array: Any) -> Any:
    made = array.copy().reshape(-1)
    value = random.choice(ODD_NUMBERS if made.dtype.kind in "fiu" else ODD_TEXTS)
    made[random.randrange(len(made))] = value
    return made.reshape(array.shape)


# ---- trees -----------------------------------------------------------------------------------------------------------


def of_json(random: Random, data: bytes) -> bytes:
    """Values, names and branches of a tree changed; or its text."""
    if random.random() < 0.25:
        return random.choice([of_bytes, of_text])(random, data)
    tree = json.loads(data)
    for _ in range(random.choice([1, 1, 2, 3])):
        tree = of_tree(random, tree)
    text = json.dumps(tree)
    if random.random() < 0.1:
        text = text.replace("{", random.choice(['{"images": [], ', '{"value": 0, ', '{"id": 1, ']), 1)
    return text.encode()


def _odd_json(random: Random) -> str:
    return random.choice(
        ["[" * 100_000, "{}", "null", "{", "1" * 5000, '"\\ud800"', '{"class_names": [1, null]}', "[]"]
    )


def of_tree(random: Random, tree: Any) -> Any:
    """The tree with one value of it replaced, left out, doubled or put elsewhere; `tree` itself may change."""
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    if isinstance(tree, dict | list):
        walk(tree)
    if not places or random.random() < 0.02:
        return random.choice(ODD_VALUES)
    node, key = random.choice(places)
    change = random.randrange(8)
    if change <= 2:
        node[key] = random.choice([*ODD_VALUES, random.choice(ODD_TEXTS)])
    elif change == 3:
        del node[key]
    elif change == 4:
        other, where = random.choice(places)
        node[key] = json.loads(json.dumps(other[where] if where in other or isinstance(other, list) else None))
    elif change == 5 and isinstance(node, list):
        node.insert(random.randrange(len(node) + 1), node[key])
    elif change == 5 or (change == 6 and isinstance(node, dict)):
        if isinstance(node, dict):
            node[random.choice(ODD_TEXTS)] = node.pop(key)
    elif change == 6:
        random.shuffle(node)
    else:
        value = node[key]
        node[key] = [value] if random.random() < 0.5 else str(value)
    return tree


def of_yaml(random: Random, data: bytes) -> bytes:
    """As `of_json`, and what only YAML has: aliases, tags, dates, several documents."""
    import yaml

    if random.random() < 0.4:
        return of_text(random, data)
    if random.random() < 0.3:
        extra = random.choice(
            [
                "name: !!python/object/apply:os.system ['touch PWNED']\n",
                "title: &a [*a]\n",
                "notes: &n [" + "x," * 9 + "]\n" + "".join(f"a{i}: &a{i} [*n, *n]\n" for i in range(30)),
                "---\nname: second\n",
                "known: [a, b]\n",
                "validation: 2020-01-01\n",
                "? [a, b]\n: c\n",
                "split: 0o17\n",
                "'': ''\n",
                "known: " + "[" * 300 + "]" * 300 + "\n",
            ]
        )
        return data + extra.encode()
    tree = of_tree(random, yaml.safe_load(data))
    try:
        return str(yaml.safe_dump(tree, allow_unicode=True)).encode("utf-8", "replace")
    except yaml.YAMLError:
        return data


def of_safetensors(random: Random, data: bytes) -> bytes:
    """The header's tree or the bytes changed."""
    if random.random() < 0.5:
        return of_bytes(random, data)
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    if random.random() < 0.4 and "__metadata__" in header:
        key = random.choice(list(header["__metadata__"]))
        if random.random() < 0.5:
            header["__metadata__"][key] = _odd_json(random)
        else:
            try:
                inner = json.loads(header["__metadata__"][key])
            except ValueError:
                inner = header["__metadata__"][key]
            header["__metadata__"][key] = json.dumps(of_tree(random, inner))
    else:
        header = of_tree(random, header)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def of_onnx(random: Random, data: bytes) -> bytes:
    """What the file says of itself, its shapes, weights, and where they lie; or the bytes changed."""
    import onnx

    if random.random() < 0.5:
        return of_bytes(random, data)
    model = onnx.load_from_string(data)
    change, weight = random.randrange(7), random.choice(list(model.graph.initializer))
    if change <= 2 and model.metadata_props:
        own = model.metadata_props[0]
        own.value = _odd_json(random) if change == 0 else json.dumps(of_tree(random, json.loads(own.value)))
    elif change == 3:
        weight.dims[0] = random.choice([0, 1, -1, 2**31, 2**62, 7])
    elif change == 4:
        weight.data_location = onnx.TensorProto.EXTERNAL
        place = random.choice(["../../etc/passwd", "/etc/passwd", "", "model.onnx", "nowhere", "\x1b[31m"])
        weight.external_data.add(key="location", value=place)
        weight.external_data.add(key="length", value=random.choice(["9" * 18, "-1", "x"]))
    elif change == 5:
        taken = random.choice([*model.graph.input, *model.graph.output]).type.tensor_type
        if random.random() < 0.5 and taken.shape.dim:
            random.choice(list(taken.shape.dim)).dim_value = random.choice([0, 1, 2**40, -5, 10_000])
        else:
            taken.elem_type = random.choice([1, 6, 7, 8, 9, 10, 99])
    else:
        node = random.choice(list(model.graph.node))
        node.op_type = random.choice(["Identity", "NoSuchOp", "Loop", "If", "MatMul", "Add", "Einsum"])
    return bytes(model.SerializeToString())


def of_xml(random: Random, data: bytes) -> bytes:
    """As a text; or with entities, nesting and numbers that XML allows."""
    if random.random() < 0.7:
        return random.choice([of_text, of_bytes])(random, data)
    text = data.decode()
    entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "x"}">' for i in range(9))
    return random.choice(
        [
            f"<!DOCTYPE annotation [{entities}]>" + text.replace("<name>", "<name>&a8;"),
            '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + text.replace("<name>", "<name>&x;"),
            text.replace("<object>", "<object>" + "<part>" * 20_000),
            text.replace("<xmax>", f"<xmax>{random.choice(ODD_NUMBERS)}"),
            text.replace("<filename>", "<filename>../../"),
            text.replace("<difficult>0", f"<difficult>{random.choice(ODD_TEXTS[:40])}"),
        ]
    ).encode("utf-8", "replace")


BY_KIND: dict[str, Callable[[Random, bytes], bytes]] = {
    ".csv": lambda random, data: random.choice([of_csv, of_csv, of_text, of_bytes])(random, data),
    ".tsv": lambda random, data: random.choice([of_text, of_bytes])(random, data),
    ".parquet": of_parquet,
    ".npz": of_npz,
    ".npy": of_bytes,
    ".json": of_json,
    ".yaml": of_yaml,
    ".safetensors": of_safetensors,
    ".png": of_bytes,
    ".onnx": of_onnx,
    ".xml": of_xml,
    ".txt": lambda random, data: random.choice([of_text, of_text, of_bytes])(random, data),
}
