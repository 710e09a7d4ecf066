"""Find the action in a parsed sentence or instruction, and put it into the -ing form.

"Begins to eat", "is seen eating" and "we see a man eating" are followed to the action. Verbs that are joined to it take
the same form. A clause with another subject, or with its own time ("when he is done"), is cut off.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .grammar import Refused, is_continued
from .lexicon import FINITE, can_be_verb, inflect, is_noun, is_verb_form, verb_lemma, word_lists, words
from .people import is_person
from .words import Caption

VERBS = ("VB", "VBZ", "VBP", "VBD", "VBG", "VBN")
_JOINED = ("conj", "dep", "ccomp", "advcl", "parataxis", "relcl")
_PLACES = ("in", "at", "on", "by", "near", "inside", "outside")
_TIMES = ("before", "after", "until", "till", "since")


@dataclass
class Draft:
    """What becomes of the tokens of a caption.

    Attributes:
        is_instruction: Whether the text is an instruction.
        gone: Tokens that are left out.
        forms: New texts, by token.
        actions: Lemmas of the verbs in the -ing form, by token.
        inserted: Words that are missing before a token.
    """

    caption: Caption
    is_instruction: bool
    gone: set[int] = field(default_factory=set)
    forms: dict[int, str] = field(default_factory=dict)
    actions: dict[int, str] = field(default_factory=dict)
    inserted: dict[int, str] = field(default_factory=dict)

    def kept(self, first: int = 0) -> list[int]:
        """Return the tokens that are not left out."""
        return [index for index in range(first, len(self.caption.tokens)) if index not in self.gone]

    def cut(self, index: int) -> None:
        """Leave a clause out, with the comma or conjunction before it, and what follows it without one."""
        c, lost = self.caption, self.caption.subtree(index)
        self.gone |= set(lost)
        for gone in lost:
            self.actions.pop(gone, None)
        before, behind = lost[0] - 1, lost[-1] + 1
        while before >= 0 and (before in self.gone or is_joint(c, before)):
            self.gone.add(before)
            before -= 1
        if behind < len(c.tokens) and not is_joint(c, behind):
            self.gone |= set(range(behind, len(c.tokens)))


def is_joint(c: Caption, index: int) -> bool:
    """Return whether a token is a comma or a conjunction that joins words."""
    return c.tokens[index].arc == "cc" or c.tokens[index].text == ","


def find_action(draft: Draft) -> int:
    """Find the action, put it and the verbs joined to it into the -ing form, and return its token.

    Raises:
        Refused: There is none that is certain.
    """
    c = draft.caption
    subject, verb = _start(draft)
    if subject is not None and not is_person(c, subject):
        raise Refused("camera" if c.tokens[subject].lemma in word_lists("phrases").camera else "other_subject")
    if subject is None and c.tokens[verb].tag not in ("VB", "VBP", "VBG") and verb:
        raise Refused("no_verb")
    if (
        draft.is_instruction
        and c.tokens[verb].tag not in ("VB", "VBP", "VBG")
        and not is_verb_form(c.tokens[verb].text, "VB")
    ):
        raise Refused("no_verb")  # "mash potatoes"
    if c.child(verb, "csubj") is not None or (subject is not None and is_continued(c, verb, subject)):
        raise Refused("unclear")  # "placing blueberries pack"
    does = c.child(verb, "ccomp")
    if draft.is_instruction and c.tokens[verb].rival == "JJ" and does is not None and _has_subject(c, does):
        raise Refused("no_verb")  # "wet dog shaking off water"
    try:
        first = _follow(draft, verb)
    except Refused as refusal:
        other = next((n for n in c.children(verb, "conj") if c.tokens[n].tag in VERBS and not _has_subject(c, n)), None)
        if other is None or str(refusal) not in ("state", "stopped", "camera"):
            raise
        verb, first = other, _follow(draft, other)  # "stops and opens the door"
    draft.gone |= set(range(first)) - _adverbs(c, first)
    for index in range(first + 1, len(c.tokens)):
        if index not in draft.gone and _is_clause(c, index):
            if any(c.tokens[n].tag in VERBS and not _has_subject(c, n) for n in c.children(index, "conj")):
                raise Refused("unclear")  # "stirs until it melts and serves"
            if c.tokens[index].tag == "VBG" and c.subtree(index)[0] == first + 1:
                raise Refused("unclear")  # "touching a woman's hair sitting beside him"
            draft.cut(index)
    _join(draft, first)
    return first


def _adverbs(c: Caption, verb: int) -> set[int]:
    """Return the adverbs of manner before a verb, as in "lightly grease"."""
    ordering = word_lists("phrases").ordering
    manner = [n for n in c.children(verb, "advmod") if n < verb and c.tokens[n].lower.endswith("ly")]
    kept = {below for n in manner if c.tokens[n].lower not in ordering for below in c.subtree(n)}  # "very carefully"
    return kept if kept and c.is_span(sorted({*kept, verb})) else set()


# The first verb


def _start(draft: Draft) -> tuple[int | None, int]:
    """Return the subject, if there is one, and the verb that it belongs to."""
    c, lists = draft.caption, word_lists("phrases")
    at, shown = c.roots[0], False
    while c.tokens[at].tag in VERBS or c.child(at, "aux") is not None:  # "is undressing" is read as an adjective
        subject = c.child(at, "nsubj", "nsubjpass")
        who = "" if subject is None else c.tokens[subject].lemma
        if who in lists.viewers and any(c.tokens[n].lemma in lists.seen for n in c.children(at, "conj")):
            raise Refused("camera")  # "we move on and see the dog"
        shown = c.tokens[at].lemma in lists.seen and who in lists.viewers | lists.camera
        if c.child(at, "auxpass") is not None or not (shown or c.child(at, "expl") is not None):
            before = next((n for n in c.children(at, "ccomp") if n < at and _has_subject(c, n)), None)
            if before is None:
                return subject, at
            if subject is not None:
                draft.gone |= set(range(c.subtree(before)[-1] + 1, len(c.tokens)))
            at = before  # "he sits, he eats": the first of two sentences
            continue
        thing = c.child(at, "ccomp", "dobj") if shown else c.child(at, "dobj", "attr", "nsubj")
        if thing is None:
            raise Refused("camera" if shown else "no_verb")
        at = thing
    placed = _doing(c, at)
    if placed is not None:
        return at, placed
    for index in c.children(at, "acl", "relcl"):
        token, inner = c.tokens[index], c.child(index, "nsubj")
        does = token.arc == "relcl" and (inner is None or c.tokens[inner].tag in ("WP", "WDT"))
        if does or token.tag == "VBG" or (token.arc == "acl" and is_verb_form(token.text, "VB")):
            return at, index
    seen = shown or c.tokens[at].lemma in lists.camera
    has_person = any(token.arc == "nsubj" and is_person(c, index) for index, token in enumerate(c.tokens))
    raise Refused(
        "camera" if seen else "no_verb" if draft.is_instruction or has_person or is_person(c, at) else "other_subject"
    )


def _follow(draft: Draft, verb: int) -> int:
    """Follow aspect verbs, "is seen" and "is in a room" to the action, and put it into the -ing form."""
    c, lists, token = draft.caption, word_lists("phrases"), draft.caption.tokens[verb]
    if any(c.tokens[n].lower in lists.denied or c.tokens[n].arc == "neg" for n in c.children(verb) if n < verb):
        raise Refused("negated")
    base = token.lemma if token.tag in VERBS else verb_lemma(token.text)
    passive = c.child(verb, "auxpass")
    if passive is not None and c.tokens[passive].lemma == "get":  # "gets dressed"
        draft.forms[passive], draft.actions[passive] = inflect("get", "VBG"), "get"
        return passive
    later = _later(draft, verb, base)
    if later is not None:
        draft.gone |= set(range(min([verb, *c.children(verb, "aux", "auxpass")]), later))
        return _follow(draft, later)
    base = "lie" if base == "lay" and not c.children(verb, "dobj") else base
    objects = {c.tokens[n].lemma for n in c.children(verb, "dobj")}
    alike = base == "look" and c.lower_at(verb + 1) == "like"  # "looks like he is in pain"
    if alike or (base in lists.stative and not (base == "have" and objects & lists.events)):
        raise Refused("state")
    if base in lists.filmed or (base == "lead" and any(c.tokens[n].lower == "into" for n in c.children(verb, "prep"))):
        raise Refused("camera")  # "and leads into clips of people"
    if not can_be_verb(token.text.rpartition("-")[2]) or token.tag == "MD":
        raise Refused("no_verb")  # "slice avocado", "the garbage can"
    if base == "wear" and any(other.arc == "acl" and other.tag == "VBG" for other in c.tokens[verb + 1 :]):
        raise Refused("unclear")  # "wearing a swimsuit swinging on a swing"
    draft.gone |= set(c.children(verb, "aux"))
    draft.forms[verb], draft.actions[verb] = inflect(base, "VBG"), base
    if not draft.forms[verb].replace("-", "").isalpha():
        raise Refused("no_verb")
    return verb


def _later(draft: Draft, verb: int, base: str) -> int | None:
    """Return the verb that names the action, if this one only leads to it.

    Raises:
        Refused: The verb is a state, or denies or ends the action.
    """
    c, lists, token = draft.caption, word_lists("phrases"), draft.caption.tokens[verb]
    behind = [n for n in c.children(verb, "xcomp", "advcl", "ccomp") if n > verb and not _has_subject(c, n)]
    later = behind[0] if behind else None
    tag = "" if later is None else c.tokens[later].tag
    bare = is_verb_form(token.text, "VB") or c.children(verb, "dobj")  # "person run", which is no participle
    passive = token.tag == "VBN" and not bare and not c.children(verb, "aux")
    if passive or c.child(verb, "auxpass") is not None:
        later = _doing(c, verb) if later is None else later
        if base not in lists.seen or later is None:
            raise Refused("camera" if base in lists.seen else "state")
        return later
    if base == "be":
        if any(c.tokens[n].lower == "about" for n in c.children(verb)):
            raise Refused("negated")  # "is about to leave"
        later = _doing(c, verb) if later is None else later
        if later is None:
            raise Refused("state")
        return later
    if base in lists.ending and tag != "VB" and not c.children(verb, "dobj"):
        raise Refused("stopped")
    close = tag == "VB" and later == verb + 2  # "goes to open"
    if later is None or (c.children(verb, "dobj") and not close):
        return None
    if close and base == "go" and token.tag == "VBG":
        raise Refused("negated")  # "is going to open"
    led = base in lists.aspect or (base in ("have", "go") and close) or (base in lists.ending and tag == "VB")
    return later if led and all(c.tokens[n].tag != "IN" for n in range(verb + 1, later)) else None


def _doing(c: Caption, verb: int) -> int | None:
    """Return the -ing form that belongs to a verb such as "is", as in "is in a room undressing"."""
    places = [n for n in c.children(verb, "prep") if c.tokens[n].lower in _PLACES]
    for index in c.subtree(verb):
        token = c.tokens[index]
        placed = token.arc in ("acl", "pcomp") and any(n + 1 < index and index in c.subtree(n) for n in places)
        predicate = token.arc in ("advcl", "xcomp", "attr", "acomp") and token.head == verb and not _opener(c, index)
        if index > verb and (placed or predicate) and is_verb_form(token.text, "VBG") and not c.child(index, "det"):
            return index
    return None


# The other verbs


def _has_subject(c: Caption, verb: int) -> bool:
    return any(n < verb for n in c.children(verb, "nsubj", "nsubjpass", "expl", "csubj"))


def _is_clause(c: Caption, index: int) -> bool:
    """Return whether a token is the verb of a clause that is cut off: with its own subject, or with a time."""
    token, subject = c.tokens[index], c.child(index, "nsubj")
    if token.arc == "prep":
        return token.lower in _TIMES and c.child(index, "pcomp") is not None
    if token.tag == "NNS" and is_verb_form(token.text, "VBZ"):  # "while the camera pans"
        return any(c.tokens[n].lemma in word_lists("phrases").camera for n in c.children(index, "compound"))
    if token.arc == "relcl" and subject is not None:  # "opens a door they walk in", not "a cup they hold"
        full = c.child(index, "dobj", "prt") is not None or any(c.child(n, "pobj") for n in c.children(index, "prep"))
        alone = c.tokens[subject].lower == "it" or (full and c.tokens[subject].lower in ("they", "he", "she"))
        return alone and not _opener(c, index)
    if token.arc not in ("advcl", "conj", "parataxis", "dep") or token.tag not in VERBS:
        return False
    if any(c.tokens[n].lower == "to" for n in c.children(index, "aux")):
        return False  # "motioning for her baby to dance"
    if _has_subject(c, index):
        tensed = any(c.tokens[n].tag != "VBN" for n in (index, *c.children(index, "aux", "auxpass")))
        return tensed or token.arc != "advcl"
    return token.arc == "advcl" and _opener(c, index) in (*_TIMES, "when", "once")


def _opener(c: Caption, verb: int) -> str:
    """Return the word that opens a subordinate clause, or ""."""
    before = (c.tokens[n] for n in c.children(verb) if n < verb)
    return next((token.lower for token in before if token.arc == "mark" or token.tag[:1] == "W"), "")


def _join(draft: Draft, first: int) -> None:
    """Put the verbs joined to the action into the -ing form, with a comma or "and" where nothing joins them."""
    c = draft.caption
    for index in range(first + 1, len(c.tokens)):
        if index in draft.gone or index in draft.actions or not _is_joined(draft, index):
            continue
        try:
            opener = min([index, *(n for n in c.children(index, "aux", "auxpass", "advmod") if n > first)])
            opener -= c.tokens[opener - 1].lower == "then" and opener - 1 > first
            action = _follow(draft, index)
            before = max(n for n in range(first, opener) if n == first or n not in draft.gone)
            loose = not is_joint(c, before) and c.tokens[opener].lower != "then"
            doubtful = (
                c.tokens[index].rival[:2] == "NN"
                if draft.is_instruction
                else c.tokens[before].tag in ("CD", "PRP", "DT")
            )
            if before in draft.actions or (loose and doubtful):
                raise Refused("run_on")  # "add cut pieces": either word may be the verb
            if loose:
                draft.inserted[action if opener in draft.gone else opener] = "and"
        except Refused as refusal:
            if draft.is_instruction or str(refusal) in ("no_verb", "run_on", "unclear"):
                raise
            draft.cut(index)
    left = [n for n in draft.kept(first) if n not in draft.actions and _is_left(draft, n)]
    left += [n for n in draft.kept(first) if c.tokens[n].lower == "about" and c.lower_at(n + 1) == "to"]
    if left:
        raise Refused("unclear" if is_joint(c, left[0] - 1) else "run_on")
    for index in draft.inserted:
        if any(action > index + 2 for action in draft.actions):  # its own adverb and verb may follow the word
            draft.inserted[index] = ","


def _is_left(draft: Draft, index: int) -> bool:
    """Return whether a token is a verb that nothing accounts for."""
    token, lists = draft.caption.tokens[index], word_lists("phrases")
    if not draft.is_instruction and token.tag[:2] == "NN":  # "and exhales", "and then hug"
        verbal = token.arc == "conj" and is_verb_form(token.text, "VBZ" if token.tag == "NNS" else "VB")
        return verbal and (token.head in draft.actions or not is_noun(token.text) or token.rival == "VBZ")
    if not draft.is_instruction:
        return token.tag in FINITE and can_be_verb(token.text) and not _is_subordinate(draft, index)
    listed = index and draft.caption.tokens[index - 1].text == "," and token.lower in words("order_verbs")
    if token.tag == "NN" and token.arc == "compound" and listed and token.lower not in lists.single | lists.foods:
        return True  # ", drizzle cornbread"
    order = token.tag in ("VB", "VBP", "VBD") and token.lower not in lists.single | lists.foods
    return order and is_verb_form(token.lower, "VB") and token.arc in ("dep", "dobj", "compound", "nmod", "amod")


def _is_subordinate(draft: Draft, index: int) -> bool:
    """Return whether a verb belongs to a clause inside the phrase, as in "watching how they dance"."""
    c, token = draft.caption, draft.caption.tokens[index]
    if index in draft.actions:
        return False
    if token.arc in ("aux", "auxpass", "conj"):
        return _is_subordinate(draft, token.head)
    subject = c.child(index, "nsubj", "nsubjpass", "expl")
    opened = token.arc in ("relcl", "pcomp") or bool(_opener(c, index))
    return opened or (subject is not None and is_person(c, subject))


def _is_joined(draft: Draft, index: int) -> bool:
    """Return whether a token is a verb that has the subject of the action."""
    c, token, lists = draft.caption, draft.caption.tokens[index], word_lists("phrases")
    if token.arc not in (*_JOINED, "appos", "ROOT") or _opener(c, index) or _has_subject(c, index):
        return False
    before = index - 1 - (c.tokens[index - 1].tag == "RB")
    behind = c.tokens[before].arc == "cc" or c.tokens[before].lower == "then"
    spine = token.head in draft.actions or token.head in draft.gone
    if draft.is_instruction:  # behind "and", orders are often read as nouns: "add salt and stir"
        free = token.tag in ("VB", "VBP") and spine and not c.children(index, "aux", "mark")
        known = token.lower in lists.single | lists.foods or c.tokens[token.head].tag[:2] == "JJ"
        certain = token.tag[:2] == "VB" or token.rival[:2] == "VB" or token.lower in words("order_verbs")
        bare = "JJ" in (token.tag, token.rival) and c.tag_at(index + 1)[:2] not in ("NN", "JJ")
        certain = certain or bare  # "brown on all sides"
        ends = index + 1 == len(c.tokens) or c.lower_at(index + 1) == "until"
        if behind and ends and not certain and not known and is_verb_form(token.text, "VB"):
            raise Refused("run_on")  # "add the butter to the blender and pulse"
        verbal = certain and not known if behind else free
        return verbal and is_verb_form(token.text, "VB")
    if token.tag in ("NN", "NNS"):  # "looks at the camera and talks"
        bare = not c.children(index, "det", "amod", "poss", "nummod", "compound")
        head = c.tokens[token.head]
        marked = c.children(token.head, "det", "poss")
        alike = head.tag[:2] == "NN" and not marked  # "a dog and cats"
        verbal = bare and not alike and is_verb_form(token.text, "VBZ" if token.tag == "NNS" else "VB")
        if verbal and behind and (token.rival[:2] != "VB" or (head.tag == "NNS" and marked)):
            raise Refused("run_on")
        plural = c.tokens[min(draft.actions)].tag in ("VB", "VBP")
        return verbal and token.rival[:2] == "VB" and plural == (token.tag == "NN")
    if token.tag == "VBN" and not c.children(index, "aux", "auxpass"):
        return False
    if token.tag in FINITE and not _is_subordinate(draft, index):
        return True
    return token.tag in VERBS and spine and token.arc in ("conj", "dep")
