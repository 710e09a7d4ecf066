from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from extras import needs
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from stressreel.core.errors import OutputError
from stressreel.negatives import embeddings
from stressreel.negatives.embeddings import cache_folder, embed, nearest

Floats = NDArray[np.float32]


def vectors(n: int, seed: int = 0) -> Floats:
    found = np.random.default_rng(seed).standard_normal((n, 24)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def by_sorting(queries: Floats, offered: Floats | None, k: int, below: float | None = None) -> list[list[int]]:
    cosines = (queries @ (queries if offered is None else offered).T).round(5)
    return [
        sorted(
            (n for n, c in enumerate(row) if not (offered is None and n == own) and (below is None or c < below)),
            key=lambda n, row=row: (-row[n], n),
        )[:k]
        for own, row in enumerate(cosines)
    ]


@pytest.mark.parametrize("tile", [1, 7, None])
@pytest.mark.parametrize(("n", "m", "k"), [(1, None, 1), (40, None, 5), (9, 17, 5), (3, 4, 0), (6, 0, 2)])
def test_nearest_equals_sorting(n: int, m: int | None, k: int, tile: int | None) -> None:
    queries, offered = vectors(n), None if m is None else vectors(m, 1)
    found = nearest(queries, offered, k, tile=tile)
    assert found.shape == (n, k)
    assert [[i for i in row if i >= 0] for row in found.tolist()] == by_sorting(queries, offered, k)


@given(
    st.integers(1, 60),
    st.integers(1, 12),
    st.sampled_from([3, 16, None]),
    st.integers(0, 99),
    st.sampled_from([None, 1.0, 0.5, 0.0, -1.0]),
)
@settings(max_examples=40, deadline=None)
def test_nearest_breaks_ties_by_index(n: int, k: int, tile: int | None, seed: int, below: float | None) -> None:
    rng = np.random.default_rng(seed)
    v = np.eye(4, dtype=np.float32)[rng.integers(0, 4, n)] * rng.choice([-1, 1], n)[:, None].astype(np.float32)
    found = nearest(v, None, k, below=below, tile=tile)
    assert [[i for i in row if i >= 0] for row in found.tolist()] == by_sorting(v, None, k, below)


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

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        vectors = np.array([[len(text), sum(map(ord, text)) % 97 + 1, 3] for text in texts], np.float32).reshape(-1, 3)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def fake(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    encoder = Fake()
    monkeypatch.setattr(embeddings, "load_encoder", lambda model: encoder)
    return encoder


@NEEDS_ENCODER
def test_only_new_texts_are_encoded_once(fake: Fake) -> None:
    first = embed(TEXTS)
    assert first.shape == (7, 3)
    assert first.dtype == np.float32
    np.testing.assert_array_equal(first[0], first[3])
    np.testing.assert_array_equal(first, fake.encode(TEXTS))
    fake.calls.clear()
    np.testing.assert_array_equal(embed(TEXTS[::-1]), first[::-1])
    assert fake.calls == []
    embed([*TEXTS, "new"])
    assert {text for call in fake.calls for text in call} == {"new"}


@NEEDS_ENCODER
def test_interrupted_run_keeps_written_shards(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "SHARD", 16)
    texts = [f"text {number}" for number in range(80)]

    def stop(noun: str, count: int) -> None:
        assert noun == "embedded text"
        if len(list(cache_folder().glob("*.npy"))) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(embeddings, "keep", stop)
        with pytest.raises(KeyboardInterrupt):
            embed(texts)
    fake.calls.clear()
    embed(texts)
    assert len(fake.calls) == 3


@NEEDS_ENCODER
def test_damaged_cache_files_are_rewritten(fake: Fake) -> None:
    first = embed(TEXTS)
    (path,) = cache_folder().glob("*.npy")
    for content in (b"", b"no numpy", path.read_bytes()[:-7]):
        path.write_bytes(content)
        np.testing.assert_array_equal(embed(TEXTS), first)


@NEEDS_ENCODER
def test_unwritable_cache_folder_is_refused(fake: Fake, cache: Path) -> None:
    (cache / "stressreel").write_text("a file")
    with pytest.raises(OutputError, match="cannot write"):
        embed(TEXTS)


@NEEDS_ENCODER
@pytest.mark.full
def test_embedding_does_not_depend_on_other_texts(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["Pip", "Bramble", "ran", "hid", "jumped", "under", "behind", "the", "table", "clock", "hungry", "scared"]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, rng.integers(2, 12))) for _ in range(60)]
    together = embed(texts)
    assert together.shape == (60, 384)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "other"))
    apart = np.concatenate([embed(texts[40:]), embed(texts[7:40]), embed(texts[:7])])
    np.testing.assert_array_equal(apart, np.concatenate([together[40:], together[7:40], together[:7]]))
    from stressreel.language.embeddings import load_encoder

    np.testing.assert_allclose(load_encoder(None).encode(texts), together, atol=1e-5)
