from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import nextafter
from pathlib import Path
from types import SimpleNamespace

import pytest
import stressreel.builders.clavi.pairs as pairs
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.annotations.actions import Action, AnnotatedVideo, Annotations, Segment
from stressreel.annotations.charades import class_actions, read_charades
from stressreel.annotations.clavi import ReleasedPair, read_released
from stressreel.annotations.samples import cached_sample
from stressreel.builders.clavi.pairs import (
    Candidate,
    Cuts,
    Limits,
    SameAction,
    draw_control,
    draw_cuts,
    draw_equal_cuts,
    paper_pairs,
    released_pairs,
    same_class,
    with_ids,
)
from stressreel.builders.clavi.plan import plan_clavi
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.core.plan import noted, nothing_qualifies
from stressreel.templates import load_classes

Span = tuple[str, float, float]


def action(name: str) -> Action:
    """A class: "a", "b", … are usable, "someone …" are not."""
    return Action(name, name.capitalize(), name, f"verb of {name}", frozenset([f"object of {name}"]), name[0] != "s")


def video(spans: Iterable[Span], length: float = 60, name: str = "VIDEO") -> AnnotatedVideo:
    segments = tuple(Segment(action(key), start, end) for key, start, end in spans)
    verbs = frozenset(segment.action.verb for segment in segments)
    objects = frozenset(name for segment in segments for name in segment.action.objects)
    return AnnotatedVideo(name, "train", "SUBJ", length, segments, verbs, objects, {})


def span(segment: Segment) -> Span:
    return segment.action.key, segment.start_s, segment.end_s


A: Span = ("a", 5, 10)
B: Span = ("b", 12, 17)
OTHER: Span = ("c", 30, 33)  # too short to be in a pair itself; the segment with its margins is [3, 19)
Rules = Callable[[AnnotatedVideo, SameAction, Limits, Counter[str]], Iterable[Candidate]]


def pairs_by(rules: Rules, clip: AnnotatedVideo, same: SameAction = same_class) -> list[Candidate]:
    limits = Limits(longest=36.0 if rules is paper_pairs else None)
    return list(rules(clip, same, limits, Counter()))


def found(
    rules: Rules, *more: Span, a: Span = A, b: Span = B, length: float = 60, other: Span | None = OTHER
) -> tuple[str, ...] | None:
    """Other actions of the pair (a, b) among what the rules select in the video; None if it isn't selected."""
    spans = [a, b, *([other] if other else []), *more]
    chosen = {(span(c.a), span(c.b)): c.others for c in pairs_by(rules, video(spans, length))}
    return chosen.get((a, b))


# What rules leave out


def test_each_pair_has_one_rejection_reason() -> None:
    videos = read_charades(cached_sample("charades"), ("train", "test")).videos
    for rules in (released_pairs, paper_pairs):
        counts: Counter[str] = Counter()
        kept = sum(len(list(rules(each, same_class, Limits(), counts))) for each in videos)
        assert kept
        assert counts["pairs_in_reach"] == kept + sum(n for name, n in counts.items() if "left_out" in name)


def test_empty_plan_names_rule_and_option() -> None:
    def why(spans: list[Span], settings: ClaviSettings, control: str = "z", length: float = 60) -> str:
        made = plan_clavi([video(spans, length)], {"train": [action(control)]}, settings)
        return nothing_qualifies(made) if not made.units else "\n".join(noted(made))

    assert "segments too short or long: 3 (--shortest, --longest)" in why([A, B, OTHER], ClaviSettings(shortest=100.0))
    assert why([A, B], ClaviSettings(rules="paper"), length=25) == "segments: 2\npairs in reach: 1"
    assert "  pairs left out near the end: 1 (--rules paper)" in why([A, B], ClaviSettings(), length=25)
    assert "pairs without negative control: 1" in why([A, B, OTHER], ClaviSettings(), "a")


# The rules of the release and of the paper

FOUR_S = {  # in binary, not in decimals
    True: [("a", 1.0, 5.0), ("a", 1.3, 5.3), ("b", 12.0, 16.0), ("b", 12.2, 16.2)],
    False: [("a", 1.1, 5.1), ("a", 0.0, nextafter(4, 0)), ("b", 12.0, 15.99), ("b", 12.4, 16.4)],
}
AGAIN = {  # where A and B may come again and where not: starts, then ends, then neither
    ("a", released_pairs): (
        [(9.99, 25), (19, 25), (6, 9.99), (9.5, 19), (1, 4), (6, 25)],
        [(10, 25), (18.99, 25), (6, 10), (6, 18.99)],  # in [A's end 10, B's end + 2 = 19)
    ),
    ("b", released_pairs): (
        [(3, 25), (12.01, 25), (0, 3), (0, 12.01), (0, 25), (18, 20)],
        [(3.01, 25), (12, 25), (0, 3.01), (0, 12)],  # in (A's start - 2 = 3, B's start 12]
    ),
    ("a", paper_pairs): ([(0, 3), (19, 25)], [(0, 3.01), (18.99, 25), (11, 11.5), (0, 60)]),
    ("b", paper_pairs): ([(0, 3), (19, 25)], [(0, 3.01), (18.99, 25), (11, 11.5), (0, 60)]),
}


@pytest.mark.parametrize("rules", [released_pairs, paper_pairs])
def test_lengths_order_and_classes_of_pairs(rules: Rules) -> None:
    for selected, spans in FOUR_S.items():
        for one in spans:
            a, b = (one, B) if one[0] == "a" else (A, one)
            assert (found(rules, a=a, b=b) is not None) is selected, one
    starts = (9.99, 10, nextafter(10, 11))
    assert [found(rules, b=("b", start, 25)) is not None for start in starts] == [False, False, True]
    assert found(rules, b=("a", 12, 17)) is None
    for few in ([], [A], [A, OTHER], [("a", 10, 5), B, OTHER], [("a", 5, 5), B, OTHER]):
        assert pairs_by(rules, video(few)) == []


@pytest.mark.parametrize(("key", "rules"), AGAIN)
def test_neither_action_comes_again_near_the_segment(key: str, rules: Rules) -> None:
    away, near = AGAIN[key, rules]
    selected = [found(rules, (key, *times)) is not None for times in away + near]
    assert selected == [True] * len(away) + [False] * len(near)


def test_only_the_paper_has_a_longest_action() -> None:
    for seconds, selected in ((3.99, False), (4.0, True), (36.0, True), (nextafter(36, 37), False)):
        assert (found(paper_pairs, a=("a", 0, seconds), b=("b", 41, 46), length=100) is not None) is selected
    assert found(released_pairs, a=("a", 5, 100), b=("b", 901, 999), length=2000, other=("c", 1500, 1501)) == ("c",)


def test_rules_that_only_the_release_has() -> None:
    for length, selected in ((31.99, False), (32.0, False), (nextafter(32, 33), True)):  # A's start + B's end + 10
        assert (found(released_pairs, length=length, other=("c", 25, 27)) is not None) is selected
    for a, b in (("someone", "b"), ("a", "someone")):
        assert found(released_pairs, a=(a, 5, 10), b=(b, 12, 17)) is None
        assert found(paper_pairs, a=(a, 5, 10), b=(b, 12, 17), length=17, other=None) == ()
    assert found(released_pairs, other=None) is found(released_pairs, other=("someone", 30, 33)) is None
    assert found(released_pairs, ("someone", 30, 33)) == ("c", "someone")


def test_other_actions_keep_away_from_the_segment() -> None:
    away = [(0, 2.99), (2.99, 30), (19, 30), (0, 19), (0, 60)]  # the last spans all: the slip of rule 6
    near = [(0, 3), (3, 30), (18.99, 30), (0, 18.99), (11, 11.5)]
    for times in away:
        assert found(released_pairs, ("d", *times)) == ("c", "d")
        assert found(released_pairs, other=("d", *times)) == ("d",)
    for times in near:
        assert found(released_pairs, ("d", *times)) == ("c",)
        assert found(released_pairs, other=("d", *times)) is None
    for times, others in (((0, 60), ("c",)), ((0, 3), ("c", "d")), ((2, 19), ("c",)), ((19, 20), ("c", "d"))):
        assert found(paper_pairs, ("d", *times)) == others
    assert found(released_pairs, ("d", 40, 41), ("d", 11, 11.5)) == ("c",)
    more: list[Span] = [("e", 50, 51), ("d", 0, 1), ("e", 0, 1), ("c", 40, 41), ("a", 50, 51), ("b", 50, 51)]
    assert found(released_pairs, *more) == ("c", "e", "d")


def test_sameness_is_asked_for_everywhere() -> None:
    def same(one: Action, other: Action) -> bool:
        return one.key[0] == other.key[0]

    def select(*more: Span, b: Span = B) -> list[tuple[str, ...]]:
        return [c.others for c in pairs_by(released_pairs, video([A, b, OTHER, *more]), same)]

    assert select() == [("c",)]
    assert select(b=("a2", 12, 17)) == []
    assert select(("a2", 11, 11.5)) == []
    assert select(("b2", 11, 11.5)) == []
    assert select(("c2", 40, 41), ("d", 40, 41)) == [("c", "d")]
    assert select(("c2", 11, 11.5)) == []


# Cuts


def candidate(start_a: int, end_a: int, start_b: int, end_b: int, length: int, name: str = "00000000") -> Candidate:
    """A pair by its times in milliseconds."""
    a, b = ("a", start_a / 1000, end_a / 1000), ("b", start_b / 1000, end_b / 1000)
    clip = video([a, b], length / 1000)
    return Candidate(clip, clip.segments[0], clip.segments[1], (), name)


TIMES = st.tuples(
    st.integers(0, 5_000) | st.integers(0, 120_000),
    st.integers(4_000, 40_000),
    st.integers(1, 300) | st.integers(1, 30_000),
    st.integers(4_000, 40_000),
    st.integers(0, 10_000),
)
NAMES = st.integers(0, 2**32 - 1).map(lambda number: f"{number:08x}")


@settings(derandomize=True, deadline=None, max_examples=100)
@given(TIMES, NAMES, st.integers(0, 2**63))
def test_cuts_stay_in_bounds_with_equal_sums(times: tuple[int, int, int, int, int], name: str, seed: int) -> None:
    start_a, last_a, gap, last_b, rest = times
    end_a = start_a + last_a
    start_b, end_b = end_a + gap, end_a + gap + last_b
    length = end_b + rest
    cuts = draw_cuts(candidate(start_a, end_a, start_b, end_b, length, name), seed)
    assert all(type(value) is int for value in (cuts.out_a, cuts.in_a, cuts.in_b, cuts.out_b))
    oa, ia, ib, ob = start_a - cuts.out_a, cuts.in_a - end_a, start_b - cuts.in_b, cuts.out_b - end_b
    assert ia + ib == oa + ob
    assert min(oa, ia, ib, ob) >= 0
    assert cuts.in_a <= cuts.in_b
    assert cuts.out_a >= 0
    assert cuts.out_b <= length
    assert oa <= min(2000, start_a, gap / 2)
    assert ob <= min(2000, 0.6 * (gap - oa))


def test_cuts_depend_on_pair_and_seed_only() -> None:
    one = candidate(5000, 10000, 16000, 21000, 60000, "00000001")
    first = draw_cuts(one, 0)
    assert first not in (draw_cuts(replace(one, id="00000002"), 0), draw_cuts(one, 1))
    richer = replace(one, others=("x",), video=replace(one.video, id="ELSE", columns={"x": "y"}))
    assert draw_cuts(richer, 0) == first
    edge = candidate(0, 5000, 9000, 14000, 14000)
    between = replace(edge, video=replace(edge.video, length_s=14.0009))
    for number in range(20):
        assert draw_cuts(edge, number) == Cuts(0, 5000, 9000, 14000)
        assert draw_cuts(between, number).out_b <= 14000


# Negative controls


POOL = [
    Action(key, key, key, verb, frozenset(objects.split()))
    for key, verb, objects in (
        ("same verb", "hold", "cup"),
        ("one", "open", "door"),
        ("same object", "wash", "bag cup"),
        ("two", "laugh", ""),
        ("three", "close", "door box"),
    )
]


def holding(name: str, verbs: Sequence[str] = ("hold",), objects: Sequence[str] = ("bag",)) -> Candidate:
    made = candidate(5000, 10000, 16000, 21000, 60000, name)
    return replace(made, video=replace(made.video, verbs=frozenset(verbs), objects=frozenset(objects)))


def test_controls_share_no_words_and_are_uniform() -> None:
    drawn = Counter(str(getattr(draw_control(holding(f"{n:08x}"), POOL, 0), "key", None)) for n in range(3000))
    assert set(drawn) == {"one", "two", "three"}
    assert all(abs(count - 1000) < 5 * (3000 * 2 / 9) ** 0.5 for count in drawn.values())


def test_draws_are_frozen() -> None:
    made = [holding(f"{number:08x}") for number in range(6)]
    assert [draw_cuts(pair, 7) for pair in made[:3]] == [
        Cuts(4012, 11291, 15494, 21809),
        Cuts(4391, 10769, 15140, 22020),
        Cuts(4917, 11003, 14994, 22926),
    ]
    drawn = [getattr(draw_control(pair, POOL, 7), "key", "") for pair in made]
    assert drawn == ["one", "three", "two", "three", "two", "two"]


LASTS = st.integers(4000, 36000)


@given(LASTS, LASTS, st.integers(2500, 60000), st.integers(0, 5), st.integers(0, 2**31))
def test_equal_cuts_show_equally_much_of_both_actions(
    lasts_a: int, lasts_b: int, gap: int, start: int, seed: int
) -> None:
    start_b = start + lasts_a + gap
    made = candidate(start, start + lasts_a, start_b, start_b + lasts_b, start_b + lasts_b, "00000001")
    cuts = draw_equal_cuts(made, seed)
    length = cuts.in_a - cuts.out_a
    assert length == cuts.out_b - cuts.in_b
    assert start <= cuts.out_a < start + lasts_a <= cuts.in_a < cuts.in_b <= start_b < cuts.out_b <= start_b + lasts_b
    assert cuts.in_a - (start + lasts_a) == start_b - cuts.in_b <= min(2000, 0.4 * gap)
    assert start + lasts_a - cuts.out_a == cuts.out_b - start_b == min(lasts_a, lasts_b)


def test_there_is_no_control_where_everything_is_shared() -> None:
    for verbs, objects in ((("hold", "wash", "open", "laugh", "close"), ()), (("hold", "wash", "laugh"), ("door",))):
        assert draw_control(holding("00000000", verbs, objects), POOL, 0) is None
    assert draw_control(holding("00000000"), [], 0) is None
    chosen = {getattr(draw_control(holding(f"{n:08x}", (), ()), POOL, 0), "key", None) for n in range(200)}
    assert chosen == {action.key for action in POOL}


# Ids


def key_of(pair: Candidate) -> tuple[str, Span, Span]:
    return pair.video.id, span(pair.a), span(pair.b)


def named(candidates: Sequence[Candidate]) -> dict[tuple[str, Span, Span], str]:
    return {key_of(pair): pair.id for pair in with_ids(candidates)}


def test_ids_hash_source_and_segments() -> None:
    times = [(5000, 10000, 16000, 21000), (5000, 10000, 16001, 21000), (5000, 10001, 16000, 21000)]
    made = [candidate(*each, 60000, "") for each in [*times, (5001, 10000, 16000, 21000), (5000, 10000, 16000, 21001)]]
    made.append(replace(made[0], video=video([], name="ELSE")))
    ids = named(made)
    assert ids[key_of(made[0])] == "a9f0fe46"
    assert len(set(ids.values())) == len(made)
    assert named(made[::-1]) == ids
    assert all(named([one]) == {key_of(one): ids[key_of(one)]} for one in made)
    assert [replace(one, id="") for one in with_ids(made[:1])] == made[:1]


def test_colliding_ids_take_later_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = "aaaaaaaa" + "bbbbbbbb" + "cccccccc" + "0" * 40
    fake = SimpleNamespace(sha256=lambda data: SimpleNamespace(hexdigest=lambda: digest))
    monkeypatch.setattr(pairs, "hashlib", fake)
    made = [candidate(5000, 10000, 16000, 21000 + n, 60000, "") for n in range(3)]
    ids = named(made)
    assert [ids[key_of(one)] for one in made] == ["aaaaaaaa", "bbbbbbbb", "cccccccc"]
    assert named(made[::-1]) == ids


# All of Charades


Charades = tuple[Annotations, list[ReleasedPair], list[Candidate]]


@pytest.fixture(scope="module")
def charades(shared: Path) -> Charades:
    """Annotations, the released training pairs and what the rules of the release select."""
    annotations = read_charades(shared / "data" / "charades")
    selected = with_ids([pair for clip in annotations.videos for pair in pairs_by(released_pairs, clip)])
    return annotations, read_released(shared / "data" / "clavi" / "train_annotations.json"), selected


@pytest.mark.shared
def test_exactly_the_released_pairs_are_selected(charades: Charades) -> None:
    _, released, selected = charades
    theirs = {(pair.video_id, pair.a, pair.b): pair.others for pair in released}
    train = [pair for pair in selected if pair.video.split == "train"]
    assert len(theirs) == len(released) == len(train) == 1915
    assert {key_of(pair) for pair in train} == theirs.keys()
    assert sum(pair.others == theirs[key_of(pair)] for pair in train) >= 1914
    assert len({pair.id for pair in selected}) == len(selected) == 1915 + 1094


@pytest.mark.shared
def test_charades_plan_has_size_of_release(charades: Charades) -> None:
    annotations, _, selected = charades
    assert len(annotations.videos) == 9848
    usable = [entry for entry in class_actions(load_classes()).values() if entry.usable]
    whole = plan_clavi(annotations.videos, dict.fromkeys(("train", "test"), usable), ClaviSettings())
    assert [unit.id for unit in whole.units] == sorted(pair.id for pair in selected)
    questions = Counter[str]()
    for unit in whole.units:
        questions[unit.split] += 2 * 19
    assert questions == {"train": 72_770, "test": 41_572}
    assert questions.total() == 114_342
    assert len({unit.payload[f"class_{letter}"] for unit in whole.units for letter in "ab"}) == 141
    for unit in whole.units:
        assert unit.payload["verb_c"] not in unit.payload["source_verbs"]
        assert not set(unit.payload["objects_c"]) & set(unit.payload["source_objects"])
