"""Lay out a gallery that shows each clip under every perturbation and severity, with its captions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...corruptions.registry import check_name, check_text_name
from ...data_cards.gallery.answers import RIGHT, WRONG, Answers
from ...data_cards.gallery.exhibits import Exhibit, ExhibitQuestion, Facet, Film, Gallery
from ...evaluation.metrics.items import ALL, read_columns
from ...evaluation.metrics.predictions import Predictions
from ...evaluation.metrics.robustness import Setting
from .scores import families, judged_answers, read_captions, suite_settings
from .selection import Pair
from .tables import CLEAN, caption_tables, visual_tables

COLUMNS = ("clip_id", "severity", "level", "sha256")
CLIP_COLUMNS = ("clip_id", "source_id", "captions", "num_frames", "fps", "start_s", "end_s", "sha256")
TEXT_COLUMNS = ("clip_id", "caption_id", "caption", "changed", "reason")
FACETS = (Facet("split", "Split"), Facet("source", "Source"))
ASKED_FACETS = (
    Facet("visual", "Visual", ("perturbation",)),
    Facet("severity", "Severity"),
    Facet("text", "Text", ("perturbation",)),
    Facet("family", "Family"),
)


def gallery(output: FinishedOutput, answers: Answers) -> Gallery:
    """Return a gallery with an exhibit for each clip; see `data_cards.gallery.exhibits`."""
    clips, splits = read_columns(output, CLEAN, CLIP_COLUMNS, ALL)
    rows = [dict(zip(clips, values, strict=True)) for values in zip(*clips.values(), strict=True)]

    def exhibits(positions: Collection[int]) -> Iterator[Exhibit]:
        names = {rows[position]["clip_id"] for position in positions}
        films: dict[str, dict[tuple[str, int], Row]] = {name: {} for name in names}
        captions: dict[str, dict[tuple[str, str], Row]] = {name: {} for name in names}
        for table in visual_tables(output.info):
            for row in output.whole(table, COLUMNS):
                if row["clip_id"] in names:
                    films[row["clip_id"]][table, row["severity"]] = row
        for table in caption_tables(output.info):
            for row in output.whole(table, TEXT_COLUMNS):
                if row["clip_id"] in names:
                    captions[row["clip_id"]][table, row["caption_id"]] = row
        verdicts = judged_settings(output, answers.predictions)
        for position in positions:
            clip = rows[position]
            name = clip["clip_id"]
            yield _exhibit(output, clip, splits[position], films[name], captions[name], verdicts.get(name, {}))

    return Gallery(len(rows), exhibits, "clip", FACETS, ASKED_FACETS)


def _exhibit(
    output: FinishedOutput,
    clip: Row,
    split: str,
    films: Mapping[tuple[str, int], Row],
    captions: Mapping[tuple[str, str], Row],
    verdicts: Mapping[Setting, str],
) -> Exhibit:
    info = output.info
    texts = caption_tables(info)
    visual = [name for name in visual_tables(info) if name != CLEAN]
    severities = sorted({severity for name, severity in films if name != CLEAN})
    clean = films[CLEAN, 0]["sha256"]
    pairs = [Pair.read(pair) for pair in info["settings"].get("pairs") or ()]
    return Exhibit(
        clip["clip_id"],
        clip["captions"][0] if clip["captions"] else clip["clip_id"],
        {"split": [split], "source": [clip["source_id"]]},
        "grid",
        {
            "clean": {"film": clean, "verdict": verdicts.get(Setting(), "")},
            "severities": severities,
            "rows": [
                {
                    "name": name,
                    "family": check_name(name).family,
                    "unit": check_name(name).unit,
                    "cells": [
                        {
                            "severity": severity,
                            "level": films[name, severity]["level"],
                            "film": films[name, severity]["sha256"],
                            "verdict": verdicts.get(Setting(name, severity), ""),
                        }
                        for severity in severities
                        if (name, severity) in films
                    ],
                }
                for name in visual
            ],
            "texts": [
                {
                    "name": name,
                    "family": check_text_name(name).family,
                    "does": check_text_name(name).does,
                    "verdict": verdicts.get(Setting(text=name), ""),
                }
                for name in texts
            ],
            "captions": [_caption(clip, number, texts, captions) for number in range(len(clip["captions"]))],
            "pairs": _pairs(info, pairs, verdicts),
            "facts": [
                ["Clip", clip["clip_id"]],
                ["Source", clip["source_id"]],
                ["Split", split],
                *([["Frames", f"{clip['num_frames']} at {clip['fps']:.3f} a second"]] if clip["num_frames"] else []),
                *([["Cut", f"{clip['start_s']:g} s to {clip['end_s']:g} s"]] if clip["start_s"] is not None else []),
            ],
        },
        [Film(table, row["sha256"]) for (table, _), row in films.items() if row["sha256"]],
        [
            *(ExhibitQuestion(text) for text in clip["captions"]),
            *(ExhibitQuestion("", _asked_facets(setting), verdict) for setting, verdict in verdicts.items()),
        ],
    )


def _caption(clip: Row, number: int, texts: Sequence[str], captions: Mapping[tuple[str, str], Row]) -> dict[str, Any]:
    name = f"{clip['clip_id']}#{number}"
    rows = [captions.get((text, name), {"changed": False, "reason": None}) for text in texts]
    changes = [{"text": row["caption"] if row["changed"] else None, "reason": row["reason"]} for row in rows]
    return {"id": name, "text": clip["captions"][number], "changes": changes}


def _pairs(info: Mapping[str, Any], pairs: Sequence[Pair], verdicts: Mapping[Setting, str]) -> dict[str, Any] | None:
    if not pairs:
        return None
    settings = {(setting.visual, setting.text): setting for setting in suite_settings(info)}
    return {
        "visual": list(dict.fromkeys(pair.visual for pair in pairs)),
        "text": list(dict.fromkeys(pair.text for pair in pairs)),
        "severity": next(s.severity for s in settings.values() if s.visual and s.text),
        "cells": [
            {"visual": pair.visual, "text": pair.text, "verdict": verdicts.get(settings[pair.visual, pair.text], "")}
            for pair in pairs
        ],
    }


def _asked_facets(setting: Setting) -> dict[str, str]:
    family_of = families([setting])
    return {
        "visual": setting.visual or CLEAN,
        "severity": str(setting.severity) if setting.visual else "0",
        "text": setting.text or CLEAN,
        "family": family_of.get(setting.visual) or family_of.get(setting.text) or CLEAN,
    }


def judged_settings(output: FinishedOutput, predictions: Predictions | None) -> dict[str, dict[Setting, str]]:
    """Return whether the answers about each clip are right, by setting. One wrong answer makes a clip wrong."""
    if predictions is None:
        return {}
    known = {setting.name: setting for setting in suite_settings(output.info)}
    captions = read_captions(output, ALL)
    clips = set(captions.clips)
    verdicts: dict[str, dict[Setting, str]] = {}
    for answer in judged_answers(output, predictions, captions, ALL):
        setting = known.get(answer.setting)
        if setting is None or answer.clip not in clips or answer.answer is None:
            continue
        if verdicts.setdefault(answer.clip, {}).get(setting) != WRONG:
            verdicts[answer.clip][setting] = RIGHT if answer.correct else WRONG
    return verdicts
