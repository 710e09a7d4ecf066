"""Which captions are offered with the right one when a suite is asked as a choice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...core.errors import InputError
from ...core.seeds import rng_for
from ...evaluation.metrics.answers import plain
from .scores import Captions

NUM_CAPTIONS = 5
"""One right and four wrong, as in MSR-VTT's multiple choice (Yu et al. 2018), the paper's second task (section 5.2)."""


@dataclass(frozen=True)
class CaptionChoice:
    """The captions offered for a clip.

    Attributes:
        place: Place of the right one.
        captions: By text perturbation ("" for none), the captions by number, the right one among them.
    """

    place: int
    captions: Mapping[str, Sequence[int]]

    @property
    def others(self) -> frozenset[str]:
        """Name the text perturbations whose captions are not those of the original texts."""
        clean = self.captions[""]
        return frozenset(name for name, numbers in self.captions.items() if list(numbers) != list(clean))


def caption_choices(captions: Captions, texts: Mapping[str, Sequence[str]]) -> dict[str, CaptionChoice]:
    """Draw for every clip its first caption and the first captions of four other clips, in an order of their own.

    What is offered differs in every setting, by `evaluation.metrics.answers.plain`: no two captions are alike, and none
    is one of the clip's own. A perturbation can make captions alike (without nouns, "a dog runs" and "a cat runs"). So
    clips are taken whose captions differ under all perturbations; where there are not four, a perturbation that makes
    captions alike has others in their places; and a clip for which some perturbation leaves no four is left out, of all
    settings, because robustness compares settings on the same items.

    Args:
        captions: The clips and captions.
        texts: By text perturbation ("" for none, which has to be there), what is shown for each caption.

    Returns:
        A choice for each clip that is not left out, by clip id.

    Raises:
        InputError: Every clip is left out.
    """
    shown = {name: [plain(text) for text in each] for name, each in texts.items()}
    own: dict[int, list[int]] = {}
    for number, clip in enumerate(captions.clip):
        own.setdefault(int(clip), []).append(number)
    found: dict[str, CaptionChoice] = {}
    for clip, name in enumerate(captions.clips):
        rng = rng_for(0, "caption-choice", name)
        order = [own[int(other)][0] for other in rng.permutation(len(captions.clips)) if other != clip]
        place = int(rng.integers(NUM_CAPTIONS))
        offered = {} if _says_nothing(own[clip][0], shown) else _offered(own[clip], order, shown)
        if offered:
            found[name] = CaptionChoice(
                place,
                {key: [*wrong[:place], own[clip][0], *wrong[place:]] for key, wrong in offered.items()},
            )
    if not found:
        least = min(shown, key=lambda key: len(set(shown[key])))
        raise InputError(
            f"no clip has {NUM_CAPTIONS - 1} other captions that differ from its own and from one another in every "
            f"setting: {least or 'clean'!r} shows {len(set(shown[least]))} different ones of {len(captions.ids)}. "
            "Build without it, or with more clips."
        )
    return found


def _says_nothing(number: int, shown: Mapping[str, Sequence[str]]) -> bool:
    return not all(texts[number] for texts in shown.values())


def _offered(own: Sequence[int], order: Sequence[int], shown: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
    """Choose wrong captions for each perturbation; nothing if one has too few."""
    common = _different(own, order, list(shown.values()))
    if len(common) == NUM_CAPTIONS - 1:
        return dict.fromkeys(shown, common)
    base = _different(own, [*common, *order], [shown[""]])
    found = {}
    for name, texts in shown.items():
        kept = _different(own, base, [texts])
        fresh = iter(_different(own, [*kept, *order], [texts])[len(kept) :])
        numbers = [number if number in kept else next(fresh, None) for number in base]
        found[name] = [number for number in numbers if number is not None]
    return found if all(len(numbers) == NUM_CAPTIONS - 1 for numbers in found.values()) else {}


def _different(own: Iterable[int], order: Iterable[int], shown: Sequence[Sequence[str]]) -> list[int]:
    """Take the first captions that differ from a clip's own and from one another wherever they are shown."""
    taken = [{"", *(texts[number] for number in own)} for texts in shown]
    chosen: list[int] = []
    for number in order:
        if len(chosen) == NUM_CAPTIONS - 1:
            break
        if all(texts[number] not in seen for texts, seen in zip(shown, taken, strict=True)):
            chosen.append(number)
            for texts, seen in zip(shown, taken, strict=True):
                seen.add(texts[number])
    return chosen
