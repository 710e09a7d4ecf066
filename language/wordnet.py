"""Query WordNet through NLTK: senses by frequency, counts, synonyms and antonyms."""

from __future__ import annotations

import hashlib
import io
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ..core.errors import InputError
from ..core.extras import Requirement, import_extra, missing, package

Pos = Literal["n", "v", "a", "r"]
POSES: tuple[Pos, ...] = ("n", "v", "a", "r")
DEBIAN = Path("/usr/share/wordnet")  # installed by the package wordnet-base
RESOURCES = ("corpora/wordnet", "corpora/wordnet.zip/wordnet/")
HASHED = (*(f"{kind}.{part}" for part in ("adj", "adv", "noun", "verb") for kind in ("data", "index")), "cntlist.rev")
DOWNLOAD = "stressreel data download"
INSTEAD = (
    "For WordNet, you can also set NLTK_DATA to the folder that contains corpora/wordnet, or install the Debian "
    f"package wordnet-base ({DEBIAN})."
)
# The lexicographer files of WordNet 3.0 in order (lexnames(5WN)); Debian's package omits this list.
LEXNAMES = (
    "adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition "
    "noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive noun.object noun.person "
    "noun.phenomenon noun.plant noun.possession noun.process noun.quantity noun.relation noun.shape noun.state "
    "noun.substance noun.time verb.body verb.change verb.cognition verb.communication verb.competition "
    "verb.consumption verb.contact verb.creation verb.emotion verb.motion verb.perception verb.possession verb.social "
    "verb.stative verb.weather adj.ppl"
)
_SYNSET_TYPES: dict[str, Pos] = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}


@dataclass(frozen=True)
class Synonym:
    """A word that shares a sense with another word.

    Attributes:
        name: The word or phrase, with spaces between words.
        count: Frequency of this sense in WordNet's tagged texts.
        rank: Rank of the sense among those of the synonym, from 0.
    """

    name: str
    count: int
    rank: int


@dataclass(frozen=True, eq=False)
class WordNet:
    """An open WordNet database. Lemmas are in lower case, with spaces between words.

    Attributes:
        name: Version and hash of the content. Equal names imply equal results.
        reader: NLTK's reader.
        counts: Frequency of lemmas by part of speech in WordNet's tagged texts (cntlist.rev).
    """

    name: str
    reader: Any
    counts: Mapping[tuple[str, Pos], int]

    def count(self, lemma: str, pos: Pos) -> int:
        """Return how often a lemma occurs as this part of speech in the tagged texts."""
        return self.counts.get((lemma, pos), 0)

    def has(self, lemma: str, pos: Pos) -> bool:
        """Return whether WordNet lists a lemma or phrase as this part of speech."""
        return bool(_offsets(self, lemma, pos))

    def parts(self, lemma: str) -> frozenset[Pos]:
        """Return the parts of speech of a lemma. Satellite adjectives count as adjectives."""
        return frozenset(pos for pos in POSES if self.has(lemma, pos))

    def lemmas(self, pos: Pos) -> Iterator[str]:
        """Return the lemmas of one word that occur as this part of speech in the tagged texts, sorted."""
        return iter(sorted(lemma for lemma, part in self.counts if part == pos and lemma.isalpha()))

    def synonyms(self, lemma: str, pos: Pos, sense: int = 0) -> tuple[Synonym, ...]:
        """Return the synonyms of a lemma in one of its senses, most frequent first. Sense 0 is the most frequent."""
        return _synonyms(self, lemma, pos, sense)

    def lexname(self, lemma: str, pos: Pos, sense: int = 0) -> str:
        """Return the lexicographer file of a sense, such as "noun.person", or "" if there is no such sense."""
        senses = _senses(self, lemma, pos)
        return str(senses[sense].lexname()) if sense < len(senses) else ""

    def first_share(self, lemma: str, pos: Pos) -> float:
        """Return how often, as a share, a lemma occurs in its most frequent sense in the tagged texts.

        The share is 1 for a lemma with one sense. It is 0 for an unknown lemma or one whose senses do not occur in
        these texts.
        """
        return _first_share(self, lemma, pos)

    def share_sense(self, lemma: str, other: str, pos: Pos) -> bool:
        """Return whether two lemmas have the same most frequent sense."""
        return _offsets(self, lemma, pos)[:1] == _offsets(self, other, pos)[:1] != ()

    def antonyms(self, lemma: str, pos: Pos) -> frozenset[str]:
        """Return the antonyms of a lemma in any sense. For adjectives, this includes those of similar senses."""
        return _antonyms(self, lemma, pos)


@cache
def _offsets(wordnet: WordNet, lemma: str, pos: Pos) -> tuple[int, ...]:
    return tuple(int(sense.offset()) for sense in _senses(wordnet, lemma, pos))


@cache
def _senses(wordnet: WordNet, lemma: str, pos: Pos) -> tuple[Any, ...]:
    key = lemma.replace(" ", "_")
    synsets = wordnet.reader.synsets(key, pos)
    return tuple(sense for sense in synsets if key in (name.lower() for name in sense.lemma_names()))


@cache
def _first_share(wordnet: WordNet, lemma: str, pos: Pos) -> float:
    senses, key = _senses(wordnet, lemma, pos), lemma.replace(" ", "_")
    counts = [sum(m.count() for m in sense.lemmas() if m.name().lower() == key) for sense in senses]
    return 1.0 if len(counts) == 1 else counts[0] / sum(counts) if sum(counts) else 0.0


@cache
def _synonyms(wordnet: WordNet, lemma: str, pos: Pos, sense: int) -> tuple[Synonym, ...]:
    senses = _senses(wordnet, lemma, pos)
    if sense >= len(senses):
        return ()
    synonyms = []
    for other in senses[sense].lemmas():
        name = other.name().replace("_", " ")
        own = _offsets(wordnet, name.lower(), pos)
        if name.lower() != lemma and senses[sense].offset() in own:
            synonyms.append(Synonym(name, other.count(), own.index(senses[sense].offset())))
    return tuple(sorted(synonyms, key=lambda synonym: (-synonym.count, synonym.rank, synonym.name)))


@cache
def _antonyms(wordnet: WordNet, lemma: str, pos: Pos) -> frozenset[str]:
    names = set()
    for sense in _senses(wordnet, lemma, pos):
        near = sense.similar_tos() if sense.pos() == "s" else ()
        for group in (sense, *near):
            for member in group.lemmas():
                names |= {other.name().replace("_", " ").lower() for other in member.antonyms()}
    return frozenset(names)


def find_wordnet() -> Any | None:
    """Find WordNet in NLTK's data or Debian's package, without opening it. Return None if it is missing."""
    data = import_extra("nltk.data", what="WordNet")
    for resource in RESOURCES:
        try:
            return data.find(resource)
        except LookupError:
            continue
    if (DEBIAN / "data.noun").is_file():
        if str(DEBIAN) not in data.path:
            data.path.append(str(DEBIAN))  # NLTK refuses to open files outside its own folders
        return data.FileSystemPathPointer(str(DEBIAN))
    return None


def wordnet_requirement(what: str = "this") -> Requirement:
    """Describe WordNet, which `what` needs. Without NLTK, it cannot be looked for, and counts as missing."""
    there = package("nltk").there and find_wordnet() is not None
    return Requirement("WordNet", what, there, install=DOWNLOAD, instead=INSTEAD)


@cache
def load_wordnet() -> WordNet:
    """Open WordNet, once per process. The first call takes about two seconds.

    Raises:
        InputError: WordNet is missing or incomplete.
    """
    root = find_wordnet()
    if root is None:
        raise missing([wordnet_requirement()])
    try:
        reader = _reader(root)
        return WordNet(f"WordNet {reader.get_version()} {wordnet_hash()[:12]}", reader, _counts(reader))
    except (OSError, ValueError, AssertionError, LookupError) as error:
        raise InputError(f"WordNet in {root} cannot be read: {error}. Run `{DOWNLOAD}`. {INSTEAD}") from error


@cache
def wordnet_hash() -> str:
    """Return a hash of WordNet's content that is the same for a folder and a zip file.

    Raises:
        InputError: WordNet is missing or incomplete.
    """
    root = find_wordnet()
    if root is None:
        raise missing([wordnet_requirement()])
    digest = hashlib.sha256()
    try:
        for name in HASHED:
            with root.join(name).open() as stream:
                digest.update(hashlib.sha256(stream.read()).digest())
    except OSError as error:
        raise InputError(f"WordNet in {root} is incomplete: {error}. Run `{DOWNLOAD}`. {INSTEAD}") from error
    return digest.hexdigest()


def _reader(root: Any) -> Any:
    base: Any = import_extra("nltk.corpus.reader.wordnet").WordNetCorpusReader

    class Reader(base):  # type: ignore[misc]
        """A reader without lexnames, which Debian's package lacks, and without maps for other languages."""

        def open(self, file: str) -> Any:
            if file != "lexnames":
                return super().open(file)
            return io.StringIO("".join(f"{number:02}\t{name}\t0\n" for number, name in enumerate(LEXNAMES.split())))

        def map_wn(self, version: str = "wordnet") -> None:
            return None

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The multilingual functions are not available")
        return Reader(root, None)


def _counts(reader: Any) -> Mapping[tuple[str, Pos], int]:
    """Sum the counts of all senses. Each line has the form `lemma%type:file:sense:head:id number count`."""
    counts: Counter[tuple[str, Pos]] = Counter()
    with reader.open("cntlist.rev") as lines:
        for line in lines.read().splitlines():
            key, _, count = line.split()
            lemma, _, rest = key.partition("%")
            counts[lemma.replace("_", " "), _SYNSET_TYPES[rest[0]]] += int(count)
    return counts
