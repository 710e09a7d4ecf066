from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from extras import needs
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from stressreel.core.errors import InputError, OutputError
from stressreel.language import embeddings

Floats = NDArray[np.float32]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "stressreel"


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 90), st.integers(2, 5), st.integers(0, 1000))
def test_neighbours_equal_exhaustive_search(count: int, width: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)
    words = [f"w{index:03}" for index in range(count)]
    neighbours = embeddings.nearest_words(words, matrix)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    for row, word in enumerate(words):
        cosines = dict(zip(words, (unit @ unit[row]).tolist(), strict=True))
        near = dict(neighbours.of(word))
        del cosines[word]
        assert list(near.values()) == pytest.approx(
            sorted(cosines.values(), reverse=True)[: embeddings.NEAREST], abs=2e-4
        )
        assert near == pytest.approx({other: cosines[other] for other in near}, abs=2e-4)


def write(path: Path, *lines: str) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_glove_neighbours_are_lemmas_cached_by_content(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ("dog 1 0.1", "cat 0.9 0.2", "dogs 1 0.1", "the 1 0", "car 0 1", "Dog 1 0.1", ", 1 1")
    first = embeddings.glove_neighbours(write(tmp_path / "glove.txt", *lines))
    assert (first.words, first.of("dogs")) == (("dog", "cat", "car"), ())
    assert [word for word, _ in first.of("dog")] == ["cat", "car"]
    (kept,) = cache.glob("words-*.npz")
    with monkeypatch.context() as patched:
        patched.setattr(embeddings, "_read_glove", lambda path: pytest.fail("read again"))
        assert embeddings.glove_neighbours(write(tmp_path / "same.txt", *lines)).of("dog") == first.of("dog")
    kept.write_bytes(b"damaged")
    assert embeddings.glove_neighbours(write(tmp_path / "again.txt", *lines)).of("dog") == first.of("dog")
    changed = embeddings.glove_neighbours(write(tmp_path / "changed.txt", *lines, "elephant 1 0.2"))
    assert changed.of("dog") != first.of("dog")
    for second in ("cat 1", "cat 1 x", "cat 1 nan", "cat 0 0"):
        with pytest.raises(InputError, match=r"line 2: expected a word and 2 numbers"):
            embeddings.glove_neighbours(write(tmp_path / "bad.txt", "dog 1 2", second))


def vectors(n: int, seed: int, axes: bool) -> Floats:
    """Vectors of length 1, either in any direction or along few axes, with many ties."""
    rng = np.random.default_rng(seed)
    if axes:
        return (np.eye(4)[rng.integers(0, 4, n)] * rng.choice([-1, 1], n)[:, None]).astype(np.float32)
    found = rng.standard_normal((n, 24)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@given(st.integers(1, 60), st.one_of(st.none(), st.integers(0, 20)), st.booleans(), st.integers(0, 99), st.data())
@settings(max_examples=60, deadline=None)
def test_nearest_equals_sorting(n: int, m: int | None, axes: bool, seed: int, data: st.DataObject) -> None:
    k, tile = data.draw(st.integers(0, 12)), data.draw(st.sampled_from([1, 7, None]))
    below = data.draw(st.sampled_from([None, 1.0, 0.5, 0.0, -1.0] if axes else [None]))
    queries, offered = vectors(n, seed, axes), None if m is None else vectors(m, seed + 1, axes)
    indices = embeddings.nearest(queries, offered, k, below=below, tile=tile)
    assert indices.shape == (n, k)
    for own, row in enumerate((queries @ (queries if offered is None else offered).T).round(5).tolist()):
        left = [at for at, c in enumerate(row) if (m is not None or at != own) and (below is None or c < below)]
        wanted = sorted(left, key=lambda at, row=row: (-row[at], at))[:k]
        assert [at for at in indices[own].tolist() if at >= 0] == wanted


NEEDS_ENCODER = needs("sentence_transformers")
TEXTS = ["Pip ran.", "Bramble wanted to catch Pip by surprise.", "why", "Pip ran.", "", "Où est le chat ?", "Pip hid."]


class Fake:
    """An encoder that counts, with vectors of its own for every text."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.model = SimpleNamespace(max_seq_length=6, tokenizer=self.tokens)

    @staticmethod
    def tokens(texts: list[str], **_: object) -> dict[str, list[list[int]]]:
        return {"input_ids": [[0] * len(text.split()) for text in texts]}

    def encode(self, texts: Sequence[str]) -> Floats:
        self.calls.append(list(texts))
        found = np.array([[len(text), sum(map(ord, text)) % 97 + 1, 3] for text in texts], np.float32).reshape(-1, 3)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.fixture
def fake(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    encoder = Fake()
    monkeypatch.setattr(embeddings, "load_encoder", lambda model: encoder)
    return encoder


@NEEDS_ENCODER
def test_only_new_texts_are_encoded_once(fake: Fake) -> None:
    first = embeddings.embed(TEXTS)
    assert (first.shape, first.dtype) == ((7, 3), np.float32)
    np.testing.assert_array_equal(first, fake.encode(TEXTS))
    fake.calls.clear()
    np.testing.assert_array_equal(embeddings.embed(TEXTS[::-1]), first[::-1])
    assert fake.calls == []
    embeddings.embed([*TEXTS, "new"])
    assert {text for call in fake.calls for text in call} == {"new"}


@NEEDS_ENCODER
def test_interrupted_run_keeps_written_shards(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(noun: str, count: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(embeddings, "SHARD", 16)
    texts = [f"text {number}" for number in range(80)]
    with monkeypatch.context() as patch:
        patch.setattr(embeddings, "keep", stop)
        with pytest.raises(KeyboardInterrupt):
            embeddings.embed(texts)
    fake.calls.clear()
    embeddings.embed(texts)
    assert len(fake.calls) == 4


@NEEDS_ENCODER
def test_damaged_cache_is_rewritten_and_unwritable_refused(fake: Fake, cache: Path) -> None:
    first = embeddings.embed(TEXTS)
    (path,) = embeddings.cache_folder().glob("*.npy")
    for content in (b"", b"no numpy", path.read_bytes()[:-7]):
        path.write_bytes(content)
        np.testing.assert_array_equal(embeddings.embed(TEXTS), first)
    cache.rename(cache.with_name("moved"))
    cache.write_text("a file")
    with pytest.raises(OutputError, match="cannot write"):
        embeddings.embed(TEXTS)


@NEEDS_ENCODER
@pytest.mark.full
def test_embedding_does_not_depend_on_other_texts(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["Pip", "Bramble", "ran", "hid", "jumped", "under", "behind", "the", "table", "clock", "hungry", "scared"]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, rng.integers(2, 12))) for _ in range(60)]
    together = embeddings.embed(texts)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "other"))
    apart = [embeddings.embed(texts[40:]), embeddings.embed(texts[7:40]), embeddings.embed(texts[:7])]
    np.testing.assert_array_equal(np.concatenate(apart[::-1]), together)
    np.testing.assert_allclose(embeddings.load_encoder(None).encode(texts), together, atol=1e-5)
