"""Change the gender of the people in a caption: nouns, adjectives, titles and pronouns, and what must agree with them.

The source is Schiappa et al. 2022 (arXiv 2207.02159), section 3.2 and appendix A.2. Names of people and animals stay.
With `mode="released"` the word tables of the released code are applied as it applies them, faults included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Literal

from ...language.inflection import can_be_verb, inflect, is_only_verb, is_verb_form, readings, verb_lemma
from ...language.words import Caption, like
from .result import Unchanged
from .tables import read_table

Mode = Literal["stressreel", "released"]
Target = Literal["female", "male", "neutral", "swap"]
Role = Literal["noun", "adjective", "subject", "object", "possessive", "alone", "reflexive"]
Triple = tuple[str, str, str]  # male, female, neutral

NOBODY = Unchanged("nobody with a gender")
_ARTICLES = ("a", "an")
_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_MODIFIERS = ("JJ", "NN", "VBN", "CD")
_SEVERAL = ("few", "couple", "lot", "group", "bunch", "pair", "dozen", "hundred", "dozens", "hundreds", "many")
_TITLES = ("mr", "mrs", "ms", "mister", "missus", "sir", "madam", "ma'am")
_PREFIXES = ("ex", "step", "half", "great", "grand", "god", "co")
_PERCEPTION = ("see", "watch", "film", "hear", "show", "record", "catch", "find", "keep", "leave", "get", "have")
_CAUSATIVE = ("let", "make", "help", "see", "watch", "hear", "have", "to")
_OTHER = {"male": "female", "female": "male"}


def all_female(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Make every person of a caption female: "a man and his son" gives "a woman and her daughter".

    Args:
        caption: The caption, tagged.
        mode: "released" repeats the released code's table.

    Returns:
        The new caption, or why there is none.

    Reference:
        Appendix A.2, "AllFemale". Two people who become alike are written as such: "a man and a woman" gives "two
        women", "a woman talks to a man" gives "a woman talks to another woman".
    """
    return _released(caption, "female") if mode == "released" else _rewritten(caption, "female")


def all_male(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Make every person of a caption male; see `all_female`.

    Args:
        caption: The caption, tagged.
        mode: "released" repeats the released code's table, which makes "male" female and writes "him hair".

    Returns:
        The new caption, or why there is none.
    """
    return _released(caption, "male") if mode == "released" else _rewritten(caption, "male")


def gender_neutral(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Take the gender from every word for a person: "she is brushing her hair" gives "they are brushing their hair".

    Args:
        caption: The caption, tagged.
        mode: "released" repeats the released code's table, without agreement.

    Returns:
        The new caption, or why there is none.

    Reference:
        Appendix A.2, "Neutral". The paper gives "a person" for "a man" and for "a woman"; a man and a woman named
        together are "two people" here, and the second of two persons is "another person".
    """
    return _released(caption, "neutral") if mode == "released" else _rewritten(caption, "neutral")


def gender_swap(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Exchange female and male words for people; twice gives the caption back where the words are pairs.

    Args:
        caption: The caption, tagged.
        mode: "released" repeats the word list of gender_bender 0.1.3, which the released code calls.

    Returns:
        The new caption, or why there is none.

    Reference:
        Appendix A.2, "GenderSwap", after Reynolds 2022.
    """
    return _released_swap(caption) if mode == "released" else _rewritten(caption, "swap")


# Words


@dataclass(frozen=True)
class _Word:
    """A word with a gender."""

    gender: str
    one: Triple  # male, female, neutral
    many: Triple
    plural: bool = False

    def become(self, target: Target, plural: bool | None = None) -> str:
        """Give the word for a target."""
        side = _OTHER[self.gender] if target == "swap" else target
        forms = self.many if (self.plural if plural is None else plural) else self.one
        return forms[("male", "female", "neutral").index(side)]


@dataclass(frozen=True)
class _Mention:
    """A place in a caption that speaks of somebody with a gender: tokens from `start` up to `stop`."""

    start: int
    stop: int
    word: _Word
    role: Role
    slip: str = ""  # a slip in number: "one" in "a women is talking", "own" in "a girls hair", "many" in "three woman"


@cache
def _nouns() -> dict[str, _Word]:
    table = read_table("bias")
    found: dict[str, _Word] = {}

    def add(one: Triple, many: Triple, sides: Sequence[str] = ("male", "female")) -> None:
        for index, gender in enumerate(("male", "female")):
            if gender in sides:
                found.setdefault(one[index], _Word(gender, one, many))
                if many != one:
                    found.setdefault(many[index], _Word(gender, one, many, plural=True))

    for male, female, neutral in table["nouns"]["rows"]:
        add((male, female, neutral), (_plural(male), _plural(female), _plural(neutral)))
    for female, other in table["derived"]["rows"].items():
        add((other, female, other), (_plural(other), _plural(female), _plural(other)), ("female",))
    for male, female, neutral in table["fixed"]["rows"]:
        add((male, female, neutral), (male, female, neutral))
    return found


@cache
def _adjectives() -> dict[str, _Word]:
    found: dict[str, _Word] = {}
    for male, female, neutral in read_table("bias")["adjectives"]["rows"]:
        for gender, word in (("male", male), ("female", female)):
            found[word] = _Word(gender, (male, female, neutral), (male, female, neutral))
    return found


@cache
def _pronoun(role: Role, gender: str) -> _Word:
    male, female, neutral = read_table("bias")["pronouns"]["rows"][role]
    return _Word(gender, (male, female, neutral), (male, female, neutral))


@cache
def _phrases() -> dict[str, list[tuple[tuple[str, ...], _Word | None]]]:
    """Give the phrases by their first word, the longest first; None for those that are never touched."""
    found: dict[str, list[tuple[tuple[str, ...], _Word | None]]] = {}
    table = read_table("bias")
    for phrase in table["protected"]["rows"]:
        words = tuple(phrase.split())
        found.setdefault(words[0], []).append((words, None))
    for male, female, neutral in table["phrases"]["rows"]:
        for gender, phrase in (("male", male), ("female", female)):
            words = tuple(phrase.split())
            triple = (_joined(male), _joined(female), neutral)
            found.setdefault(words[0], []).append((words, _Word(gender, triple, triple)))
    return {first: sorted(rows, key=lambda row: -len(row[0])) for first, rows in found.items()}


def _joined(phrase: str) -> str:
    return phrase.replace(" 's", "'s")


@cache
def _plural(noun: str) -> str:
    """Give the plural of a noun or of the last word of a name of several words."""
    if noun == "member of congress":
        return "members of congress"
    for one, many in (("man", "men"), ("person", "people"), ("child", "children")):
        if noun.endswith(one):
            return noun.removesuffix(one) + many
    head, space, last = noun.rpartition(" ")
    return head + space + inflect(last, "NNS")


# Finding


def _mentions(caption: Caption) -> Iterator[_Mention]:
    number = 0
    while number < len(caption.tokens):
        found = _mention(caption, number)
        if isinstance(found, _Mention):
            yield found
        number = found.stop if isinstance(found, _Mention) else found


def _mention(caption: Caption, number: int) -> _Mention | int:
    """Give the mention that begins at a token, or the number of the next token to look at."""
    tokens = caption.tokens
    lower = tokens[number].lower.replace("’", "'")
    for words, word in _phrases().get(lower, ()):
        stop = number + len(words)
        if tuple(token.lower.replace("’", "'") for token in tokens[number:stop]) == words:
            if word is None:
                return stop
            return _Mention(number, stop, word, "noun")
    role = _pronoun_role(caption, number)
    if role:
        gender = "male" if lower in ("he", "him", "his", "himself") else "female"
        return _Mention(number, number + 1, _pronoun(role, gender), role)
    if lower in _adjectives():
        kind = _adjective_use(caption, number)
        if kind == "adjective":
            return _Mention(number, number + 1, _adjectives()[lower], "adjective")
        if kind == "animal" or lower not in ("male", "female"):
            return number + 1
    noun = _nouns().get(lower) or _compound(lower)
    if noun is None or not _is_noun(caption, number) or _in_name(caption, number):
        return number + 1
    return _Mention(number, number + 1, noun, "noun", _slip(caption, number, noun))


def _slip(caption: Caption, number: int, noun: _Word) -> str:
    """Tell what number a noun must have had in mind where it does not fit the word before it."""
    start, determiner = _phrase_start(caption, number)
    count = _number(caption, determiner)
    if any(token.lower in _SEVERAL for token in caption.tokens[start:number]):
        return ""
    if not noun.plural:
        return "many" if count and count > 1 and noun.one != noun.many else ""
    if count != 1:
        return ""
    following = caption.tokens[number + 1].tag if number + 1 < len(caption.tokens) else ""
    return "one" if caption.tokens[number].lower in ("men", "women") else "own" if following.startswith("NN") else ""


def _pronoun_role(caption: Caption, number: int) -> Role | None:
    lower = caption.tokens[number].lower
    if lower in ("he", "she"):
        return "subject"
    if lower in ("himself", "herself"):
        return "reflexive"
    if lower == "him":
        return "object"
    if lower == "hers":
        return "alone"
    if lower == "his":
        return "possessive" if _before_noun(caption, number) else "alone"
    if lower == "her":
        return "possessive" if _before_noun(caption, number) else "object"
    return None


def _before_noun(caption: Caption, number: int) -> bool:
    """Tell whether "his" or "her" belongs to a noun behind it: "her new car", not "helps her cook"."""
    tokens = caption.tokens
    following = tokens[number + 1 :]
    if len(following) > 1 and following[0].lower in ("or", "and", "/") and following[1].lower in ("his", "her"):
        return _before_noun(caption, number + 2)
    while len(following) > 1 and following[0].tag == "RB" and following[1].tag.startswith(("JJ", "VBN")):
        following = following[1:]
    if not following or not following[0].is_word:
        return False
    word, tag = following[0].lower, following[0].tag
    his = tokens[number].lower == "his"
    verb = verb_lemma(tokens[number - 1].lower) if number else ""
    if verb == "let" and not his:
        return False
    if tag.startswith(("NN", "JJ", "CD")):
        return not (verb == "help" and is_only_verb(word))
    if tag in ("VBG", "VBN", "VBD"):  # "her dancing shoes", "her dancing", but "watches her dancing"
        named = len(following) > 1 and following[1].tag.startswith("NN")
        return his or named or (tag != "VBD" and verb not in _PERCEPTION)
    if tag.startswith("VB"):  # taggers take "her look", "her dance" for verbs
        return his or (verb not in _CAUSATIVE and "NOUN" in readings(word))
    return his and tag in ("RB", "FW")


def _adjective_use(caption: Caption, number: int) -> Literal["adjective", "noun", "animal"]:
    """Tell how "male" is used: before a noun, as a noun, or of an animal."""
    tokens = caption.tokens
    following = tokens[number + 1 : number + 4]
    if following and following[0].tag == "CC" and len(following) > 1 and following[1].lower in _adjectives():
        return _adjective_use(caption, number + 2)
    animals = read_table("bias")["animals"]["rows"]
    _, determiner = _phrase_start(caption, number)
    for place, token in enumerate(following):
        last = place + 1 == len(following) or not following[place + 1].tag.startswith("NN")
        if token.tag == "NNS" and last and _number(caption, determiner) == 1 and is_verb_form(token.lower, "VBZ"):
            return "noun"  # "a white male raps": no noun can follow "a" in the plural
        if token.tag.startswith("NN"):
            named = {token.lower, token.lower.removesuffix("s"), token.lower.removesuffix("es")}
            return "animal" if named & set(animals) else "adjective"
        if not token.tag.startswith(("JJ", "VBG", "VBN", "CD")):
            break
    return "noun"


def _compound(lower: str) -> _Word | None:
    """Read "ex-wife" and "mother-in-law"."""
    first, hyphen, last = lower.partition("-")
    if not hyphen:
        return None
    inside = _nouns().get(first) if last == "in-law" else _nouns().get(lower.rpartition("-")[2])
    if inside is None or (last != "in-law" and first not in _PREFIXES):
        return None
    prefix, suffix = ("", "-in-law") if last == "in-law" else (lower.rpartition("-")[0] + "-", "")

    def whole(forms: Triple) -> Triple:
        male, female, neutral = (prefix + form + suffix for form in forms)
        return male, female, neutral

    return _Word(inside.gender, whole(inside.one), whole(inside.many), inside.plural)


def _is_noun(caption: Caption, number: int) -> bool:
    """Tell whether a word is not a verb here: "to man the grill", "she mothers them"."""
    token = caption.tokens[number]
    if not token.tag.startswith(("VB", "MD")) or not can_be_verb(token.lower):
        return True
    before = caption.tokens[number - 1].tag if number else ""
    return before.startswith(("DT", "JJ", "PRP$", "CD", "IN", "VB", "CC")) or not before


def _in_name(caption: Caption, number: int) -> bool:
    """Tell whether a word with a capital stands beside another: "Stephen King", "Guy Ritchie"."""
    tokens = caption.tokens
    word = tokens[number].text
    if not word[:1].isupper() or caption.text.isupper() or word.lower().rstrip(".") in _TITLES:
        return False
    starts = {sentence.start for sentence in caption.sentences}
    near = [tokens[n] for n in (number - 1, number + 1) if 0 <= n < len(tokens) and n not in starts]
    small = any(token.text[:1].islower() for token in tokens if len(token.text) > 3)  # not a title in capitals
    return small and any(token.text[:1].isupper() for token in near)


# Writing


@dataclass
class _Draft:
    """Changes on their way into a caption."""

    caption: Caption
    target: Target
    changes: dict[int, str] = field(default_factory=dict)
    before: dict[int, str] = field(default_factory=dict)

    def write(self, number: int, new: str) -> None:
        """Put a word in place of a token, with its capitals."""
        self.changes[number] = like(new, self.caption.tokens[number].text) if new else ""

    def delete(self, start: int, stop: int) -> None:
        """Leave tokens out; an article before them is chosen anew."""
        for number in range(start, stop):
            self.changes[number] = ""
        if start and self.caption.tokens[start - 1].lower in _ARTICLES:
            self.changes.setdefault(start - 1, self.caption.tokens[start - 1].text)


def _rewritten(caption: Caption, target: Target) -> str | Unchanged:
    mentions = list(_mentions(caption))
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
        _tell_apart(draft, [mention for mention in mentions if mention not in joined])
    if target == "neutral":
        for mention in mentions:
            if mention.role == "subject":
                _agree(draft, mention.start)
    text = caption.edit(draft.changes, draft.before)
    if text != caption.text:
        return text
    return Unchanged(f"everybody is {target} already" if target in ("female", "male") else "no other word for them")


def _names_a_trade(caption: Caption, mention: _Mention) -> bool:
    """Tell whether a word only says the gender of the next: "women athletes", "a lady doctor"."""
    if mention.role != "noun" or mention.stop == len(caption.tokens):
        return False
    following = caption.tokens[mention.stop]
    singular = following.lower.removesuffix("s") if mention.word.plural else following.lower
    return following.tag.startswith("NN") and singular in read_table("bias")["trades"]["rows"]


def _join(draft: _Draft, mentions: Sequence[_Mention]) -> list[_Mention]:
    """Write people who became alike as several: "a person and a person" as "two people", "he or she" as "they"."""
    joined: list[_Mention] = []
    for role in ("adjective", "noun", "pronoun"):
        kind = [m for m in mentions if (m.role if m.role in ("adjective", "noun") else "pronoun") == role]
        for first, second in pairwise(kind):
            same = first.word.become(draft.target, False) == second.word.become(draft.target, False)
            if not same or first.word.gender == second.word.gender or first in joined:
                continue
            between = draft.caption.tokens[first.stop : second.start]
            if not between or between[0].lower not in ("and", "or", "nor", "&", "/"):
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


def _join_nouns(draft: _Draft, first: _Mention, second: _Mention) -> bool:
    """Join two noun phrases with a word between them, if what stands before their nouns allows it."""
    tokens = draft.caption.tokens
    either = tokens[first.stop].lower in ("or", "nor", "/")
    start, determiner = _phrase_start(draft.caption, first.start)
    between = range(first.stop + 1, second.start)
    other = between[0] if between and _is_determiner(draft.caption, between[0]) else None
    other_words = [tokens[n].lower for n in between if n != other]
    words = [tokens[n].lower for n in range(start, first.start)]
    if not all(tokens[n].tag.startswith(_MODIFIERS) for n in between if n != other):
        return False
    if (other_words and other_words != words) or (words and not other_words and other is not None):
        return False
    counts = [_count(draft.caption, determiner, first), _count(draft.caption, other, second)]
    alike = other is None or (determiner is not None and tokens[other].lower == tokens[determiner].lower)
    if not alike and (_number(draft.caption, other) is None or _number(draft.caption, determiner) is None):
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
        if total >= len(_NUMBERS) and not digits:
            return False
        label = str(total) if digits else _NUMBERS[total]
        couple = read_table("bias")["couples"]["rows"].get(one) if draft.target == "neutral" and total == 2 else None
        if couple:
            new = couple
            numbered = _number(draft.caption, determiner) is not None
            plural = couple.endswith("s")
            label = label if plural and numbered else ""
            if not plural and determiner is not None and tokens[determiner].lower in ("an", "one"):
                draft.write(determiner, "a")
    draft.write(first.start, new)
    for number in range(first.start + 1, second.stop):
        draft.changes[number] = ""
    if label and determiner is not None and _number(draft.caption, determiner) is not None:
        draft.write(determiner, label)
    elif label:
        draft.before[start] = label
    return True


def _tell_apart(draft: _Draft, mentions: Sequence[_Mention]) -> None:
    """Write "another" for the second of two people who became alike: "a man talks to a woman"."""
    tokens, sentences = draft.caption.tokens, draft.caption.sentences
    seen: list[tuple[range, str, str]] = []
    for mention in mentions:
        if mention.role != "noun" or mention.word.plural or _names_a_trade(draft.caption, mention):
            continue
        sentence = next(s for s in sentences if mention.start in s)
        new = mention.word.become(draft.target, False)
        place = mention.start - 1
        others = any(s == sentence and n == new and g != mention.word.gender for s, n, g in seen)
        if others and tokens[place].lower in _ARTICLES:
            before = tokens[place - 1]
            if not before.tag.startswith(("DT", "NN")) and before.lower not in ("as", "like"):
                draft.write(place, "another")
        seen.append((sentence, new, mention.word.gender))


def _phrase_start(caption: Caption, number: int) -> tuple[int, int | None]:
    """Find where the words before a noun that belong to it begin, and the article or number before them."""
    start = number
    while start and caption.tokens[start - 1].tag.startswith(("JJ", "NN", "VBN")) and caption.tokens[start - 1].is_word:
        start -= 1
    return start, start - 1 if start and _is_determiner(caption, start - 1) else None


def _is_determiner(caption: Caption, number: int) -> bool:
    token = caption.tokens[number]
    return token.tag in ("DT", "PRP$", "CD", "PDT") or _number(caption, number) is not None


def _number(caption: Caption, number: int | None) -> int | None:
    """Read an article or number word: "a" is 1, "two" is 2."""
    if number is None:
        return None
    lower = caption.tokens[number].lower
    if lower in _ARTICLES:
        return 1
    if lower.isdecimal() and lower.isascii():
        return int(lower)
    return _NUMBERS.index(lower) if lower in _NUMBERS else None


def _count(caption: Caption, determiner: int | None, mention: _Mention) -> int | None:
    counted = _number(caption, determiner)
    if counted is not None:
        return counted
    return None if mention.word.plural else 1


def _agree(draft: _Draft, pronoun: int) -> None:
    """Make the verbs of "he" or "she" agree with "they": the first behind it, those joined to it, or one before it."""
    tokens = draft.caption.tokens
    sentence = next(s for s in draft.caption.sentences if pronoun in s)
    before = pronoun - 1
    if before > sentence.start and tokens[before].lower in ("n't", "n’t", "not"):
        before -= 1
    if before >= sentence.start and tokens[before].lower in ("is", "was", "does", "has"):
        asked = before == sentence.start or tokens[before - 1].tag in ("WP", "WRB", "CC", "IN", ",")
        if asked:
            draft.write(before, _with_they(draft.caption, before))
            return
    opening, done = True, False
    for number in range(pronoun + 1, sentence.stop):
        token = tokens[number]
        if token.tag in ("RB", "RBR"):
            continue
        finite = (
            token.tag == "VBZ"
            or token.lower in ("is", "was", "wasn", "'s", "’s")
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
    """Tell whether a word behind "she" is a verb that a tagger missed: "she shops", "she s wearing"."""
    token = caption.tokens[number]
    return token.lower == "s" or (token.tag in ("NNS", "POS", "NN") and is_verb_form(token.lower, "VBZ"))


def _with_they(caption: Caption, number: int) -> str:
    """Give a verb of the third person singular its plural."""
    lower = caption.tokens[number].lower
    if lower in ("'s", "’s", "s"):
        following = next((t for t in caption.tokens[number + 1 :] if t.tag != "RB"), None)
        has = following is not None and (following.lower in ("been", "got", "had"))
        return lower[:-1] + ("ve" if has else "re")
    if lower == "was":
        return "were"
    if lower in ("wasn", "doesn", "isn", "hasn"):
        return {"wasn": "weren", "doesn": "don", "isn": "aren", "hasn": "haven"}[lower]
    return inflect(verb_lemma(lower), "VBP")


# The released code


def _released(caption: Caption, target: Literal["female", "male", "neutral"]) -> str | Unchanged:
    """Apply the released table to the words between spaces, whatever they are in the sentence."""
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
    """Apply the list of gender_bender to every run of letters; "him" and "hers" are made to fit a noun behind them."""
    rows: dict[str, str] = read_table("bias")["released_swap"]["rows"]

    def swapped(found: re.Match[str]) -> str:
        word = found[0]
        new = rows.get(word.lower())
        if new is None:
            return word
        if new in ("him", "hers") and _released_genitive(caption, found.end()):
            new = "his" if new == "him" else "her"
        if word[0].isupper():
            new = new[0].upper() + new[1:]
        return new.upper() if word.isupper() else new

    text = re.sub(r"(?<![A-Za-z'])[A-Za-z]+(?=(?:'(?:s|ll|re|ve|d|m)?)?(?![A-Za-z']))", swapped, caption.text).strip()
    return text if text != caption.text.strip() else Unchanged("no word of the released list")


def _released_genitive(caption: Caption, place: int) -> bool:
    """Tell whether the first noun or article behind a place comes before a joining word or preposition.

    The released code asks spaCy's tagger; here it is the caption's own tags.
    """
    for token in caption.tokens:
        if token.start < place:
            continue
        if token.text in (".", "<", ">") or token.tag in ("CC", "IN", "RP"):
            return False
        if token.tag in ("NN", "NNS", "DT", "PDT", "WDT", "PRP$"):
            return True
    return False
