"""Tag parts of speech with NLTK if its data is found, else with Pattern (textblob), and correct the tags.

Both taggers expect running text, whereas captions are in lower case, lack the final period, or are imperatives or
headlines. The corrections use the parts of speech that a word can have (`inflection`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from ..core.extras import import_extra, package
from ..core.requirements import Requirement, missing
from .tag_repairs.clipped import repair_clipped
from .tag_repairs.sentences import repair_tags
from .tag_repairs.stories import repair_story
from .words import Caption, Style, StyleOption, TaggerKind, Token, name_pattern, sentence_ranges, tokenize

PARSING = ("lemminflect", "nltk", "textblob")
"""Optional packages without which English cannot be parsed."""
NLTK_DATA = "taggers/averaged_perceptron_tagger_eng"
DOWNLOAD = "stressreel data download"
INSTEAD = (
    f"For the tagger, you can also set NLTK_DATA to the folder that contains {NLTK_DATA}, or use --tagger pattern."
)


@dataclass(frozen=True)
class Tagger:
    """A part-of-speech tagger.

    Attributes:
        name: Tagger and version. Equal names imply equal tags.
        tag_words: Function that returns a tag for each word.
    """

    name: str
    tag_words: Callable[[Sequence[str]], list[str]]

    def analyse(self, text: str, style: StyleOption = "declarative") -> Caption:
        """Tokenize and tag a caption.

        Args:
            text: One or more sentences.
            style: Style of the dataset's captions. "declarative": statements, or noun phrases without a finite verb.
                "imperative": imperatives, unless a subject and its verb are found. "auto": imperatives if the first
                word can
                only be a verb, else statements.
        """
        return _analysed(self, text, style)

    def analyse_clipped(self, text: str) -> Caption:
        """Tokenize and tag a clipped caption about a person, such as "person open the door"."""
        return _analysed_clipped(self, text)

    def analyse_story(self, text: str, names: tuple[str, ...], living: Container[str]) -> Caption:
        """Tokenize and tag a text about characters as if their names were capitalized. The text itself does not change.

        `names` must be sorted by decreasing length. `living` contains nouns for living beings that can act.
        """
        pattern = name_pattern(names)
        written = {name.lower(): name for name in names}
        capital = pattern.sub(lambda match: written.get(match[0].lower(), match[0]), text) if pattern else text
        caption = self.analyse(capital)
        tokens = tokenize(text)
        if len(tokens) != len(caption.tokens):
            return self.analyse(text)
        spans = [match.span() for match in pattern.finditer(text)] if pattern else []
        tagged = [token.with_tag(found.tag) for token, found in zip(tokens, caption.tokens, strict=True)]
        for number, token in enumerate(tagged):
            if any(start <= token.start and token.end <= end for start, end in spans) and token.is_word:
                tagged[number] = token.with_tag("NNP")
        repair_story(tagged, living)
        return Caption(text, tuple(tagged), caption.style)


@lru_cache(maxsize=1 << 15)
def _analysed(tagger: Tagger, text: str, style: StyleOption) -> Caption:
    tokens = tokenize(text)
    words = [token.read for token in tokens]
    found: list[Token] = []
    styles: list[Style] = []
    for sentence in sentence_ranges(tokens):
        part = words[sentence.start : sentence.stop]
        tags, kind = repair_tags(part, tagger.tag_words(part), style)
        found += [tokens[number].with_tag(tag) for number, tag in zip(sentence, tags, strict=True)]
        styles.append(kind)
    first: Style = styles[0] if styles else "noun_phrase"
    return Caption(text, tuple(found), first)


@lru_cache(maxsize=1 << 14)
def _analysed_clipped(tagger: Tagger, text: str) -> Caption:
    caption = tagger.analyse(text)
    tags = [token.tag for token in caption.tokens]
    repair_clipped([token.lower for token in caption.tokens], tags)
    tokens = tuple(token.with_tag(tag) for token, tag in zip(caption.tokens, tags, strict=True))
    return Caption(caption.text, tokens, caption.style)


def tagger_requirements(kind: TaggerKind, what: str) -> list[Requirement]:
    """Describe what `what` needs to parse English: the packages and, for "nltk", the data of the tagger."""
    found = [package(module, what) for module in PARSING]
    return [*found, _data_requirement(what, found)] if kind == "nltk" else found


def _data_requirement(what: str, packages: Sequence[Requirement] = ()) -> Requirement:
    there = all(each.there for each in packages) and _nltk_folder() is not None
    return Requirement("NLTK's tagger", what, there, install=DOWNLOAD, instead=INSTEAD)


@cache
def load_tagger(kind: TaggerKind = "auto") -> Tagger:
    """Load a tagger.

    "nltk" needs its data (`stressreel data download`, or NLTK_DATA). "pattern" is always installed. "auto" uses NLTK if
    its data is found.

    Raises:
        InputError: "nltk" was requested but its data is not found.
    """
    if choose_tagger(kind) == "pattern":
        return _pattern_tagger()
    folder = _nltk_folder()
    if folder is None:
        raise missing([_data_requirement("--tagger nltk")])
    return _nltk_tagger(folder)


def choose_tagger(kind: TaggerKind) -> Literal["nltk", "pattern"]:
    """Resolve "auto" to the name of a tagger, so that other processes use the same one or fail."""
    if kind == "auto":
        return "nltk" if _nltk_folder() else "pattern"
    return kind


def _nltk_folder() -> Path | None:
    data = import_extra("nltk.data", what="tagging words")
    try:
        return Path(str(data.find(NLTK_DATA)))
    except LookupError:
        return None


def _nltk_tagger(folder: Path) -> Tagger:
    from ..core.files import sha256_file

    nltk = import_extra("nltk")
    model = import_extra("nltk.tag.perceptron").PerceptronTagger()
    weights = sha256_file(next(folder.glob("*.weights.json")))
    return Tagger(
        f"nltk {nltk.__version__} averaged_perceptron_tagger_eng {weights[:12]}",
        lambda words: [tag for _, tag in model.tag(list(words))],
    )


def _pattern_tagger() -> Tagger:
    from importlib.metadata import version

    tag = import_extra("textblob.en", what="Pattern's tagger").tag

    def tag_words(words: Sequence[str]) -> list[str]:
        safe = [word.replace("/", "-").replace("&", "+") for word in words]  # Pattern's own separators
        found = [part for _, part in tag(" ".join(safe), tokenize=False)]
        return found if len(found) == len(words) else [tag(word, tokenize=False)[0][1] for word in safe]

    with warnings.catch_warnings():  # textblob leaves the files open that it reads on first use
        warnings.simplefilter("ignore", ResourceWarning)
        tag_words(["warm"])
    return Tagger(f"pattern, textblob {version('textblob')}", tag_words)
