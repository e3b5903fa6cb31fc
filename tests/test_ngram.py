import io
import json
import math
import zipfile
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from presto.kernels.counts import EMPTY, has_trigrams, observe
from presto.kernels.ngram import NgramModel
from presto.kernels.table import MAX_VOCAB, NgramTable
from tests.support.limits import watched
from tests.support.plain_ngram import PlainNgram
from tests.support.strategies import VOCAB, contexts, corpora, ngrams, texts, tokens

Pair = tuple[NgramModel, PlainNgram]


@given(ngrams(), contexts | st.just([]))
def test_probabilities_sum_to_one_and_are_never_zero(pair: Pair, context: list[int]) -> None:
    values = [math.exp(pair[0].logprob(context, token)) for token in range(VOCAB)]
    assert sum(values) == pytest.approx(1, abs=1e-12)
    assert min(values) > 0


@given(ngrams(), contexts | st.just([]), tokens)
def test_equals_the_plain_python_model(pair: Pair, context: list[int], token: int) -> None:
    model, reference = pair
    assert math.exp(model.logprob(context, token)) == pytest.approx(
        reference.probability(context, token), rel=1e-12
    )


@given(ngrams(), tokens, tokens, tokens)
def test_only_the_last_two_tokens_of_a_context_are_looked_at(
    pair: Pair, first: int, last: int, token: int
) -> None:
    long = [VOCAB, VOCAB + 1, first, last]  # what comes before is not even in the vocabulary
    assert pair[0].logprob(long, token) == pair[0].logprob([first, last], token)


def _every(*lengths: int) -> list[list[int]]:
    """All texts of these lengths over two tokens."""
    return [list(text) for length in lengths for text in product((0, 1), repeat=length)]


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("online", _every(0, 3))
def test_every_small_model_equals_the_plain_one(online: list[int], min_count: int) -> None:
    """The first pair and the first triple of a table too, and contexts seen once or never."""
    for document in _every(1, 2, 3, 4):
        model = NgramModel(2, NgramTable.build([document], 2, min_count=min_count))
        model.extend(online)
        plain = PlainNgram(2, 3, [document], min_count, online)
        for context in _every(0, 1, 2):
            expected = [plain.probability(context, token) for token in (0, 1)]
            assert np.exp(model.logprobs(context, [0, 1])) == pytest.approx(expected, rel=1e-12)
        triples = [
            gram
            for part in (plain.static, plain.dropped, plain.online)
            for gram in part
            if len(gram) == 3
        ]
        for pair in [(-1, 0), (-1, 1), *product((0, 1), repeat=2)]:
            seen = any(gram[:2] == pair for gram in triples)
            assert has_trigrams(model.counts, *pair) == seen


@given(texts, texts)
def test_observe_says_how_many_slots_it_took(first: list[int], second: list[int]) -> None:
    keys, online = np.full(1024, EMPTY), np.zeros((1024, 3), np.int64)
    keys[0] = 0  # the empty context
    counts = NgramModel(VOCAB).counts._replace(keys=keys, online=online)
    for text in (first, second):
        before = np.count_nonzero(keys != EMPTY)
        taken = observe(counts, -1, -1, np.array(text, np.int64))
        assert taken == np.count_nonzero(keys != EMPTY) - before


@given(corpora, st.sampled_from([1, VOCAB]), st.integers(1, 3), st.sampled_from([2, 3]))
def test_a_saved_table_loads_as_it_was(
    tmp_path_factory, corpus, vocab: int, min_count: int, order: int
) -> None:
    path = tmp_path_factory.mktemp("ngram") / "table.npz"
    documents = [[token % vocab for token in text] for text in corpus]
    table = NgramTable.build(documents, vocab, order, min_count)
    table.save(path)
    assert table.min_count == min_count
    loaded = NgramTable.load(path)
    assert vars(loaded).keys() == vars(table).keys()
    for name, value in vars(table).items():
        assert np.array_equal(getattr(loaded, name), value), name
    assert loaded.to_bytes() == table.to_bytes()


@given(corpora, texts, contexts, tokens)
def test_one_run_does_not_change_the_table_of_another(documents, online, context, token) -> None:
    table = NgramTable.build(documents, VOCAB)
    quiet, busy = NgramModel(VOCAB, table), NgramModel(VOCAB, table)
    before = quiet.logprob(context, token)
    busy.extend(online)
    assert quiet.logprob(context, token) == before


def test_uniform_without_any_counts() -> None:
    assert NgramModel(1000).logprob([3, 4], 5) == pytest.approx(-math.log(1000))
    silent = NgramModel(1000, online=False)
    silent.extend([1, 2, 3])
    assert silent.logprob([1, 2], 3) == pytest.approx(-math.log(1000))


def test_the_online_table_grows_and_learns() -> None:
    rng = np.random.default_rng(0)
    text = rng.integers(0, 5000, 3000)
    model = NgramModel(5000)
    for token in text:
        model.extend([token])
    at_once = NgramModel(5000)
    at_once.extend(text)
    for i in range(2, 3000, 97):
        assert (
            model.logprob(text[:i], text[i]) == at_once.logprob(text[:i], text[i]) > math.log(0.2)
        )


def test_the_largest_vocabulary_has_room_for_its_keys() -> None:
    assert (MAX_VOCAB + 1) ** 3 < 2**63 <= (MAX_VOCAB + 2) ** 3
    last = MAX_VOCAB - 1
    model = NgramModel(MAX_VOCAB)
    model.extend([last] * 4)
    assert model.logprob([last, last], last) > math.log(0.5)


def test_fitted_prunes_no_more_than_needed() -> None:
    rng = np.random.default_rng(1)
    table = NgramTable.build([(rng.zipf(1.3, 20_000) % 300).tolist()], 300)
    size = len(table.to_bytes())
    assert table.fitted(size) is table
    small = table.fitted(size * 3 // 4)
    assert small.min_count > 1
    assert (
        len(small.to_bytes()) <= size * 3 // 4 < len(table.pruned(small.min_count - 1).to_bytes())
    )
    with pytest.raises(ValueError, match="at most 100 are allowed"):
        table.fitted(100)


def test_starting_a_run_is_cheap() -> None:
    table = NgramTable.build([range(1000)], 50_000)
    first = NgramModel(50_000, table)
    assert NgramModel(50_000, table).counts.bi_token is first.counts.bi_token is not None
    assert not first.counts.bi_token.flags.writeable


@pytest.mark.parametrize("damage", ["empty", "cut", "flip", "text", "missing", "other"])
def test_a_damaged_file_is_refused_by_name(tmp_path, damage: str) -> None:
    path = tmp_path / "table.npz"
    NgramTable.build([[1, 2, 3, 1, 2, 4] * 20], 7).save(path)
    data = path.read_bytes()
    middle = len(data) // 2
    changed = {"empty": b"", "cut": data[:middle], "text": b"hello", "flip": bytearray(data)}
    if damage == "flip":
        changed["flip"][100] ^= 0xFF
    if damage == "missing":
        path.unlink()
    elif damage == "other":
        np.savez(path, meta=np.zeros(3))
    else:
        path.write_bytes(changed[damage])
    with pytest.raises(ValueError, match=r"table\.npz"):
        NgramTable.load(path)


def _npz(path: Path, entries: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


def _npy(descr: str, shape: tuple[int, ...], data: bytes = bytes(5)) -> bytes:
    """An array file whose header says this, whatever the data are."""
    file, header = io.BytesIO(), {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + data


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        (b"\0" * (300 << 20), "it would unpack to 314,5"),
        (_npy("|u1", (900_000_000_000,)), "does not have its size"),
        (_npy("|u1", (-5,)), "does not have its size"),
        (_npy("|O", (1,)), "expected numbers, got an array of object"),
        (_npy("<f8", (5,), np.full(5, np.nan).tobytes()), "expected whole numbers"),
        (b"\x93NUMPY\x01\0\xff\xff{", "not a valid n-gram table"),
        (b"", "not a valid n-gram table"),
    ],
)
def test_an_archive_is_unpacked_only_as_far_as_it_is_sound(
    tmp_path: Path, entry: bytes, named: str
) -> None:
    """A bomb, a header that claims a terabyte, a pickle: all without a growth of memory."""
    path = tmp_path / "table.npz"
    NgramTable.build([[1, 2, 3, 1, 2, 4] * 3], 7).save(path)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    _npz(path, entries | {"uni_count.npy": entry})
    with watched() as cost, pytest.raises(ValueError, match=named) as error:
        NgramTable.load(path)
    assert "\n" not in str(error.value)
    assert cost.seconds < 1
    assert cost.megabytes < 100


def test_every_flipped_byte_is_refused_or_harmless(tmp_path) -> None:
    path = tmp_path / "table.npz"
    table = NgramTable.build([[1, 2, 3, 1, 2, 4] * 3], 7)
    data = table.to_bytes()
    for place in range(0, len(data), 7):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        try:
            assert NgramTable.load(path).to_bytes() == data
        except ValueError as error:
            assert "table.npz" in str(error)  # noqa: PT017


SMALL = [[1, 2, 3, 1, 2, 4] * 3]  # pairs 1 2, 2 3, 2 4, 3 1, 4 1
INT31 = 2**31 - 1


def _stored(path: Path, documents: list[list[int]], vocab: int, /, **changes: object) -> None:
    """A table's file with other metadata or arrays than were saved."""
    NgramTable.build(documents, vocab).save(path)
    with np.load(path) as saved:
        arrays = dict(saved)
    meta = json.loads(arrays.pop("meta").tobytes())
    meta |= {name: changes.pop(name) for name in list(changes) if name in meta}
    np.savez(path, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays | changes)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"format": 2}, "its format is not 1"),
        ({"vocab": 7.0}, "its format is not 1"),
        ({"vocab": 0}, "vocabulary must have 1"),
        ({"order": 4}, "order must be 2 or 3"),
        ({"tokens": 19}, "do not add up"),
        ({"uni_count": [0, 6, 6, 3, 3, 0, 0, 0]}, "uni_count must be 7 counts"),
        ({"uni_count": [-1, 7, 6, 3, 3, 0, 0]}, "uni_count must be 7 counts"),
        ({"uni_count": [0, INT31 + 1, 6, 3, 3, 0, 0]}, "does not fit in 31 bits"),
        ({"uni_escape": [0, 1, 1, 1, 1, 0, 0]}, "do not add up"),
        ({"bi_escape": [1, 1, 1, 1, 1]}, "do not add up"),
        ({"bi_length": [1, 1, 2, 1, 1, 0, 0]}, "do not add up"),
        ({"bi_length": [-1, 2, 2, 1, 1, 0, 0]}, "not a valid n-gram table"),
        ({"bi_token": [2, 3, -1, 1, 1]}, "do not add up"),
        ({"bi_token": [2, 3, 4, 1, 1]}, "outside the vocabulary of 7"),
        ({"tri_token": [3, 4, 1, 1, 2, 2]}, "outside the vocabulary of 7"),
        (
            # One token cannot be the six that one context claims.
            {"tri_token": [1], "tri_length": [0, 0, 0, 0, 6], "bi_escape": [2, 1, 1, 1, 6]},
            "do not add up",
        ),
    ],
)
def test_a_table_whose_parts_contradict_each_other_is_refused(
    tmp_path: Path, changes: dict[str, object], named: str
) -> None:
    path = tmp_path / "table.npz"
    _stored(path, SMALL, 7)
    NgramTable.load(path)
    _stored(path, SMALL, 7, **changes)
    with pytest.raises(ValueError, match=named):
        NgramTable.load(path)


def test_counts_up_to_31_bits_are_read(tmp_path: Path) -> None:
    _stored(tmp_path / "table.npz", [[0]], 1, tokens=INT31, uni_count=[INT31])
    assert NgramTable.load(tmp_path / "table.npz").uni_count.tolist() == [INT31]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NgramModel(0), "vocabulary must have 1"),
        (lambda: NgramModel(MAX_VOCAB + 1), f"got {MAX_VOCAB + 1}"),
        (lambda: NgramModel(5, order=4), "order must be 2 or 3, got 4"),
        (lambda: NgramModel(5).extend([5]), r"tokens must lie in 0\.\.4"),
        (lambda: NgramModel(5).logprob([], -1), r"tokens must lie in 0\.\.4"),
        (lambda: NgramTable.build([[0, 9]], 5), r"tokens must lie in 0\.\.4"),
        (lambda: NgramModel(5, NgramTable.build([], 6)), "vocabulary of 6"),
    ],
)
def test_wrong_use_is_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
