"""WordNet for tests: what NLTK finds, else the workplace's."""

import os
from pathlib import Path

import nltk.data
import pytest
from stressreel.language.wordnet import WordNet, find_wordnet, load_wordnet

SHARED = Path(os.environ.get("STRESSREEL_SHARED", Path(__file__).parents[3] / "shared")) / "nltk_data"


def real_wordnet() -> WordNet:
    """Open WordNet, or skip the test."""
    if find_wordnet() is None and SHARED.is_dir():
        nltk.data.path.append(str(SHARED))
    if find_wordnet() is None:
        pytest.skip("no WordNet: set NLTK_DATA, or name the workplace folder with STRESSREEL_SHARED")
    return load_wordnet()
