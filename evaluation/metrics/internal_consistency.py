"""Internal consistency: whether a model contradicts itself within a graph of sub-questions.

AGQA-Decomp (Gandhi et al. 2022). Only predictions are looked at, never right answers. Each of nine rules has two
counters; here are their conditions exactly as in the authors' released scorer (its commit "Corrected IC score
computation"; the paper speaks of ten rules, in a table of its supplement). Rules First, Last, Longer Choose and Shorter
Choose have none. A parent is not counted by a rule if it or a child that the rule looks at has no prediction.
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
    Answers,
    named_object,
    open_answer,
)

Verdict = tuple[bool | None, bool | None]
"""What both counters of a rule make of a parent: wrong or not; None if it is not counted."""
Rules = Mapping[int, Mapping[str, Sequence[int]]]
"""The rules of a graph: by parent and rule, its children; as positions among the answers."""

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
"""The rules that a group's consistency is the mean of; other groups have none."""

UNCOUNTED: Verdict = (None, None)


def consistency(answers: Answers, rules: Rules, parent: int, rule: str) -> Verdict:
    """Hold the answer to a parent against those to its children by one rule.

    Args:
        answers: The answers.
        rules: The rules of the graph.
        parent: The parent, of no banned kind.
        rule: One of its rules.

    Returns:
        Whether it is wrong by the first ("Yes", or "Temporal") and by the second counter ("No", or "Object").
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


def once(verdict: Verdict, rule: str, said: str | None) -> bool | None:
    """Count a parent and rule at most once, as the correlation of consistency and accuracy does.

    The counter is "Yes" if the parent is answered by yes, "No" if by no, and else the one that is counted.

    Args:
        verdict: What `consistency` gives.
        rule: The rule.
        said: The answer to the parent.

    Returns:
        Whether it is wrong; None if it is not counted.
    """
    first, second = verdict
    if rule != "Choose" and said == YES:
        return first
    if rule != "Choose" and said == NO:
        return second
    return second if first is None else first


def _lacking(answers: Answers, parent: int, children: Sequence[int]) -> bool:
    return any(answers.absent[node] for node in (parent, *children))


def _both(said: str | None, yes: bool, no: bool) -> Verdict:
    """Hold an answer against what the children make of it: they are counted where it, or they, say so."""
    return _one(said == YES, yes, yes), _one(said == NO, no, no)


def _one(is_said: bool, agreed: bool, demanded: bool) -> bool | None:
    """Count one side: what is said has to be agreed to by the children, what they demand has to be said."""
    if is_said:
        return not agreed
    return True if demanded else None


def _equals(answers: Answers, rules: Rules, parent: int, children: Sequence[int]) -> Verdict:
    """Hold "is it o?" against o's own question and the question whose answer it is compared with."""
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


def _option(answers: Answers, rules: Rules, said: str | None, children: Sequence[int]) -> int | None:
    """Find which of two options an answer is; None if none, or if the options are not compared with objects."""
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
