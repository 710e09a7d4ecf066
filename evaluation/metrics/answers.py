"""Parse the texts, letters and numbers with which models select one of several options.

This module imports nothing from the package, because `stressreel export` copies it unchanged for evaluation harnesses.

Answers can have any length, so each rule takes linear time. No pattern contains adjacent repeats that can match the
same characters in many ways, or a repeat that is tried from every position.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

YES_NO = ("no", "yes")
TRUTHS = {"yes": 1, "true": 1, "no": 0, "false": 0}
SHORT = {"y": 1, "n": 0}  # only as the entire answer: "n/a" is not an answer
ASKED = ("answer", "final_answer", "choice", "option")  # names of the answer in JSON
QUOTES = " \"'`*_“”«»"
ASCII = frozenset(map(chr, range(128)))

# Text around an answer that is not part of it.
THOUGHT = re.compile(r"^.*</(?:think|thinking|reasoning|thought)>", re.DOTALL | re.IGNORECASE)
FENCE = re.compile(r"^```\w*")
FRAME = re.compile(
    r"</?(?:s|b|i|p|strong|em|answer|ans|final|final_answer|option|choice)>|<\|\w+\|>"
    r"|\$|\\(?:boxed|text|textbf|mathbf|mathrm)\{|\}",
    re.IGNORECASE,
)
LEAD = re.compile(
    r"^(?:#+\s*)?(?:(?:assistant|output|response)\s*[:\n]\s*)?"
    r"(?:(?:based on|in|from|according to) the (?:video|clip)(?: provided| given| shown)?[,:]?\s+)?"
    r"(?:(?:i (?:think|believe|would say|would choose)|i'd say)(?: that)?\s+(?:(?:it is|it's)\s+)?)?"
    r"(?:(?:the |my )?(?:correct |final |best |right )?(?:answer|option|choice)(?: is| should be| would be)?\s*[:=]?\s*"
    r"){0,2}",
    re.IGNORECASE,
)
REFUSAL = re.compile(
    r"\b(?:i|we)(?:'m| am|'re| are)? (?:not sure|unsure|sorry|(?:don't|do not) (?:know|have))\b"
    r"|\b(?:cannot|can't|can not|could not|couldn't|not possible to|impossible to|unable to) (?:be )?"
    r"(?:tell|told|determined?|say|said|answer(?:ed)?|known?|judged?|verif(?:y|ied)|confirm(?:ed)?"
    r"|(?:see|view|watch|access|open) (?:the|this|your|any) (?:video|clip|image|frame)s?)\b"
    r"|(?:\bnot |n't |\bin)(?:enough|sufficient) (?:information|context|evidence|details?|frames|data)\b"
    r"|\b(?:video|clip)s? (?:is|was|are)(?: not|n't) (?:available|given|provided|shown|visible)\b"
    r"|\bplease provide\b|\bnone of the (?:above|options)\b",
    re.IGNORECASE,
)
JUDGED = re.compile(r"^\W*(?:is|was|would be|seems) (?!(?:the )?(?:correct|right|answer|best|my)\b)", re.IGNORECASE)

WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# Words that may follow "no" without punctuation: "no it was before" is an answer, "no idea" is not.
CLAUSE = re.compile(r"\s+(?:it|he|she|they|i|we|you|the|this|that|these|there|because|since|as|but|not)\b")
OTHER = re.compile(r"(\bnot |n't )?\b(yes|no|true|false)\b(?! (?:doubt|one|longer|other|more|question|hesitation)\b)")

REASONS = r"(?:because|since|as|given|due|based|for)\b"
MARKED = re.compile(
    rf"^\W*([A-Za-z])(?:\s*(?:[).:\]]*[)\]:]|\.(?=\s|\*|$))|\s*\n|\W*$|(?= is\b)|(?<=[B-HJ-Z])(?=\s+{REASONS}))(.*)",
    re.DOTALL,
)
SEPARATED = re.compile(r"^\W*([A-Za-z])(?:\s*[-–—,(]|\.)")  # must be followed by the option's text
BEHIND = re.compile(r"[\[(]\s*([A-Za-z])\s*[\])]\W*$")
NUMBERED = re.compile(r"^(\d{1,2})\s*[).:-]\s+(.+)$", re.DOTALL)
LETTERS = re.compile(r"(?<![\w'’.])([A-Za-z])(?![\w'’]|\.\w)")
# "A dog …" does not refer to option A.
ARTICLE = re.compile(r"(?:^\s*|[.!?:,\n][^\S\n]*)(A|I)(?=\s+[a-z])|(?<![\w'’.])(a|i)(?=\s+\w)")
NUMBER = re.compile(r"^[(\[]?\s*(\d{1,9})(?:\.0+)?\s*[)\].:]?$")
HIGHEST = 10**9  # limit for the numbers above
BEGINS = re.compile(r"\W*(\d{1,99})\b")
MARKS = 30  # on one letter, more than in any language

# A sentence that states the answer ("So the correct option is B because …"). What precedes the statement may lead up to
# it, but not deny or qualify it.
SENTENCE = re.compile(r"\n+|(?<=[.!?])\s+")
SUBJECT = (
    r"(?:the |my )?(?:(?:correct|final|best|right|most likely|most appropriate) )?(?:answer|option|choice|one)"
    r"(?: here| to (?:the|this) question)?(?: (?:is|would be|should be|must be)\b| ?[:=])"
)
CHOSEN = (
    r"(?:it is|(?:it|that) (?:would be|should be|must be|has to be))\b|it's\b"
    r"|i(?:'d| would|'ll| will)? (?:choose|pick|select|answer|say|go with|go for)\b|i(?:'m| am) going (?:with|for)\b"
)
STATED = re.compile(
    rf"\b(?:({SUBJECT})|{CHOSEN})\s*:?\s*(?:(?:clearly|definitely|probably|likely|most likely)\s)?"
    r"(?:(?:option|answer|choice|letter)\b)?[\s:]*(.*)",
    re.DOTALL | re.IGNORECASE,
)
INTRODUCED = re.compile(r"\b(?:so|thus|therefore|hence|then|i (?:think|believe|say))(?: that)?$", re.IGNORECASE)
QUALIFIED = re.compile(
    r"\b(?:not|no|never|nor|neither|if|unless|whether|either|or|could|might|may|wrong|incorrect|false|doubt|first|initially)"
    r"\b|n't\b",
    re.IGNORECASE,
)
RETRACTED = re.compile(
    r"\bwait\b\W|\bon second thought|\bscratch that\b"
    r"|\b(?:i was|(?:that|this|which) is|that's) (?:wrong|incorrect|not)\b"
    r"|\bactually,? (?:no|not|it|the|i)\b|\bcorrection\b",
    re.IGNORECASE,
)
CHOICE = re.compile(rf"^\W*([A-Z]|(?<=[(\[*\"'])[a-z])(?:\W*$|\s*[).:\],;–—-](?!\w)|\s+{REASONS})(.*)", re.DOTALL)
ALONE = re.compile(r"^\W*([A-Za-z])\W*$")
BOXED = re.compile(r"\\boxed\{([^{}]{1,99})\}|<(answer|final_answer)>([^<>]{1,99})</\2>", re.IGNORECASE)
OBJECTS = 20  # JSON objects that are tried in an answer


def plain(text: str) -> str:
    """Normalize the case, spaces, quotes and surrounding punctuation of a text for comparison."""
    return " ".join(text.casefold().replace("’", "'").split()).strip(QUOTES + ".,;:!?")


def read_answer(value: Any, options: Sequence[str], *, first: int = 0) -> int | None:
    r"""Return the index of the option that an answer selects, or None if the answer is unreadable.

    An answer can be the option's text, its number, a letter ("b", "(B)", "B. because …") or, for yes/no questions,
    "Yes.", "y", "true" or "No, it …". A lead-in such as "Answer:" is skipped. Otherwise, the answer is what sentences
    such as "So the answer is B.", a line with nothing but a letter, `\boxed{B}` or JSON inside the text state. An
    answer is unreadable if no rule applies, or if two rules disagree, for example because it contains two letters, or a
    number that is also an option's text.

    Args:
        value: The answer in the file.
        options: The options; `YES_NO` for yes/no questions, which have numbers but no letters.
        first: Index of the first option in numeric answers, 0 or 1.

    Returns:
        The index of the option, counted from 0, or None.
    """
    binary = tuple(options) == YES_NO
    start = 0 if binary else first
    if isinstance(value, bool | np.bool_):
        return int(value) if binary else None
    if isinstance(value, int | float | np.number | Decimal):
        if not -1 < value < HIGHEST:  # excludes infinity and NaN
            return None
        return _numbered(int(value), options, start) if int(value) == value else None
    if not isinstance(value, str):
        return None
    text = THOUGHT.sub("", _normalized(value)).strip()
    if (stated := _in_json(text)) is not None:
        return read_answer(stated, options, first=first)
    framed = FRAME.sub(" ", text).strip()
    pick = _direct(framed, options, start)
    return _stated(text, options, start) if pick is None else pick


def _direct(text: str, options: Sequence[str], start: int) -> int | None:
    """Parse a text that begins with the answer, apart from a lead-in."""
    bare = LEAD.sub("", text.strip(QUOTES)).strip(QUOTES)
    if numeral := NUMBER.match(bare):
        return _numbered(int(numeral[1]), options, start)
    if (named := _named(text, options)) is not None:
        return named
    if tuple(options) == YES_NO:
        return _truth(bare.casefold().replace("’", "'"))
    if (named := _named(bare, options)) is not None:
        return named
    if (numbered := NUMBERED.match(bare)) and (named := _named(numbered[2], options)) is not None:
        return named if named == int(numbered[1]) - start else None
    return _lettered(bare, options)


def _normalized(text: str) -> str:
    """Normalize a text to NFKC, without excess combining marks, which would take quadratic time."""
    marks = "".join(char for char in set(text) - ASCII if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]))
    if marks:
        mark = f"[{re.escape(marks)}]"
        text = re.sub(f"({mark}{{{MARKS}}}){mark}+", r"\1", text)
    return unicodedata.normalize("NFKC", text)


def _in_json(text: str) -> Any:
    text = FENCE.sub("", text).removesuffix("```").strip()
    if not text.startswith("{"):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    named = [name for name in ASKED if name in document] if isinstance(document, dict) else []
    return document[named[0]] if len(named) == 1 else None


def _truth(text: str) -> int | None:
    if plain(text) in SHORT:
        return SHORT[plain(text)]
    text = text.lstrip(QUOTES + "([")
    opening = WORD.match(text)
    if not opening or opening[0] not in TRUTHS:
        return None
    pick, rest = TRUTHS[opening[0]], text[opening.end() :]
    if opening[0] == "no" and re.match(r"\s+\w", rest) and not CLAUSE.match(rest):
        return None
    if JUDGED.match(rest) or REFUSAL.search(text):
        return None
    claims = {TRUTHS[claim[2]] ^ bool(claim[1]) for claim in OTHER.finditer(rest)}
    return pick if claims <= {pick} else None


def _lettered(text: str, options: Sequence[str]) -> int | None:
    """Parse a letter that the option's text or reasons may follow, unless other options are mentioned too."""
    if (behind := BEHIND.search(text)) and re.search(r"\w", text[: behind.start()]):
        pick = _letter(behind[1], options)
        return pick if pick is not None and _named(text[: behind.start()], options) == pick else None
    if marked := MARKED.match(text):
        pick, rest = _letter(marked[1], options), marked[2]
        if pick is None or plain(options[pick]) == plain(rest):
            return pick
        return None if JUDGED.match(rest) or _contradicts(rest, pick, options) else pick
    if separated := SEPARATED.match(text):
        option_text, _, after = text[separated.end() :].partition(")")
        pick = _letter(separated[1], options)
        alone = option_text and not re.search(r"\w", after)
        return pick if alone and pick is not None and _named(option_text, options) == pick else None
    return None


def _contradicts(text: str, pick: int, options: Sequence[str]) -> bool:
    """Return whether the text after an answer mentions another option, or takes the answer back."""
    reply, own = plain(text), plain(options[pick])
    if REFUSAL.search(reply.removeprefix(own)) or RETRACTED.search(reply):
        return True
    if any(other not in (pick, None) for other in _letters(text, options)):
        return True
    others = {plain(option) for option in options if plain(option) and plain(option) not in own}
    return any(re.search(rf"(?<!\w){re.escape(other)}(?!\w)", reply) for other in others)


def _letters(text: str, options: Sequence[str]) -> Iterator[int | None]:
    """Yield the options that letters in a text refer to. "A" in "A dog …" does not refer to an option."""
    articles = {match.start(match.lastindex or 0) for match in ARTICLE.finditer(text)}
    yield from (_letter(match[1], options) for match in LETTERS.finditer(text) if match.start(1) not in articles)


def _stated(text: str, options: Sequence[str], start: int) -> int | None:
    """Parse the answer that a longer text states. All statements must agree, and nothing after them may contradict."""
    picks, text, end = _in_objects(text, options, start)
    for match in BOXED.finditer(text):
        picks.append(_direct(match[1] or match[3], options, start))
        end = max(end, match.end())
    begin = 0
    for stop in (*SENTENCE.finditer(text), None):
        sentence = text[begin : stop.start() if stop else None]
        line = (not begin or text[begin - 1] == "\n") and (not stop or "\n" in stop[0])
        pick, behind = _statement(FRAME.sub(" ", sentence).strip(), options, line=line)
        if pick is not None:
            picks.append(pick)
            end = max(end, begin + len(sentence) - len(behind))
        begin = stop.end() if stop else begin
    if not picks or picks.count(picks[0]) < len(picks) or picks[0] is None:
        return None
    after = FRAME.sub(" ", text[end:])
    if tuple(options) == YES_NO:
        return None if RETRACTED.search(after) or REFUSAL.search(after) or OTHER.search(after.casefold()) else picks[0]
    return None if _contradicts(after, picks[0], options) else picks[0]


def _in_objects(text: str, options: Sequence[str], start: int) -> tuple[list[int | None], str, int]:
    """Return the answers in the JSON objects of a text, the text with the objects blanked out, and where they end."""
    picks: list[int | None] = []
    begin = end = 0
    for _ in range(OBJECTS):
        begin = text.find("{", begin)
        if begin < 0:
            break
        try:
            value, stop = json.JSONDecoder().raw_decode(text, begin)
        except (ValueError, RecursionError):
            begin += 1
            continue
        names = [name for name in ASKED if name in value]
        if len(names) == 1 and isinstance(value[names[0]], str):
            picks.append(_direct(FRAME.sub(" ", value[names[0]]).strip(), options, start))
            end = stop
        text = text[:begin] + " " * (stop - begin) + text[stop:]
        begin = stop
    return picks, text, end


def _statement(sentence: str, options: Sequence[str], *, line: bool) -> tuple[int | None, str]:
    """Return the option that a sentence states, and the part of the sentence after it. `line` is a whole line."""
    binary = tuple(options) == YES_NO
    if line and binary and plain(sentence) in TRUTHS:
        return TRUTHS[plain(sentence)], ""
    if line and not binary and (alone := ALONE.match(sentence)):
        return _letter(alone[1], options), ""
    stated = STATED.search(sentence)
    if not stated or sentence.rstrip().endswith("?"):
        return None, ""
    preface, rest = sentence[: stated.start()], stated[2]
    if not _introduces(preface) or QUALIFIED.search(preface):
        return None, ""
    if binary:
        word = WORD.search(rest.casefold())
        if not word or word[0] not in TRUTHS or not stated[1] or OTHER.search(preface.casefold()):
            return None, ""
        return (None, "") if rest[: word.start()].strip(QUOTES) else (TRUTHS[word[0]], rest[word.end() :])
    if any(other is not None for other in _letters(preface, options)):
        return None, ""
    if choice := CHOICE.match(rest):
        return _letter(choice[1], options), choice[2]
    return _named(rest, options), ""


def _introduces(preface: str) -> bool:
    """Return whether a statement may follow: at the start, after punctuation, or after words such as "so"."""
    end = len(preface)
    while end and not preface[end - 1].isalnum():
        end -= 1
    return not end or not {*preface[end:]}.isdisjoint(",:;–—-") or bool(INTRODUCED.search(preface[:end][-40:]))


def _named(text: str, options: Sequence[str]) -> int | None:
    wanted = plain(text)
    matches = [index for index, option in enumerate(options) if plain(option) == wanted]
    return matches[0] if len(matches) == 1 else None


def _letter(letter: str, options: Sequence[str]) -> int | None:
    index = ord(letter.upper()) - ord("A")
    return index if index < len(options) else None


def _numbered(number: int, options: Sequence[str], first: int) -> int | None:
    """Return the option with this number, unless the options themselves start with other numbers."""
    pick = number - first if 0 <= number - first < len(options) else None
    begin = [BEGINS.match(option) for option in options]
    if any(begin):
        named = [index for index, begins in enumerate(begin) if begins and int(begins[1]) == number]
        return pick if named == [pick] else None
    return pick
