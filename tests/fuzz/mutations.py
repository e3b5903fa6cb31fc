"""Changes that break files: bits, cuts, copies; and in JSON fields, values, lengths."""

import gzip
import io
import json
import warnings
import zipfile
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np

TOKENS = (
    *(b"\0", b"\xff", b"\n", b"\r", b"\xe2\x80\xa8", b"\xc2\x85", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
    *(b"NaN", b"-1", b"1e999", b"9" * 400, b'"', b"[" * 2000, b"{}", b"null", rb"\ud800", b","),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53, 2**63, 10**40, 0.5, -0.0, 1e308, -1e308, 1e-320),
    *(
        float("nan"),
        float("inf"),
        "",
        "x",
        "\n",
        "\0",
        "\ud800",
        "../../x",
        "/etc/passwd",
        "é" * 99,
    ),
    *("x" * 100_000, "None", "1", [], {}, [[]], [None], {"": None}, [0] * 1000, ["x"] * 3),
)


def change_bytes(random: Random, data: bytes) -> bytes:
    """One change anywhere in ``data``."""
    size = len(data)
    a, b = sorted((random.randint(0, size), random.randint(0, size)))
    near = min(size, a + random.randint(1, 40))
    change = random.randrange(8)
    if change == 0 and size:  # bits
        changed = bytearray(data)
        for _ in range(random.choice((1, 1, 2, 8))):
            changed[random.randrange(size)] ^= 1 << random.randrange(8)
        return bytes(changed)
    if change == 1:
        return data[:a]
    if change == 2:
        return data[:a] + data[near:]
    if change == 3:
        return data[:a] + data[a:near] * random.choice((2, 3, 50)) + data[near:]
    if change == 4:
        return data[:a] + random.choice(TOKENS) + data[a:]
    if change == 5:
        return data[:a] + random.choice(TOKENS) + data[near:]
    if change == 6:
        return data[:a] + random.randbytes(near - a) + data[near:]
    return data[b:] + data[:b]


def _places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All paths below the root."""
    if isinstance(tree, dict):
        found = [(*path, key) for key in tree]
    elif isinstance(tree, list):
        found = [(*path, i) for i in range(len(tree))]
    else:
        return []
    return found + [deep for place in found for deep in _places(_at(tree, place[-1:]), place)]


def _at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def change_tree(random: Random, tree: Any) -> Any:
    """A copy of a JSON value with one field deleted, replaced, doubled, renamed or grown."""
    tree = deepcopy(tree)
    places = _places(tree)
    if not places:
        return random.choice(VALUES)
    place = random.choice(places)
    parent, key = _at(tree, place[:-1]), place[-1]
    change = random.randrange(6)
    if change == 0:
        del parent[key]
    elif change == 1:
        parent[key] = deepcopy(_at(tree, random.choice(places)))
    elif change == 2 and isinstance(parent, list):
        parent.insert(key, deepcopy(parent[key]))
    elif change == 2:
        parent[random.choice(("surprise", "", "\n", "-1", "x" * 300))] = parent[key]
    elif change == 3 and type(parent[key]) in (int, float):
        number = parent[key]
        parent[key] = random.choice(
            (number + 1, number - 1, -number, number * 1e6, number * 10**6, number * 100)
        )
    elif change == 4 and isinstance(parent[key], list):
        parent[key] = parent[key] * random.choice((2, 40, 2000))
    else:
        parent[key] = random.choice(VALUES)
    return tree


def changed_json(random: Random, tree: Any) -> bytes:
    """A JSON value changed once or twice, and sometimes its text besides."""
    for _ in range(random.choice((1, 1, 2))):
        tree = change_tree(random, tree)
    text = json.dumps(tree, ensure_ascii=random.random() < 0.5)
    data = text.encode(errors="surrogatepass")
    return change_bytes(random, data) if random.random() < 0.2 else data


def packed(random: Random, data: bytes) -> bytes:
    """``data`` compressed, and sometimes damaged after."""
    archive = gzip.compress(data, 1)
    return change_bytes(random, archive) if random.random() < 0.5 else archive


def changed_zip(random: Random, data: bytes) -> bytes:
    """An archive with one entry changed, renamed, doubled or dropped, or its bytes changed."""
    if random.random() < 0.4:
        return change_bytes(random, data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    i, change = random.randrange(len(entries)), random.randrange(5)
    name, content = entries[i]
    if change == 0:
        del entries[i]
    elif change == 1:
        entries[i] = random.choice(("../x.npy", "x" * 200, "", "meta.npy")), content
    elif change == 2:
        entries[i] = name, content + bytes(random.choice((1, 99, 10_000_000)))
    else:
        entries[i] = name, change_bytes(random, content)
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of a name given twice
        for name, content in entries:
            archive.writestr(name or "unnamed", content)
    return file.getvalue()


def changed_arrays(random: Random, data: bytes) -> bytes:
    """An ``.npz`` with a number, the type or the shape of one array changed, or as any archive."""
    if random.random() < 0.4:
        return changed_zip(random, data)
    with np.load(io.BytesIO(data)) as file:
        arrays = {name: file[name] for name in file.files}
    name = random.choice(list(arrays))
    array, change = arrays[name].copy(), random.randrange(6)
    if change == 0 and array.size:
        values = (0, 1, -1, 127, 255, 2**31, 2**40, random.randrange(10))
        wide = array.astype(np.int64)
        wide.flat[random.randrange(array.size)] = random.choice(values)
        array = wide
    elif change == 1:
        types = (np.int8, np.uint64, np.float16, np.float64, np.bool_, np.complex64, "U3")
        with np.errstate(all="ignore"):
            array = array.astype(random.choice(types))
    elif change == 2:
        array = array[: random.randint(0, len(array))]
    elif change == 3:
        array = np.concatenate([array, array[: random.randint(0, len(array))]])
    elif change == 4:
        array = array[None]
    else:
        array = array[::-1]
    file = io.BytesIO()
    np.savez_compressed(file, **arrays | {name: array})
    return file.getvalue()


def changed_safetensors(random: Random, data: bytes) -> bytes:
    """A safetensors file whose header is changed as JSON, or any of its bytes."""
    if random.random() < 0.4:
        return change_bytes(random, data)
    size = int.from_bytes(data[:8], "little")
    header = changed_json(random, json.loads(data[8 : 8 + size]))
    length = random.choice((len(header), len(header), len(header), size, 2**40, 0))
    return length.to_bytes(8, "little") + header + data[8 + size :]
