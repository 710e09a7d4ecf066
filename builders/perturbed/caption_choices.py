"""Turn a suite into tasks of choosing the caption that describes a clip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.errors import InputError
from ...core.numerics import rng_for
from ...core.output import FinishedOutput
from ...evaluation.metrics.answers import plain
from ...evaluation.metrics.robustness import CLEAN, Setting
from ...evaluation.tasks import Doc, Task, lost_rows, row_keys
from .scores import Captions, caption_texts, read_captions, suite_settings

NUM_CAPTIONS = 5
"""One correct caption and four distractors, as in MSR-VTT's multiple choice (Yu et al. 2018; paper, section 5.2)."""


@dataclass(frozen=True)
class CaptionChoice:
    """The captions that are offered for a clip.

    Attributes:
        right: Number of the correct caption.
        wrong: Numbers of the distractors, by text perturbation ("" for none).
    """

    right: int
    wrong: Mapping[str, Sequence[int]]

    @property
    def others(self) -> frozenset[str]:
        """Return the text perturbations whose distractors differ from those in the clean setting."""
        clean = self.wrong[""]
        return frozenset(name for name, numbers in self.wrong.items() if list(numbers) != list(clean))

    def offered(self, text: str, place: int) -> list[int]:
        """Return the numbers of the captions offered under a text perturbation, with the correct one at `place`."""
        wrong = self.wrong[text]
        return [*wrong[:place], self.right, *wrong[place:]]


def right_places(setting: Setting, count: int, first: int = 0) -> list[int]:
    """Sample the position of the correct caption for each of `count` choices in a setting.

    The positions are a permutation of `first`, `first` + 1, … modulo the number of options, so that their frequencies
    differ by at most 1.
    """
    places = (np.arange(first, first + count) % NUM_CAPTIONS).astype(np.intp)
    order: list[int] = rng_for(0, "caption-place", setting.name).permutation(places).tolist()
    return order


def caption_choices(captions: Captions, texts: Mapping[str, Sequence[str]]) -> dict[str, CaptionChoice]:
    """Choose five captions for every clip: its own and, as distractors, the first captions of four other clips.

    Four random cycles through all clips determine them, so that each caption is a distractor equally often. Distractors
    sampled independently would occur more often than correct captions, and the rarest caption of a clip would often be
    correct.

    Offered captions must differ from each other and from the clip's own in every setting, as compared by
    `evaluation.metrics.answers.plain`. A perturbation can make captions equal: without nouns, "a dog runs" and "a cat
    runs" are the same. If fewer than four captions differ under all perturbations, captions that a perturbation makes
    equal are replaced for that perturbation. A clip with too few replacements is excluded from all settings, because
    robustness compares settings on the same items.

    `texts` holds the captions shown under each text perturbation, and under "" the original ones. The result contains
    the choices by clip id.

    Raises:
        InputError: Every clip is excluded.
    """
    shown = {name: [*map(plain, perturbed)] for name, perturbed in texts.items()}
    own: dict[int, list[int]] = {}
    for number, clip in enumerate(captions.clip):
        own.setdefault(int(clip), []).append(number)
    count = len(captions.clips)
    cycles = [rng_for(0, "caption-choice", number).permutation(count).tolist() for number in range(NUM_CAPTIONS - 1)]
    following = [dict(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) for cycle in cycles]
    choices: dict[str, CaptionChoice] = {}
    for clip, name in enumerate(captions.clips):
        rng = rng_for(0, "caption-choice", name)
        others = [*(cycle[clip] for cycle in following), *rng.permutation(count).tolist()]
        order = [own[other][0] for other in others if other != clip]
        empty = not all(perturbed[own[clip][0]] for perturbed in shown.values())
        offered = {} if empty else _offered(own[clip], order, shown)
        if offered:
            choices[name] = CaptionChoice(own[clip][0], offered)
    if not choices:
        least = min(shown, key=lambda key: len(set(shown[key])))
        raise InputError(
            f"no clip has {NUM_CAPTIONS - 1} other captions that differ from its own and from one another in every "
            f"setting: in {least or 'clean'!r}, only {len(set(shown[least]))} of {len(captions.ids)} captions differ. "
            "Build without this setting, or with more clips."
        )
    return choices


def _offered(own: Sequence[int], order: Sequence[int], shown: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
    """Return distractors for each perturbation, or an empty dictionary if there are too few for any of them."""
    common = _different(own, order, list(shown.values()))
    if len(common) == NUM_CAPTIONS - 1:
        return dict.fromkeys(shown, common)
    base = _different(own, [*common, *order], [shown[""]])
    replaced = {}
    for name, texts in shown.items():
        kept = _different(own, base, [texts])
        fresh = iter(_different(own, [*kept, *order], [texts])[len(kept) :])
        numbers = [number if number in kept else next(fresh, None) for number in base]
        replaced[name] = [number for number in numbers if number is not None]
    return replaced if all(len(numbers) == NUM_CAPTIONS - 1 for numbers in replaced.values()) else {}


def _different(own: Iterable[int], order: Iterable[int], shown: Sequence[Sequence[str]]) -> list[int]:
    """Return the first captions that differ from a clip's own and from one another in all of `shown`."""
    seen_texts = [{"", *(texts[number] for number in own)} for texts in shown]
    chosen: list[int] = []
    for number in order:
        if len(chosen) == NUM_CAPTIONS - 1:
            break
        if all(texts[number] not in seen for texts, seen in zip(shown, seen_texts, strict=True)):
            chosen.append(number)
            for texts, seen in zip(shown, seen_texts, strict=True):
                seen.add(texts[number])
    return chosen


def caption_tasks(output: FinishedOutput, split: str) -> Iterator[Task]:
    """Yield the tasks of a split: one for each perturbation, and one for all combinations.

    Raises:
        InputError: Answers are withheld, rows are missing, or every clip is excluded.
    """
    if output.withheld.get("split") == split:
        raise InputError(
            f"{output.path}: the assignment of captions to clips of {split} is withheld, and a choice among five "
            "captions would reveal it. Instead, submit the similarities of all clips and captions (`stressreel score "
            "PRIVATE --similarity DIR`)."
        )
    captions = read_captions(output, split)
    groups: dict[str, list[Setting]] = {}
    for setting in suite_settings(output.info):
        pair = setting.visual and setting.text
        groups.setdefault("pairs" if pair else setting.visual or setting.text or CLEAN, []).append(setting)
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
        docs: list[Doc] = []
        for setting in settings:
            docs += _caption_docs(setting, captions, choices, texts[setting.text], len(docs))
        for doc in docs:
            if (doc["clip_id"], doc["severity"]) not in stored[doc["table"]]:
                raise lost_rows(output, doc["table"], {(doc["clip_id"], doc["severity"])})
        others = sum(setting.text in choice.others for setting in settings for choice in choices.values())
        notes = {"other_captions_than_clean": others} if others else {}
        yield Task(name, name, split, "caption", docs=docs, left_out=gone, why=why, notes=notes)


def _caption_docs(
    setting: Setting, captions: Captions, choices: Mapping[str, CaptionChoice], texts: list[str], first: int
) -> Iterator[Doc]:
    for (name, choice), place in zip(choices.items(), right_places(setting, len(choices), first), strict=True):
        numbers = choice.offered(setting.text, place)
        yield {
            "setting": setting.name,
            "table": setting.visual or CLEAN,
            "clip_id": name,
            "severity": setting.severity,
            "options": [texts[number] for number in numbers],
            "option_ids": [captions.ids[number] for number in numbers],
            "answer_index": place,
        }
