"""Count contradictions between a model's answers within a graph of sub-questions.

The definition is that of AGQA-Decomp (Gandhi et al. 2022). Only predictions are compared, not correct answers. Each of
nine rules has two counters, whose conditions are exactly those of the authors' released scorer (commit "Corrected IC
score computation"; the paper mentions ten rules, in a table of its supplement). First, Last, Longer Choose and Shorter
Choose have no counters. A rule does not apply to a parent if a required prediction is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .question_graphs import (
    AFTER,
    BANNED,
    BEFORE,
    CUT,
    EXISTENCE,
    NO,
    OBJECT_VALUED,
    TIMES,
    YES,
    ReadAnswers,
    named_object,
    open_answer,
)

Verdict = tuple[bool | None, bool | None]
"""Whether a parent is inconsistent by each of a rule's two counters, or None if the counter does not apply."""
RulesOfGraph = Mapping[int, Mapping[str, Sequence[int]]]
"""Children by parent and rule, as positions among the answers."""

CONSISTENCY: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("Interaction", "Equals", "And", "Xor"), ("Yes", "No")),
    "Choose": ("Temporal", "Object"),
    **dict.fromkeys(TIMES, ("Yes", "No")),
}
"""The counters of each rule."""
COUNTERS = tuple((rule, counter) for rule, both in CONSISTENCY.items() for counter in both)
CONSISTENCY_OF_GROUP: Mapping[str, tuple[str, ...]] = {
    "Relation Exists": ("Interaction",),
    "Interaction": ("Interaction",),
    "Interaction Temporal Localization": ("Interaction", *TIMES),
    "Exists Temporal Localization": TIMES,
    "Conjunction": ("And", "Xor"),
    "Choose": ("Choose",),
    "Equals": ("Equals",),
}
"""Rules whose counters are averaged for the consistency of a group. Other groups have no consistency."""

UNCOUNTED: Verdict = (None, None)


def consistency(answers: ReadAnswers, rules: RulesOfGraph, parent: int, rule: str) -> Verdict:
    """Check whether the answer to a parent is consistent with the answers to its children, by one rule.

    Returns:
        Whether the answers are inconsistent by the first counter ("Yes" or "Temporal") and by the second ("No" or
            "Object").
    """
    if rule not in CONSISTENCY:
        return UNCOUNTED
    says, children = answers.says, rules[parent][rule]
    said = says[parent]
    if rule == "Interaction" or rule in TIMES or rule == "And":
        existence = [child for child in children if answers.nodes[child].kind in EXISTENCE]
        if not existence or _lacking(answers, parent, existence):
            return UNCOUNTED
        below = [says[child] for child in existence]
        all_yes, some_no = all(each == YES for each in below), NO in below
        if rule in ("And", "Between"):
            return _both(said, all_yes, some_no)
        return (not all_yes) if said == YES else None, said != NO if some_no else None
    if any(answers.nodes[child].kind in BANNED for child in children) or _lacking(answers, parent, children):
        return UNCOUNTED
    first, second = (says[child] for child in children)
    if rule == "Xor":
        return _both(said, first == YES and second == NO, not (first == YES and second == NO))
    if rule == "Equals":
        return _equals(answers, rules, parent, children)
    if said in (BEFORE, AFTER):
        return (first, second) != ((YES, NO) if said == BEFORE else (NO, YES)), None
    option = _option(answers, rules, said, children)
    return None, None if option is None else (first, second) != ((YES, NO), (NO, YES))[option]


def single_verdict(verdict: Verdict, rule: str, said: str | None) -> bool | None:
    """Reduce a verdict to one of its counters, for the correlation of consistency and accuracy.

    The counter is "Yes" if the answer to the parent is yes, "No" if it is no, and otherwise the one that applies.
    """
    first, second = verdict
    if rule != "Choose" and said == YES:
        return first
    if rule != "Choose" and said == NO:
        return second
    return second if first is None else first


def _lacking(answers: ReadAnswers, parent: int, children: Sequence[int]) -> bool:
    return any(answers.absent[node] for node in (parent, *children))


def _both(said: str | None, yes: bool, no: bool) -> Verdict:
    return _one(said == YES, yes, yes), _one(said == NO, no, no)


def _one(is_said: bool, agreed: bool, demanded: bool) -> bool | None:
    """Evaluate a counter: children must support the parent's answer, and an answer they imply must be given."""
    if is_said:
        return not agreed
    return True if demanded else None


def _equals(answers: ReadAnswers, rules: RulesOfGraph, parent: int, children: Sequence[int]) -> Verdict:
    """Compare the answer to "is it o?" with the answers about o and about the object that is compared with o."""
    if answers.nodes[parent].kind != "Object Equals":
        return UNCOUNTED
    said, first, second = (answers.says[node] for node in (parent, *children))
    asks = answers.nodes[children[0]]
    if answers.released:
        compared = None if children[0] in rules else asks.program[slice(*CUT)]
        two_answers = children[0] in rules
    else:
        name = named_object(asks.program) if asks.kind == "Object Exists" else None
        compared = None if name is None else open_answer(name)
        two_answers = asks.kind in OBJECT_VALUED
    if two_answers:
        same = first is not None and first == second
        return _both(said, same, not same)
    if compared is None:
        return UNCOUNTED
    named, there = second == compared, first == YES
    return _one(said == YES, named and there, named), _one(said == NO, not named, not (named and there))


def _option(answers: ReadAnswers, rules: RulesOfGraph, said: str | None, children: Sequence[int]) -> int | None:
    """Return the option that an answer selects, or None if it selects neither or the options are not objects."""
    if said is None:
        return None
    compared = [rules.get(child, {}).get("Equals") for child in children]
    for option, (child, below) in enumerate(zip(children, compared, strict=True)):
        if below is None or None in compared:
            return None
        if answers.released:
            found = f"{said} exist" in answers.nodes[below[0]].text
        else:
            names = (named_object(answers.nodes[node].program) for node in (child, below[0]))
            found = said in [open_answer(name) for name in names if name is not None]
        if found:
            return option
    return None
