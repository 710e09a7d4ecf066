"""The WordNet of the tests: a small one of our own in all of them, and the real one in those of what it says."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from stressreel.corruptions.text.synonyms import embedding_neighbours
from stressreel.evaluation.metrics import open_ended
from stressreel.language.wordnet import WordNet, find_wordnet, load_wordnet, wordnet_hash

SHARED = Path(os.environ.get("STRESSREEL_SHARED", Path(__file__).parents[3] / "shared")) / "nltk_data"
REMEMBERED = (load_wordnet, wordnet_hash, embedding_neighbours, open_ended._helpers)


def find_first(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let this process and those that it starts find the WordNet of a folder before any other."""
    patch.setenv("NLTK_DATA", os.pathsep.join([str(folder), *filter(None, [os.environ.get("NLTK_DATA")])]))
    if "nltk.data" in sys.modules:
        patch.setattr("nltk.data.path", [str(folder), *sys.modules["nltk.data"].path])


@contextmanager
def real_one(small: Path) -> Iterator[WordNet]:
    """Open WordNet where a user has it, or the workplace, instead of the small one; or skip the test."""
    import nltk.data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "path", [*(place for place in nltk.data.path if place != str(small)), str(SHARED)])
        _forget()
        try:
            if find_wordnet() is None:
                pytest.skip("no real WordNet: set NLTK_DATA, or name the workplace folder with STRESSREEL_SHARED")
            yield load_wordnet()
        finally:
            _forget()


def _forget() -> None:
    for function in REMEMBERED:
        function.cache_clear()
