from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from stressreel.core.errors import InputError
from stressreel.templates import load_classes, read_table
from stressreel.templates.agqa import ANYTHING, load_agqa
from stressreel.templates.agqa_making import ANY, load_frames, load_rules

GOLDEN = Path(__file__).with_name("golden_frames.txt")


def lines() -> Iterator[str]:
    frames = load_frames()
    for part in (frames.windows, frames.references, frames.frames):
        yield from (f"{name}: {text}" for name, wordings in part.items() for text in wordings)
    for phrase in load_agqa().actions:
        yield f"{phrase} | {frames.tense(phrase, past=False)} | {frames.tense(phrase, past=True)}"
    for relation in load_agqa().relations.values():
        if relation.family != "attention" and relation.name not in load_rules().unasked_relations:
            tenses = [frames.relation(relation.pattern, relation.name, past) for past in (False, True)]
            yield f"{relation.pattern} | {' | '.join(tenses)}"


def test_wording_never_changes() -> None:
    assert "\n".join(lines()) + "\n" == GOLDEN.read_text(encoding="utf-8")


def test_unknown_gerunds_are_refused() -> None:
    with pytest.raises(InputError, match="juggling"):
        load_frames().tense("juggling apples", past=True)


def test_similar_objects_are_mutual() -> None:
    alike = load_rules().alike
    assert all(name in alike[other] for name, others in alike.items() for other in others)


def test_every_charades_class_counts_as_an_action() -> None:
    words, alike = load_agqa(), load_rules().alike
    assert {*words.by_class, *words.replaced} == load_classes().classes.keys()
    for replaced in words.replaced.values():
        if itself := replaced.itself:
            assert itself.phrase not in words.actions
            assert itself.object == ANYTHING or itself.object in alike[replaced.by.object or ""]


def test_tables_contain_known_words_only() -> None:
    words, rules, frames = load_agqa(), load_rules(), load_frames()
    actions = words.actions.values()
    assert len(read_table("agqa")["actions"]) == len(actions)  # no two share a phrase
    assert {action.object for action in actions} <= {*words.objects, None}
    assert {action.besides for action in actions} <= {*words.objects, ANYTHING, None}
    assert {action.verb for action in actions} <= {*words.relations, None}
    assert all((action.verb is None) == (action.object is None) for action in actions)
    assert {relation.family for relation in words.relations.values()} == {"attention", "spatial", "contact", "verb"}
    assert not {relation.anything for relation in words.relations.values()} & words.actions.keys()
    assert {kind.answer for kind in words.kinds.values()} == {"yes/no", "choice", "object", "action"}
    groups = {group for rule in words.rules.values() for part in (rule.parents, *rule.children) for group in part}
    assert groups <= {kind.group for kind in words.kinds.values()}
    objects = {thing for group in read_table("agqa_making")["look_alike"] for thing in group} | rules.unasked_objects
    assert objects | {thing for _, thing in rules.obvious} <= words.objects.keys() | words.unnamed_objects.keys()
    relations = rules.unasked_relations | rules.transitions | rules.referred | {name for name, _ in rules.obvious}
    relations = relations.union(rules.doubtful, rules.implied, *rules.doubtful_actions.values())
    assert relations <= words.relations.keys()
    implying = [actions for by in rules.implied.values() for actions in (by.during, by.begins, by.ends)]
    without_object = {phrase for phrase, action in words.actions.items() if not action.verb}
    assert {ANY, *without_object, *words.relations} >= set().union(*rules.doubtful.values(), *implying)
    assert {action.into for action in actions} <= {*rules.implied, None}
    assert rules.never_in_time | rules.doubtful_actions.keys() <= words.actions.keys()
    texts = [text for part in (frames.windows, frames.frames) for wordings in part.values() for text in wordings]
    slots = {name.partition("_")[0] for text in texts for _, name, _, _ in Formatter().parse(text) if name}
    assert slots == {*"aboprst"}
