"""Verify a suite by deriving its rows from its clean clips and their captions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial

from ...annotations.captions import CaptionedClip
from ...core.errors import InputError
from ...core.output import FinishedOutput, NotChecked, NotRun
from ...core.plan import Facts
from ...core.schema import Row
from ...corruptions.registry import check_name, check_text_name
from ...corruptions.text.tools import Tools
from ...video.index import MOST_FRAMES
from ..runtime.table_checks import Derivation, Derived
from ..runtime.video_checks import ShownFrames
from .captions import MODELS, is_text, perturb_texts, text_tools
from .prepare import plan_perturbed
from .render import PLACE, PerturbedBuilder, index_map_of
from .settings import PerturbedSettings, settings_of
from .tables import CLEAN

CLIP = ("clip_id", "source_id", "start_s", "end_s", "captions")
DRAWN = ("caption", "changed", "reason")  # columns that depend on a parser or a model
OF_FILE = ("sha256", "changed", "video")


def derived(output: FinishedOutput) -> Iterator[Derivation]:
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
                if row["first_frame"] < 0 or last > length or length != known or (whole and row["num_frames"] < length):
                    yield f"{CLEAN}: {clip.id}: frames {row['first_frame']} to {last} are not a valid part of {known}"
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


def shown(output: FinishedOutput) -> Iterator[ShownFrames]:
    """Yield the order in which temporal perturbations show the clean frames, for clips that are entire videos."""
    settings = settings_of(output.info)
    for table in settings.perturbations if settings.render else ():
        for split in output.splits(table) if check_name(table).scope == "index" else ():
            for row in output.rows(table, ["clip_id", "severity", "source_id", *PLACE], split):
                if 0 < row["num_frames"] == row["source_frames"] <= MOST_FRAMES:
                    here, clean = (row["clip_id"], row["severity"]), (row["clip_id"], 0)
                    order = index_map_of(table, row["severity"], row, settings)
                    yield ShownFrames(table, split, here, clean, order, CLEAN, timed=False)
