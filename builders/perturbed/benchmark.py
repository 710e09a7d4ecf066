"""Define MSRVTT-P and YouCook2-P as benchmarks."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...annotations.captions import CaptionedClip
from ...core.errors import InputError
from ...core.extras import listed, package, workbook
from ...core.output import FinishedOutput, NotChecked, NotRun
from ...core.schema import Row
from ...corruptions.registry import check_name, check_text_name
from ...corruptions.text.tools import Tools
from ...evaluation.blind.blind_questions import BlindQuestion
from ...evaluation.metrics.items import Items, items_of, read_columns
from ...evaluation.metrics.robustness import Setting
from ...evaluation.metrics.scores import BenchmarkScoring
from ...evaluation.tasks import one_split
from ...language.parse import parser_requirements
from ...video.encode import ffmpeg_requirements
from ...video.index import MOST_FRAMES
from ..base import Benchmark
from ..runtime.table_checks import Derivation, Derived
from ..runtime.video_checks import ShownFrames
from .caption_choices import caption_choices, caption_tasks, right_places
from .captions import MODELS, is_text, perturb_texts, text_tools
from .card import PerturbedCard
from .gallery import gallery
from .load import RecipeClips
from .prepare import check_together, decided, plan_perturbed, prepare
from .render import PLACE, PerturbedBuilder, index_map_of
from .score_figures import robustness_figures
from .scores import measure_of, read_captions, score_retrieval, score_suite_answers
from .selection import tools_named
from .settings import PerturbedSettings, settings_of
from .tables import CLEAN, caption_tables, public, suite_configs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ...core.extras import Requirement
    from ...core.plan import Facts
    from ...core.schema import Config, Public
    from ...data_cards.gallery.answers import Answers
    from ...data_cards.gallery.exhibits import Gallery
    from ...evaluation.models.question_set import Question
    from ...evaluation.tasks import Task
    from ..base import Info, Prepared

CLIP = ("clip_id", "source_id", "start_s", "end_s", "captions")
DRAWN = ("caption", "changed", "reason")  # columns that depend on a parser or a model
OF_FILE = ("sha256", "changed", "video")


class Perturbed(Benchmark):
    """MSRVTT-P, YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 combinations."""

    name = "perturbed"
    summary = "MSRVTT-P, YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 combinations."
    settings = PerturbedSettings
    sample = MappingProxyType({"msrvtt": "sample"})
    drawn_sample = "msrvtt"
    result_table = "gaussian_noise"

    def prepare(self, settings: PerturbedSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
        """Load the annotations and plan the build."""
        return prepare(settings, dry_run=dry_run, progress=progress)

    def configs(self, info: Info) -> Sequence[Config]:
        """Return the tables of an output."""
        return suite_configs(settings_of(info))

    def question_tables(self, info: Info) -> Sequence[str]:
        """Return the first table, which holds the clips."""
        return [next(iter(info["counts"]))]

    def items(self, output: FinishedOutput, table: str, split: str) -> Items:
        """Return the clips of a split and their captions as items."""
        rows, _ = read_columns(output, table, ("clip_id", "source_id", "captions"), split)
        return items_of(
            output,
            table,
            split,
            id_column="clip_id",
            ids=rows["clip_id"],
            sources=rows["source_id"],
            videos=rows["clip_id"],
            texts=["\n".join(captions) for captions in rows["captions"]],
            options=[()] * len(rows["clip_id"]),
            truth=[-1] * len(rows["clip_id"]),
        )

    def decide(self, settings: PerturbedSettings) -> PerturbedSettings:
        """Expand names and families to perturbations."""
        return decided(settings)

    def requirements(self, settings: PerturbedSettings) -> list[Requirement]:
        """Return what the settings need: for videos OpenCV and FFmpeg's program, and for captions tools and models."""
        check_together(settings)
        settings = decided(settings)
        needs = workbook(settings.captions)
        if settings.shows:
            needs.append(package("cv2", "perturbing videos"))
        if settings.render and (coded := [name for name in settings.perturbations if check_name(name).scope == "file"]):
            needs += ffmpeg_requirements(listed(coded))
        if settings.worded:
            names = map(check_text_name, settings.text_perturbations)
            needs += parser_requirements("perturbing captions")  # its name is recorded in any case
            needs += tools_named(settings).requirements([*names], settings.text_mode)
        return needs

    def public(self, info: Info) -> Mapping[str, Public]:
        """Return the columns that stay visible where answers are withheld."""
        return public(info)

    def derived(self, output: FinishedOutput) -> Iterator[Derivation]:
        """Plan the suite again from its clean clips, perturb the captions again, and yield the expected rows."""
        settings, info = settings_of(output.info), output.info
        clips, places, lengths = dict[str, CaptionedClip](), dict[str, Row](), dict[str, int]()
        for split in output.splits(CLEAN):
            for row in output.rows(CLEAN, [*CLIP, *PLACE], split):
                name, source, start, end, captions = (row[column] for column in CLIP)
                clip = CaptionedClip(name, source, start, end, captions, split)
                clips[clip.id], places[clip.id] = clip, {name: row[name] for name in PLACE}
                if settings.render:
                    last, length = row["first_frame"] + row["num_frames"], row["source_frames"]
                    whole = settings.clip_first or clip.start_s is None
                    known = length if settings.clip_first else lengths.setdefault(clip.source_id, length)
                    shorter = whole and row["num_frames"] < length
                    if row["first_frame"] < 0 or last > length or length != known or shorter:
                        part = f"frames {row['first_frame']} to {last}"
                        yield f"{CLEAN}: {clip.id}: {part} are not a valid part of {known}"
        skipped = {skip["unit_id"] for skip in info["skips"]["list"] if skip.get("scope") != "part"}
        tools = Tools()
        lacks = partial(lacking_tools, tools, recorded=info["tools"], mode=settings.text_mode)
        reasons = {name: lacks(name) for name in settings.text_perturbations}
        lacking = {name: reason for name, reason in reasons.items() if reason}
        for name in lacking:
            yield lacking[name]
            for row in output.rows(name, ["caption_id", "caption", "original", "changed", "reason"]):
                if not row["changed"] == (row["caption"] != row["original"]) == (not row["reason"]):
                    yield f"{name}: {row['caption_id']}: changed and reason are not those of {row['caption']!r}"
        yield from wrong_changes(output, settings)
        builder = PerturbedBuilder(settings)
        for unit in plan_perturbed(list(clips.values()), settings).units:
            facts: Facts = {}
            left_out: tuple[str, ...] = ()
            if is_text(unit) and unit.payload["text"] in lacking:
                facts, left_out = {"texts": [(None, None)] * len(unit.payload["captions"])}, DRAWN
            elif is_text(unit):
                facts = perturb_texts(unit, settings, tools)
            elif settings.render:
                cut = {name: places[name] for clip in unit.payload["clips"] if (name := clip["clip_id"]) in places}
                facts, left_out = {"clips": cut, "sha256": defaultdict(str)}, OF_FILE
            for table, row in builder.rows(unit, facts) if unit.id not in skipped else ():
                yield Derived(table, unit.split, {name: value for name, value in row.items() if name not in left_out})

    def shown(self, output: FinishedOutput) -> Iterator[ShownFrames]:
        """Yield the order in which temporal perturbations show the clean frames, for clips that are entire videos."""
        settings = settings_of(output.info)
        for table in settings.perturbations if settings.render else ():
            for split in output.splits(table) if check_name(table).scope == "index" else ():
                for row in output.rows(table, ["clip_id", "severity", "source_id", *PLACE], split):
                    if 0 < row["num_frames"] == row["source_frames"] <= MOST_FRAMES:
                        here, clean = (row["clip_id"], row["severity"]), (row["clip_id"], 0)
                        order = index_map_of(table, row["severity"], row, settings)
                        yield ShownFrames(table, split, here, clean, order, CLEAN, timed=False)

    def choices(self, output: FinishedOutput, table: str, split: str) -> list[BlindQuestion]:
        """Return the caption choices of a split in the clean setting."""
        captions = read_captions(output, split)
        sources = dict(zip(captions.clips, captions.sources, strict=True))
        clean = caption_choices(captions, {"": captions.texts})
        return [
            BlindQuestion(
                name,
                "",
                tuple(captions.texts[number] for number in choice.offered("", place)),
                place,
                sources[name],
                part="caption",
            )
            for (name, choice), place in zip(clean.items(), right_places(Setting(), len(clean)), strict=True)
        ]

    def tasks(self, output: FinishedOutput, split: str | None) -> list[Task]:
        """Return the tasks of choosing a clip's caption in every setting, which is the generative form of retrieval."""
        return list(caption_tasks(output, one_split(output, CLEAN, split)))

    def clips(self, output: FinishedOutput, questions: Sequence[Question], folder: Path) -> RecipeClips:
        """Generate the frames of perturbed clips from their sources."""
        return RecipeClips(output, questions, folder)

    def scoring(self) -> BenchmarkScoring:
        """Return how retrieval is scored: recall and robustness."""
        return BenchmarkScoring(
            answers=score_suite_answers, measure=measure_of, similarity=score_retrieval, figures=robustness_figures
        )

    def captions(self, info: Info) -> Sequence[str]:
        """Return the names of the tables with perturbed captions."""
        return caption_tables(info)

    def card(self) -> PerturbedCard:
        """Return the text and statistics of the dataset card."""
        return PerturbedCard()

    def gallery(self, output: FinishedOutput, answers: Answers) -> Gallery:
        """Return a page for each clip."""
        return gallery(output, answers)


def wrong_changes(output: FinishedOutput, settings: PerturbedSettings) -> Iterator[str]:
    """Yield the videos whose `changed` contradicts the hashes of the perturbed and of the clean clip."""
    tables = (CLEAN, *settings.perturbations) if settings.render else ()
    columns = ["clip_id", "severity", "sha256", "changed"]
    clean = {row["clip_id"]: row["sha256"] for row in output.rows(CLEAN, columns)} if tables else {}
    for table in tables:
        for row in output.rows(table, columns):
            changed = row["sha256"] != clean[row["clip_id"]] if row["clip_id"] in clean else None
            if row["changed"] is not changed:
                title = f"{table}: {row['clip_id']}, {row['severity']}"
                yield f"{title}: changed is {row['changed']}, but by their hashes, the videos are otherwise"


def lacking_tools(tools: Tools, name: str, recorded: Mapping[str, str], mode: str) -> NotRun | NotChecked | None:
    """Return which tools of a perturbation are missing or differ from those of the build, or None if none."""
    corruption = check_text_name(name)
    if {*MODELS} & {*corruption.needs}:  # verification must not download a model
        return NotRun(f"{name} needs a language model, which is not run again")
    try:
        here = text_tools(tools, [corruption], mode)
    except InputError as error:
        return NotRun(f"{name}: {error}")
    different = [tool for tool, version in here.items() if recorded.get(tool) != version]
    if not different:
        return None
    return NotChecked(f"{name}: another {', '.join(different)} than when it was built", "tools")
