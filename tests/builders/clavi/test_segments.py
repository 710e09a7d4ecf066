"""Pairs of segments with free phrases, their controls, and their limits and balance."""

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stressreel.annotations.actions import Action, AnnotatedVideo, Mention, Segment, action_of
from stressreel.annotations.samples import cached_sample
from stressreel.builders.clavi import selection
from stressreel.builders.clavi.meaning import Sameness, content_words, embedded, may_be_one, same_meaning
from stressreel.builders.clavi.pairs import Candidate, Limits
from stressreel.builders.clavi.plan import plan_clavi
from stressreel.builders.clavi.prepare import prepare, warnings_of
from stressreel.builders.clavi.render import pieces
from stressreel.builders.clavi.segments import Controls, segment_pairs
from stressreel.builders.clavi.settings import ClaviSettings, decided
from stressreel.builders.runtime.source_videos import FrameTiming
from stressreel.core.plan import Plan, counts_of
from stressreel.language.events import free_phrase
from stressreel.video.index import index_frames

LIMITS = Limits(4.0, 36.0, 90.0, 0.0, decimal=True)
Span = tuple[str, float, float]


def gerund(phrase: str) -> Action:
    """Read "frying an egg in butter" as verb, "an", object and so on."""
    verb, *rest = phrase.split()
    objects = frozenset(word for word in rest if word not in ("a", "an", "the", "in", "and"))
    return Action(phrase, phrase, phrase, verb, objects, words=objects | {verb})


def told(phrase: str) -> Action:
    """Read "Tom hit the pan" as a statement with its question."""
    subject, verb, *rest = phrase.split()
    objects = frozenset(word.lower() for word in rest if word not in ("a", "the", "in"))
    question = f"Did {subject} {verb} {' '.join(rest)}".strip()
    return Action(phrase, f"Why {question}?", phrase, verb, objects, words=objects | {verb}, question=question)


def video(name: str, *spans: Span, read: Any = gerund, split: str = "train", length: float = 600.0) -> AnnotatedVideo:
    segments = tuple(Segment(read(phrase), start, end) for phrase, start, end in spans)
    verbs = frozenset(segment.action.verb for segment in segments)
    objects = frozenset(word for segment in segments for word in segment.action.words) - verbs
    return AnnotatedVideo(name, split, "", length, segments, verbs, objects, {})


def chosen(*spans: Span, limits: Limits = LIMITS, strict: bool = False, read: Any = gerund) -> list[tuple[str, str]]:
    pairs = segment_pairs(video("V", *spans, read=read), Sameness(), limits, Counter(), strict=strict)
    return [(pair.a.action.phrase, pair.b.action.phrase) for pair in pairs]


A, B = ("frying an egg", 10.0, 15.0), ("washing rice", 20.0, 25.0)
with Path(__file__).with_name("segments.csv").open(encoding="utf-8", newline="") as file:
    CASES = list(csv.DictReader(file))


# What qualifies


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["segments"])
def test_first_two_segments_are_a_pair(case: dict[str, str]) -> None:
    parts = [each.rsplit(" ", 2) for each in case["segments"].split(";")]
    spans = [(phrase, float(start), float(end)) for phrase, start, end in parts]
    pair = (spans[0][0], spans[1][0])
    assert (pair in chosen(*spans)) is (pair in chosen(*spans[::-1])) is (case["paired"] == "yes")


def test_strict_and_minimum_gap() -> None:
    spans = (A, B, ("frying an egg", 400.0, 401.0))
    assert (len(chosen(*spans)), len(chosen(*spans, strict=True))) == (1, 0)
    told_spans = (("Tom hit Jerry", 10.0, 15.0), ("Tom left", 20.0, 25.0), ("Spike hit Jerry", 400.0, 401.0))
    assert chosen(*told_spans, read=told)
    assert not chosen(*told_spans, read=told, strict=True)
    assert [len(chosen(A, B, limits=replace(LIMITS, gap=gap))) for gap in (5.0, 5.1)] == [1, 0]


def test_other_actions_are_elsewhere_and_say_something_else() -> None:
    near = (("eating", 26.0, 27.0), ("eating", 300.0, 301.0))
    away = (("frying an egg", 310.0, 311.0), ("resting", 320, 330))
    (pair, *_) = segment_pairs(video("V", A, B, *near, *away), Sameness(), LIMITS, Counter())
    assert pair.others == ("resting",)


def test_subjects_and_inner_verbs_decide_meaning() -> None:
    def sentence(text: str) -> Action:
        action = action_of(free_phrase(text), text)
        assert isinstance(action, Action)
        return action

    assert not may_be_one("Tom", "Jerry")
    assert may_be_one("Tom", "the cat")
    assert may_be_one("Tom", "Tom and Jerry")
    assert same_meaning(told("Tom hit Jerry"), told("Tom hit"))
    assert not same_meaning(told("Tom hit Jerry"), told("Spike hit Jerry"))
    drinks = [sentence(f"a person {doing}") for doing in ("drinking from a glass", "holding a glass drinking")]
    assert same_meaning(*drinks)
    assert not same_meaning(sentence("a person holds a glass"), drinks[0])


def by_vectors(vectors: dict[str, list[float]]) -> Sameness:
    return embedded(list(vectors), lambda texts: np.array([vectors[t] for t in texts], np.float32), "a model")


def test_embeddings_find_what_lemmas_do_not() -> None:
    sameness = by_vectors(
        {"frying an egg": [1, 0, 0], "cooking eggs": [0.8, 0.6, 0], "washing rice": [0.79, 0, 0.6131]}
    )
    spans = (A, ("cooking eggs", 20.0, 25.0), ("washing rice", 40.0, 45.0))
    found = [c.b.action.phrase for c in segment_pairs(video("V", *spans), sameness, LIMITS, Counter())]
    assert found == ["washing rice"]  # from the second egg, which is far enough from the first
    assert len(chosen(*spans)) == 3
    assert sameness.identity() == {"by": "sbert", "model": "a model", "cosine": 0.8}


# Controls

POOL = [gerund(text) for text in ("boiling pasta", "cutting bread", "frying fish", "eating an egg", "peeling carrots")]


def pair_of(source: AnnotatedVideo, name: str = "") -> Candidate:
    """Return the pair of the first two segments, all of whose source is near its clip."""
    events = tuple(segment.action for segment in source.segments)
    words = frozenset[str]().union(*map(content_words, events))
    return Candidate(source, source.segments[0], source.segments[1], (), name, words, events)


def control_of(
    *texts: str, pool: Sequence[Action] = POOL, read: Any = gerund, sameness: Sameness | None = None
) -> set[str]:
    spans = [(text, 10.0 * number, 10.0 * number + 5) for number, text in enumerate(texts)]
    pair = pair_of(video("V", *spans, read=read))
    controls = Controls(pool, [pair], sameness or Sameness(), 0)
    drawn = (controls.draw(replace(pair, id=f"{number:08x}")) for number in range(40))
    return {action.phrase for action in drawn if action}


def clip_words_of(*spans: Span, mentions: Sequence[Mention] = ()) -> set[str]:
    (pair,) = segment_pairs(replace(video("V", A, B, *spans), mentions=tuple(mentions)), Sameness(), LIMITS, Counter())
    return set(pair.clip_words) - {"frying", "egg", "washing", "rice"}


def test_controls_avoid_annotations_near_clip() -> None:
    """A clip reaches up to 2 s beyond A and B, and what is done 2 s before or after it may still be seen."""
    assert clip_words_of(("eating fish", 29.1, 30.0)) == clip_words_of(("eating fish", 4.0, 6.0)) == set()
    assert clip_words_of(("eating fish", 28.9, 30.0)) == clip_words_of(("eating fish", 4.0, 6.1)) == {"eating", "fish"}
    mentions = [Mention(16.0, 17.0, frozenset({"stove"})), Mention(300.0, 301.0, frozenset({"lamp"}))]
    assert clip_words_of(mentions=mentions) == {"stove"}
    assert clip_words_of(("frying an egg in butter", 10.0, 15.0)) == {"butter"}


def test_controls_share_no_word_and_resemble_nothing() -> None:
    assert control_of("frying an egg", "washing rice") == {"boiling pasta", "cutting bread", "peeling carrots"}
    assert control_of("frying an egg", "boiling rice", "cutting carrots") == set()
    assert control_of("Tom hit Jerry", "Jerry left", pool=POOL, read=told) == set()
    pool = [told(text) for text in ("Tom slept", "Jerry sneezed", "Spike barked", "Tom danced", "Nibbles ate cheese")]
    found = control_of("Tom hit Jerry", "Jerry left", pool=pool, read=told)
    assert found == {"Tom slept", "Tom danced", "Jerry sneezed"}
    assert content_words(told("Tom hit Jerry")) == {"hit", "jerry"}
    alike = ("washing rice", "frying an egg", "boiling pasta", "cutting bread")
    vectors = {action.phrase: [0.0, 1.0] for action in POOL} | {text: [1.0, 0.0] for text in alike}
    assert control_of("frying an egg", "washing rice", sameness=by_vectors(vectors)) == {"peeling carrots"}


def test_control_words_match_event_frequencies() -> None:
    """Of two verbs that fit, the one that A and B have four times as often is drawn so more often."""
    videos = [
        *(video(f"C{n}", (f"cutting thing{n}", 0.0, 5.0), (f"cutting stuff{n}", 10.0, 15.0)) for n in range(8)),
        *(video(f"P{n}", (f"peeling fruit{n}", 0.0, 5.0), (f"peeling root{n}", 10.0, 15.0)) for n in range(2)),
        *(video(f"X{n}", (f"waiting{n} hour{n}", 0.0, 5.0), (f"resting{n} day{n}", 10.0, 15.0)) for n in range(60)),
    ]
    pairs = [pair_of(v, f"{n:08x}") for n, v in enumerate(videos)]
    pool = sorted((s.action for v in videos[:10] for s in v.segments), key=lambda action: action.key)
    controls = Controls(pool, pairs, Sameness(), 0)
    drawn = Counter(action.verb for pair in pairs[10:] if (action := controls.draw(pair)))
    assert drawn["cutting"] > 1.5 * drawn["peeling"]


# The plan

TOLD = [
    video("E1", ("Tom hit Jerry", 10, 15), ("Jerry left", 20, 26), ("Tom slept", 100, 105), read=told),
    video("E2", ("Tom cried", 10, 15), ("Jerry sang", 20, 26), read=told),
    video("E3", ("Jerry danced", 10, 15), ("Tom smiled", 20, 26), read=told, split="validation"),
    video("E4", ("Jerry cooked", 10, 15), ("Tom waited", 20, 26), read=told, split="validation"),
]


def plan(videos: Sequence[AnnotatedVideo] = TOLD) -> Plan:
    controls = {}
    for split in ("train", "validation", "test"):
        actions = {s.action.key: s.action for v in videos if v.split == split for s in v.segments}
        controls[split] = [actions[key] for key in sorted(actions)]
    return plan_clavi(videos, controls, decided(ClaviSettings(causalchaos=Path("a.csv"))), sameness=Sameness())


def test_a_plan_of_statements() -> None:
    made = plan()
    assert (made.splits, made.notes["pairs_in_reach"]) == (("train", "validation"), 5)
    assert plan(TOLD[::-1]).hash == made.hash
    assert {(unit.payload["source"], unit.payload["asked_c"][:4]) for unit in made.units} == {("causalchaos", "Did ")}
    alone = plan([TOLD[0], *TOLD[2:], replace(TOLD[1], split="test")])  # a split with only the phrases of its pair
    assert "test" not in alone.splits
    assert alone.notes["pairs_without_negative_control_in_test"] == 1
    settings = decided(ClaviSettings(causalchaos=Path("a.csv"), fps=25.0))
    (warning,) = warnings_of(alone, settings, ("train", "validation", "test"), FrameTiming())
    assert warning.startswith("the split test is left out: none of its 1 pairs has")


def test_last_piece_of_didemo_ends_with_its_video(bars: Any, tmp_path: Path) -> None:
    texts = ("man reads a book", "man washes the dishes", "man opens the door", "man pours water")
    rows = []
    for number, frames in enumerate((272, 220)):
        bars.write(tmp_path / f"v{number}.mp4", frames=frames, rate=Fraction(10), gop=50)
        for text, piece in zip(texts[2 * number :], ([0, 0], [4, 5] if frames == 272 else [3, 4]), strict=False):
            rows.append({"video": f"v{number}.mp4", "times": [piece], "description": text})
    (tmp_path / "did.json").write_text(json.dumps(rows))
    (tmp_path / "none").mkdir()
    settings = ClaviSettings(segments=tmp_path / "did.json", same_by="lemmas", order="any", render=False)
    known, unknown = (prepare(replace(settings, videos=videos)) for videos in (tmp_path, tmp_path / "none"))
    assert {unit.source_id: unit.payload["end_b_s"] for unit in known.plan.units} == {"v0": 27.2, "v1": 22.0}
    assert {unit.payload["end_b_s"] for unit in unknown.plan.units} == {25.0, 30.0}
    assert known.plan.notes["ends_clamped_to_length"] == 2
    assert known.plan.identity["timing"]["lengths"] == {"v0": 27.2, "v1": 22.0}
    assert not any("length" in warning for warning in known.warnings)
    assert any("the length of" in warning and "5 s" in warning for warning in unknown.warnings)
    for unit in known.plan.units:
        index = index_frames(tmp_path / f"{unit.source_id}.mp4")
        assert pieces(index, unit)[2].stop == index.num_frames


# Limits and balance


def candidates(*names: str, sources: int = 3) -> list[Candidate]:
    """Pairs of actions with these verbs; each of a few sources has every so-manyth."""
    made = []
    for number, name in enumerate(names):
        spans = [(f"{verb} {number}", 20.0 * number + 7 * n, 20.0 * number + 7 * n + 5) for n, verb in enumerate(name)]
        source = video(f"V{number % sources}", *spans)
        made.append(Candidate(source, *source.segments, ()))
    return made


def test_limited_pairs_spread_over_video() -> None:
    pairs, counts = candidates(*["ab"] * 30, sources=1), Counter[str]()
    kept = selection.spread_over_videos(pairs, 5, 0, counts)
    middles = sorted(pair.a.start_s for pair in kept)
    assert len(kept) == 5
    assert counts["pairs_left_out_most_per_video"] == len(pairs) - 5
    assert middles[0] < 150 < 350 < middles[-1]
    assert kept == selection.spread_over_videos(pairs[::-1], 5, 0, Counter())
    others = [selection.spread_over_videos(pairs, 5, seed, Counter()) for seed in range(1, 4)]
    assert any(other != kept for other in others)


def test_each_class_pair_is_balanced() -> None:
    pairs = candidates(*["ab"] * 6, *["ba"] * 2, *["bc"] * 4, *["dd"] * 2, "ca", "ac")
    counts = Counter[str]()
    kept = selection.balanced_by_pair(pairs, 0, counts)
    found = Counter(selection.class_of(pair, "a") + selection.class_of(pair, "b") for pair in kept)
    assert found == {"ab": 2, "ba": 2, "dd": 2, "ca": 1, "ac": 1}
    assert counts["pairs_left_out_order_balance"] == len(pairs) - len(kept)
    assert kept == selection.balanced_by_pair(pairs[::-1], 0, Counter())


@pytest.mark.parametrize("most", [1, 2, 5])
def test_balance_holds_with_limit_per_video(most: int) -> None:
    """Circles of pairs take the place of what alone would be out of balance."""
    pairs, counts = candidates(*["ab", "bc", "ca", "ba", "cb", "ac", "dd", "ad", "ab"] * 4), Counter[str]()
    kept = selection.balanced_over_videos(pairs, most, 0, counts)
    first, second = (Counter(selection.class_of(pair, letter) for pair in kept) for letter in "ab")
    assert first == second
    assert max(Counter(pair.video.id for pair in kept).values()) <= most
    assert len({id(pair) for pair in kept}) == len(kept)
    alone = selection.balanced(selection.spread_over_videos(pairs, most, 0, Counter()), 0, Counter())
    assert len(kept) > len(alone) or most == 1
    assert sum(counts.values()) == len(pairs) - len(kept)
    assert kept == selection.balanced_over_videos(pairs, most, 0, Counter())


# Whatever the annotations contain is asked about, or stands in `left_out` by name

PHRASES = (
    *("opening a door", "closing a laptop", "pouring water into a cup", "a man slices an onion", "washing the car"),
    *("the table", "xyzzy", "He sits. He eats.", "opening a door"),
)
ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 12), st.integers(1, 12), st.sampled_from(PHRASES), st.booleans()),
    min_size=1,
    max_size=24,
)


def plan_of(path: Path, rows: list[tuple[str, float, float, str]], **options: object) -> Plan:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("video", "start", "end", "phrase"), *rows])
    return prepare(replace(ClaviSettings(segments=path, render=False, same_by="lemmas"), **options)).plan


OPTIONS = ({}, {"max_pairs_per_video": 1}, {"order": "any"}, {"strict": True}, {"order": "pairs"}, {"shortest": 6.0})


@given(rows=ROWS, options=st.sampled_from(OPTIONS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_every_phrase_is_asked_or_left_out(
    tmp_path: Path, rows: list[tuple[str, int, int, str, bool]], options: dict[str, object]
) -> None:
    usable = ("e", 0.0, 5.0, "opening a door")
    given_rows = [usable, *((v, 7.0 * s, 7.0 * s + n + long * 30, text) for v, s, n, text, long in rows)]
    distinct = list({row[:2] + row[3:]: row for row in given_rows}.values())
    plan = plan_of(tmp_path / "own.csv", distinct, **options)
    asked = {
        (unit.source_id, unit.payload[f"label_{letter}"], unit.payload[f"start_{letter}_s"])
        for unit in plan.units
        for letter in "ab"
    }
    named = Counter(record.line for record in plan.left_out if record.kind == "phrase")
    for line, (video, start, _, phrase) in enumerate(distinct, 2):
        assert ((video, phrase, start) in asked) + named[line] == 1, (line, phrase)
    without = {record.name for record in plan.left_out if record.kind == "video"}
    assert without | {unit.source_id for unit in plan.units} == {video for video, *_ in distinct}
    assert without.isdisjoint({unit.source_id for unit in plan.units})
    for reason, count in counts_of(plan.left_out).items():
        assert plan.notes[reason] == count, reason


def test_losses_say_why_by_video(tmp_path: Path) -> None:
    rows = [("a", 0.0, 5.0, "opening a door"), ("b", 0.0, 5.0, "the table"), ("c", 0.0, 1.0, "closing a laptop")]
    left_out = plan_of(tmp_path / "own.csv", rows).left_out
    why = {record.name: record.detail for record in left_out if record.kind == "video"}
    assert set(why) == {"a", "b", "c"}
    assert "no verb: 1" in why["b"]
    assert "too short" in why["c"]
    charades = ClaviSettings(charades=cached_sample("charades"), render=False)
    whole, first, one = (
        prepare(replace(charades, **more)).plan for more in ({}, {"limit": 1}, {"max_pairs_per_video": 1})
    )
    assert first.left_out == whole.left_out
    rejected = [record for record in one.left_out if record.kind == "pairs"]
    assert len({(record.source_id, record.reason) for record in rejected}) == len(rejected)
    assert counts_of(rejected)["pairs_left_out_most_per_video"] > 1
