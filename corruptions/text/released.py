"""Do as the released code does, with its errors: tag with NLTK, and change gender with its word tables."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from ...core.extras import import_extra
from ...core.files import sha256_file
from ...core.requirements import Requirement, missing
from ...language.words import Caption
from .result import Unchanged
from .tables import read_table

NLTK_DATA = "averaged_perceptron_tagger_eng"


def nltk_requirement() -> Requirement:
    """Describe the data that `nltk.pos_tag` needs."""
    download = f"python -m nltk.downloader {NLTK_DATA}"
    return Requirement(f"NLTK's {NLTK_DATA}", "--text-mode released", _folder() is not None, install=download)


def _folder() -> Path | None:
    data = import_extra("nltk.data", what="--text-mode released")
    try:
        return Path(str(data.find(f"taggers/{NLTK_DATA}")))
    except LookupError:
        return None


@cache
def nltk_tagger() -> tuple[str, Any]:
    """Load the tagger of `nltk.pos_tag`. Return its name, with version and hash, and the tagger.

    Raises:
        InputError: Its data is missing.
    """
    folder = _folder()
    if folder is None:
        raise missing([nltk_requirement()])
    weights = sha256_file(next(folder.glob("*.weights.json")))
    name = f"nltk {import_extra('nltk').__version__} {NLTK_DATA} {weights[:12]}"
    return name, import_extra("nltk.tag.perceptron").PerceptronTagger()


@lru_cache(maxsize=1 << 14)
def tagged(caption: Caption) -> Caption:
    """Return a caption with the tags of `nltk.pos_tag`, and without arcs."""
    _, tagger = nltk_tagger()
    tags = [tag for _, tag in tagger.tag([token.read for token in caption.tokens])]
    tokens = (token.read_as(tag, token.lemma, -1, "") for token, tag in zip(caption.tokens, tags, strict=True))
    return Caption(caption.text, tuple(tokens), caption.style)


def released_gender(caption: Caption, target: Literal["female", "male", "neutral"]) -> str | Unchanged:
    """Apply the released table to words separated by spaces, whatever their part of speech."""
    table = read_table("bias")["released"]["rows"]
    words = caption.text.split()
    new = []
    for word in words:
        row = table.get(word.lower())
        if row is None or row["of"] == target:
            new.append(word)
        else:
            new.append(row["neutral"] if target == "neutral" else row["flip"])
    return " ".join(new) if new != words else Unchanged("no word of the released table to change")


def released_swap(caption: Caption) -> str | Unchanged:
    """Apply the gender_bender list to every sequence of letters, and adapt "him" and "hers" before a noun."""
    rows: dict[str, str] = read_table("bias")["released_swap"]["rows"]

    def swapped(found: re.Match[str]) -> str:
        word = found[0]
        new = rows.get(word.lower())
        if new is None:
            return word
        if new in ("him", "hers") and _is_genitive(caption, found.end()):
            new = "his" if new == "him" else "her"
        if word[0].isupper():
            new = new[0].upper() + new[1:]
        return new.upper() if word.isupper() else new

    text = re.sub(r"(?<![A-Za-z'])[A-Za-z]+(?=(?:'(?:s|ll|re|ve|d|m)?)?(?![A-Za-z']))", swapped, caption.text).strip()
    return text if text != caption.text.strip() else Unchanged("no word of the released list")


def _is_genitive(caption: Caption, place: int) -> bool:
    """Return whether a noun or determiner follows before any conjunction or preposition."""
    for token in caption.tokens:
        if token.start < place:
            continue
        if token.text in (".", "<", ">") or token.tag in ("CC", "IN", "RP"):
            return False
        if token.tag in ("NN", "NNS", "DT", "PDT", "WDT", "PRP$"):
            return True
    return False
