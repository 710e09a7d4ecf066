"""Define a custom benchmark that asks whether a clip is played backwards. Every clip occurs in both directions.

pip install ./examples/own_benchmark
stressreel build backwards --captions sample --out out/backwards
stressreel verify out/backwards
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from stressreel.annotations.captions import CAPTIONS, read_captions
from stressreel.annotations.msrvtt import SAMPLE, read_msrvtt
from stressreel.annotations.samples import cached_sample
from stressreel.builders.base import Benchmark, Info, Prepared
from stressreel.builders.runtime.source_videos import SourceVideos
from stressreel.core.build_settings import BuildSettings, content
from stressreel.core.files import sha256_file
from stressreel.core.output import FinishedOutput
from stressreel.core.plan import Facts, Plan, Unit
from stressreel.core.schema import Column, Config, Public, Row
from stressreel.core.settings import Input, OptionalPath, parsed, to_name
from stressreel.core.version import tool_versions
from stressreel.evaluation.metrics.answers import YES_NO
from stressreel.evaluation.metrics.items import Items, items_of, read_columns
from stressreel.video.decode import with_index
from stressreel.video.edit import write_edits
from stressreel.video.encode import EncodeSettings
from stressreel.video.index import FrameIndex
from stressreel.video.source_files import find_videos

QUESTION = "Is this video played backwards?"
WAYS = ("forwards", "backwards")
QUESTIONS = Config(
    "questions",
    "one question for every video",
    (
        Column("question_id", "string", "the question"),
        Column("video_id", "string", "the video, in config `videos`"),
        Column("source_id", "string", "the clip that it was made from"),
        Column("question", "string", "the question"),
        Column("answer", "label", "`no` or `yes`", YES_NO),
    ),
    default=True,
)
VIDEOS = Config(
    "videos",
    "every clip both ways",
    (
        Column("video_id", "string", "`<clip>_forwards` or `<clip>_backwards`"),
        Column("source_id", "string", "the clip"),
        Column("sha256", "string", "of the file in `video`"),
        Column("video", "video", "MP4, H.264"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class BackwardsSettings(BuildSettings):
    """The options of `stressreel build backwards`.

    Attributes:
        captions: CSV or JSON Lines file with captioned clips, or `sample`.
        videos: Folder with the videos, if different from the folder with the captions.
    """

    captions: Annotated[str | Path, parsed(to_name), Input()]
    videos: Annotated[OptionalPath, Input(private=True)] = None


@dataclass(frozen=True)
class BackwardsBuilder(SourceVideos):
    """Renders clips forwards and backwards. `videos` maps source ids to paths."""

    videos: Mapping[str, str]

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Write the clip forwards and backwards from the same decoded frames."""
        files = [folder / f"{way}.mp4" for way in WAYS]

        def write(index: FrameIndex) -> None:
            single = [range(number, number + 1) for number in range(index.num_frames)]
            write_edits(index, [(range(index.num_frames),), tuple(single[::-1])], files, EncodeSettings())

        with_index(self.source(unit), write)
        return {"files": {file.name: file.stat().st_size for file in files}, "sha256": [*map(sha256_file, files)]}

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        """Yield the rows of both videos, and a question about each of them."""
        for number, way in enumerate(WAYS):
            video = {"video_id": f"{unit.id}_{way}", "source_id": unit.source_id}
            asked = {"question_id": f"{unit.id}_{way}_0", "question": QUESTION, "answer": YES_NO[number]}
            yield QUESTIONS.name, video | asked
            yield VIDEOS.name, video | {"sha256": facts["sha256"][number], "video": f"{way}.mp4"}


PUBLIC = {  # columns published by `stressreel withhold`; ids shared by two questions would reveal the answers
    QUESTIONS.name: Public(("question_id", "video_id", "question"), ids=("question_id", "video_id")),
    VIDEOS.name: Public(("video_id", "sha256", "video"), ids=("video_id",)),
}


class Backwards(Benchmark):
    """Asks of captioned clips, shown forwards and backwards, which way they are played."""

    name = "backwards"
    summary = "Is the clip played backwards?"
    description = "Ask of captioned clips, shown forwards and backwards, which way they are played."
    settings = BackwardsSettings
    sample = MappingProxyType({"captions": "sample"})
    drawn_sample = "msrvtt"

    def prepare(self, settings: BackwardsSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
        """Load the clips and plan one unit for each."""
        drawn = settings.captions == "sample"
        folder = cached_sample("msrvtt") if drawn else Path(settings.captions).parent
        clips = read_msrvtt(folder) if drawn else read_captions(Path(settings.captions))
        chosen = [clip for clip in clips.clips if settings.split in ("all", clip.split) and clip.start_s is None]
        units = sorted((Unit(clip.id, clip.split, clip.source_id, {}) for clip in chosen), key=lambda unit: unit.id)
        identity = {
            "dataset_version": settings.version,
            "settings": content(settings),
            "limit": settings.limit,
            "tools": tool_versions(render=True),
            "inputs": clips.hashes,
            "source": (SAMPLE if drawn else CAPTIONS).as_json(),
        }
        plan = Plan(
            "backwards", identity, tuple(units[: settings.limit]), (QUESTIONS, VIDEOS), noun="clip", names=clips.names
        )
        places = [Path(settings.videos or folder)]
        found = find_videos(places, plan.sources, clips.subfolders)
        builder = BackwardsBuilder(videos={name: str(path) for name, path in found.items()})
        return Prepared(plan, builder, settings, found, places, clips.subfolders)

    def configs(self, info: Info) -> tuple[Config, ...]:
        """Return the tables of an output."""
        return QUESTIONS, VIDEOS

    def question_tables(self, info: Info) -> list[str]:
        """Return the table of questions."""
        return [QUESTIONS.name]

    def items(self, output: FinishedOutput, table: str, split: str) -> Items:
        """Return the questions with their correct answers."""
        rows, _ = read_columns(output, table, [column.name for column in QUESTIONS.columns], split)
        return items_of(
            output, table, split, id_column="question_id", ids=rows["question_id"], sources=rows["source_id"],
            videos=rows["video_id"], texts=rows["question"],
            options=[YES_NO] * len(rows["answer"]), truth=rows["answer"],
        )  # fmt: skip

    def public(self, info: Info) -> dict[str, Public]:
        """Return the columns that stay visible where answers are withheld."""
        return PUBLIC
