"""Rewrite the gendered words in a caption, and make the rest of the caption agree with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ...language.inflection import inflect, is_verb_form, verb_lemma
from ...language.words import Caption, like
from .gender_mentions import ARTICLES, NUMBERS, Mention, find_mentions, is_determiner, number_word, phrase_start
from .gender_words import Target, gendered_nouns
from .result import Unchanged
from .tables import read_table

NOBODY = Unchanged("nobody with a gender")
_MODIFIERS = ("JJ", "NN", "VBN", "CD")


@dataclass
class _Draft:
    """A caption with changes that have not been applied yet."""

    caption: Caption
    target: Target
    changes: dict[int, str] = field(default_factory=dict)
    before: dict[int, str] = field(default_factory=dict)

    def write(self, number: int, new: str) -> None:
        self.changes[number] = like(new, self.caption.tokens[number].text) if new else ""

    def delete(self, start: int, stop: int) -> None:
        """Delete tokens and adapt any article before them."""
        for number in range(start, stop):
            self.changes[number] = ""
        if start and self.caption.tokens[start - 1].lower in ARTICLES:
            self.changes.setdefault(start - 1, self.caption.tokens[start - 1].text)


def with_gender(caption: Caption, target: Target) -> str | Unchanged:
    """Rewrite every gendered mention in a caption. See the functions in `bias` for the rules."""
    mentions = list(find_mentions(caption))
    if not mentions:
        return NOBODY
    draft = _Draft(caption, target)
    for mention in mentions:
        new = mention.word.become(target)
        if target == "neutral" and mention.slip:
            new = mention.word.become(target, mention.slip == "many") + "'s" * (mention.slip == "own")
        elif target == "neutral" and _names_a_trade(caption, mention):
            new = ""
        if new:
            draft.write(mention.start, new)
            for number in range(mention.start + 1, mention.stop):
                draft.changes[number] = ""
        else:
            draft.delete(mention.start, mention.stop)
    if target != "swap":
        joined = _join(draft, mentions)
        _distinguish(draft, [mention for mention in mentions if mention not in joined])
    if target == "neutral":
        for mention in mentions:
            if mention.role == "subject":
                _agree(draft, mention.start)
    _fix_possessives(draft)
    text = caption.edit(draft.changes, draft.before)
    if text != caption.text:
        return text
    return Unchanged(f"everybody is {target} already" if target in ("female", "male") else "no other word for them")


def _names_a_trade(caption: Caption, mention: Mention) -> bool:
    """Return whether a word only marks the gender of the noun that follows, as in "women athletes"."""
    if mention.role != "noun" or mention.stop == len(caption.tokens):
        return False
    last = mention.stop  # last noun of a compound: "women news reporters"
    while last + 1 < len(caption.tokens) and caption.tokens[last + 1].tag.startswith("NN"):
        last += 1
    following = caption.tokens[last]
    singular = following.lower.removesuffix("s") if mention.word.plural else following.lower
    noun = caption.tokens[mention.stop].tag.startswith("NN") and following.tag.startswith("NN")
    return noun and singular in read_table("bias")["trades"]["rows"]


def _join(draft: _Draft, mentions: Sequence[Mention]) -> list[Mention]:
    """Merge people described by the same word: "two people" for "a person and a person", "they" for "he or she"."""
    joined: list[Mention] = []
    for role in ("adjective", "noun", "pronoun"):
        kind = [m for m in mentions if (m.role if m.role in ("adjective", "noun") else "pronoun") == role]
        for first, second in pairwise(kind):
            parents = first.word.become("neutral", False) == second.word.become("neutral", False) == "parent"
            same = parents or first.word.become(draft.target, False) == second.word.become(draft.target, False)
            if not same or first.word.gender == second.word.gender or first in joined:
                continue
            between = draft.caption.tokens[first.stop : second.start]
            listed = len(between) == 1 and between[0].text == "," and first.word.plural and second.word.plural
            if not listed and (not between or between[0].lower not in ("and", "or", "nor", "&", "/")):
                continue
            if role == "noun":
                done = _join_nouns(draft, first, second)
            else:
                done = len(between) == 1 and first.role == second.role
                if done:
                    draft.delete(first.stop, second.stop)
            if done:
                joined += [first, second]
    return joined


def _join_nouns(draft: _Draft, first: Mention, second: Mention) -> bool:
    """Merge two coordinated noun phrases if the words before the nouns allow it. Return whether they were merged."""
    tokens = draft.caption.tokens
    either = tokens[first.stop].lower in ("or", "nor", "/")
    start, determiner = phrase_start(draft.caption, first.start)
    between = range(first.stop + 1, second.start)
    other = between[0] if between and is_determiner(draft.caption, between[0]) else None
    other_words = [tokens[n].lower for n in between if n != other]
    words = [tokens[n].lower for n in range(start, first.start)]
    if not all(tokens[n].tag.startswith(_MODIFIERS) for n in between if n != other):
        return False
    if (other_words and other_words != words) or (words and not other_words and other is not None):
        return False
    counts = [_count(draft.caption, determiner, first), _count(draft.caption, other, second)]
    alike = other is None or (determiner is not None and tokens[other].lower == tokens[determiner].lower)
    if not alike and (number_word(draft.caption, other) is None or number_word(draft.caption, determiner) is None):
        return False
    if either:
        if first.word.plural != second.word.plural:
            return False
        draft.delete(first.stop, second.stop)
        return True
    if (counts[0] is None) != (counts[1] is None):
        return False
    one = first.word.become(draft.target, False)
    new, label = first.word.become(draft.target, True), ""
    if counts[0] is not None and counts[1] is not None:
        total = counts[0] + counts[1]
        digits = any(n is not None and tokens[n].text.isdigit() for n in (determiner, other))
        if total >= len(NUMBERS) and not digits:
            return False
        label = str(total) if digits else NUMBERS[total]
        couple = read_table("bias")["couples"]["rows"].get(one) if draft.target == "neutral" and total == 2 else None
        if couple:
            new = couple
            numbered = number_word(draft.caption, determiner) is not None
            plural = couple.endswith("s")
            label = label if plural and numbered else ""
            if not plural and determiner is not None and tokens[determiner].lower in ("an", "one"):
                draft.write(determiner, "a")
    draft.write(first.start, new)
    for number in range(first.start + 1, second.stop):
        draft.changes[number] = ""
    if label and determiner is not None and number_word(draft.caption, determiner) is not None:
        draft.write(determiner, label)
    elif label:
        draft.before[start] = label
    return True


def _distinguish(draft: _Draft, mentions: Sequence[Mention]) -> None:
    tokens, sentences = draft.caption.tokens, draft.caption.sentences
    seen: list[tuple[range, str, str]] = []
    for mention in mentions:
        if mention.role != "noun" or mention.word.plural or _names_a_trade(draft.caption, mention):
            continue
        sentence = next(s for s in sentences if mention.start in s)
        new = mention.word.become(draft.target, False)
        place = mention.start - 1
        others = any(s == sentence and n == new and g != mention.word.gender for s, n, g in seen)
        if others and tokens[place].lower in ARTICLES:
            before = tokens[place - 1]
            if not before.tag.startswith(("DT", "NN")) and before.lower not in ("as", "like"):
                draft.write(place, "another")
        seen.append((sentence, new, mention.word.gender))


def _fix_possessives(draft: _Draft) -> None:
    """Use "'s" after plurals that do not end in "s" and "'" after those that do: "men's", "the boys' toys"."""
    tokens = draft.caption.tokens
    for number, new in list(draft.changes.items()):
        mark = number + 1
        if not new or mark >= len(tokens) or mark in draft.changes or tokens[mark].start != tokens[number].end:
            continue
        old = tokens[number].lower
        plural = gendered_nouns().get(old)
        if plural is None or not plural.plural:
            continue
        if tokens[mark].text in ("'", "’") and not new.lower().endswith("s"):
            owned = mark + 1 < len(tokens) and tokens[mark + 1].is_word
            if owned and not _is_quoted(draft.caption, number):
                draft.changes[mark] = tokens[mark].text + "s"
        elif tokens[mark].lower in ("'s", "’s") and new.lower().endswith("s") and not old.endswith("s"):
            draft.changes[mark] = tokens[mark].text[0]


def _is_quoted(caption: Caption, number: int) -> bool:
    text = caption.text
    return any(
        token.text in ("'", "‘")
        and (not token.start or text[token.start - 1].isspace())
        and not text[token.end : token.end + 1].isspace()
        for token in caption.tokens[:number]
    )


def _count(caption: Caption, determiner: int | None, mention: Mention) -> int | None:
    counted = number_word(caption, determiner)
    if counted is not None:
        return counted
    return None if mention.word.plural else 1


def _agree(draft: _Draft, pronoun: int) -> None:
    """Make verbs agree with "they". In a question, this includes the verb before the pronoun."""
    tokens = draft.caption.tokens
    sentence = next(s for s in draft.caption.sentences if pronoun in s)
    before = pronoun - 1
    if before > sentence.start and tokens[before].lower in ("n't", "not"):
        before -= 1
    if before >= sentence.start and tokens[before].lower in ("is", "was", "does", "has"):
        asked = before == sentence.start or tokens[before - 1].tag in ("WP", "WRB", "CC", "IN", ",")
        if asked:
            draft.write(before, _with_they(draft.caption, before))
            return
    opening, done = True, False
    for number in range(pronoun + 1, sentence.stop):
        token = tokens[number]
        if token.tag in ("RB", "RBR") and not (opening and not done and _looks_finite(draft.caption, number)):
            continue
        finite = (
            token.tag == "VBZ"
            or token.lower in ("is", "was", "'s")
            or (opening and not done and _looks_finite(draft.caption, number))
        )
        if opening and finite:
            draft.changes[number] = like(_with_they(draft.caption, number), token.text)
            done, opening = True, False
        elif token.tag == "CC" or (token.text == "," and done):
            if number + 1 < sentence.stop and tokens[number + 1].lower in ("he", "she"):
                return
            opening = True
        elif token.tag in ("WP", "WDT", "WRB") or (done and token.tag in ("VBZ", "VBP", "VBD", "MD")) or not done:
            return
        else:
            opening = False


def _looks_finite(caption: Caption, number: int) -> bool:
    """Return whether a word after "she" is a verb that the tagger missed, as in "she shops" and "she s wearing"."""
    token = caption.tokens[number]
    return token.lower == "'s" or (token.tag in ("NNS", "POS", "NN", "RB") and is_verb_form(token.lower, "VBZ"))


def _with_they(caption: Caption, number: int) -> str:
    lower = caption.tokens[number].lower
    if lower == "'s":
        following = next((t for t in caption.tokens[number + 1 :] if t.tag != "RB"), None)
        has = following is not None and (following.lower in ("been", "got", "had"))
        return caption.tokens[number].text[:-1] + ("ve" if has else "re")
    if lower == "was":
        return "were"
    return inflect(verb_lemma(lower), "VBP")
