"""CausalChaos: five options for the answer and for the explanation of every why-question, three divisions, confusions.

Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal Chains
Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), sections 3.3 and 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, VideoError
from ..negatives.confused_options import confuse_options
from ..negatives.confuser import Confuser
from ..negatives.confusion import Confusion, Kind, Unconfused
from ..negatives.mining import COSINE_DIGITS, Item, Mined, MiningSettings, Negative, OptionSet, arrange, mine, text_key
from ..records.files import file_stamp, sha256_file, sha256_text
from ..records.plan import Facts, Plan, Skip, Unit
from ..records.schema import Column, Config, Row
from ..sources.causalchaos import CausalRow, first_by_id, overlaps
from ..video.decode import with_index
from ..video.edit import write_edits
from ..video.encode import EncodeSettings
from ..video.estimate import Footage, Shape, frames_in
from ..video.index import FrameIndex
from .causal_audit import Asked, audit, known_share
from .causal_splits import SPLITS, Places, Scheme, divide, leaks
from .source_videos import missing_source, source_stamp

Floats = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Floats]
Target = Literal["answer", "explanation"]
Made = Mapping[str, Mapping[Kind, Confusion | Unconfused]]

SCHEMES: tuple[Scheme, ...] = ("ud", "ps", "un")
TARGETS: tuple[Target, ...] = ("answer", "explanation")
RIGHT = "right"
CONFUSED = "causal_confusion"
OPEN = "open_ended"
CLIPS = "clips"
CLIP_FILE = "clip.mp4"
NOT_DRAWN = "enough others are there"

SOURCE_FIELDS = (
    Column("qid", "string", "the question whose right option this is"),
    Column("kind", "string", "`right`, `hard`, `random`, `negation` or `swap`"),
    Column("cos_question", "float64", "cosine of the two questions (SBERT)"),
    Column("cos_text", "float64", "cosine with the right option"),
    Column("score", "float64", "what it was chosen by"),
)
CONFUSION_FIELDS = (
    Column("target", "string", "`answer` or `explanation`"),
    Column("kind", "string", "`negation` or `swap`"),
    Column("place", "int32", "its place among the options; null if it is not among them"),
    Column("text", "string", "what was made of the right option; null if nothing could be"),
    Column("note", "string", "why it could not be made or used, or why it may be read in two ways; else empty"),
)
ASKED = (
    Column("qid", "string", "the question"),
    Column("episode", "string", "the video"),
    Column("start_frame", "int32", "first annotated frame of the clip"),
    Column("end_frame", "int32", "the frame after its last"),
    Column("clip_id", "string", "the clip, in config `clips`"),
    Column("question", "string", "the question"),
)
CHOICES = (
    *ASKED,
    Column("options", "strings", "answers to choose from"),
    Column("answer_index", "int32", "which is right, from 0"),
    Column("explanation_options", "strings", "explanations to choose from"),
    Column("explanation_index", "int32", "which is right, from 0"),
    Column("sources", "records", "where each of `options` comes from", fields=SOURCE_FIELDS),
    Column("explanation_sources", "records", "where each of `explanation_options` comes from", fields=SOURCE_FIELDS),
)
MEANINGS: dict[Scheme, str] = {
    "ud": "questions divided uniformly at random",
    "ps": "questions divided by their place in the episode",
    "un": "questions divided by episodes: those of validation and test are unseen in train",
}
CONFUSED_CONFIG = Config(
    CONFUSED,
    "the test questions of the first division, wrong options replaced by negations and exchanges of the right one",
    (*CHOICES, Column("confusions", "records", "what became of each way to confuse", fields=CONFUSION_FIELDS)),
)
OPEN_CONFIG = Config(
    OPEN,
    "every question with its right answer and explanation; its splits are those of the first division",
    (
        *ASKED,
        Column("answer", "string", "the right answer"),
        Column("explanation", "string", "the right explanation"),
        *(Column(f"split_{scheme}", "string", f"its split in `{scheme}`; null if not built") for scheme in SCHEMES),
    ),
)
CLIPS_CONFIG = Config(
    CLIPS,
    "the clips that the questions are about, each once",
    (
        Column("clip_id", "string", "`<episode>_<start_frame>_<end_frame>`"),
        Column("episode", "string", "the video"),
        Column("start_frame", "int32", "first annotated frame"),
        Column("end_frame", "int32", "the frame after its last"),
        Column("first_frame", "int32", "the frame of the video file that the clip begins with"),
        Column("num_frames", "int32", "frames"),
        Column("fps", "float64", "frames divided by seconds"),
        Column("width", "int32", "pixels"),
        Column("height", "int32", "pixels"),
        Column("duration_s", "float64", "seconds"),
        Column("source_sha256", "string", "of the video file"),
        Column("sha256", "string", "of the file in `video`"),
        Column("video", "video", "MP4, H.264, yuv420p"),
    ),
)


@dataclass(frozen=True)
class CausalSettings:
    """What decides a build of CausalChaos besides its inputs.

    Attributes:
        seed: Seed of every draw.
        splits: Divisions to build.
        places: What PS goes by; see `causal_splits.by_place`.
        mining: How wrong options are chosen.
        pool: "split": wrong options come from right ones of the same split, and in validation and test never from one
            that is also right in train. "all": from everywhere, as in the release.
        rank_by: "own", or "explanation": answers are scored by their explanations' cosine, as in the release.
        keep_apart: Whether questions about the same moment lend each other nothing.
        apart_frames: Two clips show the same moment if fewer frames lie between them.
        confuse: How many wrong options a question of `causal_confusion` has replaced at most; 0: no such config.
        render: Whether clips are cut.
        audio: "drop" or "keep".
        crf: x264's constant rate factor.
        preset: x264's preset.
        only: The split that is written, or "all".
    """

    seed: int = 0
    splits: tuple[Scheme, ...] = SCHEMES
    places: Places = "frames"
    mining: MiningSettings = field(default_factory=MiningSettings)
    pool: Literal["split", "all"] = "split"
    rank_by: Literal["own", "explanation"] = "own"
    keep_apart: bool = True
    apart_frames: int = 50
    confuse: int = 2
    render: bool = True
    audio: str = "drop"
    crf: int = EncodeSettings.crf
    preset: str = EncodeSettings.preset
    only: str = "all"


def causal_configs(settings: CausalSettings) -> tuple[Config, ...]:
    """Give the tables of a build."""
    chosen = [
        Config(scheme, MEANINGS[scheme], CHOICES, default=scheme == settings.splits[0]) for scheme in settings.splits
    ]
    confused = settings.confuse and settings.only in ("test", "all")
    return (
        *chosen,
        *([CONFUSED_CONFIG] if confused else []),
        OPEN_CONFIG,
        *([CLIPS_CONFIG] if settings.render else []),
    )


def settings_of(info: Mapping[str, Any]) -> CausalSettings:
    """Read the settings of a finished build out of `build.json`."""
    given = info["settings"]
    return CausalSettings(**{**given, "splits": tuple(given["splits"]), "mining": MiningSettings(**given["mining"])})


@dataclass(frozen=True)
class Timing:
    """How annotated frames lie in the files of one's own copies.

    Attributes:
        offsets: By episode, frames to add to the annotated numbers.
        rates: By episode, frames per second that the annotators counted at; their frames are found by time then.
            Without, a frame number is the number of the frame in the file.
    """

    offsets: Mapping[str, int] = field(default_factory=dict)
    rates: Mapping[str, Fraction] = field(default_factory=dict)


def plan_causal(
    rows: Sequence[CausalRow],
    settings: CausalSettings,
    *,
    embed: Embed,
    confuser: Confuser | None = None,
    made: Made | None = None,
    timing: Timing | None = None,
    limit: int | None = None,
    identity: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan a build, before any video is touched: divide, mine, put in order, confuse, and look for leaks.

    Args:
        rows: The annotations, in the order of their file, which the tables keep.
        settings: See `CausalSettings`.
        embed: Gives the embeddings of texts, float32, each of length 1.
        confuser: Makes confusions; not needed if `settings.confuse` is 0.
        made: Confusions by the right option, made elsewhere (by a language model).
        timing: Where annotated frames are in the files.
        limit: Take only the first so many rows by id.
        identity: What else decides the content: dataset version, tool versions, hashes of inputs.
        notes: Counts from reading.

    Returns:
        The plan: a unit for each clip, and one for each table and split.

    Raises:
        InputError: A question has no wrong option at all, because its split is too small.
    """
    asked = list(first_by_id(rows, limit))
    drafts = Drafts(asked, settings, embed)
    found: dict[str, Any] = {"leaks": {}, "blind": {}, "wrong_options_right_in_train": {}, "right_options_in_train": {}}
    units: list[Unit] = []
    for scheme in settings.splits:
        choices = {target: drafts.choices(scheme, target) for target in TARGETS}
        found["leaks"][scheme] = {
            split: asdict(leak) for split, leak in leaks(asked, drafts.split_of[scheme]).items() if leak.rows
        }
        units += drafts.tables(scheme, scheme, choices)
        drafts.look(found, scheme, scheme, choices)
        if settings.confuse and confuser and scheme == settings.splits[0]:
            confused, outcomes = drafts.confused(scheme, choices, confuser, made or {})
            if any(confused.values()):
                units += drafts.tables(CONFUSED, scheme, confused, outcomes)
                drafts.look(found, CONFUSED, scheme, confused)
                found["confusion"] = tally(outcomes)
    units += drafts.open_ended()
    if settings.only != "all":
        units = [unit for unit in units if unit.split == settings.only]
    if settings.render and units:
        units += clip_units(asked, units, timing or Timing())
    return Plan(
        builder="causal",
        identity={**(identity or {}), "settings": asdict(settings), "limit": limit},
        units=tuple(sorted(units, key=lambda unit: unit.id)),
        configs=causal_configs(settings),
        noun="clip",
        notes={**(notes or {}), **drafts.counts, **found},
    )


class Drafts:
    """The rows of a build while they are planned."""

    def __init__(self, rows: Sequence[CausalRow], settings: CausalSettings, embed: Embed):
        """Divide the rows and embed their texts."""
        self.rows, self.settings, self._embed = rows, settings, embed
        self.by_id = {row.qid: row for row in rows}
        self.number = {row.qid: number for number, row in enumerate(rows)}
        self.split_of = {scheme: divide(scheme, rows, settings.seed, settings.places) for scheme in settings.splits}
        self.questions = embed([row.question for row in rows])
        self.texts = {target: embed([text_of(row, target) for row in rows]) for target in TARGETS}
        self.apart: Mapping[str, tuple[str, ...]] = overlaps(rows, settings.apart_frames) if settings.keep_apart else {}
        self.keys = {target: {row.qid: text_key(text_of(row, target)) for row in rows} for target in TARGETS}
        self.extra: dict[str, Floats] = {}
        self.counts = Counter[str]()
        self._mined: dict[tuple[str, Target], Sequence[Mined]] = {}

    def trained(self, scheme: Scheme, target: Target) -> frozenset[str]:
        """Give the folded right options of train."""
        split_of = self.split_of[scheme]
        return frozenset(key for qid, key in self.keys[target].items() if split_of[qid] == "train")

    def choices(self, scheme: Scheme, target: Target) -> dict[str, OptionSet]:
        """Mine the wrong options of every row and put them in order.

        Raises:
            InputError: A question has no wrong option at all.
        """
        one_pool = self.settings.pool == "all"
        split_of = self.split_of[scheme]
        key = ("" if one_pool else scheme, target)
        if key not in self._mined:
            trained = frozenset[str]() if one_pool else self.trained(scheme, target)
            items = [
                Item(
                    row.qid,
                    row.question,
                    text_of(row, target),
                    "" if one_pool else split_of[row.qid],
                    lends=split_of[row.qid] == "train" or self.keys[target][row.qid] not in trained,
                )
                for row in self.rows
            ]
            self._mined[key] = mine(
                items,
                self.questions,
                self.texts[target],
                self.settings.mining,
                seed=self.settings.seed,
                kept_apart=self.apart,
                ranked_by=self.texts["explanation"] if self.settings.rank_by == "explanation" else None,
            )
        mined = self._mined[key]
        bare = [one.id for one in mined if not one.negatives]
        if bare:
            raise InputError(
                f"{len(bare)} questions have no wrong option in their split of {scheme} (the first is {bare[0]}): it "
                f"has too few questions. Give more rows{', or --pool all' if self.settings.pool == 'split' else ''}."
            )
        need = self.settings.mining.num_options - 1
        self.counts[f"{target}s_with_fewer_options"] += sum(len(one.negatives) < need for one in mined)
        if self.settings.mining.negatives == "hard":
            wide = sum(one.looked_at > self.settings.mining.top_k for one in mined)
            self.counts[f"{target}s_that_needed_more_candidates"] += wide
        return {
            one.id: arrange(text_of(self.by_id[one.id], target), one.negatives, self.settings.seed, one.id, target)
            for one in mined
        }

    def confused(
        self, scheme: Scheme, choices: Mapping[Target, Mapping[str, OptionSet]], confuser: Confuser, made: Made
    ) -> tuple[dict[Target, dict[str, OptionSet]], dict[str, list[Row]]]:
        """Replace wrong options of the test by confusions.

        Returns:
            The options, and for each row what became of each way.
        """
        settings = self.settings
        tested = [row for row in self.rows if self.split_of[scheme][row.qid] == "test"]
        found: dict[Target, dict[str, OptionSet]] = {target: {} for target in TARGETS}
        outcomes: dict[str, list[Row]] = {row.qid: [] for row in tested}
        for target in TARGETS:
            for row in tested:
                right = text_of(row, target)
                choice, results = confuse_options(
                    right,
                    choices[target][row.qid],
                    confuser,
                    count=settings.confuse,
                    seed=settings.seed,
                    item_id=row.qid,
                    kind=target,
                    made=made.get(right),
                )
                found[target][row.qid] = choice
                kinds = [source.kind if source else RIGHT for source in choice.sources]
                for result in results:
                    note = result.ambiguous if isinstance(result, Confusion) else result.reason
                    if isinstance(result, Confusion) and result.kind not in kinds:
                        note = NOT_DRAWN
                    outcomes[row.qid].append(
                        {
                            "target": target,
                            "kind": result.kind,
                            "place": kinds.index(result.kind) if result.kind in kinds else None,
                            "text": result.text if isinstance(result, Confusion) else None,
                            "note": note,
                        }
                    )
            self._place(tested, target, found[target])
        return found, outcomes

    def _place(self, tested: Sequence[CausalRow], target: Target, choices: dict[str, OptionSet]) -> None:
        """Give confusions their cosine with the right option."""
        new = sorted({s.text for c in choices.values() for s in c.sources if s and self._is_new(s, target)})
        self.extra |= dict(zip(new, self._embed(new), strict=True)) if new else {}
        for row in tested:
            right = self.texts[target][self.number[row.qid]].astype(np.float64)
            choice = choices[row.qid]
            sources = tuple(
                replace(
                    source, cos_text=round(float(right @ self.extra[source.text].astype(np.float64)), COSINE_DIGITS)
                )
                if source and self._is_new(source, target)
                else source
                for source in choice.sources
            )
            choices[row.qid] = OptionSet(choice.options, choice.answer_index, tuple(sources))

    def _is_new(self, source: Negative, target: Target) -> bool:
        return source.text != text_of(self.by_id[source.id], target)

    def tables(
        self,
        config: str,
        scheme: Scheme,
        choices: Mapping[Target, Mapping[str, OptionSet]],
        outcomes: Mapping[str, list[Row]] | None = None,
    ) -> Iterator[Unit]:
        """Give a unit for each split of a table with choices."""
        rows: dict[str, list[Row]] = {}
        for row in self.rows:
            if row.qid not in choices["answer"]:
                continue
            answer, explanation = (choices[target][row.qid] for target in TARGETS)
            values = {
                **asked_of(row),
                "options": list(answer.options),
                "answer_index": answer.answer_index,
                "explanation_options": list(explanation.options),
                "explanation_index": explanation.answer_index,
                "sources": [source_row(row.qid, source) for source in answer.sources],
                "explanation_sources": [source_row(row.qid, source) for source in explanation.sources],
            }
            if outcomes is not None:
                values["confusions"] = outcomes[row.qid]
            rows.setdefault(self.split_of[scheme][row.qid], []).append(values)
        for split, members in rows.items():
            yield Unit(f".{config}.{split}", split, "", {"config": config, "rows": members}, tables=(config,))

    def open_ended(self) -> Iterator[Unit]:
        """Give a unit for each split of the open-ended table."""
        rows: dict[str, list[Row]] = {}
        for row in self.rows:
            places = {
                f"split_{scheme}": self.split_of[scheme][row.qid] if scheme in self.split_of else None
                for scheme in SCHEMES
            }
            values = {**asked_of(row), "answer": row.answer, "explanation": row.explanation, **places}
            rows.setdefault(self.split_of[self.settings.splits[0]][row.qid], []).append(values)
        for split, members in rows.items():
            yield Unit(f".{OPEN}.{split}", split, "", {"config": OPEN, "rows": members}, tables=(OPEN,))

    def look(
        self, found: dict[str, Any], config: str, scheme: Scheme, choices: Mapping[Target, Mapping[str, OptionSet]]
    ) -> None:
        """Count what blind guessers get right, and what training gives away of the options."""
        for target in TARGETS:
            trained = self.trained(scheme, target)
            for split in SPLITS:
                members = [q for q in choices[target] if self.split_of[scheme][q] == split]
                if not members:
                    continue
                blind = [self._asked(qid, target, choices[target][qid]) for qid in members]
                seen = trained if split != "train" else frozenset[str]()
                right = audit(blind, seen)
                if split == "train":
                    del right["seen_in_train"]
                if config != CONFUSED:
                    del right["twin"]
                chance = sum(1 / len(asked.texts) for asked in blind) / len(blind)
                place = found["blind"].setdefault(config, {}).setdefault(split, {})
                place[target] = {"questions": len(blind), "chance": round(chance, 6), "right": right}
                if split == "train":
                    continue
                wrong = [s.text for q in members for s in choices[target][q].sources if s]
                known = found["wrong_options_right_in_train"].setdefault(config, {}).setdefault(split, {})
                known[target] = list(known_share(wrong, trained))
                rights = [text_of(self.by_id[qid], target) for qid in members]
                known = found["right_options_in_train"].setdefault(config, {}).setdefault(split, {})
                known[target] = list(known_share(rights, trained))

    def _asked(self, qid: str, target: Target, choice: OptionSet) -> Asked:
        vectors = [
            self.texts[target][self.number[source.id if source else qid]]
            if source is None or not self._is_new(source, target)
            else self.extra[source.text]
            for source in choice.sources
        ]
        return Asked(
            self.by_id[qid].question,
            self.questions[self.number[qid]],
            choice.options,
            np.stack(vectors),
            choice.answer_index,
        )


def text_of(row: CausalRow, target: Target) -> str:
    """Give the right option."""
    return row.answer if target == "answer" else row.explanation


def clip_id(row: CausalRow) -> str:
    """Name the clip of a row."""
    return f"{row.episode}_{row.start_frame}_{row.end_frame}"


def causal_row(row: Row) -> CausalRow:
    """Give the annotation back that a row of `open_ended` was made from."""
    texts = (row["question"], row["answer"], row["explanation"])
    return CausalRow(row["qid"], row["episode"], row["start_frame"], row["end_frame"], *texts)


def asked_of(row: CausalRow) -> Row:
    """Give the columns `ASKED`."""
    return {
        "qid": row.qid,
        "episode": row.episode,
        "start_frame": row.start_frame,
        "end_frame": row.end_frame,
        "clip_id": clip_id(row),
        "question": row.question,
    }


def source_row(qid: str, source: Negative | None) -> Row:
    """Write where an option comes from."""
    if source is None:
        return {"qid": qid, "kind": RIGHT, "cos_question": 1.0, "cos_text": 1.0, "score": None}
    return {
        "qid": source.id,
        "kind": source.kind,
        "cos_question": source.cos_question,
        "cos_text": source.cos_text,
        "score": source.score if source.kind in ("hard", "random") else None,
    }


def tally(outcomes: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """Count what became of each way to confuse: placed, ambiguous ones among these, and why others were not."""
    counts: dict[str, Any] = {}
    for target in TARGETS:
        for results in outcomes.values():
            for result in results:
                if result["target"] != target:
                    continue
                kind = counts.setdefault(target, {}).setdefault(
                    result["kind"], {"placed": 0, "ambiguous": 0, "not_placed": {}}
                )
                if result["place"] is None:
                    kind["not_placed"][result["note"]] = kind["not_placed"].get(result["note"], 0) + 1
                else:
                    kind["placed"] += 1
                    kind["ambiguous"] += bool(result["note"])
    return counts


def clip_units(rows: Sequence[CausalRow], units: Sequence[Unit], timing: Timing) -> Iterator[Unit]:
    """Give a unit for each clip that some row is about."""
    wanted = {row["clip_id"] for unit in units for row in unit.payload["rows"]}
    for name, row in {clip_id(row): row for row in rows}.items():
        if name not in wanted:
            continue
        rate = timing.rates.get(row.episode)
        payload = {
            "start_frame": row.start_frame,
            "end_frame": row.end_frame,
            "offset": timing.offsets.get(row.episode, 0),
            "rate": str(rate) if rate else None,
        }
        yield Unit(name, CLIPS, row.episode, payload, float(row.end_frame - row.start_frame), (CLIPS,))


def clip_frames(index: FrameIndex, unit: Unit) -> range:
    """Find the frames of a clip in its video.

    Raises:
        VideoError: Some of them are before the video's first or after its last (`too_short`).
    """
    clip = unit.payload
    start, stop = (clip[edge] + clip["offset"] for edge in ("start_frame", "end_frame"))
    shown = f"{start} to {stop - 1}"
    if start >= 0 and clip["rate"]:
        rate = Fraction(clip["rate"])
        length = index.seconds(index.num_frames)
        shown = f"{float(start / rate):.2f} s to {float(stop / rate):.2f} s"
        late = Fraction(stop) / rate > length + 1 / rate
        start, stop = (index.first_at(Fraction(edge) / rate) for edge in (start, stop))
        stop = index.num_frames + 1 if late else stop
    if start < 0 or stop > index.num_frames or start >= stop:
        seconds = float(index.seconds(index.num_frames))
        raise VideoError(
            "too_short",
            f"{index.path.name}: it has {index.num_frames} frames ({seconds:.2f} s); clip {unit.id} is {shown}. Is "
            "this the copy that was annotated? See --offsets and --fps-map.",
        )
    return range(start, stop)


def clip_footage(plan: Plan) -> list[Footage]:
    """List the clips of a plan."""
    found = []
    for unit in plan.units:
        if unit.source_id:
            count = partial(_count, unit.cost, unit.payload["rate"])
            found.append(Footage(unit.source_id, count, partial(_find, unit)))
    return found


def _count(frames: float, rate: str | None, shape: Shape) -> float:
    return frames_in(frames / float(Fraction(rate)), shape) if rate else min(frames, shape.num_frames)


def _find(unit: Unit, index: FrameIndex) -> range:
    return clip_frames(index, unit)


@cache
def _source_hash(path: Path, stamp: str) -> str:
    return sha256_file(path)


@dataclass(frozen=True)
class CausalBuilder:
    """Cuts the clips and gives the rows of a plan.

    Attributes:
        settings: See `CausalSettings`.
        videos: Path of each episode's video, as text.
    """

    settings: CausalSettings
    videos: Mapping[str, str] = field(default_factory=dict)

    def renders(self, unit: Unit) -> bool:
        """Whether the unit is a clip."""
        return bool(unit.source_id)

    def missing(self, unit: Unit) -> Skip | None:
        """Look whether the episode is there and opens."""
        return missing_source(unit, self.videos)

    def stamp(self, unit: Unit) -> str:
        """Give the episode's size and time of change."""
        return source_stamp(unit, self.videos)

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Cut a clip; see `records.plan.Builder`."""
        path = Path(self.videos[unit.source_id])
        file = folder / CLIP_FILE

        def cut(index: FrameIndex) -> Facts:
            frames = clip_frames(index, unit)
            settings = EncodeSettings(self.settings.crf, self.settings.preset)
            (done,) = write_edits(index, [(frames,)], [file], settings, keep_sound=self.settings.audio == "keep")
            duration = done.ticks * index.time_base
            return {
                "first_frame": frames.start,
                "num_frames": done.num_frames,
                "fps": float(done.num_frames / duration),
                "width": done.width,
                "height": done.height,
                "duration_s": float(duration),
            }

        return with_index(path, cut) | {
            "source_sha256": _source_hash(path, file_stamp(path)),
            "sha256": sha256_file(file),
            "files": {CLIP_FILE: file.stat().st_size},
        }

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        """Give the rows of a table and split, or the one of a clip."""
        if not unit.source_id:
            yield from ((unit.payload["config"], row) for row in unit.payload["rows"])
            return
        row = {
            "clip_id": unit.id,
            "episode": unit.source_id,
            **{edge: unit.payload[edge] for edge in ("start_frame", "end_frame")},
            **{name: value for name, value in facts.items() if name != "files"},
            "video": CLIP_FILE,
        }
        yield CLIPS, row


def table_hashes() -> dict[str, str]:
    """Hash every word list that decides the content, for the identity of a build."""
    root = Path(__file__).parents[1]
    paths = [*(root / "language").glob("*.yaml"), *(root / "negatives" / "tables").glob("*.yaml")]
    return {path.name: sha256_text(path.read_text(encoding="utf-8")) for path in sorted(paths)}
