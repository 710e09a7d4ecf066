"""What a question composes, and which compositions a model does not meet before it is tested.

AGQA 2.0 keeps chosen compositions out of training (Grunde-McLaughlin et al. 2021, section 3.6); ours are drawn by key.
"""

from __future__ import annotations

from functools import lru_cache

from ...core.seeds import digest_for
from .programs import questions as ask
from .programs.questions import VIDEO, Action, Question, Window

Composition = tuple[str, str, str]
"""A kind and what it joins: ("interaction", relation, object), ("time", word, action), ("edge", word, relation) or
("length", word, action)."""


def compositions_of(question: Question) -> set[Composition]:
    """Return what a question composes, its references included."""
    match question:
        case ask.Interaction(relation, str() as thing, window):
            return {("interaction", relation, thing)} | _of_window(window)
        case ask.Interaction(_, reference, window):
            return compositions_of(reference) | _of_window(window)  # type: ignore[arg-type]
        case ask.Both(_, first, second):
            return compositions_of(first) | compositions_of(second)
        case ask.EdgeObject(edge, relation, window):
            return {("edge", edge, relation)} | _of_window(window)
        case ask.ObjectEquals(_, asked) | ask.ObjectChoose(_, _, asked):
            return compositions_of(asked)
        case ask.LengthChoose(word):
            return {
                ("length", word, str(action)) for action in (question.first, question.second) if isinstance(action, str)
            }
        case ask.ActionEquals(_, compared):
            return compositions_of(compared)
        case ask.OrderChoose(_, action):
            return _of_action("order", action)
    found = _of_window(getattr(question, "window", VIDEO))
    about = getattr(question, "object", None)
    return found | (compositions_of(about) if isinstance(about, ask.Reference) else set())


def _of_window(window: Window) -> set[Composition]:
    return set().union(*(_of_action(window.word, action) for action in window.actions))


def _of_action(word: str, action: Action) -> set[Composition]:
    if isinstance(action, ask.ToAction):
        return compositions_of(action.object)
    return {("time", word, action)} if isinstance(action, str) else set()


@lru_cache(maxsize=1 << 16)
def is_held_out(composition: Composition, share: float, seed: int) -> bool:
    """Return whether a composition is kept out of `train`.

    Args:
        composition: The composition.
        share: How many of all, between 0 and 1.
        seed: The dataset's seed.
    """
    drawn = int.from_bytes(digest_for(seed, "decomp", "novel", *composition)[:8], "big")
    return drawn < share * 2**64
