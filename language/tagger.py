"""Parts of speech: NLTK's tagger where its data is found, else Pattern's from the textblob wheel; repairs for captions.

Both are general taggers of running text. Captions are not that: small letters, no final stop, orders, headlines. The
repairs are rules on what the taggers get wrong there; they use which readings a word can have at all (`inflection`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from ..errors import InputError
from .inflection import can_be_verb, is_only_verb, is_verb_form
from .words import Caption, Style, Token, sentence_ranges, tokenize

NLTK_DATA = "taggers/averaged_perceptron_tagger_eng"
AUXILIARIES = {
    **dict.fromkeys(("is", "'s", "has", "does"), "VBZ"),
    **dict.fromkeys(("are", "am", "have", "do", "'re", "'ve", "'m"), "VBP"),
    **dict.fromkeys(("was", "were", "had", "did"), "VBD"),
    **dict.fromkeys(
        ("will", "would", "can", "could", "shall", "should", "may", "might", "must", "ca", "wo", "'ll"), "MD"
    ),
}
CLOSED = {
    **dict.fromkeys(("a", "an", "the", "this", "these", "those", "each", "every", "another", "some"), "DT"),
    **dict.fromkeys(("i", "you", "he", "she", "it", "we", "they", "me", "him", "us", "them"), "PRP"),
    **dict.fromkeys(("himself", "herself", "itself", "themselves", "yourself", "myself"), "PRP"),
    **dict.fromkeys(("my", "your", "his", "its", "our", "their"), "PRP$"),
    **dict.fromkeys(("and", "or", "but", "nor"), "CC"),
    **dict.fromkeys(
        ("of", "into", "onto", "with", "from", "at", "towards", "toward", "while", "during", "among"), "IN"
    ),
    **dict.fromkeys(("not", "n't", "n’t"), "RB"),
    "be": "VB",
    "been": "VBN",
    "being": "VBG",
    "to": "TO",
}
_NOMINAL = ("NN", "PRP", "CD", "EX", "WP", "WDT")
StyleOption = Literal["declarative", "imperative", "auto"]


@dataclass(frozen=True)
class Tagger:
    """Tags captions.

    Attributes:
        name: Which tagger and version, for records: equal names give equal tags.
        tag_words: Gives a tag for each word.
    """

    name: str
    tag_words: Callable[[Sequence[str]], list[str]]

    def analyse(self, text: str, style: StyleOption = "declarative") -> Caption:
        """Tokenise and tag a caption.

        Args:
            text: One sentence or more.
            style: What the data set's captions are. "declarative": statements, or noun phrases where there is no finite
                verb. "imperative": orders, unless a subject and its verb are found. "auto": an order only where it
                begins with a word that is nothing but a verb.
        """
        return _analysed(self, text, style)


@lru_cache(maxsize=1 << 15)
def _analysed(tagger: Tagger, text: str, style: StyleOption) -> Caption:
    tokens = tokenize(text)
    words = [token.text for token in tokens]
    found: list[Token] = []
    styles: list[Style] = []
    for sentence in sentence_ranges(tokens):
        part = words[sentence.start : sentence.stop]
        tags, kind = repaired(part, tagger.tag_words(part), style)
        found += [replace(tokens[number], tag=tag) for number, tag in zip(sentence, tags, strict=True)]
        styles.append(kind)
    first: Style = styles[0] if styles else "noun_phrase"
    return Caption(text, tuple(found), first)


def repaired(words: Sequence[str], tags: Sequence[str], style: StyleOption) -> tuple[list[str], Style]:
    """Mend the tags of one sentence and tell what it is."""
    lower = [word.lower().replace("’", "'") for word in words]
    mended = [CLOSED.get(word) or AUXILIARIES.get(word) or tag for word, tag in zip(lower, tags, strict=True)]
    for number, word in enumerate(lower):
        before, after = lower[:number], lower[number + 1 :]
        if word == "'s":  # "it's", but "the dog's bowl"
            pronoun = bool(before) and before[-1] in ("it", "he", "she", "that", "there", "what", "who", "here", "let")
            mended[number] = "VBZ" if pronoun else "POS"
        elif word == "her":
            mended[number] = (
                "PRP$"
                if after and mended[number + 1][:2] in ("NN", "JJ", "VB", "CD") and after[0] not in AUXILIARIES
                else "PRP"
            )
        elif word == "that" and before and mended[number - 1].startswith("NN"):
            mended[number] = "WDT"
        elif word[:1].isalnum() is False and len(word) == 1:
            mended[number] = "." if word in ".!?" else "," if word == "," else ":"
    kind: Style = "declarative"
    if _is_order(lower, mended, style):
        _tag_orders(lower, mended)
        kind = "imperative"
    else:
        _find_finite_verb(lower, mended)
        if not any(tag in ("VBZ", "VBP", "VBD", "MD") for tag in mended):
            kind = "noun_phrase"
    return mended, kind


def _is_order(words: Sequence[str], tags: Sequence[str], style: StyleOption) -> bool:
    start = next((n for n, word in enumerate(words) if word[:1].isalpha() and tags[n] not in ("RB", "CC")), None)
    if style == "declarative" or start is None:
        return False
    first = words[start]
    if (first in AUXILIARIES and first not in ("do", "have")) or not is_verb_form(first, "VB"):
        return False
    return style == "imperative" or is_only_verb(first)


def _tag_orders(words: Sequence[str], tags: list[str]) -> None:
    """Tag the verbs of orders: the first word, and words after "and" or a comma that have an object or adverb."""
    opening = True
    for number, word in enumerate(words):
        if tags[number] in (",", "CC", ":") or word == "then":
            opening = True
            continue
        if tags[number] == "RB":
            continue
        if opening and is_verb_form(word, "VB") and word not in CLOSED:
            first = number == next(n for n, w in enumerate(words) if w[:1].isalpha() and tags[n] != "RB")
            follows = tags[number + 1] if number + 1 < len(tags) else ""
            if (
                first
                or is_only_verb(word)
                or follows in ("DT", "PRP", "PRP$", "TO", "RP", "CD")
                or (tags[number] == "VB")
                or (not follows and is_verb_form(word, "VB") and tags[number].startswith("VB"))
            ):
                tags[number] = "VB"
        elif tags[number] in ("VBP",):
            tags[number] = "VB" if opening else tags[number]
        opening = False


def _find_finite_verb(words: Sequence[str], tags: list[str]) -> None:
    """Find the verb that a tagger took for a noun: "a man checks out a car", "two women exercise"."""
    finite = ("VBZ", "VBP", "VBD", "MD")
    for number, word in enumerate(words):
        if number == 0 or not tags[number].startswith(("NN", "JJ", "VB")) or tags[number] in finite:
            continue
        before, after = tags[number - 1], tags[number + 1] if number + 1 < len(tags) else ""
        known = any(tag in finite for tag in tags[:number]) and "CC" not in tags[:number]
        if known or not before.startswith(_NOMINAL) or not can_be_verb(word):
            continue
        plural = before in ("NNS", "NNPS") or words[number - 1] in ("they", "we", "you", "i", "people")
        goes_on = after in ("DT", "PRP", "PRP$", "IN", "TO", "RB", "RP", "VBG", "CD") or not after
        if not plural and tags[number] == "NNS" and is_verb_form(word, "VBZ") and goes_on and after not in ("", "VBG"):
            if not _has_finite(tags, number):
                tags[number] = "VBZ"
        elif plural and is_verb_form(word, "VB") and goes_on and not _has_finite(tags, number):
            tags[number] = "VBP"


def _has_finite(tags: Sequence[str], number: int) -> bool:
    """Tell whether the clause of a word has another finite verb, before it or after, with no joining word between."""
    clause_start = max((n for n in range(number) if tags[n] in ("CC", "WP", "WDT", ",")), default=-1) + 1
    later = tags[number + 1 :]
    stop = next((n for n, tag in enumerate(later) if tag in ("CC", "WP", "WDT", ",", ":")), len(later))
    around = [*tags[clause_start:number], *later[:stop]]
    return any(tag in ("VBZ", "VBP", "VBD", "MD") for tag in around)


@cache
def load_tagger(kind: Literal["auto", "nltk", "pattern"] = "auto") -> Tagger:
    """Load a tagger.

    Args:
        kind: "nltk" needs its data (`stressreel data download`, or NLTK_DATA); "pattern" is always there; "auto" takes
            NLTK's where its data is found.

    Raises:
        InputError: "nltk" was asked for and its data is not found.
    """
    if kind != "pattern":
        folder = _nltk_folder()
        if folder:
            return _nltk_tagger(folder)
        if kind == "nltk":
            raise InputError(
                "NLTK's tagger data is not found. Run `stressreel data download`, set NLTK_DATA to the folder that "
                "holds taggers/averaged_perceptron_tagger_eng, or take --tagger pattern."
            )
    return _pattern_tagger()


def _nltk_folder() -> Path | None:
    import nltk.data

    try:
        return Path(str(nltk.data.find(NLTK_DATA)))
    except LookupError:
        return None


def _nltk_tagger(folder: Path) -> Tagger:
    import nltk
    from nltk.tag.perceptron import PerceptronTagger

    from ..records.files import sha256_file

    model = PerceptronTagger()
    weights = sha256_file(next(folder.glob("*.weights.json")))
    return Tagger(
        f"nltk {nltk.__version__} averaged_perceptron_tagger_eng {weights[:12]}",
        lambda words: [tag for _, tag in model.tag(list(words))],
    )


def _pattern_tagger() -> Tagger:
    from importlib.metadata import version

    from textblob.en import tag

    def tag_words(words: Sequence[str]) -> list[str]:
        safe = [word.replace("/", "-").replace("&", "+") for word in words]  # Pattern's own separators
        found = [part for _, part in tag(" ".join(safe), tokenize=False)]
        return found if len(found) == len(words) else [tag(word, tokenize=False)[0][1] for word in safe]

    return Tagger(f"pattern, textblob {version('textblob')}", tag_words)
