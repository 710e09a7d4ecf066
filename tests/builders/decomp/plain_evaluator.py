"""Answers to compositional questions in the plainest way, written without a look at the builder's: sets and loops.

Everything is looked up again for every question. Tests compare it with `builders.decomp.graph_answers`, which is quick.
"""

# ruff: noqa: RUF021
from stressreel.programs import questions as ask
from stressreel.programs.questions import INTERACTING, VIDEO
from stressreel.templates import read_table
from stressreel.templates.agqa import ANYTHING, PERSON, load_agqa

COMPLETE = ("agqa", "drawn")
TABLE, RULES = read_table("agqa"), read_table("agqa_making")
ROWS = {row["phrase"]: row for row in TABLE["actions"].values()}
NEAR_S, APART_S, LONGER_S = 1.0, 5.0, 7.0


def numbers(bits):
    """Return the numbers of the frames in a set."""
    return {number for number, bit in enumerate(reversed(bin(bits)[2:])) if bit == "1"}


def alike(thing):
    """Return what an object may be taken for, and itself."""
    return {thing}.union(*(group for group in RULES["look_alike"] if thing in group))


def best(found, margin):
    """Return the name with the least number, if that of every other name is more than the margin away."""
    least, name = min(found, default=(0, None))
    return name if all(number - least > margin for number, other in found if other != name) else None


def length(span, word):
    """Return how long an action takes, as a number that is least for the one that is asked for."""
    return (span.end - span.start) * (-1 if word in ("longest", "longer") else 1)


class Evaluator:
    """Looks things up in one graph. `value` answers a question: None where there is no answer."""

    def __init__(self, graph):
        self.graph = graph
        self.every = set(range(len(graph.times)))

    def holds(self, relation):
        """Return the frames of a relation with each object."""
        table = self.graph.contacts if relation == INTERACTING else self.graph.relations.get(relation, {})
        return {thing: numbers(bits) for thing, bits in table.items()}

    def instances(self, phrases):
        return [span for span in self.graph.actions if span.phrase in phrases]

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

    def named_by(self, window):
        """Return the instances of each of the actions that name a window."""
        return [self.instances(self.phrases(action)) for action in window.actions]

    def others(self, window):
        return [span for span in self.graph.actions if all(span not in spans for spans in self.named_by(window))]

    def range(self, span):
        """Return the frames from a span's first to its last."""
        frames = numbers(span.frames)
        return {frame for frame in self.every if min(frames) <= frame <= max(frames)}

    def parts(self, window):
        """Return what a window may mean, as sets of frames, and a test of seconds; none if it has no meaning."""
        named = self.named_by(window)
        ranges = [[self.range(span) for span in spans] for spans in named]
        match window.word, *named:
            case "video", *_:
                return [self.every], lambda time: True
            case "before", [span] if min(ranges[0][0]) > 0:
                begins = min(ranges[0][0])
                return [{frame for frame in self.every if frame <= begins}], lambda time: time <= span.start
            case "after", [span]:
                ends = max(ranges[0][0])
                return [{frame for frame in self.every if frame > ends}], lambda time: time >= span.end
            case "while", [first, *_] as spans:
                frames = [self.range(first), set().union(*ranges[0])]
                return frames, lambda time: any(span.start <= time <= span.end for span in spans)
            case "between", [_, *_] as ones, [_, *_] as others:
                ends, begins = max(map(max, ranges[0])), min(map(min, ranges[1]))
                end, begin = max(span.end for span in ones), min(span.start for span in others)
                return [{frame for frame in self.every if ends < frame < begins}], lambda time: end <= time <= begin
        return [], None

    def there(self, relation, frames):
        """Return the objects of a relation in some frames."""
        return {thing for thing, held in self.holds(relation).items() if held & frames}

    def goes_on(self, relation, frames):
        """Return the objects of a relation in some frames, with those that actions name loosely."""
        done = [
            ROWS[span.phrase] for span in self.graph.actions if numbers(span.frames) & frames and span.phrase in ROWS
        ]
        return self.there(relation, frames) | {row["object"] for row in done if row["verb"] == relation}

    def value(self, question):
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
                spans = [self.instances(self.phrases(action)) for action in (first, second)]
                return self.compared(word, *spans)
            case ask.ActionEquals(action, asked):
                one, two = self.phrases(action), self.value(asked)
                return None if len(one) != 1 or two is None else "yes" if one == {two} else "no"
            case ask.OrderChoose(asked, action):
                return self.order(asked, self.instances(self.phrases(action)))
        return self.agreed(question.window, lambda frames: self.within(question, frames))

    def agreed(self, window, judge):
        """Judge the frames of a window; all its readings must agree."""
        found = [judge(frames) if frames else None for frames in self.parts(window)[0]]
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
            case ask.RelationExists(relation) if relation in TABLE["relations"]:
                return "yes" if self.there(relation, frames) else self.denied(relation, ANYTHING, frames)
            case ask.Interaction(relation, thing) if relation in TABLE["relations"] and (name := self.thing(thing)):
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
        return None

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
        return None if any(self.goes_on(other, self.near(frames)) for other in doubts) else "no"

    def told(self, relation):
        """Tell whether the graph would say if the relation held."""
        known = relation in TABLE["relations"] and (self.graph.provenance in COMPLETE or relation == INTERACTING)
        return known or self.annotated(relation)

    def annotated(self, relation):
        looked_for = self.graph.provenance == "action_genome" and relation in TABLE["relations"]
        verbs = {row["verb"] for row in ROWS.values()}
        return relation in verbs or looked_for and TABLE["relations"][relation]["family"] != "verb"

    def denied(self, relation, name, frames):
        """Return "no" if it is known that a relation does not hold with an object, or with anything."""
        if self.graph.provenance in COMPLETE:
            return "no"
        if not self.annotated(relation):
            return None
        frames, anything = self.near(frames), name == ANYTHING
        objects = {row["object"] for row in ROWS.values() if row["verb"] == relation and not row.get("loose")}
        fitting = {ANYTHING} | (objects if anything else alike(name))
        doubts, held = RULES["doubtful"].get(relation, []), self.goes_on(relation, frames)
        if doubts == "any":
            likely = self.there(INTERACTING, frames) if anything else self.there(INTERACTING, frames) & fitting
        else:
            likely = any(self.goes_on(other, frames) & fitting for other in doubts)
        if likely or (held if anything else held & fitting):
            return None
        unknown = not anything and not self.holds(relation).get(
            name
        )  # beside another object it may have gone unnoticed
        return None if unknown and (held or self.there(relation, self.every) & alike(name)) else "no"

    def near(self, frames):
        times = self.graph.times
        return {frame for frame in self.every if any(abs(times[frame] - times[other]) <= NEAR_S for other in frames)}

    def edge_object(self, edge, relation, frames):
        held, run = set().union(*self.holds(relation).values()) & frames, set()
        if held:
            frame, step = (min(held), 1) if edge == "first" else (max(held), -1)
            while frame in held:
                run.add(frame)
                frame += step
        return self.one(self.there(relation, run))

    def edge_action(self, edge, window, frames):
        found = []
        for span in self.others(window):
            covered = numbers(span.frames)
            time, frame = (span.start, min(covered)) if edge == "first" else (-span.end, max(covered))
            if frame in frames and self.parts(window)[1](abs(time)):
                found.append((time, span.phrase))
        return best(found, APART_S)

    def extreme(self, word):
        single = [(length(span, word), span.phrase) for span in self.graph.actions]
        totals = {phrase: sum(each for each, other in single if other == phrase) for _, phrase in single}
        one, two = best(single, LONGER_S), best([(total, name) for name, total in totals.items()], LONGER_S)
        return one if one == two else None

    def compared(self, word, *spans):
        if [len(found) for found in spans] != [1, 1] or spans[0] == spans[1]:
            return None
        return best([(length(span, word), span.phrase) for (span,) in spans], LONGER_S)

    def order(self, asked, spans):
        asks_action = isinstance(asked, ask.ActionHappens)
        done = self.instances(self.phrases(asked.action)) if asks_action else []
        if len(spans) != 1 or asks_action and len(done) != 1 or not asks_action and not self.told(asked.relation):
            return None
        during = self.range(spans[0])
        parts = [{n for n in self.every if n < min(during)}, {n for n in self.every if n > max(during)}, during]
        before, after, meanwhile = (bool(part) and self.within(asked, part) == "yes" for part in parts)
        row = ROWS.get(done[0].phrase, {}) if done else {}
        made_of = row.get("verb") and row["object"] in self.there(row["verb"], parts[1 if before else 0])
        if before == after or meanwhile or made_of:
            return None
        return "before" if before else "after"
