import csv
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.annotations.actions import Action, AnnotatedVideo, Segment
from stressreel.annotations.charades import class_actions, read_charades
from stressreel.annotations.clavi import read_released
from stressreel.annotations.samples import cached_sample
from stressreel.builders.clavi import pairs
from stressreel.builders.clavi.pairs import Candidate, Cuts, Limits, SameAction
from stressreel.builders.clavi.plan import plan_clavi
from stressreel.builders.clavi.settings import ClaviSettings, decided
from stressreel.core.plan import noted, nothing_qualifies
from stressreel.templates import load_classes

Span = tuple[str, float, float]
Rules = Callable[[AnnotatedVideo, SameAction, Limits, Counter[str]], Iterable[Candidate]]


def action(name: str) -> Action:
    """A class: "a", "b", … are usable, "someone …" are not."""
    return Action(name, name.capitalize(), name, f"verb of {name}", frozenset([f"object of {name}"]), name[0] != "s")


def video(spans: Iterable[Span], length: float = 60) -> AnnotatedVideo:
    segments = tuple(Segment(action(key), start, end) for key, start, end in spans)
    return AnnotatedVideo("VIDEO", "train", "SUBJ", length, segments, frozenset(), frozenset(), {})


def span(segment: Segment) -> Span:
    return segment.action.key, segment.start_s, segment.end_s


def times_of(text: str) -> list[Span]:
    """Read spans such as "c 30 33;d 0 3"."""
    parts = [each.split() for each in text.split(";") if text != "none"]
    return [(key, float(start), float(end)) for key, start, end in parts]


# The rules of the release and of the paper

RULES: dict[str, Rules] = {"released": pairs.released_pairs, "paper": pairs.paper_pairs}
with Path(__file__).with_name("rules.csv").open(encoding="utf-8", newline="") as file:
    CASES = list(csv.DictReader(file))


@pytest.mark.parametrize("rules", RULES)
def test_table_of_rules(rules: str) -> None:
    """Of the pair (a, b), what others there are, "none" or, if it is not selected, "-". A class has one letter."""
    limits = Limits(longest=36.0 if rules == "paper" else None)
    for case in CASES:
        if case["rules"] in (rules, "both"):
            a, b, *more = times_of(f"{case['a']};{case['b']}") + times_of(case["more"])
            clip = video([a, b, *more], float(case["length"]))
            found = RULES[rules](clip, lambda one, other: one.key[0] == other.key[0], limits, Counter())
            others = {(span(c.a), span(c.b)): " ".join(c.others) or "none" for c in found}
            assert others.get((a, b), "-") == case["others"], case


@pytest.mark.parametrize("rules", RULES.values())
def test_every_pair_is_selected_or_counted(rules: Rules) -> None:
    videos = read_charades(cached_sample("charades"), ("train", "test")).videos
    counts: Counter[str] = Counter()
    kept = sum(len(list(rules(each, pairs.same_class, Limits(), counts))) for each in videos)
    assert kept
    assert counts["pairs_in_reach"] == kept + sum(n for name, n in counts.items() if "left_out" in name)


def test_empty_plan_names_rule_and_option() -> None:
    def why(settings: ClaviSettings) -> str:
        made = plan_clavi([video([("a", 5, 10), ("b", 12, 17)], 25)], {"train": [action("z")]}, settings)
        return nothing_qualifies(made) if not made.units else "\n".join(noted(made))

    assert "segments too short or long: 2 (--shortest, --longest)" in why(ClaviSettings(shortest=100.0))
    assert why(ClaviSettings(rules="paper")) == "segments: 2\npairs in reach: 1"
    assert "  pairs left out near the end: 1 (--rules paper)" in why(ClaviSettings())


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ("a 5 15;b 10 20", ""),
        ("a 5 15;b 13.1 20", "short_piece"),
        ("a 5 8.9;b 6 20", "too_short_or_long"),
        ("a 5 15;a 10 20", "same_action"),
        ("a 5 15;b 10 20;a 21.9 30", "recurring"),
        ("a 5 35;b 8 14.5", ""),
        ("a 5 35;b 8 14.6", "middle_third"),
    ],
)
def test_overlapping_pairs_are_selected_or_counted(spans: str, reason: str) -> None:
    counts, (a, b, *_) = Counter[str](), times_of(spans)
    relation = "contain" if b[2] < a[2] else "overlap"
    made = pairs.overlapping_pairs(relation, video(times_of(spans)), pairs.same_class, Limits(), counts)
    assert len([pair for pair in made if span(pair.a) == a]) == (not reason)
    assert {name for name in counts if "left_out" in name} == ({f"overlapping_left_out_{reason}"} if reason else set())


SPANS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 40), st.integers(0, 60)), max_size=4)


@given(SPANS, st.integers(0, 99))
def test_ambiguity_agrees_with_brute_force(spans: list[Span], seed: int) -> None:
    """Counted in hundredths of a second: A after its end, or B before its start, in what the clip shows."""
    settings = decided(ClaviSettings(charades="sample", seed=seed))
    a, b, last = ("a", 5.0, 10.0), ("b", 20.0, 26.0), ("x", 70.0, 75.0)  # without the last, no pair is selected
    for pair in pairs.released_pairs(video([a, b, *spans, last], 90), pairs.same_class, Limits(), Counter()):
        cuts = pairs.cuts_of(pair, settings)
        shown = set(range(-(-cuts.out_a // 10), cuts.out_b // 10))
        times = {key: set() for key in "abcx"}
        for each in pair.video.segments:
            times[each.action.key] |= set(range(int(each.start_s * 100), int(each.end_s * 100)))
        late = {time for time in times[pair.a.action.key] & shown if time >= pair.a.end_s * 100}
        early = {time for time in times[pair.b.action.key] & shown if time < pair.b.start_s * 100}
        assert pairs.recurs(pair, cuts, pairs.same_class) is bool(late | early)


# Cuts, controls and ids


def candidate(start_a: int, end_a: int, start_b: int, end_b: int, length: float, name: str = "00000000") -> Candidate:
    """A pair by its times in milliseconds."""
    clip = video([("a", start_a / 1000, end_a / 1000), ("b", start_b / 1000, end_b / 1000)], length / 1000)
    return Candidate(clip, clip.segments[0], clip.segments[1], (), name)


TIMES = st.tuples(
    st.integers(0, 5_000) | st.integers(0, 120_000),
    st.integers(4_000, 40_000),
    st.integers(1, 300) | st.integers(1, 30_000),
    st.integers(4_000, 40_000),
    st.integers(0, 10_000),
)
NAMES = st.integers(0, 2**32 - 1).map(lambda number: f"{number:08x}")


@settings(max_examples=100)
@given(TIMES, NAMES, st.integers(0, 2**63))
def test_cuts_stay_in_bounds_with_equal_sums(times: tuple[int, int, int, int, int], name: str, seed: int) -> None:
    start_a, last_a, gap, last_b, rest = times
    end_a = start_a + last_a
    start_b, end_b = end_a + gap, end_a + gap + last_b
    length = end_b + rest
    cuts = pairs.draw_cuts(candidate(start_a, end_a, start_b, end_b, length + 0.9, name), seed)
    assert all(type(value) is int for value in (cuts.out_a, cuts.in_a, cuts.in_b, cuts.out_b))
    oa, ia, ib, ob = start_a - cuts.out_a, cuts.in_a - end_a, start_b - cuts.in_b, cuts.out_b - end_b
    assert ia + ib == oa + ob
    assert min(oa, ia, ib, ob, cuts.out_a) >= 0
    assert cuts.in_a <= cuts.in_b
    assert cuts.out_b <= length
    assert oa <= min(2000, start_a, gap / 2)
    assert ob <= min(2000, 0.6 * (gap - oa))


LASTS = st.integers(4000, 36000)


@given(LASTS, LASTS, st.integers(2500, 60000), st.integers(0, 5), st.integers(0, 2**31))
def test_equal_cuts_show_equally_much_of_both(lasts_a: int, lasts_b: int, gap: int, start: int, seed: int) -> None:
    start_b = start + lasts_a + gap
    made = candidate(start, start + lasts_a, start_b, start_b + lasts_b, start_b + lasts_b, "00000001")
    cuts = pairs.draw_equal_cuts(made, seed)
    assert cuts.in_a - cuts.out_a == cuts.out_b - cuts.in_b
    assert start <= cuts.out_a < start + lasts_a <= cuts.in_a < cuts.in_b <= start_b < cuts.out_b <= start_b + lasts_b
    assert cuts.in_a - (start + lasts_a) == start_b - cuts.in_b <= min(2000, 0.4 * gap)
    assert start + lasts_a - cuts.out_a == cuts.out_b - start_b == min(lasts_a, lasts_b)


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


def holding(number: int, verbs: Iterable[str] = ("hold",), objects: Iterable[str] = ("bag",)) -> Candidate:
    made = candidate(5000, 10000, 16000, 21000, 60000, f"{number:08x}")
    return replace(made, video=replace(made.video, verbs=frozenset(verbs), objects=frozenset(objects)))


def test_controls_share_no_words_and_are_uniform() -> None:
    drawn = Counter(str(getattr(pairs.draw_control(holding(n), POOL, 0), "key", None)) for n in range(3000))
    assert set(drawn) == {"one", "two", "three"}
    assert all(abs(count - 1000) < 5 * (3000 * 2 / 9) ** 0.5 for count in drawn.values())
    for verbs, objects in ((("hold", "wash", "open", "laugh", "close"), ()), (("hold", "wash", "laugh"), ("door",))):
        assert pairs.draw_control(holding(0, verbs, objects), POOL, 0) is None
    assert pairs.draw_control(holding(0), [], 0) is None


def test_draws_are_frozen_by_pair_and_seed() -> None:
    made = [holding(number) for number in range(6)]
    expected = [Cuts(4012, 11291, 15494, 21809), Cuts(4391, 10769, 15140, 22020), Cuts(4917, 11003, 14994, 22926)]
    assert [pairs.draw_cuts(pair, 7) for pair in made[:3]] == expected
    drawn = [getattr(pairs.draw_control(pair, POOL, 7), "key", "") for pair in made]
    assert drawn == ["one", "three", "two", "three", "two", "two"]
    richer = replace(made[0], others=("x",), video=replace(made[0].video, id="ELSE", columns={"x": "y"}))
    assert pairs.draw_cuts(richer, 7) == expected[0] != pairs.draw_cuts(richer, 8)


def test_ids_hash_source_and_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [5000, 10000, 16000, 21000]
    made = [candidate(*times, 60000, "")]
    made += [candidate(*times[:n], times[n] + 1, *times[n + 1 :], 60000, "") for n in range(4)]
    made.append(replace(made[0], video=replace(made[0].video, id="ELSE")))
    ids = {one.id: replace(one, id="") for one in pairs.with_ids(made)}
    assert ids["a9f0fe46"] == made[0]
    assert len(ids) == len(made)
    assert sorted(ids) == sorted(pairs.with_ids([one])[0].id for one in made)
    digest = "aaaaaaaa" + "bbbbbbbb" + "cccccccc" + "0" * 40  # ids that collide take later digits
    fake = SimpleNamespace(sha256=lambda data: SimpleNamespace(hexdigest=lambda: digest))
    monkeypatch.setattr(pairs, "hashlib", fake)
    assert [one.id for one in pairs.with_ids(made[:3])] == ["aaaaaaaa", "bbbbbbbb", "cccccccc"]
    assert pairs.with_ids(made[:3]) == pairs.with_ids(made[2::-1])


@pytest.mark.shared
def test_charades_gives_exactly_the_released_pairs(shared: Path) -> None:
    annotations = read_charades(shared / "data" / "charades")
    usable = [entry for entry in class_actions(load_classes()).values() if entry.usable]
    whole = plan_clavi(annotations.videos, dict.fromkeys(("train", "test"), usable), ClaviSettings())
    released = read_released(shared / "data" / "clavi" / "train_annotations.json")
    theirs = {(pair.video_id, pair.a, pair.b): pair.others for pair in released}
    ours = {}
    for unit in whole.units:
        pair = unit.payload
        assert pair["verb_c"] not in pair["source_verbs"]
        assert not set(pair["objects_c"]) & set(pair["source_objects"])
        if unit.split == "train":
            a, b = ((pair[f"class_{x}"], pair[f"start_{x}_s"], pair[f"end_{x}_s"]) for x in "ab")
            ours[unit.source_id, a, b] = tuple(pair["other_actions"])
    assert (len(annotations.videos), len(whole.units)) == (9848, 1915 + 1094)  # 114,342 questions
    assert ours.keys() == theirs.keys()
    assert sum(ours[key] == theirs[key] for key in theirs) >= 1914
    assert len(theirs) == len(released) == 1915
    assert len({unit.payload[f"class_{letter}"] for unit in whole.units for letter in "ab"}) == 141
    assert sum(unit.payload["ambiguous"] for unit in whole.units) == 14
