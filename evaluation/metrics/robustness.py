"""Measure how robust a model is to perturbations.

Schiappa et al. 2022, "Robustness Analysis of Video-Language Models Against Visual and Language Perturbations" (arXiv
2207.02159), section 5.2, define absolute robustness γa = 1 − (R_clean − R_pert) and relative robustness γr = 1 −
(R_clean − R_pert) / R_clean, with R from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...core.results import Cell, Estimate, Table
from .bootstrap import Floats, Means, Tally

CLEAN = "clean"


@dataclass(frozen=True, order=True)
class Setting:
    """A visual perturbation with a severity, a text perturbation, both, or neither.

    Attributes:
        visual: Name of the visual perturbation, or "".
        severity: Severity from 1 to 5, or 0 without a visual perturbation.
        text: Name of the text perturbation, or "".
    """

    visual: str = ""
    severity: int = 0
    text: str = ""

    @property
    def name(self) -> str:
        """Name in files and cells, such as `clean`, `jpeg-3`, `no_verbs` or `jpeg-3+no_verbs`."""
        visual = f"{self.visual}-{self.severity}" if self.visual else ""
        return "+".join(filter(None, (visual, self.text))) or CLEAN

    @property
    def modality(self) -> str:
        """Which modality is perturbed: "clean", "video", "text" or "multimodal"."""
        if self.visual and self.text:
            return "multimodal"
        return "video" if self.visual else "text" if self.text else "clean"


def gamma_absolute(clean: Floats, perturbed: Floats) -> Floats:
    """Return the absolute robustness γa."""
    return 1 - (clean - perturbed)


def gamma_relative(clean: Floats, perturbed: Floats) -> Floats:
    """Return the relative robustness γr, or NaN if the clean score is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(clean > 0, 1 - (clean - perturbed) / clean, np.nan)


def cell(setting: Setting, score: str) -> str:
    """Return the name of the cell that holds a score in a setting."""
    return f"{setting.name} {score}"


@dataclass(frozen=True)
class Suite:
    """The settings and scores that are measured.

    Attributes:
        settings: The settings, clean first.
        kinds: Kind of each text perturbation, which is natural, machine or synthetic (Table 16).
    """

    settings: tuple[Setting, ...]
    scores: tuple[str, ...]
    families: Mapping[str, str]
    kinds: Mapping[str, str] = field(default_factory=dict)

    def groups(self) -> dict[tuple[str, str], dict[str, list[Setting]]]:
        """Group settings by (modality, family) and by perturbation. All multimodal settings form one family."""
        families: dict[tuple[str, str], dict[str, list[Setting]]] = {}
        for setting in self.settings:
            if setting.modality == "clean":
                continue
            name = setting.visual or setting.text
            both = setting.modality == "multimodal"
            family = PAIRS if both else self.families[name]
            members = families.setdefault((setting.modality, family), {})
            members.setdefault(setting.name if both else name, []).append(setting)
        return families

    def by_kind(self) -> dict[str, list[Setting]]:
        """Group text settings by kind, and add a group of all kinds that are not synthetic (Table 4)."""
        kinds: dict[str, list[Setting]] = {}
        for setting in self.settings:
            if setting.modality == "text" and setting.text in self.kinds:
                kinds.setdefault(self.kinds[setting.text], []).append(setting)
        rest = [setting for kind, settings in kinds.items() if kind != SYNTHETIC for setting in settings]
        return kinds | ({NOT_SYNTHETIC: rest} if rest and SYNTHETIC in kinds else {})

    def wholes(self) -> dict[str, list[list[Setting]]]:
        """Return the settings to average, by modality, family or kind, and then by perturbation."""
        groups = self.groups()
        result: dict[str, list[list[Setting]]] = {}
        for (modality, family), members in groups.items():
            if family != EXTRA:
                result.setdefault(modality, []).extend(members.values())
        for (modality, family), members in groups.items():
            if family != PAIRS:
                result[f"{modality}, {family}"] = list(members.values())
        for kind, settings in self.by_kind().items():
            result[f"text, {kind}"] = [[setting] for setting in settings]
        return result


SYNTHETIC, NOT_SYNTHETIC = "synthetic", "not synthetic"
GAMMAS = {"γa": gamma_absolute, "γr": gamma_relative}
PAIRS = "pairs"
EXTRA = "extra"  # the family of perturbations that are not the paper's, and not part of the means by modality
CHANGED = ("captions changed", "videos changed")  # columns with the share that differs from the unperturbed ones


def measure(suite: Suite, means: Means) -> dict[str, Floats]:
    """Compute each score without perturbations, and its robustness by modality, family and, for text, kind.

    Robustness is averaged first over severities and then over perturbations.
    """
    result: dict[str, Floats] = {}
    wholes = suite.wholes()
    for score in suite.scores:
        clean = means[cell(Setting(), score)]
        result[f"{score} clean"] = clean
        for kind, gamma in GAMMAS.items():
            for name, members in wholes.items():
                of_each = [
                    np.mean([gamma(clean, means[cell(setting, score)]) for setting in settings], axis=0)
                    for settings in members
                ]
                result[f"{score} {kind} {name}"] = np.mean(of_each, axis=0)
    return result


def headline(scored: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Return the scores without perturbations, and the robustness by modality."""
    return {name: value for name, value in scored.items() if ", " not in name}


def _gammas(means: Mapping[str, float], score: str, settings: Sequence[Setting], kind: str) -> list[float]:
    perturbed = np.array([means[cell(setting, score)] for setting in settings])
    return [float(x) for x in GAMMAS[kind](np.full(len(perturbed), means[cell(Setting(), score)]), perturbed)]


def _mean(shares: Iterable[float | None]) -> float | None:
    """Return the mean of the shares that are known, or None if there are none."""
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if known else None


def tables(
    suite: Suite,
    counted: Tally,
    scored: Mapping[str, Estimate],
    changed: Mapping[str, float] | None = None,
    changed_videos: Mapping[tuple[str, int], float] | None = None,
) -> tuple[Table, ...]:
    """Return tables of robustness by family, by perturbation and by kind of text perturbation, and one of all settings.

    `changed` is the share of captions that each text perturbation changed, and `changed_videos` the share of videos by
    visual perturbation and severity, if known.
    """
    changed, changed_videos = changed or {}, changed_videos or {}
    means = counted.whole()
    groups = suite.groups()
    families: list[tuple[Cell, ...]] = []
    kinds: list[tuple[Cell, ...]] = []
    single: list[tuple[Cell, ...]] = []
    every: list[tuple[Cell, ...]] = []
    for score in suite.scores:
        wholes: dict[tuple[str, str], list[Setting]] = {}
        for (modality, family), members in groups.items():
            for name, settings in members.items():
                wholes.setdefault((modality, family), []).extend(settings)
                gammas = [_gammas(means, score, settings, kind) for kind in GAMMAS]
                moments = (float(x) for values in gammas for x in (np.mean(values), np.std(values)))
                shares = (
                    changed.get(settings[0].text),
                    _mean(changed_videos.get((s.visual, s.severity)) for s in settings),
                )
                single.append((score, modality, family, name, *moments, len(settings), *shares))
        for modality in dict.fromkeys(modality for modality, _ in groups):
            of_it = [
                setting
                for setting in suite.settings
                if setting.modality == modality and suite.families.get(setting.visual) != EXTRA
            ]
            if of_it:
                wholes.setdefault((modality, PAIRS if modality == "multimodal" else "all"), of_it)

        def row(key: str, settings: Sequence[Setting], score: str = score) -> list[Cell]:
            both = (
                (scored[f"{score} {kind} {key}"], float(np.std(_gammas(means, score, settings, kind))))
                for kind in GAMMAS
            )
            return [*(x for pair in both for x in pair), len(settings)]

        for (modality, family), settings in wholes.items():
            key = modality if family in (PAIRS, "all") else f"{modality}, {family}"
            families.append((score, modality, family, *row(key, settings)))
        for group, settings in suite.by_kind().items():
            kinds.append((score, group, *row(f"text, {group}", settings)))
        for setting in suite.settings:
            of_setting = (_gammas(means, score, [setting], kind)[0] for kind in GAMMAS)
            value = means[cell(setting, score)]
            shares = (changed.get(setting.text), changed_videos.get((setting.visual, setting.severity)))
            every.append((score, setting.visual, setting.severity, setting.text, value, *of_setting, *shares))
    heads = ("γa", "γa std", "γr", "γr std", "settings")
    by_kind = Table(
        "kinds",
        "Robustness by kind of text perturbation (the paper's Table 16)",
        ("score", "kind", *heads),
        tuple(kinds),
        "Kinds as in the released list of perturbations, where synthetic ones drop, move or swap words, including the "
        "two synonym swaps. Those that are not synthetic are the text of the paper's Table 4.",
    )
    return (
        Table(
            "families",
            "Robustness by family",
            ("score", "modality", "family", *heads),
            tuple(families),
            "Mean over severities, then over perturbations; std over all settings, divided by their number.",
        ),
        Table(
            "perturbations",
            "Robustness by perturbation",
            ("score", "modality", "family", "perturbation", *heads, *CHANGED),
            tuple(single),
            "Mean and std over severities. Captions and videos that a perturbation does not change keep their clean "
            "scores.",
        ),
        Table(
            "settings",
            "Every setting",
            ("score", "visual", "severity", "text", "value", "γa", "γr", *CHANGED),
            tuple(every),
        ),
        *([by_kind] if kinds else []),
    )
