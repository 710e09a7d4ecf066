import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stressreel.annotations.actions import Action, AnnotatedVideo, Mention, Segment, action_of
from stressreel.annotations.causalchaos import read_causalchaos
from stressreel.builders.base import Prepared
from stressreel.builders.clavi.meaning import Sameness, content_words, embedded, may_be_one, same_meaning
from stressreel.builders.clavi.pairs import Candidate, Limits
from stressreel.builders.clavi.plan import plan_clavi
from stressreel.builders.clavi.prepare import prepare, warnings_of
from stressreel.builders.clavi.questions import question_rows
from stressreel.builders.clavi.render import pieces
from stressreel.builders.clavi.segments import Controls, segment_pairs
from stressreel.builders.clavi.settings import ClaviSettings, decided
from stressreel.builders.runtime.source_videos import FrameTiming
from stressreel.core.plan import Plan
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
    return Action(phrase, f"Why {question}?", phrase, verb, objects, words=objects | {verb}, asked=question)


def video(name: str, *spans: Span, read: Any = gerund, split: str = "train", length: float = 600.0) -> AnnotatedVideo:
    segments = tuple(Segment(read(phrase), start, end) for phrase, start, end in spans)
    verbs = frozenset(segment.action.verb for segment in segments)
    objects = frozenset(word for segment in segments for word in segment.action.words) - verbs
    return AnnotatedVideo(name, split, "", length, segments, verbs, objects, {})


def chosen(*spans: Span, limits: Limits = LIMITS, strict: bool = False, read: Any = gerund) -> list[tuple[str, str]]:
    pairs = segment_pairs(video("V", *spans, read=read), Sameness(), limits, Counter(), strict=strict)
    return [(pair.a.action.phrase, pair.b.action.phrase) for pair in pairs]


A, B = ("frying an egg", 10.0, 15.0), ("washing rice", 20.0, 25.0)
AB = [("frying an egg", "washing rice")]


# What qualifies


@pytest.mark.parametrize(
    ("second", "first", "expected"),
    [
        (B, A, AB),
        (("washing rice", 15.0, 25.0), A, []),  # A is not over before B starts
        (B, ("frying an egg", 10.0, 13.9), []),
        (("washing rice", 50.0, 60.0), ("frying an egg", 4.1, 40.1), AB),  # 36 s, though not in binary
        (("washing rice", 50.0, 60.0), ("frying an egg", 4.1, 40.2), []),
        (("washing rice", 95.0, 100.0), A, AB),
        (("washing rice", 95.0, 100.1), A, []),
        (("frying an egg in butter", 20.0, 25.0), A, []),  # says more of the same
        (("frying butter", 20.0, 25.0), A, [("frying an egg", "frying butter")]),
    ],
)
def test_lengths_order_span_and_meaning(second: Span, first: Span, expected: list[tuple[str, str]]) -> None:
    assert chosen(first, second) == chosen(second, first) == expected


def test_nothing_near_a_pair_says_what_it_says() -> None:
    for near in (("frying an egg", 17.0, 18.0), ("frying", 26.9, 28.0), ("washing rice in a pan", 5.0, 8.1)):
        assert AB[0] not in chosen(A, B, near)
    for away in (("frying an egg", 27.0, 28.0), ("washing rice", 5.0, 8.0), ("frying onions", 17.0, 18.0)):
        assert AB[0] in chosen(A, B, away)
    spans = (A, B, ("frying an egg", 400.0, 401.0))
    assert (chosen(*spans), chosen(*spans, strict=True)) == (AB, [])
    told_spans = (("Tom hit Jerry", 10.0, 15.0), ("Tom left", 20.0, 25.0), ("Spike hit Jerry", 400.0, 401.0))
    assert chosen(*told_spans, read=told)
    assert not chosen(*told_spans, read=told, strict=True)
    assert [chosen(A, B, limits=replace(LIMITS, gap=gap)) for gap in (5.0, 5.1)] == [AB, []]


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


@pytest.mark.shared
@pytest.mark.full
def test_pairs_in_reach_of_real_annotations(shared: Path) -> None:
    """By lengths and span, phrases that say the same only if they are the same."""

    def counted(spans: Iterable[tuple[float, float, str]]) -> Counter[str]:
        segments = tuple(Segment(Action(text, text, text, text, frozenset()), *times) for *times, text in spans)
        clip, counts = replace(video("V", length=1e6), segments=segments), Counter[str]()
        list(segment_pairs(clip, Sameness(), LIMITS, counts))
        return counts

    episodes: dict[str, list[tuple[float, float, str]]] = {}
    for row in read_causalchaos(shared / "data" / "causalchaos" / "Annotations.csv").rows:
        episodes.setdefault(row.episode, []).append((row.start_frame / 25, row.end_frame / 25, row.question))
    found = sum(map(counted, episodes.values()), Counter())
    assert (found["pairs_in_reach"], found["pairs_left_out_same_meaning"]) == (22103, 72)
    released = shared / "data" / "youcook2" / "youcookii_annotations_trainval.json"
    database = json.loads(released.read_text())["database"]
    steps = ([(*map(float, x["segment"]), x["sentence"]) for x in info["annotations"]] for info in database.values())
    found = sum(map(counted, steps), Counter())
    assert found["pairs_in_reach"] - found["pairs_left_out_same_meaning"] == 19698


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
    assert made.splits == ("train", "validation")
    assert made.notes["pairs_in_reach"] == 5
    columns = [column.name for config in made.configs for column in config.columns]
    assert columns[-5:] == ["source", "clip_words", "asked_a", "asked_b", "asked_c"]
    for payload in (unit.payload for unit in made.units):
        assert json.loads(json.dumps(payload)) == payload
        assert payload["source"] == "causalchaos"
        assert payload["asked_c"].startswith("Did ")
        assert not {payload["verb_c"], *payload["objects_c"]} & set(payload["clip_words"])
        assert len(list(question_rows(payload, 0))) == 19
    assert plan(TOLD[::-1]).hash == made.hash
    assert set(made.identity["tables"]) >= {"clavi.yaml", "clavi_events.yaml"}
    alone = plan([TOLD[0], *TOLD[2:], replace(TOLD[1], split="test")])  # a split with only the phrases of its pair
    assert "test" not in alone.splits
    assert alone.notes["pairs_without_negative_control_in_test"] == 1
    settings = decided(ClaviSettings(causalchaos=Path("a.csv"), fps=25.0))
    (warning,) = warnings_of(alone, settings, ("train", "validation", "test"), FrameTiming())
    assert warning.startswith("the split test is left out: none of its 1 pairs has")


def test_limits_are_decided_by_the_collection() -> None:
    others = decided(ClaviSettings(segments="sample"))
    assert Limits.of(others) == Limits(4.0, 36.0, 90.0, 0.0, decimal=True)
    own = decided(ClaviSettings(segments="sample", shortest=1.0, longest=5.0, max_span=20.0))
    assert Limits.of(own) == Limits(1.0, 5.0, 20.0, 0.0, decimal=True)
    assert Limits.of(decided(ClaviSettings(charades="sample"))) == Limits()
    assert Limits.of(decided(ClaviSettings(charades="sample", rules="paper"))) == Limits(longest=36.0)


def test_last_piece_of_didemo_ends_with_its_video(bars: Any, tmp_path: Path) -> None:
    texts = ("man reads a book", "man washes the dishes", "man opens the door", "man pours water")
    rows = []
    for number, frames in enumerate((272, 272, 272, 220)):
        bars.write(tmp_path / f"v{number}.mp4", frames=frames, rate=Fraction(10), gop=50)
        last = [3, 4] if frames == 220 else [4, 5]
        for text, piece in zip(texts[2 * (number % 2) :], ([0, 0], last), strict=False):
            rows.append({"video": f"v{number}.mp4", "times": [piece], "description": text})
    (tmp_path / "did.json").write_text(json.dumps(rows))

    def prepared(videos: Path) -> Prepared:
        videos.mkdir(exist_ok=True)
        return prepare(ClaviSettings(segments=tmp_path / "did.json", videos=videos, same_by="lemmas", render=False))

    known, unknown = prepared(tmp_path), prepared(tmp_path / "none")
    ends = {unit.source_id: unit.payload["end_b_s"] for unit in known.plan.units}
    assert ends == {name: 22.0 if name == "v3" else 27.2 for name in ends}
    assert {unit.payload["end_b_s"] for unit in unknown.plan.units} <= {25.0, 30.0}
    assert known.plan.notes["ends_clamped_to_length"] == 4
    assert known.plan.identity["timing"]["lengths"] == {"v0": 27.2, "v1": 27.2, "v2": 27.2, "v3": 22.0}
    assert not any("length" in warning for warning in known.warnings)
    assert any("the length of" in warning and "5 s" in warning for warning in unknown.warnings)
    for unit in known.plan.units:
        index = index_frames(tmp_path / f"{unit.source_id}.mp4")
        assert pieces(index, unit)[2].stop == index.num_frames
