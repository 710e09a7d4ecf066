"""Correct part-of-speech tags for perturbations that need the class of each word but no clause structure.

The clause rules (passive, tense) leave a doubtful word as a noun, so that they do not rewrite it. The corrections here
classify such words by form and context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .closed_classes import AUXILIARIES, BE, CLOSED, FINITE, GET, HAVE, NOT_NOUNS
from .inflection import is_plural_noun, is_verb_form, readings, verb_lemma
from .lexicon import word_lists
from .lexicon import words as words_of
from .order_words import with_hidden_orders
from .tag_repairs.context import has_other_finite, third_person
from .words import Caption

LISTS = word_lists("word_classes")
_DETERMINED = ("DT", "PRP$", "POS")
_OBJECTS = ("DT", "PRP", "PRP$")
_GOES_ON = (*_OBJECTS, "IN", "RP", "RB", "TO", "CC", "CD", ".", ",", "")
_ADJECTIVES = ("ed", "ing", "ly", "ic", "ish", "ese", "ian", "ful", "less", "ous")
_MORE_ADJECTIVES = ("y", "al", "ive", "able", "ible", "like")
_INDEFINITE = frozenset(one + two for one in ("some", "any", "no", "every") for two in ("thing", "one", "body"))
_PLACES = ("in", "into", "on", "onto", "over", "to", "under", "with")


@dataclass(frozen=True)
class _Place:
    """A word together with the words and tags of its caption."""

    words: Sequence[str]
    tags: Sequence[str]
    number: int
    order: bool

    def word_at(self, distance: int) -> str:
        place = self.number + distance
        return self.words[place] if 0 <= place < len(self.words) else ""

    def tag_at(self, distance: int) -> str:
        place = self.number + distance
        return self.tags[place] if 0 <= place < len(self.tags) else ""

    @property
    def known(self) -> set[str]:
        found = set(readings(self.word_at(0)))
        return found | {"NOUN"} if self.word_at(0) in LISTS.nouns_too else found

    @property
    def third(self) -> str:
        return third_person(self.word_at(0))

    @property
    def governs(self) -> bool:
        """Return whether an object such as "the", "her" or "something" follows."""
        return self.tag_at(1) in _OBJECTS

    def verbs_before(self, reach: int) -> list[str]:
        """Return the lemmas of the words before this one, the nearest last."""
        return [verb_lemma(word) for word in self.words[max(self.number - reach, 0) : self.number]]


@lru_cache(maxsize=1 << 14)
def with_classes(caption: Caption) -> Caption:
    """Return the caption with corrected word classes.

    Unlike in the Penn Treebank, "something" and "everyone" are pronouns, and participles before a noun are adjectives.
    """
    order = caption.style == "imperative"
    tokens = with_hidden_orders(caption) if order else caption.tokens
    words = [token.lower for token in tokens]
    tags = ["PRP" if token.lower in _INDEFINITE else token.tag for token in tokens]
    for number, token in enumerate(tokens):
        place = _Place(words, tags, number, order)
        if words[number] == "can" and _is_container(place):
            tags[number] = "NN"
        elif words[number] == "will" and place.tag_at(-1) == "IN" and place.word_at(-1) not in words_of("joining"):
            tags[number] = "NNP"  # "about will smith"
        elif words[number] in LISTS.numbers:
            tags[number] = "CD"
        elif words[number] in LISTS.peoples and place.tag_at(1).startswith("NN"):
            tags[number] = "JJ"
            continue
        named = tags[number].startswith("NNP") and token.text[:1].isupper()
        fixed = words[number] in AUXILIARIES or words[number] in CLOSED or not token.text.isalpha()
        if fixed or tags[number] == "CD" or (named and (not token.text.isupper() or len(token.text) == 1)):
            continue
        if tags[number].startswith("NN"):
            tags[number] = _class_of_noun(place) or tags[number]
        elif tags[number].startswith("VB"):
            thin = words[number] == "thin" and place.word_at(1) in ("slices", "strips", "pieces")
            if thin or (words[number] in words_of("colours") and place.tag_at(1).startswith("NN")):
                tags[number] = "JJ"
            elif _is_thing(place):
                tags[number] = "NNS" if tags[number] == "VBZ" else "NN"
            elif not {"VERB", "AUX"} & place.known and words[number] in ("else", "quite"):
                tags[number] = "RB"
        elif tags[number].startswith(("JJ", "RB", "FW", "IN", "RP", "DT", "CC")) or _is_unknown(place):
            tags[number] = _class_of_modifier(place) or tags[number]
    for number in range(len(tags)):
        if _is_attribute(_Place(words, tags, number, order)):
            tags[number] = "JJ"
    tagged = tuple(token.with_tag(tag) for token, tag in zip(caption.tokens, tags, strict=True))
    return Caption(caption.text, tagged, caption.style)


def _is_attribute(place: _Place) -> bool:
    """Return whether a participle modifies the noun after it, as in "the boiling water" and "add sliced onions"."""
    word, before, held = place.word_at(0), place.tag_at(-1), place.word_at(-1)
    ahead = 1
    while place.tag_at(ahead).startswith("JJ"):
        ahead += 1
    if not place.tag_at(ahead).startswith("NN") or held in BE | HAVE | GET:
        return False
    if place.tag_at(0) == "VBG":
        told = before in ("PRP$", "POS") or held in ("a", "an", "the")
        taken = held in _PLACES or (before == "VB" and place.order and held not in LISTS.beginning)
        return (told or (taken and word in words_of("modifiers"))) and word not in LISTS.purposes
    thing = "NOUN" in place.known and "ADJ" not in place.known  # "thought bubbles"
    if not is_verb_form(word, "VBN") or thing or place.tag_at(0) not in ("VBN", "VBD") or held in words_of("joining"):
        return False
    return before in ("DT", "PRP$", "POS", "JJ", "CD", "IN", "TO", "VB", "VBZ", "VBP", "VBG") or (
        place.order and before.startswith(("NN", "CC", ","))
    )


def _is_unknown(place: _Place) -> bool:
    """Return whether the tagger gave a word outside the dictionary the tag of existential "there"."""
    return place.tag_at(0) == "EX" and not place.known and place.word_at(0) != "there"


def _is_container(place: _Place) -> bool:
    """Return whether "can" is a noun, as in "out of a pop can."."""
    return place.tag_at(-1).startswith(("NN", "JJ", "DT")) and place.tag_at(1) in ("", ".", ",", "CC", "IN")


def _class_of_noun(place: _Place) -> str:
    """Return the right tag of a word that is tagged as a noun but is not one, or "" if it is a noun."""
    word, known = place.word_at(0), place.known
    before, held, after, follows = place.tag_at(-1), place.word_at(-1), place.tag_at(1), place.word_at(1)
    noun_follows = after.startswith("NN")
    if word == "top" and held != "on" and (after == "CD" or (noun_follows and not before.startswith("NN"))):
        return "JJ"
    if word == "square" and noun_follows and not before.startswith("NN"):
        return "JJ"
    foods = place.order or follows in words_of("order_nouns")
    if word == "ground" and ((foods and (noun_follows or after == "JJ")) or held == "freshly"):
        return "JJ"
    if not known and word.endswith("s") and held in words_of("people") and (place.governs or after == "TO"):
        return "VBZ"  # "the person straighens the pillows"
    if not known and before == "TO" and (after == "RP" or follows in words_of("particles")):
        return "VB"  # "to quieten down"
    if not known and word in word_lists("clipped").prepositions:
        return "IN"
    if not known or word in LISTS.nouns_too:
        return ""
    if is_verb_form(word, "VBG"):
        return _class_of_ing(place)
    if is_verb_form(word, "VBN") and held in ("have", "has", "had", "got", "gets") and not noun_follows:
        return "VBN"  # "had spat water"
    if is_verb_form(word, "VBD") and not is_verb_form(word, "VB") and before in ("NNP", "PRP"):
        return "" if noun_follows or has_other_finite(place.words, place.tags, place.number) else "VBD"
    if word in LISTS.adverbs and before not in (*_DETERMINED, "JJ", "IN", "") and not noun_follows:
        return "RB"
    if word.endswith("ly") and "ADV" in known and "NOUN" not in known:
        return "RB"
    if "NOUN" not in known and "PROPN" not in known:
        if "VERB" in known:
            return _class_of_verb(place)
        if before in _DETERMINED and not noun_follows and after != "JJ":
            return ""
        return "JJ" if "ADJ" in known and (noun_follows or "ADV" not in known or held in BE) else "RB"
    if (word in words_of("colours") or word in ("sweet", "dark", "blonde", "male", "female")) and (
        noun_follows
        or after == "JJ"
        or (after == "RB" and "NOUN" in readings(follows))
        or (after == "CC" and place.word_at(2) in words_of("colours"))
    ):
        return "JJ"
    if word in LISTS.states and not noun_follows and "ADJ" in known and before not in _DETERMINED:
        verbs = place.verbs_before(3)
        if verbs and (verbs[-1] in LISTS.linking or held in ("until", "till", "very", "so", "too")):
            return "JJ"
        return "JJ" if before.startswith("NN") and {"keep", "make"} & set(verbs) else ""
    if word == "full" and follows == "of":
        return "JJ"
    if word == "left" and held in ("and", "then", ",") and after in (".", ""):
        return "VBD"
    if is_verb_form(word, "VB") and _is_base(place):
        return "VB"
    return "VBZ" if is_verb_form(word, "VBZ") and _is_third(place) else ""


def _class_of_ing(place: _Place) -> str:
    """Return "VBG" if a word tagged as a noun is a participle, as in "a young girl shopping", or "" if it is a noun."""
    word, known = place.word_at(0), place.known
    before, held, after = place.tag_at(-1), place.word_at(-1), place.tag_at(1)
    doing = held if before != "RB" else place.word_at(-2)
    if doing in BE or (held in LISTS.meanwhile and (not after.startswith("NN") or word not in LISTS.purposes)):
        return "VBG"  # "is repeatedly opening cabinets", "while proceeding"
    if word in LISTS.purposes and after in ("NN", "NNS") and held != "by":
        return ""  # "a baking sheet"
    happens = "NOUN" not in known or word in words_of("modifiers") - LISTS.purposes or after == "NNP"
    if happens and after.startswith("NN") and before in (*_DETERMINED, "JJ", "IN", "TO"):
        return "VBG"  # "the loud crashing noises"
    acts = third_person(verb_lemma(word)) in words_of("verb_s") or word in LISTS.doings
    joined = held in words_of("people") or before in ("NNP", "PRP") or (before == "," and not place.order)
    joint = before == "CC" and "VBG" in place.tags[: place.number]
    if place.governs and (held in BE or joint or before in ("IN", ",") or before.startswith(("VB", "NN", "PRP"))):
        return "VBG"  # "is opening the box", "talking about opening a box", "typing something"
    if word in LISTS.doings and before.startswith("NN") and after in ("IN", "RP"):
        return "VBG"  # "the couch typing on a laptop"
    if (joined or joint) and (acts or "NOUN" not in known):
        return "VBG" if acts or not after.startswith("NN") else ""
    if "NOUN" in known:
        return ""
    joined = before.startswith("NN") or before in ("PRP", ",", "CC", "RB") or after == "NNP"
    joined = joined or (before.startswith("VB") and verb_lemma(held) in LISTS.beginning)
    return "VBG" if joined and (after == "NNP" or not after.startswith("NN")) else ""


def _class_of_modifier(place: _Place) -> str:
    """Return the tag of a noun or verb mistaken for an adjective, adverb or preposition, or "" for other words."""
    word, known, tag = place.word_at(0), place.known, place.tag_at(0)
    before, held, after, follows = place.tag_at(-1), place.word_at(-1), place.tag_at(1), place.word_at(1)
    noun_follows = after.startswith("NN")
    if (word == "cleaner" and held == "vacuum") or word in ("google", "video", "vegetable", "cloth", "closet"):
        return "NN"
    if word == "top" and not noun_follows and after not in ("JJ", "CD"):
        return "NN"
    if word == "light" and follows in ("switch", "switches", "bulb", "bulbs", "fixture", "fixtures"):
        return "NN"
    if word == "white" and held == "egg" and not noun_follows:
        return "NN"
    if word in LISTS.purposes and after in ("NN", "NNS") and held not in ("by", "while"):
        return "NN"  # "washing machine"
    if word in ("interior", "back", "outside", "exterior", "opposite") and held in ("the", "its") and follows == "of":
        return "NN"
    if tag == "JJ" and "NOUN" in known and before in ("DT", "PRP$") and word not in LISTS.adjectives:
        joined = after == "CC" and word not in ("remote", "net", "commercial") and place.tag_at(2) not in FINITE
        if not joined and not after.startswith(("NN", "JJ", "CD", "VBG", "VBN")):
            return "NN"  # "the fat from"
    if not known:
        thing = noun_follows and not place.order and "NOUN" in readings(follows)
        if held in ("a", "an", "the") and not word.endswith(_MORE_ADJECTIVES):
            thing = False  # "a selfie picture"
        described = word.endswith(_ADJECTIVES) or word in LISTS.peoples or thing
        return "" if described or not tag.startswith(("JJ", "RB", "FW", "EX")) else "NN"  # "garam", "mic"
    if not known <= {"NOUN", "VERB", "PROPN"} or word in ("like", "bit", "till", "that") or word in NOT_NOUNS:
        return ""
    if word == "ground" and (noun_follows or after == "JJ"):
        return "JJ"
    if word.endswith(("ing", "ed")):
        return ""
    if known == {"VERB"}:
        return "VB" if is_verb_form(word, "VB") and before not in (*_DETERMINED, "VB", "VBZ") else ""
    if place.order and word in LISTS.cooking and follows in LISTS.after_cooking:
        return "VB"
    base = is_verb_form(word, "VB") and before not in (*_DETERMINED, "JJ")
    if base and (word in LISTS.mostly_verbs or place.governs):
        return "VB"  # "bubbles form flip the pancake"
    if "VERB" in known and is_verb_form(word, "VBZ") and held in words_of("people") and after in _OBJECTS:
        return "VBZ"
    if place.third in words_of("verb_s") and after in ("VBG", *_OBJECTS) and is_verb_form(word, "VB"):
        return "VB"  # "and start running"
    return "NNS" if is_plural_noun(word) else "NN"


def _class_of_verb(place: _Place) -> str:
    word, before, held, after = place.word_at(0), place.tag_at(-1), place.word_at(-1), place.tag_at(1)
    noun_follows = after.startswith("NN")
    if before in _DETERMINED:
        return "JJ" if noun_follows and "ADJ" in place.known else ""
    if ("ADJ" in place.known or word == "shut") and after not in _OBJECTS:
        return "JJ"
    if is_verb_form(word, "VB"):
        acts = place.third in words_of("verb_s") or word in words_of("order_verbs")
        return "" if not acts and (before == "JJ" or noun_follows) else "VB"
    if is_verb_form(word, "VBZ"):
        return "VBZ" if before != "IN" or held == "as" else ""
    passive = held in BE or held in ("have", "has", "had") or not is_verb_form(word, "VBD")
    return "VBN" if passive or noun_follows else "VBD"


def _is_base(place: _Place) -> bool:
    word, third = place.word_at(0), place.third
    before, held, after, follows = place.tag_at(-1), place.word_at(-1), place.tag_at(1), place.word_at(1)
    particle = after == "RP" or follows in words_of("particles")
    acts = third in words_of("verb_s") and third not in words_of("noun_s")
    verbal = any(tag.startswith(("VB", "MD")) for tag in place.tags[: place.number])
    joined = before in (",", ":") or held in ("then", "they") or (before == "CC" and verbal)
    cooks = word in words_of("order_verbs") - words_of("order_nouns")
    if cooks and after == "CC" and place.tag_at(2) == "VB" and before in ("VBZ", "RB", "RP", ","):
        return True  # "when it boils cover and simmer"
    if held in ("let", "lets") and before.startswith("VB"):
        return True  # "and let cook"
    if place.order:
        if follows in ("it", "them") and before not in _DETERMINED:
            return True  # "take the mixture roll it"
        if before == "CC" and (follows == "the" or (after == "TO" and third in words_of("verb_s"))):
            return True
        if word in LISTS.cooking and before not in (*_DETERMINED, "IN", "JJ"):
            return held in ("and", "then") or (before != "CC" and follows in LISTS.after_cooking)
    if place.governs and before in ("CC", ",", "RB", "PRP", "TO", "NNS", "RP") and held != "of":
        return word not in words_of("order_nouns") and (verbal or before in ("PRP", "TO", "NNS"))
    if word in LISTS.mostly_verbs and before in ("CC", ",", "RB", "PRP", "TO", "RP") and verbal:
        return not after.startswith(("VBZ", "VBD", "MD"))  # "and start snuggling"
    if follows in ("it", "them") and before == "NN" and word in LISTS.mostly_verbs:
        return True  # "they open a bottle close it"
    if before == "TO" and not place.order and word not in words_of("order_nouns"):
        wanted = verb_lemma(place.word_at(-2)) in LISTS.before_to
        if wanted or (acts and place.tag_at(-2).startswith(("NN", "PRP"))):
            return True  # "begins to sneeze", "uses a towel to wash"
    if held in ("they", "we", "i") and before == "PRP" and "VERB" in place.known:
        return True  # "they go over to it"
    if before == "TO" and (after.startswith("NNP") or (after == "CC" and not place.order)):
        return word not in words_of("order_nouns")  # "to spray Jerry", "to trap and catch it"
    if held in ("go", "come", "they", "and", "then") and particle and before not in _DETERMINED:
        return acts or held in ("go", "come")  # "they go turn off the light"
    if before == "," and word in LISTS.handling and after.startswith("NN"):
        return True
    named = verb_lemma(place.word_at(-2)) in LISTS.with_verb
    if before.startswith("NN") and named and after.startswith("NN") and held not in words_of("people"):
        return third in words_of("verb_s")  # "made tom bite tom's tail"
    if before.startswith("NN") and LISTS.with_verb & set(place.verbs_before(4)) and word in LISTS.motions:
        return after in ("IN", "RP", ".", "", "CC", "RB", "DT", "JJ")
    if word in ("go", "try", "get", "take") and before == "NN" and (after == "TO" or particle):
        return True
    if not acts and word not in LISTS.leaves:
        return False
    if joined and (particle or follows in LISTS.whither or (word in LISTS.leaves and after in _GOES_ON)):
        return True
    return before in ("NNP", "PRP") and named and after in _GOES_ON


def _is_third(place: _Place) -> bool:
    word = place.word_at(0)
    before, held, after, follows = place.tag_at(-1), place.word_at(-1), place.tag_at(1), place.word_at(1)
    acts = word in words_of("verb_s") and word not in words_of("noun_s")
    particle = after == "RP" or follows in words_of("particles")
    if held == "then" and after in _OBJECTS:
        return True  # "then places it on a desk"
    if particle and place.tag_at(2) in ("DT", "PRP$") and before not in (*_DETERMINED, "JJ", "CD"):
        return acts  # "to stretch turns off the light"
    person = held in words_of("people") and before == "NN"
    if not place.order and before == "CC" and verb_lemma(word) in LISTS.leaves and not after.startswith("NN"):
        return any(tag.startswith("VB") for tag in place.tags[: place.number])  # "takes the blanket and leaves"
    if (acts and (held in ("another", "who") or (held == "other" and after == "IN" and not place.order))) or (
        person and (acts or particle or place.governs)
    ):
        return True  # "another plays guitar", "a guy chops up garlic"
    verbal = any(tag.startswith(("VB", "MD")) for tag in place.tags[: place.number])
    if not place.order and before == "CC" and verbal and (follows in ("it", "them", "that") or particle):
        return True  # "and sets it down"
    lone = before in ("NN", "NNP", "PRP") and not place.order
    lone = lone and not has_other_finite(place.words, place.tags, place.number)
    if lone and ((particle and word not in words_of("noun_s")) or (acts and after == "JJ")):
        return True  # "the laptop lights up"
    if not (acts or word in LISTS.leaves) or follows == "of" or after not in (*_GOES_ON, "NN"):
        return False
    if after == "NN":
        return place.governs and before in (",", "CC", "NN")
    if before in (",", ":") or held in ("then", "than", "they", "that", "which") or (before == "CC" and verbal):
        return True
    if not place.number:
        return after in ("IN", "RP", "TO", *_OBJECTS) or particle
    return lone and after in ("IN", "RP", "TO", *_OBJECTS)


def _is_thing(place: _Place) -> bool:
    """Return whether an apparent verb is a noun, as in "transfer to bowl" and "garlic powder and pepper"."""
    word, tag, known = place.word_at(0), place.tag_at(0), place.known
    before, held, after, follows = place.tag_at(-1), place.word_at(-1), place.tag_at(1), place.word_at(1)
    plain = held not in AUXILIARIES
    particle = after == "RP" or follows in words_of("particles")
    if word == "lightning" or (held, word) == ("man", "cave"):
        return True
    if word in LISTS.purposes and after.startswith("NN"):
        held_so = before in (*_DETERMINED, "JJ", "IN") and held not in (*words_of("joining"), "by")
        return held_so or (place.order and before in ("VB", "CC"))  # "into the washing machine"
    if tag == "VBZ" and before in ("VB", "VBD", "VBG", "VBP") and is_plural_noun(word) and plain:
        return True  # "heard plates crashing"
    if (
        place.order
        and tag == "VBZ"
        and (word in words_of("order_nouns") or word.removesuffix("s") in words_of("order_nouns"))
    ):
        return True  # "combine sauces oils and"
    if tag == "VBG" and before.startswith("NN") and word in LISTS.works:
        return after in ("VBD", "VBZ", "MD", "TO", "VBG", "CC")  # "the cat drawing saw"
    if tag == "VBG" and place.order and word in words_of("noun_ing") and not place.governs:
        return before.startswith("NN")  # "oils seasoning and beef"
    if held in ("a", "an", "the") and follows == "of" and (tag == "VBG" or "NOUN" in known):
        return True  # "the making of a film", "a set of stairs"
    if tag == "VBG" and before in ("DT", "JJ") and "NOUN" in known:
        return after in (".", "", "IN", "CC")  # "after the sneezing"
    if "NOUN" not in known or tag not in ("VB", "VBP"):
        return False
    if before.startswith("NN") and follows in AUXILIARIES and after != "VBN" and held not in words_of("people"):
        return True
    if tag == "VB" and before == "NN" and not place.order and held not in words_of("people"):
        made = LISTS.with_verb & set(place.verbs_before(5))
        return not (made or place.governs or particle) and after in (".", "", "IN")  # "a banana peel on the floor"
    went = verb_lemma(place.word_at(-2)) in words_of("motion") or place.word_at(-2) in ("next", "close")
    if before == "TO" and went and place.third not in words_of("verb_s") and not place.governs:
        return True  # "walks to couch wearing a blanket"
    determined = before in _DETERMINED or (before == "IN" and after not in _OBJECTS)
    determined = determined or (before == "JJ" and after in ("CC", ".", ""))  # "in plastic wrap and chill"
    if determined and held != "that":
        return True  # "the king heard", "into bed under"
    if tag == "VBP" and third_person(word) not in words_of("verb_s"):
        became = before in ("VBD", "VBZ") and plain and verb_lemma(held) not in ("help", "let", "make", "go", "come")
        between = before.startswith("NN") and after.startswith("NN")
        single = before == "NN" and (held not in words_of("people") or held == "baby") and not place.governs
        owned = before == "NNS" and after in ("", ".") and has_other_finite(place.words, place.tags, place.number)
        if became or between or single or owned:
            return True  # "became king", "sports vine clips", "the baby duck shook", "at another persons face"
    if after in _OBJECTS or not (word in words_of("order_nouns") or word in ("closet", "plate", "skillet", "fridge")):
        return False
    return before == "TO" or (before.startswith("NN") and tag == "VBP")
