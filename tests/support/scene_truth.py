"""Answer compositional questions from what the script of a drawn video says, without frames, graphs or AGQA's rules.

Answers are None where viewers could disagree: an action that only touches the part of the video, a thing that is hardly
visible, lengths that hardly differ.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatchmethod
from typing import Any, NamedTuple

from stressreel.builders.decomp import questions as ask
from stressreel.templates.agqa import load_agqa

Span = tuple[float, float]
SEEN_PIXELS, SURE_S, MARGIN_S = 25, 0.4, 1.0
ALWAYS, NEVER_SURE = {"person"}, {"clothes", "shoe", "floor", "doorway", "doorknob"}
# What somebody who sees an action says of it, in the words of questions: "?" marks what not everybody would say.
HELD = "holding {0}, touching {0}"
CARRIED = "?taking {0}, ?putting down {0}, ?carrying {0}, " + HELD
SAID = {
    "c000": CARRIED.format("clothes"),
    "c020": CARRIED.format("bag"),
    "c053": CARRIED.format("shoe"),
    "c067": CARRIED.format("food"),
    "c075": "tidying blanket, ?taking blanket, ?putting down blanket, " + HELD.format("blanket"),
    "c084": CARRIED.format("picture"),
    "c089": "closing window, touching window, ?holding window",
    "c090": "opening window, touching window, ?holding window",
    "c118": CARRIED.format("dish"),
    "c128": CARRIED.format("medicine"),
    "c132": "watching television, ?touching television",
    "c006": "closing door, touching door, holding door",
    "c008": "opening door, touching door, holding door",
    "c019": "talking on phone, " + HELD.format("phone"),
    "c028": "putting down paper, ?taking paper, " + HELD.format("paper"),
    "c032": "watching paper, ?taking paper, ?putting down paper, ?opening paper, ?closing paper, "
    + HELD.format("paper"),
    "c043": "taking box, ?putting down box, " + HELD.format("box"),
    "c052": "playing on laptop, touching laptop, sitting on chair, above chair, ?opening laptop, ?closing laptop, "
    "?watching laptop, ?working on laptop, ?touching chair, ?touching table",
    "c059": "sitting on chair, above chair, ?touching chair",
    "c063": "taking food, ?putting down food, " + HELD.format("food"),
    "c080": "throwing pillow, ?taking pillow, " + HELD.format("pillow"),
    "c091": "washing window, wiping window, ?touching window, ?taking towel, ?putting down towel, "
    + HELD.format("towel"),
    "c095": "washing mirror, wiping mirror, ?touching mirror, ?taking towel, ?putting down towel, "
    + HELD.format("towel"),
    "c102": "tidying something, ?taking broom, ?putting down broom, " + HELD.format("broom"),
    "c104": "turning light, touching light, ?holding light",
    "c105": "turning light, touching light, ?holding light",
    "c106": "drinking from dish, ?taking dish, ?putting down dish, " + HELD.format("dish"),
    "c122": "lying on sofa, above sofa, ?sitting on sofa, ?touching sofa",
    "c124": "lying on floor, ?sitting on floor, ?touching floor",
    "c125": "sitting on floor, ?touching floor",
    "c134": "lying on bed, above bed, ?sitting on bed, ?touching bed",
    "c142": "closing refrigerator, touching refrigerator, holding refrigerator",
    "c143": "opening refrigerator, touching refrigerator, holding refrigerator",
    "c144": "holding comb, touching comb, ?watching mirror, ?taking comb, ?putting down comb, ?fixing something",
    "c149": "",
    "c153": "",
    "c156": "eating food, ?taking food, " + HELD.format("food"),
}
CORE = (0.3, 0.45)  # the share of any action in which all of that is true
AFAR = ("above", "watching")  # relations without contact
PLACES = ("in front of", "behind", "on the side of")
PARTS = {
    "cup": "dish",
    "sandwich": "food",
    "shoes": "shoe",
    "bowl": "dish",
    "book": "paper",
    "desk": "table",
    "bedspread": "blanket",
}


class Fact(NamedTuple):
    relation: str
    thing: str
    sure: Span | None
    possible: Span


def _thing(name: str) -> str:
    """Return the word for a drawn thing: a "bed pillow" is a pillow, a "side table" a table."""
    return PARTS.get(name, name.split()[-1])


def _shared(spans: Iterable[Span], other: Span) -> float:
    return max((min(end, other[1]) - max(start, other[0]) for start, end in spans), default=-1.0)


def _one(values: set[Any]) -> Any:
    return next(iter(values)) if len(values) == 1 else None


class SceneTruth:
    """What is true in a video, from its line of `scenes.jsonl` and its rows of `world.parquet`."""

    def __init__(self, scene: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
        self.length, self.rows = scene["length_s"], rows
        self.cues = [cue for cue in scene["actions"] if cue["role"] == "person"]
        self.facts = [fact for cue in self.cues for fact in self._facts(cue)]
        done = {cue["action"] for cue in self.cues}
        self.phrase = {key: load_agqa().event(key, done).phrase for key in done}

    def _facts(self, cue: Mapping[str, Any]) -> Iterator[Fact]:
        start, lasts = cue["start_s"], cue["end_s"] - cue["start_s"]
        sure, possible = (start + CORE[0] * lasts, start + CORE[1] * lasts), (start, cue["end_s"])
        for said in filter(None, SAID[cue["action"]].split(", ")):
            relation, _, thing = said.removeprefix("?").rpartition(" ")
            yield Fact(relation, thing, None if said[0] == "?" else sure, possible)
            if relation not in AFAR:
                yield Fact(ask.INTERACTING, thing, None if said[0] == "?" else sure, possible)

    # --- parts of questions

    def spans(self, window: ask.Window) -> list[Span] | None:
        """Return the parts of the video in seconds, or None if they are unknown."""
        around = [self.times(action) for action in window.actions]
        if any(times is None or len(times) != 1 for times in around):
            return None
        limits = [times[0] for times in around if times]
        match window.word:
            case "before":
                return [(0.0, limits[0][0])]
            case "after":
                return [(limits[0][1], self.length)]
            case "while":
                return limits
            case "between":
                return [(limits[0][1], limits[1][0])]
        return [(0.0, self.length)]

    def times(self, action: ask.Action) -> list[Span] | None:
        phrases = self.named(action)
        if phrases is None:
            return None
        return [(cue["start_s"], cue["end_s"]) for cue in self.cues if self.phrase[cue["action"]] in phrases]

    def named(self, action: ask.Action) -> set[str] | None:
        """Return the phrases of the actions that are meant."""
        match action:
            case str():
                return {action}
            case ask.ToAction(verb, reference):
                thing, meant = self.answer(reference), load_agqa().relation_of(verb)
                known = load_agqa().actions
                done = {phrase for phrase in self.phrase.values() if phrase in known}
                found = {phrase for phrase in done if (known[phrase].verb, known[phrase].object) == (meant, thing)}
                return found if thing and found else None
        longest = self.answer(action)
        return {longest} if longest else None

    def resolved(self, thing: ask.Object) -> str | None:
        return thing if isinstance(thing, str) else self.answer(thing)

    def holds(self, relation: str, thing: str | None, window: ask.Window) -> bool | None:
        spans = self.spans(window)
        if spans is None or _shared(spans, (0.0, self.length)) < SURE_S:
            return None
        if relation in PLACES:
            return self.placed(relation, thing, spans)
        facts = [fact for fact in self.facts if fact.relation == relation and thing in (None, fact.thing)]
        if any(fact.sure and _shared(spans, fact.sure) > SURE_S / 2 for fact in facts):
            return True
        return None if any(_shared(spans, fact.possible) > 0 for fact in facts) else False

    def placed(self, relation: str, thing: str | None, spans: list[Span]) -> bool | None:
        """Return False if the boxes rule a place out. That somebody is in front of a thing is a matter of view."""
        low, high = spans[0][0] - MARGIN_S, spans[-1][1] + MARGIN_S
        apart = [
            not box["left"] <= (person["left"] + person["right"]) / 2 < box["right"]
            for row in self.rows
            if low <= row["time_s"] <= high
            for person in row["objects"]
            if person["name"] == "person"
            for box in row["objects"]
            if box is not person and thing in (None, _thing(box["name"]))
        ]
        held = any(_shared([(low, high)], fact.possible) > 0 for fact in self.facts if fact.thing == thing)
        return None if held or thing is None or (relation == "on the side of") in apart else False

    def visible(self, thing: str, window: ask.Window) -> bool | None:
        if thing in ALWAYS:
            return True
        spans = self.spans(window)
        if spans is None or thing in NEVER_SURE:
            return None
        found = [
            (box["pixels"], any(start <= row["time_s"] <= end for start, end in spans))
            for row in self.rows
            for box in row["objects"]
            if _thing(box["name"]) == thing and _shared(spans, (row["time_s"] - MARGIN_S, row["time_s"] + MARGIN_S)) > 0
        ]
        if any(pixels >= SEEN_PIXELS and inside for pixels, inside in found):
            return True
        return None if found else False

    def sides(self, spans: list[Span], action: ask.Action) -> str | None:
        """Return whether times lie before or after an action, or None if some overlap it or lie on both sides."""
        limits = self.times(action)
        if not spans or not limits or len(limits) != 1:
            return None
        (start, end) = limits[0]
        return _one({"before" if last <= start else "after" if first >= end else None for first, last in spans})

    def things(self, relation: str, window: ask.Window) -> set[str] | None:
        """Return the things that surely have a relation, or None if others may have it."""
        names = {fact.thing for fact in self.facts if fact.relation == relation}
        known = {name: self.holds(relation, name, window) for name in names}
        return None if relation in PLACES or None in known.values() else {name for name, true in known.items() if true}

    # --- questions

    def answer(self, question: Any) -> str | None:
        """Return the answer to a question, or None if it is not certain."""
        value = self._answer(question)
        return {True: "yes", False: "no"}.get(value, value)

    @singledispatchmethod
    def _answer(self, question: Any) -> bool | str | None:
        raise TypeError(question)

    @_answer.register
    def _(self, question: ask.ObjectExists) -> bool | None:
        thing = self.resolved(question.object)
        return thing and self.visible(thing, question.window)

    @_answer.register
    def _(self, question: ask.RelationExists) -> bool | None:
        return self.holds(question.relation, None, question.window)

    @_answer.register
    def _(self, question: ask.Interaction) -> bool | None:
        thing = self.resolved(question.object)
        return thing and self.holds(question.relation, thing, question.window)

    @_answer.register
    def _(self, question: ask.ActionHappens) -> bool | None:
        spans, times = self.spans(question.window), self.times(question.action)
        if spans is None or times is None:
            return None
        shared = max((_shared(spans, time) for time in times), default=-1.0)
        return True if shared > SURE_S else False if shared <= 0 else None

    @_answer.register
    def _(self, question: ask.Both) -> bool | None:
        first, second = self.answer(question.first), self.answer(question.second)
        wanted = "yes" if question.word == "and" else "no"
        if first == "no" or second not in (None, wanted):
            return False
        return None if None in (first, second) else True

    @_answer.register
    def _(self, question: ask.ObjectsOf) -> str | None:
        return _one(self.things(question.relation, question.window) or set())

    @_answer.register
    def _(self, question: ask.EdgeObject) -> str | None:
        spans = self.spans(question.window)
        facts = [fact for fact in self.facts if fact.relation == question.relation]
        if spans is None or question.relation in PLACES:
            return None
        inside = [fact for fact in facts if _shared(spans, fact.possible) > 0]
        if not all(fact.sure and _shared(spans, fact.sure) > SURE_S / 2 for fact in inside):
            return None
        edge = 0 if question.edge == "first" else -1
        for fact in sorted(inside, key=lambda fact: fact.possible[-edge])[edge:][:1]:
            rivals = [other for other in inside if other.thing != fact.thing]
            clear = all(
                other.possible[0] > fact.sure[1] if edge == 0 else other.possible[1] < fact.sure[0] for other in rivals
            )
            return fact.thing if clear else None
        return None

    def _done(self, window: ask.Window) -> list[tuple[str, Span, float]] | None:
        spans = self.spans(window)
        named = [self.named(action) for action in window.actions]
        if spans is None or None in named:
            return None
        others = [cue for cue in self.cues if not any(self.phrase[cue["action"]] in names for names in named if names)]
        times = [(self.phrase[cue["action"]], (cue["start_s"], cue["end_s"])) for cue in others]
        return [(phrase, time, _shared(spans, time)) for phrase, time in times]

    @_answer.register
    def _(self, question: ask.ActionsIn) -> str | None:
        done = self._done(question.window)
        if done is None or any(0 < shared < SURE_S for _, _, shared in done):
            return None
        return _one({phrase for phrase, _, shared in done if shared > 0})

    @_answer.register
    def _(self, question: ask.EdgeAction) -> str | None:
        done, spans = self._done(question.window), self.spans(question.window)
        if not done or not spans:
            return None
        first = question.edge == "first"
        moments = sorted(
            (time[0] if first else -time[1], phrase)
            for phrase, time, _ in done
            if spans[0][0] <= time[0 if first else 1] <= spans[-1][1]
        )
        return moments[0][1] if moments else None

    @_answer.register
    def _(self, question: ask.ExtremeAction) -> str | None:
        lengths: dict[str, float] = {}
        for cue in self.cues:
            phrase = self.phrase[cue["action"]]
            lengths[phrase] = lengths.get(phrase, 0.0) + cue["end_s"] - cue["start_s"]
        ordered = sorted(lengths, key=lambda phrase: lengths[phrase], reverse=question.word == "longest")
        clear = len(ordered) < 2 or abs(lengths[ordered[0]] - lengths[ordered[1]]) > MARGIN_S
        return ordered[0] if clear else None

    @_answer.register
    def _(self, question: ask.LengthChoose) -> str | None:
        times = [(self.named(action), self.times(action)) for action in (question.first, question.second)]
        if any(not spans or len(spans) != 1 for _, spans in times):
            return None
        lengths = sorted((spans[0][1] - spans[0][0], _one(names)) for names, spans in times)
        return lengths[-1 if question.word == "longer" else 0][1]

    @_answer.register
    def _(self, question: ask.ActionEquals) -> bool | None:
        right, names = self.answer(question.question), self.named(question.action)
        return right in names if right and names else None

    @_answer.register
    def _(self, question: ask.ObjectEquals) -> bool | None:
        right, thing = self.answer(question.question), self.resolved(question.object)
        return right == thing if right and thing else None

    @_answer.register
    def _(self, question: ask.ObjectChoose) -> str | None:
        options = {self.resolved(question.first), self.resolved(question.second)}
        if isinstance(question.question, ask.EdgeObject):
            return _one(options & {self.answer(question.question)})
        things = self.things(question.question.relation, question.question.window)
        return _one(options & things) if things else None

    @_answer.register
    def _(self, question: ask.OrderChoose) -> str | None:
        match question.asked:
            case ask.ActionHappens(action):
                return self.sides(self.times(action) or [], question.action)
            case ask.RelationExists(relation):
                facts = [fact for fact in self.facts if fact.relation == relation]
            case ask.Interaction(relation, thing):
                name = self.resolved(thing)
                facts = [fact for fact in self.facts if (fact.relation, fact.thing) == (relation, name)]
        return self.sides([fact.possible for fact in facts], question.action)
