"""Find the roles in a question: its subject, its predicate and what else it mentions, and what takes their places.

An answer restates its question if it repeats the predicate, as in "by chopping carrots".
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from ..language.grammar import disagreement, full_form, own_subject, verbs
from ..language.lexicon import DO, Tag, inflect, is_verb_form, verb_lemma
from ..language.parse import parse
from ..language.people import Cast
from ..language.words import Caption, Token, name_pattern, without_capital
from .content_words import function_words, read_table
from .entities import Entity, entities, entity_of
from .options import as_in_cast

BEING = frozenset(("is", "are", "was", "were"))
HELPING = DO | BEING | {"has", "have", "had", "can", "could", "will", "would", "should"}
_NEGATIONS = ("n't", "not", "t", "'t")
_OPENING = 4  # words among which the auxiliary of a question is
BEGINS_ANEW = frozenset(("and", "by", "because", "as", "so", "when", "while", "but", "before", "after", "since"))
BEGINS_ANEW |= {"which", "causing", "making"}
PHRASES = frozenset((("in", "order"), ("in", "pain")))
ARTICLES = frozenset(("a", "an", "the", "his", "her", "their", "its", "this", "that", "these", "those", "some"))
FORMS: tuple[Tag, ...] = ("VB", "VBG", "VBD")


@dataclass(frozen=True)
class StatedQuestion:
    """A question as a statement.

    Attributes:
        caption: The statement. Questions with "do" have "must" instead, so that a verb follows.
        subject: Index of the subject's head.
        start: Index of the word after the auxiliary.
        asking: The question's first word, in lower case.
        auxiliary: The question's auxiliary, in full and in lower case.
    """

    caption: Caption
    subject: int
    start: int
    asking: str
    auxiliary: str


def read_question(caption: Caption, names: tuple[str, ...]) -> StatedQuestion | None:
    """Turn a question into a statement, or return None if the text is no question or its subject is uncertain.

    The subject ends where the parser reads everything before the auxiliary as the subject of the verb behind it. Of
    several such places, it is the one with the fewest words whose part of speech is uncertain.
    """
    return min(_readings(caption, names), key=_doubt, default=None)


def _doubt(stated: StatedQuestion) -> tuple[bool, bool, int]:
    """Return how unlikely a reading is: no verb follows the auxiliary, a name only describes the subject, rivals."""
    tokens, start = stated.caption.tokens, stated.start
    acting = tokens[start].tag[:2] in ("VB", "RB") or (tokens[start].tag[:2] == "JJ" and stated.auxiliary in BEING)
    before = [stated.caption.tokens[index] for index in range(start - 1)]
    named = any(token.tag == "NNP" and token.arc in ("compound", "nmod") for token in before[: stated.subject])
    rivals = sum(token.rival[:2] in ("NN", "VB") for token in tokens) + bool(tokens[start].rival)
    return bool(disagreement(stated.caption)) or not acting, named, rivals


def _readings(caption: Caption, names: tuple[str, ...]) -> Iterator[StatedQuestion]:
    tokens, words = caption.tokens, caption.words
    asking = next((n for n in words[:_OPENING] if full_form(tokens[n].text) in HELPING), None)
    if asking is None:
        return
    auxiliary, pattern = full_form(tokens[asking].text), name_pattern(names)
    inside = [match.span() for match in pattern.finditer(caption.text)] if pattern else []
    first = next((n for n in words if n > asking and tokens[n].lower not in _NEGATIONS), words[-1])
    for end in words:
        named = any(start < tokens[end].start < stop for start, stop in inside)
        joined = tokens[end].lower in ("and", "or") or not tokens[end - 1].is_word
        if end <= first or named or joined or (auxiliary in DO and not _may_act(tokens[end].lower)):
            continue
        helper = "must" if auxiliary in DO else auxiliary
        subject, rest = caption.slice((first, end - 1)), caption.slice((end, words[-1]))
        statement, start_of_verb = parse(f"{subject} {helper} {rest}", names=names), end - first
        token = statement.tokens[start_of_verb]
        verb = token.head if token.arc in ("aux", "auxpass") else start_of_verb
        noun = statement.child(verb, "nsubj", "nsubjpass")
        if noun is None or statement.subtree(noun) != tuple(range(start_of_verb)):
            continue
        statements = helper != "must" or verb == start_of_verb + 1 or statement.tokens[start_of_verb + 1].tag == "RB"
        if statements and statement.tokens[noun].tag.startswith(("NN", "PRP")):
            yield StatedQuestion(statement, noun, start_of_verb + 1, tokens[0].lower, auxiliary)


def _may_act(word: str) -> bool:
    return is_verb_form(word, "VB") or word.endswith("ly")  # "Why did Tom suddenly stop?"


@dataclass(frozen=True)
class Predicate:
    """The predicate of a question.

    Attributes:
        verb: Base form of the verb.
        rest: Text after the verb.
        words: Words of the rest in lower case, without articles.
    """

    verb: str
    rest: str
    words: frozenset[str]

    def written(self, form: Tag) -> str:
        """Return the predicate as text, with another form of the verb."""
        return f"{inflect(self.verb, form)} {self.rest}".rstrip()


@dataclass(frozen=True)
class Restated:
    """The part of an answer that restates its question.

    Attributes:
        first: Index of the verb.
        stop: Index after the last token.
        form: Form of the verb.
    """

    first: int
    stop: int
    form: Tag


def read_predicate(stated: StatedQuestion) -> Predicate | None:
    """Return the predicate of a question.

    Returns:
        The predicate, or None if it is not a plain verb, as in "Why was Tom hit?", "Why was Tom so angry?" and "What
        did Tom say?".
    """
    caption, tokens, start = stated.caption, stated.caption.tokens, stated.start
    if tokens[start].tag == "RB":
        start += 1  # "Why did Tom suddenly stop?"
    words = [index for index in caption.words if index >= start]
    form: Tag = "VB" if stated.auxiliary in DO else "VBG"
    plain = words and words[-1] - start + 1 == len(words)  # no punctuation in between
    if stated.asking != "why" or not plain or not is_verb_form(tokens[start].lower, form):
        return None  # "What did Tom say?" has no object
    lemma = verb_lemma(tokens[start].lower)
    if lemma in ("be", "do") or stated.auxiliary not in DO | BEING:
        return None
    rest = caption.text[tokens[start].end : tokens[words[-1]].end].strip()
    words_of_rest = frozenset(tokens[index].lower for index in words[1:]) - ARTICLES
    return Predicate(lemma, rest, words_of_rest)


def find_restated(caption: Caption, predicate: Predicate, subject: str) -> Restated | None:
    """Return the part of an answer that restates its question completely and adds nothing."""
    tokens = caption.tokens
    for first in verbs(caption):
        if not first or verb_lemma(tokens[first].lower) != predicate.verb:
            continue
        doer, stop = own_subject(caption, first), first + 1
        if doer is not None and tokens[first].tag == "VB" and tokens[doer].lower != subject:
            continue  # "made Jerry jump"
        repeated: set[str] = set()
        while stop < len(tokens) and (tokens[stop].lower in predicate.words or tokens[stop].lower in ARTICLES):
            repeated.add(tokens[stop].lower)
            stop += 1
        form = next((form for form in FORMS if tokens[first].tag == form), None)
        if form is not None and predicate.words <= repeated and _ends(tokens, stop):
            return Restated(first, stop, form)
    return None


def _ends(tokens: Sequence[Token], stop: int) -> bool:
    """Return whether the predicate ends at a token. It does not end before "to the door" or "for Jerry"."""
    if stop == len(tokens) or not tokens[stop].is_word:
        return True
    after = tokens[stop + 1].lower if stop + 1 < len(tokens) else ""
    if tokens[stop].lower == "to":
        return is_verb_form(after, "VB")
    return tokens[stop].lower in BEGINS_ANEW or (tokens[stop].lower, after) in PHRASES


PRONOUNS = {
    word: gender
    for gender, words in {
        "male": ("he", "him", "his", "himself"),
        "female": ("she", "her", "hers", "herself"),
        "thing": ("it", "its", "itself"),
        "plural": ("they", "them", "their", "theirs", "themselves"),
    }.items()
    for word in words
}
"""The gender, or "thing" or "plural", that each pronoun stands for."""
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
OUTSIDE = ("such", "what", "quite", "both", "all", "half", "another", "other")  # before an article


@dataclass(frozen=True)
class Player:
    """A person or thing that a question mentions.

    Attributes:
        key: Names in lower case.
        written: Text in the middle of a sentence: "Tom", "the car".
        plural: Whether it is plural.
        gender: "female", "male", "plural", "" (unknown) or "thing".
        count: How many there are; 0 if several and unknown.
    """

    key: tuple[str, ...]
    written: str
    plural: bool
    gender: str
    count: int = 1

    @property
    def is_thing(self) -> bool:
        """Return whether the player is a thing and not a person."""
        return self.gender == "thing"

    @property
    def pronoun(self) -> str:
        """Return the gender of pronouns for the player; see `PRONOUNS`."""
        return "plural" if self.plural else self.gender


@dataclass(frozen=True)
class Roles:
    """The roles that people and things have in a question.

    Attributes:
        subject: The subject; None if uncertain.
        others: The other people and things, in order of mention.
        predicate: The action of the subject; None if uncertain.
    """

    subject: Player | None
    others: tuple[Player, ...]
    predicate: Predicate | None = None

    @property
    def players(self) -> tuple[Player, ...]:
        """Return all people and things, the subject first."""
        return (*([self.subject] if self.subject else []), *self.others)


@cache
def no_things() -> frozenset[str]:
    """Return nouns that do not denote concrete objects, such as abstract nouns."""
    return frozenset(read_table("no_things")["words"].split())


def read_roles(caption: Caption, cast: Cast) -> Roles:
    """Determine the roles in a question."""
    stated = read_question(caption, cast.names)
    if stated is not None:
        caption = stated.caption
    characters = tuple(entities(caption, cast))
    head = (
        stated.subject if stated else next((n for n, token in enumerate(caption.tokens) if token.arc == "nsubj"), None)
    )
    who = entity_of(head, characters)
    owner = next((entity for entity in characters if stated and not who and not entity.first), None)  # "Tom's eyes"
    named = who or owner
    certain = stated is not None and not _may_end_in_verb(stated)
    subject = (
        _somebody(caption, named, cast)
        if named
        else _something(caption, head)
        if head is not None and certain
        else None
    )
    people = (player for entity in characters if (player := _somebody(caption, entity, cast)))
    players = (*people, *_things(caption, characters, head))
    others = {player.key: player for player in reversed(players) if subject is None or player.key != subject.key}
    return Roles(subject, tuple(reversed(others.values())), read_predicate(stated) if stated and not owner else None)


def _may_end_in_verb(stated: StatedQuestion) -> bool:
    """Return whether a subject may end in the verb, as in "Why was the safe cut in half?"."""
    tokens, start = stated.caption.tokens, stated.start
    before = tokens[stated.subject].lower
    acting = is_verb_form(before, "VBN" if stated.auxiliary in BEING else "VB")
    return acting and tokens[start].tag[:2] not in ("VB", "JJ", "RB")


def _somebody(caption: Caption, entity: Entity, cast: Cast) -> Player | None:
    tokens = caption.tokens
    if entity.parts and not entity.plural:
        return None  # "Tom's owner" mentions two
    start = entity.first
    if entity.parts:
        *some, last = (_name(caption, part) for part in entity.parts)
        words, count = f"{', '.join(some)} and {last}", len(entity.parts)
    else:
        words, count = _name(caption, entity), 1
        if entity.plural:
            numbers = (token.lower for token in tokens[start : entity.stop] if token.tag == "CD")
            count = next((NUMBERS.get(word) or (int(word) if word.isdecimal() else 0) for word in numbers), 0)
        elif "CD" in {token.tag for token in tokens[start : entity.stop]}:
            return None  # "the two eldest son's masters"
        elif tokens[entity.head].tag == "NN" and not words.startswith("the "):
            words = f"the {words}"  # "Why did bear run?"
    return Player(entity.key, as_in_cast(words, cast.names), entity.plural, entity.gender, count)


def _name(caption: Caption, entity: Entity) -> str:
    """Return the words of an entity as written inside a sentence, with "the" for other articles and owners."""
    tokens = caption.tokens
    start = next(n for n in range(entity.first, entity.stop) if tokens[n].lower not in OUTSIDE)
    words = _inside(caption, start, entity.stop)
    if tokens[start].lower in ARTICLES and entity.stop > start + 1:
        return f"the {_inside(caption, start + 1, entity.stop)}"
    return words


def _inside(caption: Caption, first: int, stop: int) -> str:
    tokens = caption.tokens
    words = caption.text[tokens[first].start : tokens[stop - 1].end]
    return words if first else without_capital(tokens[0]) + words[len(tokens[0].text) :]


def _something(caption: Caption, head: int) -> Player | None:
    tokens = caption.tokens
    token = tokens[head]
    if token.tag not in ("NN", "NNS") or token.lower in PRONOUNS.keys() | function_words() | no_things():
        return None
    if caption.lower_at(head + 1) in ("of", "'s", "'"):
        return None  # "a jar of ink"
    start = described(caption, head)
    plural = token.tag == "NNS"
    return Player((token.lower,), f"the {_inside(caption, start, head + 1).lower()}", plural, "thing", int(not plural))


def described(caption: Caption, head: int) -> int:
    """Return where a noun with the nouns and adjectives before it starts, as in "the [red vacuum cleaner]"."""
    modifiers = {n for child in caption.children(head, "compound", "amod", "nmod") for n in caption.subtree(child)}
    start = head
    while start - 1 in modifiers and caption.tokens[start - 1].lower not in ARTICLES:
        start -= 1
    return start


def determiner(caption: Caption, head: int) -> int | None:
    """Return the article or number directly before a noun and its adjectives, or the pronoun that owns it."""
    before = described(caption, head) - 1
    return before if caption.tag_at(before) in ("DT", "PRP$", "CD") else None


def _things(caption: Caption, characters: Sequence[Entity], subject: int | None = None) -> Iterator[Player]:
    for head in caption.tagged("NN"):
        if head == subject or is_part(caption, head) or any(e.first <= head < e.stop for e in characters):
            continue
        before = determiner(caption, head)
        if before is not None and caption.tokens[before].lower in ARTICLES and (player := _something(caption, head)):
            yield player


def is_part(caption: Caption, index: int) -> bool:
    """Return whether a noun is the first part of another one, or owns something."""
    token = caption.tokens[index]
    return (token.arc in ("compound", "nmod", "poss") and token.head > index) or caption.tag_at(index + 1) == "POS"


def pairing(source: Roles, target: Roles) -> dict[tuple[str, ...], Player]:
    """Return what replaces each person and thing of the source. The result is empty if the subjects do not match."""
    subject, new_subject = source.subject, target.subject
    if (
        subject is None
        or new_subject is None
        or (subject.plural, subject.is_thing) != (new_subject.plural, new_subject.is_thing)
    ):
        return {}
    pairs = {subject.key: new_subject}
    for things in (False, True):
        free = [p for p in target.others if p.is_thing == things]
        for player in source.others:
            if player.is_thing != things:
                continue
            index = next((n for n, p in enumerate(free) if p.plural == player.plural), None)
            if index is not None:
                pairs[player.key] = free.pop(index)
    return pairs


Move = tuple[tuple[str, ...], Player, Player]
"""The names that are replaced, the new player, and the old one."""


Strangers = tuple[tuple[Player, ...], tuple[Player, ...]]
"""People and things of an answer, in order of mention."""


def strangers(caption: Caption, characters: Sequence[Entity], cast: Cast) -> Strangers:
    """Return the people and things in an answer that can be replaced although the question does not mention them."""
    people = (_somebody(caption, entity, cast) for entity in characters if not entity.parts)
    return tuple(player for player in people if player), tuple(_things(caption, characters))


def moves(source: Roles, target: Roles, mentioned: Strangers = ((), ())) -> tuple[Move, ...] | None:
    """Return the replacements that adapt an answer to another question, or None if that is impossible.

    Unused people and things of the other question replace those in `mentioned` that are not part of the source.
    """
    pairs = pairing(source, target)
    if not pairs:
        return None
    known = {player.key: player for player in source.players}
    moved = {key: player for key, player in pairs.items() if key != player.key}
    _inject(mentioned, pairs, moved, known, target)
    for key, player in list(moved.items()):  # a displaced one takes the free position
        if player.key not in pairs and key in known:
            moved[player.key] = pairs[player.key] = known[key]
            known.setdefault(player.key, player)
    return tuple((key, player, known[key]) for key, player in moved.items())


def _inject(
    mentioned: Strangers,
    pairs: dict[tuple[str, ...], Player],
    moved: dict[tuple[str, ...], Player],
    known: dict[tuple[str, ...], Player],
    target: Roles,
) -> None:
    placed = {player.key for player in pairs.values()}
    for player in target.others:
        if player.key in placed:
            continue
        for stranger in mentioned[player.is_thing]:
            if stranger.key in pairs or stranger.key in placed or stranger.plural != player.plural:
                continue
            pairs[stranger.key] = moved[stranger.key] = player
            known[stranger.key] = stranger
            placed.add(player.key)
            break


Referent = tuple[str, str]
"""The pronouns for a player of the source, and those for the one in its place: "" if there is none or it is unknown."""
ANY = "any"  # pronouns for a player that keeps its place


def referents(
    source: Roles, target: Roles, moved: Sequence[Move], stay: Container[tuple[str, ...]]
) -> tuple[Referent, ...]:
    """Return what pronouns in an answer may refer to. `stay` are the names of people and things in the answer."""
    new = {key: player for key, player, _ in moved}
    kept = {player.key for player in target.players}
    pairs = [(old.pronoun, player.pronoun) for _, player, old in moved]
    for player in source.players:
        if player.key not in new:
            pairs.append((player.pronoun, ANY if player.key in kept or player.key in stay else ""))
    return tuple(dict.fromkeys(pairs))
