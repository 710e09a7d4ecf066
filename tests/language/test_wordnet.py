import shutil
from pathlib import Path
from typing import Any

import nltk.data
import pytest
from stressreel.core.errors import InputError
from stressreel.language import wordnet as module
from stressreel.language.wordnet import Synonym, find_wordnet, load_wordnet, wordnet_hash


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Nothing opened and nothing remembered, before and after."""
    for function in (load_wordnet, wordnet_hash):
        monkeypatch.setattr(module, function.__name__, module.__dict__[function.__name__].__wrapped__)
    return monkeypatch


def test_senses_synonyms_and_counts() -> None:
    wordnet = load_wordnet()
    assert wordnet.name.startswith("WordNet 0.1 ")
    near = (("automobile", 15), ("auto", 2), ("motorcar", 1))
    assert wordnet.synonyms("car", "n") == (*(Synonym(*each, 0) for each in near), Synonym("machine", 0, 1))
    assert [synonym.rank for synonym in wordnet.synonyms("position", "v") if synonym.name == "place"] == [1]
    assert wordnet.synonyms("car", "n", 1) == (Synonym("railcar", 1, 0),)
    assert wordnet.synonyms("car", "n", 99) == ()
    assert wordnet.synonyms("blorf", "n") == ()
    assert (wordnet.count("output", "n"), wordnet.count("output", "v"), wordnet.count("blorf", "n")) == (4, 1, 0)
    assert wordnet.parts("output") == {"n", "v"}
    assert wordnet.first_share("place", "v") == 12 / 14
    assert wordnet.first_share("sofa", "n") == 1
    assert wordnet.share_sense("film", "movie", "n")
    assert not wordnet.share_sense("cat", "dog", "n")


def test_phrases_and_antonyms() -> None:
    wordnet = load_wordnet()
    assert wordnet.has("hot dog", "n")
    assert not wordnet.has("cars", "n"), "an inflected form is no lemma"
    assert not wordnet.has("large dog", "n")
    assert wordnet.lexname("man", "n") == "noun.person"
    assert wordnet.lexname("man", "n", 99) == ""
    assert wordnet.antonyms("girl", "n") == {"boy"}
    assert wordnet.antonyms("little", "a") == {"large"}
    assert wordnet.antonyms("huge", "a") == {"little"}, "by way of its near senses"
    assert wordnet.parts("huge") == {"a"}
    assert "output" in list(wordnet.lemmas("n"))
    assert list(wordnet.lemmas("n")) == sorted(set(wordnet.lemmas("n")))


def test_zip_and_debian_folder_give_same(small_wordnet: Path, tmp_path: Path, fresh: Any) -> None:
    source, first = small_wordnet / "corpora" / "wordnet", wordnet_hash()
    copy = tmp_path / "zipped" / "corpora" / "wordnet"
    shutil.copytree(source, copy)
    shutil.make_archive(str(copy), "zip", copy.parent, "wordnet")
    shutil.rmtree(copy)
    debian = Path(shutil.copytree(source, tmp_path / "debian"))
    (debian / "lexnames").unlink()
    fresh.setattr(module, "DEBIAN", debian)
    for paths, suffix in (([str(tmp_path / "zipped")], "zip"), ([], "debian")):
        fresh.setattr(nltk.data, "path", list(paths))
        assert suffix in str(getattr(find_wordnet(), "zipfile", find_wordnet()))
        assert module.wordnet_hash() == first
        wordnet = module.load_wordnet()
        assert wordnet.synonyms("movie", "n")[0].name == "film"
        assert wordnet.lexname("movie", "n") == "noun.communication"
    (debian / "data.noun").write_text((debian / "data.noun").read_text().replace("film", "flim", 1))
    assert module.wordnet_hash() != first


def test_missing_wordnet_names_its_sources(tmp_path: Path, fresh: pytest.MonkeyPatch) -> None:
    fresh.setattr(nltk.data, "path", [])
    fresh.setattr(module, "DEBIAN", tmp_path)
    assert find_wordnet() is None
    for function in (module.load_wordnet, module.wordnet_hash):
        with pytest.raises(InputError, match=r"stressreel data download\. .* NLTK_DATA .* wordnet-base"):
            function()
