"""Answers to compositional questions by sets and loops, written without a look at `builders.decomp.graph_answers`."""

# ruff: noqa: RUF021
from stressreel.builders.decomp.programs import questions as ask
from stressreel.builders.decomp.programs.questions import INTERACTING, VIDEO
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


def one_of(names):
    """Return the name if there is one and no other."""
    return min(names) if len(names) == 1 and ANYTHING not in names else None


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
        return [span for span in self.graph.actions if not any(span in spans for spans in self.named_by(window))]

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
                return [{n for n in self.every if n <= min(ranges[0][0])}], lambda time: time <= span.start
            case "after", [span]:
                return [{n for n in self.every if n > max(ranges[0][0])}], lambda time: time >= span.end
            case "while", [first, *_] as spans:
                whole = set().union(*ranges[0])
                return [self.range(first), whole], lambda time: any(one.start <= time <= one.end for one in spans)
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
        done = [ROWS.get(span.phrase, {}) for span in self.graph.actions if numbers(span.frames) & frames]
        return self.there(relation, frames) | {row["object"] for row in done if row.get("verb") == relation}

    def value(self, question):
        match question:
            case ask.Both(word, first, second):
                one, two = self.value(first), self.value(second)
                two = {"yes": "no", "no": "yes"}.get(two) if word == "xor" else two
                return "no" if "no" in (one, two) else "yes" if one == two == "yes" else None
            case ask.ExtremeAction(word):
                single = [(length(span, word), span.phrase) for span in self.graph.actions]
                totals = [(sum(each for each, other in single if other == name), name) for _, name in single]
                found = {best(single, LONGER_S), best(totals, LONGER_S)}
                return found.pop() if len(found) == 1 else None
            case ask.ObjectEquals(_, asked) | ask.ObjectChoose(_, _, asked):
                return self.agreed(asked.window, lambda frames: self.compared(question, frames))
            case ask.LengthChoose(word, first, second):
                match self.instances(self.phrases(first)), self.instances(self.phrases(second)):
                    case [one], [two] if one != two:
                        return best([(length(span, word), span.phrase) for span in (one, two)], LONGER_S)
                return None
            case ask.ActionEquals(action, asked):
                one, two = self.phrases(action), self.value(asked)
                return None if len(one) != 1 or two is None else "yes" if one == {two} else "no"
            case ask.OrderChoose(asked, action):
                return self.order(asked, self.instances(self.phrases(action)))
        return self.agreed(question.window, lambda frames: self.within(question, frames))

    def agreed(self, window, judge):
        found = [judge(frames) if frames else None for frames in self.parts(window)[0]]
        return found[0] if found and all(value == found[0] for value in found) else None

    def compared(self, question, frames):
        """Compare objects with those that are asked for; nothing can be said beside one that has no name."""
        asked = question.question
        found = self.there(asked.relation, frames) if self.told(asked.relation) else set()
        if isinstance(asked, ask.EdgeObject):
            found = {self.value(asked)} - {None}
        if not found or ANYTHING in found:
            return None
        if isinstance(question, ask.ObjectChoose):
            options = {self.thing(question.first), self.thing(question.second)}
            return None if None in options else one_of(options & found)
        name = self.thing(question.object)  # not the only one if not even one of several
        return None if name is None or name in found and len(found) > 1 else "yes" if name in found else "no"

    def within(self, question, frames):
        """Answer a question about some frames."""
        match question:
            case ask.ObjectExists(thing, window) if name := self.thing(thing):
                seen = [self.holds(relation).get(name, set()) for relation in (*self.graph.relations, INTERACTING)]
                seen = numbers(self.graph.visible.get(name, 0)).union(*seen)
                known = name == PERSON or window == VIDEO and name in self.graph.seen
                return "yes" if known or seen & frames else "no" if self.graph.provenance in COMPLETE else None
            case ask.RelationExists(relation) if relation in TABLE["relations"]:
                return "yes" if self.there(relation, frames) else self.denied(relation, ANYTHING, frames)
            case ask.Interaction(relation, thing) if relation in TABLE["relations"] and (name := self.thing(thing)):
                return "yes" if name in self.there(relation, frames) else self.denied(relation, name, frames)
            case ask.ActionHappens(action):
                return self.happens(action, frames)
            case ask.ObjectsOf(relation) if self.told(relation):
                return one_of(self.there(relation, frames))
            case ask.EdgeObject(edge, relation) if self.told(relation):
                return self.edge_object(edge, relation, frames)
            case ask.ActionsIn(window):
                return one_of({span.phrase for span in self.others(window) if numbers(span.frames) & frames})
            case ask.EdgeAction(edge, window):
                spans = [(span, numbers(span.frames)) for span in self.others(window)]
                ends = [(span.start, min(part), span.phrase) for span, part in spans]
                if edge == "last":
                    ends = [(span.end, max(part), span.phrase) for span, part in spans]
                is_within, sign = self.parts(window)[1], 1 if edge == "first" else -1
                return best([(sign * time, name) for time, n, name in ends if n in frames and is_within(time)], APART_S)
        return None

    def happens(self, action, frames):
        phrases = self.phrases(action)
        if any(numbers(span.frames) & frames for span in self.instances(phrases)):
            return "yes"
        if isinstance(action, ask.ToAction):
            name = self.thing(action.object)
            return name and self.denied(load_agqa().relation_of(action.verb), name, frames)
        if not phrases:
            return None
        if (row := ROWS.get(phrase := phrases.pop(), {})).get("verb"):
            return self.denied(row["verb"], ANYTHING if row.get("loose") else row["object"], frames)
        doubts = RULES["doubtful_actions"].get(phrase, []) if self.graph.provenance not in COMPLETE else []
        return None if any(self.goes_on(other, self.near(frames)) for other in doubts) else "no"

    def told(self, relation):
        known = relation in TABLE["relations"] and (self.graph.provenance in COMPLETE or relation == INTERACTING)
        return known or self.annotated(relation)

    def annotated(self, relation):
        family = TABLE["relations"].get(relation, {"family": "verb"})["family"]
        looked_for = self.graph.provenance == "action_genome" and family != "verb"
        return looked_for or relation in {row["verb"] for row in ROWS.values()}

    def denied(self, relation, name, frames):
        """Return "no" if it is known that a relation does not hold with an object, or with anything."""
        if self.graph.provenance in COMPLETE:
            return "no"
        if not self.annotated(relation):
            return None
        exact, frames, anything = frames, self.near(frames), name == ANYTHING
        objects = {row["object"] for row in ROWS.values() if row["verb"] == relation and not row.get("loose")}
        meant = objects or self.graph.contacts if anything else [name]
        fitting = {ANYTHING}.union(*map(alike, meant))
        doubts, held = RULES["doubtful"].get(relation, []), self.goes_on(relation, frames)
        doubts = [INTERACTING] if doubts == "any" else doubts
        if any(self.goes_on(other, frames) & fitting for other in doubts):
            return None
        if not anything and self.denied(relation, ANYTHING, exact):
            return "no"
        if held if anything else held & fitting:
            return None
        if anything or self.holds(relation).get(name):
            return "no"
        return None if held or self.there(relation, self.every) & alike(name) else "no"

    def near(self, frames):
        times = self.graph.times
        return {n for n in self.every if any(abs(times[n] - times[frame]) <= NEAR_S for frame in frames)}

    def edge_object(self, edge, relation, frames):
        held = set().union(*self.holds(relation).values()) & frames
        end = min(held, default=0) if edge == "first" else max(held, default=0)
        run = {n for n in held if held.issuperset(range(min(n, end), max(n, end) + 1))}
        return one_of(self.there(relation, run))

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
        return None if before == after or meanwhile or made_of else "before" if before else "after"
