import shutil
from pathlib import Path

import nltk.data
import pytest
from language_data import real_wordnet
from stressreel.errors import InputError
from stressreel.language import wordnet as module
from stressreel.language.wordnet import HASHED, LEXNAMES, find_wordnet, load_wordnet, wordnet_hash


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Nothing opened and nothing remembered, before and after."""
    for function in (load_wordnet, wordnet_hash):
        monkeypatch.setattr(module, function.__name__, module.__dict__[function.__name__].__wrapped__)
    return monkeypatch


def test_senses_synonyms_and_counts() -> None:
    wordnet = real_wordnet()
    names = [synonym.name for synonym in wordnet.synonyms("car", "n")]
    assert names == ["automobile", "auto", "motorcar", "machine"]
    assert [synonym.count for synonym in wordnet.synonyms("car", "n")][:3] == [15, 2, 1]
    assert [synonym.rank for synonym in wordnet.synonyms("place", "v") if synonym.name in ("put", "position")] == [0, 1]
    assert wordnet.synonyms("car", "n", 99) == ()
    assert wordnet.synonyms("blorf", "n") == ()
    assert wordnet.count("output", "n") > wordnet.count("output", "v")
    assert wordnet.parts("output") == {"n", "v"}
    assert wordnet.count("blorf", "n") == 0


def test_phrases_forms_kinds_and_opposites() -> None:
    wordnet = real_wordnet()
    assert wordnet.has("hot dog", "n")
    assert not wordnet.has("cars", "n"), "an inflected form is no lemma"
    assert not wordnet.has("large dog", "n")
    assert wordnet.lexname("man", "n") == "noun.person"
    assert wordnet.lexname("man", "n", 99) == ""
    assert "boy" in wordnet.antonyms("girl", "n")
    assert "large" in wordnet.antonyms("little", "a")
    assert {"small", "little"} <= wordnet.antonyms("huge", "a"), "by way of its near senses"
    assert "output" in list(wordnet.lemmas("n"))
    assert list(wordnet.lemmas("n")) == sorted(set(wordnet.lemmas("n")))


def test_the_list_of_lexicographer_files_is_wordnets() -> None:
    file = Path(str(real_wordnet().reader.root), "lexnames")
    if not file.is_file():
        pytest.skip(f"{file.parent} has no lexnames, as Debian's WordNet")
    with file.open(encoding="utf-8") as lines:
        assert [line.split()[1] for line in lines] == LEXNAMES.split()


def test_a_zip_and_a_folder_without_lexnames_give_the_same(tmp_path: Path, fresh: pytest.MonkeyPatch) -> None:
    real_wordnet()
    source, first = Path(str(find_wordnet())), module.wordnet_hash()
    copy = tmp_path / "zipped" / "corpora" / "wordnet"
    shutil.copytree(source, copy)
    shutil.make_archive(str(copy), "zip", copy.parent, "wordnet")
    shutil.rmtree(copy)
    debian = tmp_path / "debian"
    debian.mkdir()
    for name in (*HASHED, *(f"{part}.exc" for part in ("adj", "adv", "noun", "verb"))):
        shutil.copy(source / name, debian / name)
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


def test_no_wordnet_says_what_gives_one(tmp_path: Path, fresh: pytest.MonkeyPatch) -> None:
    fresh.setattr(nltk.data, "path", [])
    fresh.setattr(module, "DEBIAN", tmp_path)
    assert find_wordnet() is None
    for function in (module.load_wordnet, module.wordnet_hash):
        with pytest.raises(InputError, match=r"`stressreel data download`, set NLTK_DATA .* wordnet-base"):
            function()


def test_half_a_wordnet_is_an_error(tmp_path: Path, fresh: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    (folder / "data.noun").write_text("")
    fresh.setattr(nltk.data, "path", [str(tmp_path)])
    for function in (module.load_wordnet, module.wordnet_hash):
        with pytest.raises(InputError, match=r"WordNet in .*(cannot be read|is not whole)"):
            function()
