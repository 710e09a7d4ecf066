"""CLAVI: complement videos with the two actions of a pair exchanged, and 19 yes/no questions a video.

Rawal et al. 2024, "Dissecting Multimodality in VideoQA Transformer Models by Impairing Modality Fusion", section 5 and
appendix B.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InputError, VideoError
from ..language.gerunds import phrase_identity
from ..records.files import sha256_file
from ..records.plan import Facts, Plan, Skip, Unit
from ..records.schema import Column, Config, Row
from ..sources.actions import Action, AnnotatedVideo, Segment
from ..sources.charades_sta import same_doing
from ..sources.clavi import ReleasedPair
from ..templates import load_questions, table_hashes
from ..video.decode import with_index
from ..video.edit import EditList, write_edits
from ..video.encode import EncodeSettings
from ..video.estimate import Footage, frames_in
from ..video.index import FrameIndex
from .pairs import (
    RULES,
    Candidate,
    Cuts,
    SameAction,
    draw_control,
    draw_cuts,
    same_key,
    with_ids,
)
from .source_videos import missing_source, source_stamp

VARIANTS = ("original", "complement")
ANSWERS = ("no", "yes")
SHORTFALL_S = Fraction(1, 2)
FRAMES = ("out_a_frame", "in_a_frame", "in_b_frame", "out_b_frame")
SHARED = ("num_frames", "fps", "width", "height", "duration_s")

QUESTIONS = Config(
    "questions",
    "19 yes/no questions for every video",
    (
        Column("question_id", "string", "`<video_id>_<00 to 18>`"),
        Column("video_id", "string", "the video asked about, in config `videos`"),
        Column("pair_id", "string", "the pair, in config `pairs`"),
        Column("question", "string", "the question"),
        Column("answer", "label", "`no` or `yes`", ANSWERS),
        Column(
            "type",
            "string",
            "`E` existence, `E-NC` its negative control, `BE` beginning/end, `BA` before/after, `BA-NC`",
        ),
        Column("type_id", "int32", "type id of the release (0, 1, 4, 5, 8, 9, 10 in V, the same plus 16 in V′)"),
        Column("subset", "string", "`control` (E, E-NC, BA-NC) or `complement` (BE, BA)"),
        Column("variant", "string", "`original` (V) or `complement` (V′)"),
        Column("complement_question_id", "string", "Q′: the opposite time, same video; null for E and E-NC"),
        Column("counterpart_question_id", "string", "the same question about the other video of the pair"),
        Column("template_id", "string", "wording in `templates/clavi.yaml`"),
    ),
    default=True,
)
VIDEOS = Config(
    "videos",
    "the videos V and V′ of every pair",
    (
        Column("video_id", "string", "`<pair_id>_1` (V) or `<pair_id>_2` (V′)"),
        Column("pair_id", "string", "the pair"),
        Column("variant", "string", "`original` or `complement`"),
        Column("source_id", "string", "the Charades video"),
        Column("num_frames", "int32", "frames"),
        Column("fps", "float64", "frames divided by seconds"),
        Column("width", "int32", "pixels"),
        Column("height", "int32", "pixels"),
        Column("duration_s", "float64", "seconds"),
        Column("sha256", "string", "of the file in `video`"),
        Column("video", "video", "MP4, H.264, yuv420p"),
    ),
)
PAIRS = Config(
    "pairs",
    "what was swapped: A and B are the two actions, A before B in the source; C is the negative control",
    (
        Column("pair_id", "string", "8 hex digits"),
        Column("source_id", "string", "the Charades video"),
        Column("subject", "string", "Charades' id of the person"),
        *(
            Column(f"{what}_{letter}", kind, f"{meaning} of {letter.upper()}")
            for letter in "abc"
            for what, kind, meaning in (
                ("class", "string", "class id (or phrase, with `--source sta`)"),
                ("label", "string", "label in the annotation"),
                ("phrase", "string", "wording in the questions"),
                ("verb", "string", "verb"),
                ("objects", "strings", "objects"),
            )
        ),
        *(
            Column(f"{edge}_{letter}_s", "float64", f"annotated {edge} of {letter.upper()}, seconds in the source")
            for letter in "ab"
            for edge in ("start", "end")
        ),
        Column("out_a", "float64", "where A's piece starts, seconds in the source"),
        Column("in_a", "float64", "where A's piece ends and the filler starts"),
        Column("in_b", "float64", "where the filler ends and B's piece starts"),
        Column("out_b", "float64", "where B's piece ends"),
        Column("out_a_frame", "int32", "first source frame of A's piece"),
        Column("in_a_frame", "int32", "first source frame of the filler"),
        Column("in_b_frame", "int32", "first source frame of B's piece"),
        Column("out_b_frame", "int32", "first source frame after B's piece"),
        Column("other_actions", "strings", "other actions of the source that stay away from the segment"),
        Column("source_verbs", "strings", "verbs of everything annotated in the source"),
        Column("source_objects", "strings", "objects of everything annotated in the source"),
        Column("source_sha256", "string", "of the source file"),
    ),
)


@dataclass(frozen=True)
class ClaviSettings:
    """What decides a CLAVI build besides its inputs.

    Attributes:
        seed: Seed of extensions and negative controls.
        source: "actions" (Charades' classes) or "sta" (Charades-STA's sentences).
        rules: "released" or "paper"; see `builders.pairs`. None if the pairs are given.
        render: Whether videos are made; if not, `questions` and `pairs` are written alone.
        crf: x264's constant rate factor.
        preset: x264's preset.
        audio: "drop" or "keep".
    """

    seed: int = 0
    source: str = "actions"
    rules: str | None = "released"
    render: bool = True
    crf: int = EncodeSettings.crf
    preset: str = EncodeSettings.preset
    audio: str = "drop"


def clavi_configs(render: bool) -> tuple[Config, ...]:
    """Return the tables of a build, with or without videos."""
    return (QUESTIONS, VIDEOS, PAIRS) if render else (QUESTIONS, PAIRS)


def plan_clavi(
    videos: Sequence[AnnotatedVideo],
    controls: Mapping[str, Sequence[Action]],
    settings: ClaviSettings,
    *,
    released: Sequence[ReleasedPair] | None = None,
    actions: Mapping[str, Action] | None = None,
    limit: int | None = None,
    identity: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan a build, before any video is touched.

    Args:
        videos: The annotated videos.
        controls: For each split, the actions that negative controls are drawn from.
        settings: See `ClaviSettings`.
        released: Pairs to rebuild as they are; by default they are selected by `settings.rules`.
        actions: Actions by class id, for `released`.
        limit: Plan only the first so many pairs by id.
        identity: What else decides the content: dataset version, tool versions, hashes of inputs.
        notes: Counts from reading, to be kept in `build.json`.

    Returns:
        The plan; one unit a pair, sorted by pair id.

    Raises:
        InputError: `released` names a video or class that the annotations do not have.
    """
    same: SameAction = same_key if settings.source == "actions" else same_doing
    cuts: dict[str, Cuts] = {}
    if released is None:
        select = RULES[settings.rules or "released"]
        candidates = with_ids([candidate for video in videos for candidate in select(video, same)])
    else:
        candidates = _rebuilt(videos, released, actions or {})
        cuts = {pair.id: Cuts(*pair.cuts_ms) for pair in released}
    candidates.sort(key=lambda candidate: candidate.id)
    counts = Counter[str]()
    units = []
    for candidate in candidates:
        control = draw_control(candidate, controls[candidate.video.split], settings.seed)
        if control is None:
            counts["pairs_without_negative_control"] += 1
            continue
        payload = planned_columns(candidate, cuts.get(candidate.id) or draw_cuts(candidate, settings.seed), control)
        cost = payload["out_b"] - payload["out_a"]
        units.append(Unit(candidate.id, candidate.video.split, candidate.video.id, payload, cost))
    tables = table_hashes() | (phrase_identity() if settings.source == "sta" else {})
    return Plan(
        builder="clavi",
        identity={**(identity or {}), "settings": asdict(settings), "limit": limit, "tables": tables},
        units=tuple(units[:limit]),
        configs=clavi_configs(settings.render),
        noun="pair",
        notes={**(notes or {}), **counts},
    )


def _rebuilt(
    videos: Sequence[AnnotatedVideo], released: Sequence[ReleasedPair], actions: Mapping[str, Action]
) -> list[Candidate]:
    """Find the videos and actions of released pairs."""
    by_id = {video.id: video for video in videos}
    absent = sorted({pair.video_id for pair in released if pair.video_id not in by_id})
    unknown = sorted({key for pair in released for key in (pair.a[0], pair.b[0]) if key not in actions})
    if absent or unknown:
        what = [
            f"videos {', '.join(absent[:20])}" + (f" and {len(absent) - 20} more" if len(absent) > 20 else "")
        ] * bool(absent)
        what += [f"classes {', '.join(unknown[:20])}"] * bool(unknown)
        raise InputError(
            f"--pairs names {' and '.join(what)} that the Charades annotations do not have. Give the CSV that the "
            "pairs were made from (the split that --split asks for, too)."
        )
    twice = sorted(name for name, count in Counter(pair.id for pair in released).items() if count > 1)
    if twice:
        raise InputError(f"--pairs gives these pairs more than once: {', '.join(twice[:20])}. Give each file once.")
    return [
        Candidate(
            by_id[pair.video_id],
            Segment(actions[pair.a[0]], *pair.a[1:]),
            Segment(actions[pair.b[0]], *pair.b[1:]),
            pair.others,
            pair.id,
        )
        for pair in released
    ]


def planned_columns(candidate: Candidate, cuts: Cuts, control: Action) -> dict[str, Any]:
    """Return everything that rows and videos need as JSON values, named like the columns of `pairs`."""
    video = candidate.video
    payload: dict[str, Any] = {"pair_id": candidate.id, "source_id": video.id, "subject": video.subject}
    for letter, action in (("a", candidate.a.action), ("b", candidate.b.action), ("c", control)):
        payload |= {
            f"class_{letter}": action.key,
            f"label_{letter}": action.label,
            f"phrase_{letter}": action.phrase,
            f"verb_{letter}": action.verb,
            f"objects_{letter}": sorted(action.objects | (action.words if letter == "c" else frozenset())),
        }
    for letter, segment in (("a", candidate.a), ("b", candidate.b)):
        payload |= {f"start_{letter}_s": segment.start_s, f"end_{letter}_s": segment.end_s}
    payload |= {name: value / 1000 for name, value in asdict(cuts).items()}
    return payload | {
        "other_actions": list(candidate.others),
        "source_verbs": sorted(video.verbs),
        "source_objects": sorted(video.objects),
    }


@dataclass(frozen=True)
class ClaviBuilder:
    """Renders and describes the pairs of a plan.

    Attributes:
        settings: See `ClaviSettings`.
        videos: Path of each source video by id, as text.
    """

    settings: ClaviSettings
    videos: Mapping[str, str] = field(default_factory=dict)

    def renders(self, unit: Unit) -> bool:
        """Whether videos are made."""
        return self.settings.render

    def missing(self, unit: Unit) -> Skip | None:
        """Look whether the source video is there and opens."""
        return missing_source(unit, self.videos)

    def stamp(self, unit: Unit) -> str:
        """Give the source file's size and time of change."""
        return source_stamp(unit, self.videos)

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Write V and V′ as `1.mp4` and `2.mp4`; see `records.plan.Builder`."""
        path = Path(self.videos[unit.source_id])
        settings = EncodeSettings(self.settings.crf, self.settings.preset)
        files = [folder / "1.mp4", folder / "2.mp4"]

        def cut(index: FrameIndex) -> Facts:
            a, filler, b = pieces(index, unit)
            done = write_edits(index, edits(index, unit), files, settings, keep_sound=self.settings.audio == "keep")
            duration = done[0].ticks * index.time_base
            return {
                "frames": [a.start, filler.start, b.start, b.stop],
                "num_frames": done[0].num_frames,
                "fps": float(done[0].num_frames / duration),
                "width": done[0].width,
                "height": done[0].height,
                "duration_s": float(duration),
            }

        facts = with_index(path, cut)
        return facts | {
            "source_sha256": sha256_file(path),
            "sha256": [sha256_file(file) for file in files],
            "files": {file.name: file.stat().st_size for file in files},
        }

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        """Give the 38 questions, the pair and, if rendered, the two videos."""
        pair = unit.payload
        for variant in range(2):
            for row in question_rows(pair, variant):
                yield QUESTIONS.name, row
        frames = dict(zip(FRAMES, facts.get("frames", [None] * 4), strict=True))
        values = pair | frames | {"source_sha256": facts.get("source_sha256")}
        yield PAIRS.name, {column.name: values[column.name] for column in PAIRS.columns}
        if not facts:
            return
        for variant, name in enumerate(VARIANTS):
            yield (
                VIDEOS.name,
                {
                    "video_id": f"{unit.id}_{variant + 1}",
                    "pair_id": unit.id,
                    "variant": name,
                    "source_id": unit.source_id,
                    **{key: facts[key] for key in SHARED},
                    "sha256": facts["sha256"][variant],
                    "video": f"{variant + 1}.mp4",
                },
            )


def pieces(index: FrameIndex, unit: Unit) -> tuple[range, range, range]:
    """Find the frames of A, the filler and B in the source.

    Raises:
        VideoError: The video ends more than half a second before B does, or a piece has no frames (`too_short`).
    """
    pair = unit.payload
    edges = ("out_a", "in_a", "in_b", "out_b")
    out_a, in_a, in_b, out_b = (index.first_at(Fraction(round(pair[name] * 1000), 1000)) for name in edges)
    length = index.seconds(index.num_frames)
    if length + SHORTFALL_S < Fraction(pair["end_b_s"]) or not out_a < in_a <= in_b < out_b:
        raise VideoError(
            "too_short",
            f"{index.path.name}: the video shows {index.num_frames} frames in {float(length):.2f} s; "
            f"the pair needs {pair['out_a']:.3f} to {pair['out_b']:.3f} s",
        )
    return range(out_a, in_a), range(in_a, in_b), range(in_b, out_b)


def edits(index: FrameIndex, unit: Unit) -> tuple[EditList, EditList]:
    """Return the edit lists of V and V′.

    Raises:
        VideoError: See `pieces`.
    """
    a, filler, b = pieces(index, unit)
    return (range(a.start, b.stop),), tuple(piece for piece in (b, filler, a) if piece)


def pair_footage(plan: Plan) -> list[Footage]:
    """List the segments of a plan's pairs; each is encoded twice, as V and as V′."""
    found = []
    for unit in plan.units:
        seconds = unit.payload["out_b"] - unit.payload["out_a"]
        found.append(Footage(unit.source_id, partial(frames_in, seconds), partial(_segment, unit)))
    return found


def _segment(unit: Unit, index: FrameIndex) -> range:
    a, _, b = pieces(index, unit)
    return range(a.start, b.stop)


def question_rows(pair: Mapping[str, Any], variant: int) -> Iterator[Row]:
    """Word the 19 questions of one video.

    Args:
        pair: `pair_id` and `phrase_a`, `phrase_b`, `phrase_c`.
        variant: 0 for V, 1 for V′.
    """
    templates = load_questions()
    number = {template.id: position for position, template in enumerate(templates)}
    phrases = {letter: pair[f"phrase_{letter.lower()}"] for letter in "ABC"}
    video, other = (f"{pair['pair_id']}_{1 + v}" for v in (variant, 1 - variant))
    for position, template in enumerate(templates):
        yield {
            "question_id": f"{video}_{position:02d}",
            "video_id": video,
            "pair_id": pair["pair_id"],
            "question": template.text.format(x=phrases[template.x], y=phrases.get(template.y or "")),
            "answer": template.answers[variant],
            "type": template.type,
            "type_id": template.type_ids[variant],
            "subset": template.subset,
            "variant": VARIANTS[variant],
            "complement_question_id": f"{video}_{number[template.complement]:02d}" if template.complement else None,
            "counterpart_question_id": f"{other}_{position:02d}",
            "template_id": template.template_id,
        }
