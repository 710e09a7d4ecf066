"""Change the gender of the people in a caption: nouns, adjectives, titles and pronouns, with agreement.

Names of people and animals do not change. `mode="released"` applies the word tables of the released code in the same
way as that code, including its errors. Each function returns the new caption, or the reason why it is unchanged.

Source: Schiappa et al. 2022 (arXiv 2207.02159), section 3.2 and appendix A.2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ...language.lexicon import inflect
from ...language.words import Caption, like
from ..registry import Mode, Unchanged
from .gender_words import ARTICLES, NUMBERS, Mention, Target, find_mentions, number_word, phrase_of
from .lexical import read_table, word_class


def all_female(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Make every person in a caption female: "a man and his son" becomes "a woman and her daughter".

    Reference:
        Appendix A.2, "AllFemale". Two people who would be described by the same words are merged or distinguished: "a
        man and a woman" becomes "two women", "a woman talks to a man" becomes "a woman talks to another woman".
    """
    return _rewrite(caption, "female", mode)


def all_male(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Make every person in a caption male. In the released mode, "male" becomes female and "him hair" can occur."""
    return _rewrite(caption, "male", mode)


def gender_neutral(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Replace gendered words for people with neutral ones: "she washes her hair" becomes "they wash their hair".

    Reference:
        Appendix A.2, "Neutral", which turns "a man and a woman" into "a person and a person". Here they become "two
        people", or the second of them "another person". The released mode does not restore agreement.
    """
    return _rewrite(caption, "neutral", mode)


def gender_swap(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Swap male and female words. If every word has a counterpart, swapping twice restores the caption.

    Reference:
        Appendix A.2, "GenderSwap", after Reynolds 2022. The released mode uses the word list of gender_bender 0.1.3.
    """
    return _rewrite(caption, "swap", mode)


def _rewrite(caption: Caption, target: Target, mode: Mode) -> str | Unchanged:
    """Rewrite every gendered mention in a caption."""
    if mode == "released":
        return _released_swap(caption) if target == "swap" else _released_gender(caption, target)
    mentions = list(find_mentions(caption))
    if not mentions:
        return Unchanged("nobody with a gender")
    draft = _Draft(caption, target)
    for mention in mentions:
        draft.delete(mention.start, mention.stop)
        if target != "neutral" or not _describes(caption, mention):
            draft.write(mention.start, _new_word(caption, mention, target))
    if target != "swap":
        joined = [index for first in mentions for index in _join(draft, first, mentions)]
        _distinguish(draft, [mention for mention in mentions if mention.start not in joined])
    if target == "neutral":
        for mention in mentions:
            if mention.role == "subject" and not _agree(draft, mention.start):
                return Unchanged(f"not sure what the verb of {caption.tokens[mention.start].text!r} is")
    for mention in mentions:
        _fix_possessive(draft, mention)
    text = caption.edit(draft.changes, draft.before)
    if text != caption.text:
        return text
    return Unchanged(f"everybody is {target} already" if target in ("female", "male") else "no other word for them")


@dataclass
class _Draft:
    """A caption with changes that have not been applied yet."""

    caption: Caption
    target: Target
    changes: dict[int, str] = field(default_factory=dict)
    before: dict[int, str] = field(default_factory=dict)

    def write(self, index: int, new: str) -> None:
        self.changes[index] = like(new, self.caption.tokens[index].text) if new else ""

    def delete(self, start: int, stop: int) -> None:
        """Delete tokens and adapt any article before them."""
        self.changes |= dict.fromkeys(range(start, stop), "")
        if start and self.caption.tokens[start - 1].lower in ARTICLES:
            self.changes.setdefault(start - 1, self.caption.tokens[start - 1].text)


def _new_word(caption: Caption, mention: Mention, target: Target) -> str:
    """Return the new word. A neutral one has the number of its determiner: "a person" for "a women"."""
    if target != "neutral" or mention.role != "noun":
        return mention.word.become(target)
    mark, between = phrase_of(caption, mention.start)
    few = any(caption.lower_at(n) == "few" for n in between)  # "a few women"
    count = None if few else number_word(caption, mark)
    return mention.word.become(target, mention.word.plural if count is None else count > 1)


def _describes(caption: Caption, mention: Mention) -> bool:
    """Return whether a noun only marks the gender of the noun that follows, as in "women athletes"."""
    head = mention.start
    while caption.tokens[head].arc in ("compound", "nmod") and caption.tokens[head].head > head:
        head = caption.tokens[head].head
    trade = caption.tokens[head].lemma in read_table("bias")["trades"]["rows"]
    return mention.role == "noun" and head != mention.start and trade


def _join(draft: _Draft, first: Mention, mentions: Sequence[Mention]) -> tuple[int, ...]:
    """Merge a mention with the one that is joined to it and would be the same word; return their tokens.

    "a man and a woman" becomes "two people", "he or she" becomes "they", and "male and female" becomes "male".
    """
    caption, tokens = draft.caption, draft.caption.tokens
    second = next((m for m in mentions if m.start > first.start and m.role == first.role), None)
    same = second and first.word.become(draft.target, False) == second.word.become(draft.target, False)
    link = tokens[first.stop].lower if first.stop < len(tokens) else ""
    if second is None or not same or first.word.gender == second.word.gender or first.role != second.role:
        return ()
    if first.role != "noun" or (link in ("or", "nor", "/") and first.word.plural == second.word.plural):
        if link in ("and", "or", "nor", "/") and (first.role == "noun" or second.start == first.stop + 1):
            draft.delete(first.stop, second.stop)
            return first.start, second.start
        return ()
    phrases = [phrase_of(caption, mention.start) for mention in (first, second)]
    marks = [mark for mark, _ in phrases]
    described = [[tokens[n].lower for n in between] for _, between in phrases]
    plain = set(range(first.stop, second.start)) <= {first.stop, marks[1], *phrases[1][1]}
    alike = described[0] == described[1] or (not described[1] and marks[1] is None)
    if link not in ("and", "&") or not plain or not alike:
        return ()  # "a young man and a woman"
    return _merge(draft, first, second, marks)


def _merge(draft: _Draft, first: Mention, second: Mention, marks: Sequence[int | None]) -> tuple[int, ...]:
    """Write one plural for two mentions, with the sum of their numbers if they have any."""
    caption, tokens, new = draft.caption, draft.caption.tokens, first.word.become(draft.target, True)
    stated = [number_word(caption, mark) for mark in marks]
    counts = [count or (None if m.word.plural else 1) for count, m in zip(stated, (first, second), strict=True)]
    written = [tokens[mark].lower if mark is not None else "" for mark in marks]
    if (counts[0] is None) != (counts[1] is None) or (None in stated and written[1] not in ("", written[0])):
        return ()
    if counts[0] and counts[1]:
        total = counts[0] + counts[1]
        label = NUMBERS[total] if total < len(NUMBERS) else str(total)
        if stated[0] and marks[0] is not None:
            draft.write(marks[0], label)
        elif first.word.become(draft.target, False) not in read_table("bias")["couples"]["rows"]:
            draft.before[min(phrase_of(caption, first.start)[1], default=first.start)] = label
    draft.changes |= dict.fromkeys(range(first.stop, second.stop), "")
    draft.write(first.start, new)
    return first.start, second.start


def _distinguish(draft: _Draft, mentions: Sequence[Mention]) -> None:
    """Call the second of two people "another" who would be described by the same words."""
    seen: list[tuple[str, str]] = []
    for mention in mentions:
        if mention.role != "noun" or mention.word.plural or _describes(draft.caption, mention):
            continue
        new, article = mention.word.become(draft.target, False), mention.start - 1
        ambiguous = any(word == new and gender != mention.word.gender for word, gender in seen)
        if ambiguous and draft.caption.lower_at(article) in ARTICLES:
            draft.write(article, "another")
        seen.append((new, mention.word.gender))


def _fix_possessive(draft: _Draft, mention: Mention) -> None:
    """Use "'s" after a plural that does not end in "s" and "'" after one that does: "men's", "the boys' toys"."""
    mark, new = mention.stop, draft.changes[mention.start].lower()
    text = draft.caption.slice([mark]) if draft.caption.tag_at(mark) == "POS" else ""
    if new and mention.word.plural and text.startswith(("'", "’")):
        draft.changes[mark] = text[0] + "s" * (not new.endswith("s"))


def _agree(draft: _Draft, pronoun: int) -> bool:
    """Make verbs agree with "they". Return False if a verb is uncertain."""
    caption, tokens = draft.caption, draft.caption.tokens
    if tokens[pronoun].arc == "conj":
        return True  # "he and she" are plural already
    if tokens[pronoun].arc not in ("nsubj", "nsubjpass") or not tokens[tokens[pronoun].head].tag.startswith("VB"):
        return False
    for index in next(s for s in caption.sentences if pronoun in s):
        token = tokens[index]
        verb = token.head if token.arc in ("aux", "auxpass") else index
        singular = token.tag == "VBZ" or token.lower in ("was", "'s") or (token.tag == "NNS" and token.rival == "VBZ")
        subject = _subject(caption, verb)
        if not singular or token.tag == "POS" or subject not in (pronoun, None):
            continue
        if subject is None or (token.tag == "NNS" and word_class(caption, index) != "noun"):
            return False
        if token.lower == "'s":
            has = "been" in (tokens[verb].lower, *(tokens[n].lower for n in caption.children(verb)))
            draft.changes[index] = token.text[:-1] + ("ve" if has or tokens[verb].lower == "got" else "re")
        elif token.lower == "was" or token.tag == "VBZ":
            draft.write(index, "were" if token.lower == "was" else inflect(token.lemma, "VBP"))
    return True


def _subject(caption: Caption, index: int) -> int | None:
    """Return the subject of a verb, its own or that of the nearest verb above it."""
    own, head = caption.child(index, "nsubj", "nsubjpass", "expl"), caption.tokens[index].head
    return own if own is not None or head == index else _subject(caption, head)


# As in the released code


def _released_gender(caption: Caption, target: Literal["female", "male", "neutral"]) -> str | Unchanged:
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


def _released_swap(caption: Caption) -> str | Unchanged:
    """Apply the gender_bender list to every sequence of letters, and adapt "him" and "hers" before a noun."""
    rows: dict[str, str] = read_table("bias")["released_swap"]["rows"]

    def swapped(match: re.Match[str]) -> str:
        word = match[0]
        new = rows.get(word.lower())
        if new is None:
            return word
        if new in ("him", "hers") and _is_genitive(caption, match.end()):
            new = "his" if new == "him" else "her"
        if word[0].isupper():
            new = new[0].upper() + new[1:]
        return new.upper() if word.isupper() else new

    text = re.sub(r"(?<![A-Za-z'])[A-Za-z]+(?=(?:'(?:s|ll|re|ve|d|m)?)?(?![A-Za-z']))", swapped, caption.text).strip()
    return text if text != caption.text.strip() else Unchanged("no word of the released list")


def _is_genitive(caption: Caption, end: int) -> bool:
    """Return whether a noun or determiner follows before any conjunction or preposition."""
    for token in caption.tokens:
        if token.start < end:
            continue
        if token.text in (".", "<", ">") or token.tag in ("CC", "IN", "RP"):
            return False
        if token.tag in ("NN", "NNS", "DT", "PDT", "WDT", "PRP$"):
            return True
    return False
