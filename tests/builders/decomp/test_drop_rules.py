from stressreel.annotations.scene_graphs import ActionSpan, Provenance, SceneGraph, frame_times, frames_of, graph_of
from stressreel.builders.decomp.drop_rules import judge, steps_of, view_of
from stressreel.builders.decomp.questions import (
    INTERACTING,
    ActionEquals,
    ActionHappens,
    ActionsIn,
    Both,
    EdgeAction,
    EdgeObject,
    ExtremeAction,
    Interaction,
    LengthChoose,
    ObjectChoose,
    ObjectEquals,
    ObjectsOf,
    OrderChoose,
    Question,
    RelationExists,
    ToAction,
    Window,
)
from stressreel.templates.agqa_making import load_rules

LENGTH = 60.0
TIMES = frame_times(LENGTH)


def graph(
    *spans: tuple[str, float, float], video_id: str = "V", provenance: Provenance = "drawn", seen: tuple[str, ...] = ()
) -> SceneGraph:
    actions = [ActionSpan(phrase, start, end, frames_of(TIMES, start, end)) for phrase, start, end in spans]
    return graph_of(video_id, TIMES, actions, provenance, seen)


def judged(question: Question, *spans: tuple[str, float, float], **more: object) -> str | None:
    return judge(view_of(graph(*spans, **more)), question)  # type: ignore[arg-type]


PHONE, BAG, DOOR = ("holding a phone", 5.0, 12.0), ("holding a bag", 30.0, 45.0), ("opening a door", 20.0, 24.0)
BEFORE, AFTER = (Window(word, ("opening a door",)) for word in ("before", "after"))
SNEEZE, SMILE = ("sneezing somewhere", 1.0, 2.0), ("smiling at a book", 6.0, 9.0)
BOX, TAKE = ("holding a box", 5.0, 9.0), ("taking something from a box", 20.0, 24.0)
THROWN, TALK = ("throwing a bag somewhere", 10.0, 15.0), ("talking on a phone", 5.0, 9.0)
LATER = ("closing a door", 40.0, 44.0)
HOLDS = [Interaction("holding", thing) for thing in ("phone", "bag", "box")]
FIRST, LAST = EdgeObject("first", "holding"), EdgeObject("last", "holding")
ONE = ObjectsOf("holding", BEFORE)
LONGER = LengthChoose("longer", PHONE[0], BAG[0])
TO_BOOK = Window("between", (SNEEZE[0], ToAction("taking", ObjectsOf("smiling at"))))
CASES: list[tuple[str, Question, tuple[tuple[str, float, float], ...], str | None]] = [
    ("so", Interaction("holding", "phone", BEFORE), (PHONE, DOOR), "yes"),
    ("not so", Interaction("holding", "phone", AFTER), (PHONE, DOOR), "no"),
    ("only on the border", Interaction("holding", "phone", BEFORE), (("holding a phone", 20, 22), DOOR), None),
    ("nearly there", Interaction("holding", "phone", AFTER), (("holding a phone", 5, 23.5), DOOR), None),
    ("no time before", RelationExists("holding", BEFORE), (PHONE, ("opening a door", 0, 3)), None),
    ("the action happens twice", ONE, (PHONE, DOOR, ("opening a door", 40, 44)), None),
    ("c044", RelationExists("holding", Window("before", (TAKE[0],))), (PHONE, TAKE), None),
    ("the action's object", Interaction("closing", "door", AFTER), (DOOR, LATER), None),
    ("the action's verb", RelationExists("opening", AFTER), (DOOR, ("opening a box", 40, 44)), None),
    ("nobody asks for clothes", Interaction("holding", "clothes"), (("holding some clothes", 5, 9),), None),
    ("obvious", Interaction("sitting on", "floor"), (("sitting on the floor", 5, 9),), None),
    ("a look-alike is there", Interaction(INTERACTING, "box"), (BAG,), None),
    ("a look-alike is there later", Interaction(INTERACTING, "box", BEFORE), (("holding a box", 30, 40), DOOR), "no"),
    ("a look-alike is held then", Interaction("holding", "box", AFTER), (BOX, DOOR, BAG), None),
    ("a verb of one object", RelationExists("talking on"), (TALK,), None),
    ("another verb makes it likely", RelationExists("holding"), (THROWN, DOOR), None),
    ("nothing makes it likely", RelationExists("throwing"), (DOOR,), "no"),
    ("one object", ONE, (PHONE, DOOR, BAG), "phone"),
    ("perhaps another one", ONE, (PHONE, DOOR, THROWN), None),
    ("first", FIRST, (PHONE, BAG), "phone"),
    ("last", LAST, (PHONE, BAG), "bag"),
    ("first before", EdgeObject("first", "holding", BEFORE), (PHONE, ("holding a bag", 14, 16), DOOR), None),
    ("is the first", ObjectEquals("phone", FIRST), (PHONE, BAG), "yes"),
    ("is not the first", ObjectEquals("bag", FIRST), (PHONE, BAG), "no"),
    ("a look-alike of the first", ObjectEquals("box", LAST), (PHONE, BAG), None),
    ("chosen", ObjectChoose("bag", "phone", ONE), (PHONE, DOOR), "phone"),
    ("both and", Both("and", HOLDS[0], HOLDS[1]), (PHONE, BAG), "yes"),
    ("but not", Both("xor", HOLDS[0], HOLDS[1]), (PHONE,), "yes"),
    ("both alike", Both("and", HOLDS[2], HOLDS[1]), (PHONE, BAG), None),
    ("the other action", ActionsIn(BEFORE), (PHONE, DOOR), "holding a phone"),
    ("first action", EdgeAction("first"), (PHONE, DOOR), "holding a phone"),
    ("within five seconds", EdgeAction("first"), (PHONE, ("opening a door", 9, 11)), None),
    ("taking first", EdgeAction("first"), (("taking a phone from somewhere", 2, 4), DOOR), None),
    ("longer", LONGER, (PHONE, BAG), "holding a bag"),
    ("a transition", LengthChoose("longer", "opening a door", "holding a bag"), (DOOR, BAG), None),
    (
        "one holds what one drinks",
        LengthChoose("longer", "drinking from a cup", "holding a cup of something"),
        (("drinking from a cup", 5, 6), ("holding a cup of something", 5, 30)),
        None,
    ),
    ("is longer", ActionEquals(BAG[0], LengthChoose("longer", BAG[0], PHONE[0])), (PHONE, BAG), "yes"),
    ("longest", ExtremeAction("longest"), (PHONE, BAG, DOOR), "holding a bag"),
    ("longest of two", ExtremeAction("longest"), (PHONE, ("holding a bag", 20, 50)), None),
    ("action before", OrderChoose(ActionHappens(PHONE[0]), DOOR[0]), (PHONE, DOOR), "before"),
    ("object after", OrderChoose(Interaction(INTERACTING, "bag"), DOOR[0]), (DOOR, BAG), "after"),
    ("the action's own object", OrderChoose(Interaction(INTERACTING, "door"), DOOR[0]), (DOOR, LATER), None),
    ("relation before", OrderChoose(RelationExists("holding"), DOOR[0]), (PHONE, DOOR), "before"),
    (
        "a reference",
        Interaction("holding", ObjectsOf("smiling at"), BEFORE),
        (("holding a book", 5, 9), SMILE, DOOR),
        "yes",
    ),
    ("a reference of the same relation", Interaction("holding", ObjectsOf("holding"), BEFORE), (PHONE, DOOR), None),
    (
        "nine steps",
        Both("xor", *(Interaction("holding", thing, TO_BOOK) for thing in (ObjectsOf("smiling at"), "phone"))),
        (("smiling at a book", 20, 30), ("holding a book", 20, 30), SNEEZE, ("taking a book from somewhere", 40, 44)),
        None,
    ),
]


def test_drop_rules() -> None:
    wrong = {name: answer for name, *case, told in CASES if (answer := judged(case[0], *case[1])) != told}
    assert wrong == {}


def test_seen_objects_are_not_missing() -> None:
    laptop = Interaction(INTERACTING, "laptop")
    assert judged(laptop, PHONE, DOOR) == "no"
    assert judged(laptop, PHONE, DOOR, seen=("laptop",)) is None
    assert judged(laptop, PHONE, provenance="charades") is None


def test_steps_count_references_and_windows() -> None:
    assert steps_of(Interaction("holding", ObjectsOf("watching"), Window("between", ("a", "b")))) == 1 + 1 + 3
    assert steps_of(RelationExists("holding", Window("before", (ExtremeAction("longest"),)))) == 1 + 2 + 2
    time = load_rules().steps["objTime"]
    assert steps_of(OrderChoose(Interaction(INTERACTING, "bag"), ToAction("taking", FIRST))) == time + 2
