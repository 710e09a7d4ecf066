"""Answers to compositional questions in the plainest way, written without a look at the builder's: sets and loops.

Everything is looked up again for every question. Tests compare it with `builders.decomp.graph_answers`, which is quick.
"""

# ruff: noqa: RUF021

from collections.abc import Callable
from typing import Any

from stressreel.programs import questions as ask
from stressreel.programs.questions import INTERACTING, VIDEO
from stressreel.templates import read_table
from stressreel.templates.agqa import ANYTHING, PERSON, load_agqa

COMPLETE = ("agqa", "drawn")
TABLE, RULES = read_table("agqa"), read_table("agqa_making")
ROWS = {row["phrase"]: row for row in TABLE["actions"].values()}
NEAR_S, APART_S, LONGER_S = 1.0, 5.0, 7.0


def evaluate(question, graph):
    """Return the answer to a question from a graph, None where there is none."""
    return Evaluator(graph).value(question)


def numbers(bits):
    """Return the numbers of the frames in a set."""
    return {number for number, bit in enumerate(reversed(bin(bits)[2:])) if bit == "1"}


def alike(thing):
    """Return what an object may be taken for, and itself."""
    return {thing}.union(*(group for group in RULES["look_alike"] if thing in group))


class Evaluator:
    """Looks things up in one graph."""

    def __init__(self, graph):
        self.graph = graph
        self.every = set(range(len(graph.times)))

    # What is annotated

    def holds(self, relation):
        """Return the frames of a relation with each object."""
        table = self.graph.contacts if relation == INTERACTING else self.graph.relations.get(relation, {})
        return {thing: numbers(bits) for thing, bits in table.items()}

    def there(self, relation, frames):
        """Return the objects of a relation in some frames."""
        return {thing for thing, held in self.holds(relation).items() if held & frames}

    def goes_on(self, relation, frames):
        """Return the objects of a relation in some frames, with those that actions name loosely."""
        found = self.there(relation, frames)
        for span in self.graph.actions:
            row = ROWS.get(span.phrase)
            if row and row["verb"] == relation and numbers(span.frames) & frames:
                found.add(row["object"])
        return found

    def instances(self, phrases):
        return [span for span in self.graph.actions if span.phrase in phrases]

    # What is spoken of

    def thing(self, thing):
        """Return the name of an object; None if it is none, or not one."""
        if not isinstance(thing, str):
            return self.value(thing)
        tables = (TABLE["objects"], self.graph.contacts, self.graph.visible, self.graph.seen)
        return thing if any(thing in table for table in (*tables, *self.graph.relations.values())) else None

    def phrases(self, action):
        """Return the phrases of an action, several if what is spoken of may be several; none if it is not known."""
        match action:
            case str():
                return {action} if action in ROWS or self.instances({action}) else set()
            case ask.ExtremeAction():
                return {self.value(action)} - {None}
            case ask.ToAction(verb, thing):
                name, relation = self.thing(thing), load_agqa().relation_of(verb)
                done = [ROWS[span.phrase] for span in self.graph.actions if span.phrase in ROWS]
                fit = [row for row in done if (row["verb"], row["object"]) == (relation, name)]
                strict = [row for row in fit if not row.get("loose")]
                return {row["phrase"] for row in strict or fit}

    def naming(self, window):
        """Return the instances of each of the actions that name a window."""
        return [self.instances(self.phrases(action)) for action in window.actions]

    def others(self, window):
        """Return the instances of all other actions."""
        return [span for span in self.graph.actions if all(span not in spans for spans in self.naming(window))]

    def readings(self, window):
        """Return what a window may mean, as sets of frames; none if it has no meaning."""
        if window == VIDEO:
            return [self.every]
        named = self.naming(window)
        if not all(named):
            return []
        ranges = [[self.range(span) for span in spans] for spans in named]
        first = min(min(frames) for frames in ranges[0])
        last = max(max(frames) for frames in ranges[0])
        match window.word:
            case "before" if len(named[0]) == 1:
                return [{frame for frame in self.every if frame <= first}] if first else []
            case "after" if len(named[0]) == 1:
                return [{frame for frame in self.every if frame > last}]
            case "while":
                return [self.range(named[0][0]), set().union(*ranges[0])]
            case "between":
                end = min(min(frames) for frames in ranges[1])
                return [{frame for frame in self.every if last < frame < end}]
        return []

    def range(self, span):
        frames = numbers(span.frames)
        return {frame for frame in self.every if min(frames) <= frame <= max(frames)}

    def seconds(self, window) -> Callable[[float], bool]:
        """Tell which seconds lie in a window that has a meaning."""
        named = self.naming(window)
        match window.word:
            case "before":
                return lambda time: time <= named[0][0].start
            case "after":
                return lambda time: time >= named[0][0].end
            case "while":
                return lambda time: any(span.start <= time <= span.end for span in named[0])
            case "between":
                begins, ends = max(span.end for span in named[0]), min(span.start for span in named[1])
                return lambda time: begins <= time <= ends
        return lambda time: True

    # Answers

    def value(self, question) -> Any:
        match question:
            case ask.Both(word, first, second):
                one, two = self.value(first), self.value(second)
                if word == "xor":
                    two = {"yes": "no", "no": "yes", None: None}[two]
                return "no" if "no" in (one, two) else "yes" if one == two == "yes" else None
            case ask.ExtremeAction(word):
                return self.extreme(word)
            case ask.ObjectEquals(thing, asked):
                return self.over(asked, lambda found: self.equal(self.thing(thing), found))
            case ask.ObjectChoose(first, second, asked):
                options = {self.thing(first), self.thing(second)}
                return self.over(asked, lambda found: None if None in options else self.one(options & found))
            case ask.LengthChoose(word, first, second):
                return self.compared(word, first, second)
            case ask.ActionEquals(action, asked):
                one, two = self.phrases(action), self.value(asked)
                return None if len(one) != 1 or two is None else "yes" if one == {two} else "no"
            case ask.OrderChoose(asked, action):
                return self.order(asked, self.instances(self.phrases(action)))
        return self.agreed(question.window, lambda frames: self.within(question, frames))

    def agreed(self, window, judge):
        """Judge the frames of a window; all its readings must agree."""
        found = [judge(frames) if frames else None for frames in self.readings(window)]
        return found[0] if found and all(value == found[0] for value in found) else None

    def over(self, asked, judge):
        """Judge the objects that are asked for; nothing can be said beside one that has no name."""

        def named(frames):
            if isinstance(asked, ask.EdgeObject):
                found = {self.value(asked)} - {None}
            else:
                found = self.there(asked.relation, frames) if self.told(asked.relation) else set()
            return judge(found) if found and ANYTHING not in found else None

        return self.agreed(asked.window, named)

    def equal(self, name, found):
        """Tell whether an object is the only one: it is not if it is not even one of several."""
        return None if name is None or name in found and len(found) > 1 else "yes" if name in found else "no"

    def within(self, question, frames):
        """Answer a question about some frames."""
        match question:
            case ask.ObjectExists(thing, window):
                return self.exists(self.thing(thing), window, frames)
            case ask.RelationExists(relation):
                if relation not in TABLE["relations"]:
                    return None
                return "yes" if self.there(relation, frames) else self.denied(relation, ANYTHING, frames)
            case ask.Interaction(relation, thing):
                name = self.thing(thing)
                if name is None or relation not in TABLE["relations"]:
                    return None
                return "yes" if name in self.there(relation, frames) else self.denied(relation, name, frames)
            case ask.ActionHappens(action):
                return self.happens(action, frames)
            case ask.ObjectsOf(relation):
                return self.one(self.there(relation, frames) if self.told(relation) else set())
            case ask.EdgeObject(edge, relation):
                return self.edge_object(edge, relation, frames) if self.told(relation) else None
            case ask.ActionsIn(window):
                return self.one({span.phrase for span in self.others(window) if numbers(span.frames) & frames})
            case ask.EdgeAction(edge, window):
                return self.edge_action(edge, window, frames)
        raise TypeError(question)

    def one(self, names):
        return min(names) if len(names) == 1 and ANYTHING not in names else None

    def exists(self, name, window, frames):
        if name is None:
            return None
        seen = [self.holds(relation).get(name, set()) for relation in (*self.graph.relations, INTERACTING)]
        seen.append(numbers(self.graph.visible.get(name, 0)))
        if name == PERSON or any(found & frames for found in seen) or window == VIDEO and name in self.graph.seen:
            return "yes"
        return "no" if self.graph.provenance in COMPLETE else None

    def happens(self, action, frames):
        phrases = self.phrases(action)
        if any(numbers(span.frames) & frames for span in self.instances(phrases)):
            return "yes"
        if isinstance(action, ask.ToAction):
            name = self.thing(action.object)
            return name and self.denied(load_agqa().relation_of(action.verb), name, frames)
        if not phrases:
            return None
        row = ROWS.get(phrase := phrases.pop(), {"verb": None})
        if row["verb"]:
            return self.denied(row["verb"], ANYTHING if row.get("loose") else row["object"], frames)
        doubts = RULES["doubtful_actions"].get(phrase, []) if self.graph.provenance not in COMPLETE else []
        return None if any(self.goes_on(other, self.widened(frames)) for other in doubts) else "no"

    def told(self, relation):
        """Tell whether the graph would say if the relation held."""
        if self.graph.provenance in COMPLETE or relation == INTERACTING:
            return relation in TABLE["relations"]
        return self.annotated(relation)

    def annotated(self, relation):
        family = TABLE["relations"].get(relation, {}).get("family", "verb")
        verbs = {row["verb"] for row in ROWS.values()}
        return relation in verbs or self.graph.provenance == "action_genome" and family != "verb"

    def widened(self, frames):
        times = self.graph.times
        return {frame for frame in self.every if any(abs(times[frame] - times[near]) <= NEAR_S for near in frames)}

    def denied(self, relation, name, frames):
        """Return "no" if it is known that a relation does not hold with an object, or with anything."""
        if self.graph.provenance in COMPLETE:
            return "no"
        if not self.annotated(relation):
            return None
        exact, frames, anything = frames, self.widened(frames), name == ANYTHING
        objects = {row["object"] for row in ROWS.values() if row["verb"] == relation and not row.get("loose")}
        fitting = {ANYTHING}.union(*map(alike, objects if anything else [name]))
        doubts = RULES["doubtful"].get(relation, [])
        if doubts == "any":
            contacts = self.there(INTERACTING, frames)
            if contacts if anything else contacts & fitting:
                return None
            doubts = []
        if any(self.goes_on(other, frames) & fitting for other in doubts):
            return None
        if not anything and self.denied(relation, ANYTHING, exact):
            return "no"
        held = self.goes_on(relation, frames)
        if held if anything else held & fitting:
            return None
        if not anything and not self.holds(relation).get(name):
            return None if held or self.there(relation, self.every) & alike(name) else "no"
        return "no"

    def edge_object(self, edge, relation, frames):
        held = set().union(*self.holds(relation).values()) & frames
        if not held:
            return None
        frame, step = (min(held), 1) if edge == "first" else (max(held), -1)
        run = set()
        while frame in held:
            run.add(frame)
            frame += step
        return self.one(self.there(relation, run))

    def edge_action(self, edge, window, frames):
        inside, found = self.seconds(window), []
        for span in self.others(window):
            covered = numbers(span.frames)
            time, frame = (span.start, min(covered)) if edge == "first" else (-span.end, max(covered))
            if frame in frames and inside(abs(time)):
                found.append((time, span.phrase))
        return self.best(found, APART_S)

    def best(self, found, margin):
        """Return the name with the least number, if that of every other name is more than the margin away."""
        if not found:
            return None
        least, name = min(found)
        return name if all(number - least > margin for number, other in found if other != name) else None

    def extreme(self, word):
        sign = -1 if word == "longest" else 1
        single = [(sign * (span.end - span.start), span.phrase) for span in self.graph.actions]
        totals = {phrase: sum(length for length, other in single if other == phrase) for _, phrase in single}
        one, two = self.best(single, LONGER_S), self.best([(total, name) for name, total in totals.items()], LONGER_S)
        return one if one == two else None

    def compared(self, word, first, second):
        spans = [self.instances(self.phrases(action)) for action in (first, second)]
        if any(len(found) != 1 for found in spans):
            return None
        sign = -1 if word == "longer" else 1
        (one, two) = [(sign * (span.end - span.start), span.phrase) for (span,) in spans]
        return min(one, two)[1] if abs(one[0] - two[0]) > LONGER_S else None

    def order(self, asked, spans):
        if len(spans) != 1 or not (isinstance(asked, ask.ActionHappens) or self.told(asked.relation)):
            return None
        during = self.range(spans[0])
        parts = {frame for frame in self.every if frame < min(during)}, {f for f in self.every if f > max(during)}
        before, after = (part and self.within(asked, part) == "yes" for part in parts)
        if bool(before) == bool(after) or self.within(asked, during) == "yes":
            return None
        if isinstance(asked, ask.ActionHappens):
            if len(self.instances(self.phrases(asked.action))) != 1:
                return None
            for phrase in self.phrases(asked.action):
                row = ROWS.get(phrase)
                if row and row["verb"] and row["object"] in self.there(row["verb"], parts[bool(before)]):
                    return None
        return "before" if before else "after"
