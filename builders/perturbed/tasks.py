"""A suite as tasks: which caption describes the clip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...core.output import FinishedOutput
from ...evaluation.metrics.robustness import CLEAN, Setting
from ...evaluation.tasks import Doc, Task, lost_rows, one_split, row_keys
from .choices import NUM_CAPTIONS, CaptionChoice, caption_choices
from .scores import Captions, caption_texts, read_captions, suite_settings

PAIRS = "pairs"


def tasks(output: FinishedOutput, split: str | None) -> list[Task]:
    """Ask under every setting which caption describes the clip."""
    return list(caption_tasks(output, one_split(output, CLEAN, split)))


def caption_tasks(output: FinishedOutput, split: str) -> Iterator[Task]:
    """Ask under every setting which caption describes the clip: the generative form of retrieval."""
    captions = read_captions(output, split)
    groups: dict[str, list[Setting]] = {}
    for setting in suite_settings(output.info):
        pair = setting.visual and setting.text
        groups.setdefault(PAIRS if pair else setting.visual or setting.text or CLEAN, []).append(setting)
    texts = {}
    for setting in suite_settings(output.info):
        if setting.text not in texts:
            shown = caption_texts(output, setting, captions, split)
            texts[setting.text] = [shown[caption] for caption in captions.ids]
    choices = caption_choices(captions, texts)
    gone = tuple(clip for clip in captions.clips if clip not in choices)
    num_others = NUM_CAPTIONS - 1
    why = f"in some setting their captions are not different from those of {num_others} other clips" if gone else ""
    stored = {
        table: row_keys(output, table, ("clip_id", "severity"))
        for table in {setting.visual or CLEAN: None for setting in suite_settings(output.info)}
    }
    for name, settings in groups.items():
        docs = [doc for setting in settings for doc in caption_docs(setting, captions, choices, texts[setting.text])]
        for doc in docs:
            if (doc["clip_id"], doc["severity"]) not in stored[doc["table"]]:
                raise lost_rows(output, doc["table"], {(doc["clip_id"], doc["severity"])})
        others = sum(setting.text in choice.others for setting in settings for choice in choices.values())
        notes = {"other_captions_than_clean": others} if others else {}
        yield Task(name, name, split, "caption", docs=docs, left_out=gone, why=why, notes=notes)


def caption_docs(
    setting: Setting, captions: Captions, choices: Mapping[str, CaptionChoice], texts: list[str]
) -> Iterator[Doc]:
    """Write the documents of a setting."""
    for name, choice in choices.items():
        numbers = choice.captions[setting.text]
        yield {
            "setting": setting.name,
            "table": setting.visual or CLEAN,
            "clip_id": name,
            "severity": setting.severity,
            "options": [texts[number] for number in numbers],
            "option_ids": [captions.ids[number] for number in numbers],
            "answer_index": choice.place,
        }
