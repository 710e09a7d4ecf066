import shutil
from pathlib import Path

import nltk.data
import pytest
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
    near = (("automobile", 15), ("auto", 2), ("motorcar", 1))
    assert wordnet.synonyms("car", "n") == (*(Synonym(*each, 0) for each in near), Synonym("machine", 0, 1))
    assert wordnet.synonyms("car", "n", 1) == (Synonym("railcar", 1, 0),)
    assert wordnet.synonyms("car", "n", 99) == wordnet.synonyms("blorf", "n") == ()
    assert [wordnet.count(*word) for word in (("output", "n"), ("output", "v"), ("blorf", "n"))] == [4, 1, 0]
    assert (wordnet.first_share("place", "v"), wordnet.first_share("sofa", "n")) == (12 / 14, 1)
    assert [wordnet.share_sense(*pair, "n") for pair in (("film", "movie"), ("cat", "dog"))] == [True, False]
    assert (wordnet.parts("output"), wordnet.parts("huge")) == ({"n", "v"}, {"a"})
    assert [word for word in ("hot dog", "cars", "large dog") if wordnet.has(word, "n")] == ["hot dog"]
    assert (wordnet.lexname("man", "n"), wordnet.lexname("man", "n", 99)) == ("noun.person", "")
    assert wordnet.antonyms("girl", "n") == {"boy"}
    assert wordnet.antonyms("little", "a") == {"large"}
    assert wordnet.antonyms("huge", "a") == {"little"}, "by way of its near senses"
    nouns = list(wordnet.lemmas("n"))
    assert "output" in nouns
    assert nouns == sorted(set(nouns))


def test_zip_and_debian_folder_give_same(small_wordnet: Path, tmp_path: Path, fresh: pytest.MonkeyPatch) -> None:
    source, first = small_wordnet / "corpora" / "wordnet", wordnet_hash()
    shutil.make_archive(str(tmp_path / "corpora" / "wordnet"), "zip", source.parent, "wordnet")
    debian = Path(shutil.copytree(source, tmp_path / "debian"))
    (debian / "lexnames").unlink()
    fresh.setattr(module, "DEBIAN", debian)
    for paths, suffix in (([str(tmp_path)], "zip"), ([], "debian")):
        fresh.setattr(nltk.data, "path", list(paths))
        assert suffix in str(getattr(find_wordnet(), "zipfile", find_wordnet()))
        assert module.wordnet_hash() == first
        wordnet = module.load_wordnet()
        assert wordnet.synonyms("movie", "n")[0].name == "film"
        assert wordnet.lexname("movie", "n") == "noun.communication"
    (debian / "data.noun").write_text((debian / "data.noun").read_text().replace("film", "flim", 1))
    assert module.wordnet_hash() != first
