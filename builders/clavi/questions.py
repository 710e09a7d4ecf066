"""Word the questions about a video."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ...annotations.actions import Action
from ...core.numerics import rng_for
from ...core.schema import Row
from ...language.lexicon import inflect, readings, verb_lemma
from ...templates import QuestionTemplate, load_natural, load_questions
from .meaning import imply
from .pairs import is_default, is_late, relation_of
from .settings import AMBIGUOUS, ClaviSettings
from .tables import VARIANTS

LETTERS = "ABC"
TABLES = {"sequence": "clavi", "overlap": "clavi_overlap", "contain": "clavi_contain"}
DEFAULT = ClaviSettings()


def templates_of(pair: Mapping[str, Any], settings: ClaviSettings = DEFAULT) -> tuple[QuestionTemplate, ...]:
    """Return the question templates for a pair, by its relation. Phrases with subjects have those of `clavi_events`."""
    if not is_default(settings):
        return load_questions(TABLES[relation_of(pair)])
    return load_questions("clavi_events" if pair.get("asked_a") else "clavi")


def asked_of(pair: Mapping[str, Any], settings: ClaviSettings) -> list[QuestionTemplate]:
    """Return the question templates that are asked. With `--implied drop`, W is not if A and B imply each other."""
    templates = list(templates_of(pair, settings))
    if settings.implied != "drop" or templates[0].type != "W" or not imply(*(_action(pair, letter) for letter in "ab")):
        return templates
    return [template for template in templates if template.type != "W"]


def _action(pair: Mapping[str, Any], letter: str) -> Action:
    label, key, phrase, verb = (pair[f"{name}_{letter}"] for name in ("label", "class", "phrase", "verb"))
    return Action(key, label, phrase, verb, frozenset(pair[f"objects_{letter}"]))


def phrases_of(pair: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the phrases of A, B and C, and their yes/no questions, which are empty for gerunds."""
    phrases = {letter: pair[f"phrase_{letter.lower()}"] for letter in LETTERS}
    return phrases, {letter: pair.get(f"asked_{letter.lower()}") or "" for letter in LETTERS}


def natural_forms(pair: Mapping[str, Any], settings: ClaviSettings) -> dict[str, dict[str, str]]:
    """Return the gerund ("x"), base form ("x_base") and past ("x_past") of A, B and C for `--wording natural`."""
    if settings.source == "sta":
        return {letter: forms_of(phrase) for letter, phrase in phrases_of(pair)[0].items()}
    classes = load_natural().phrases
    return {
        letter: classes.get(pair[f"class_{letter.lower()}"], {"x": phrase})
        for letter, phrase in phrases_of(pair)[0].items()
    }


def worded(template: QuestionTemplate, pair: Mapping[str, Any], settings: ClaviSettings, paraphrase: int) -> str:
    """Word a question about a pair.

    The frames of `--wording natural` are sampled without replacement. Q and Q′ share them, as do V and V′, so that they
    are independent of the answer.
    """
    if settings.wording == "paper":
        return template.worded(*phrases_of(pair))
    natural, forms = load_natural(), natural_forms(pair, settings)
    frames = natural.frames[template.template_id]
    both = min(template.id, template.complement or template.id)
    order = rng_for(settings.seed, "clavi", "wording", pair["pair_id"], both).permutation(len(frames))
    return natural.worded(frames[int(order[paraphrase])], forms[template.x], forms.get(template.y or "", {}))


def question_rows(pair: Mapping[str, Any], variant: int, settings: ClaviSettings = DEFAULT) -> Iterator[Row]:
    """Yield the questions about one video (19 for a sequence), once for each paraphrase.

    Args:
        pair: `pair_id`, `source_id`, `phrase_a`, `phrase_b`, `phrase_c`; for phrases with subjects also `asked_a` etc.;
            for `--wording natural` also `class_a` etc.; for `--relations` also the times and borders; for `--implied
            drop` also the verbs and objects. If it has `ambiguous`, so have the questions.
        variant: 0 for V, 1 for V′.
        settings: Wording and number of paraphrases of the build, and its seed.
    """
    templates, templates_asked = templates_of(pair, settings), asked_of(pair, settings)
    position_of = {template.id: position for position, template in enumerate(templates)}
    video, other_video = (f"{pair['pair_id']}_{1 + v}" for v in (variant, 1 - variant))
    for paraphrase in range(settings.paraphrases):
        first = paraphrase * len(templates)
        for template in templates_asked:
            position, answered = first + position_of[template.id], template
            if template.type == "TH" and template.complement and is_late(pair):
                answered = templates[position_of[template.complement]]
            opposite = f"{video}_{first + position_of[template.complement]:02d}" if template.complement else None
            yield {
                "question_id": f"{video}_{position:02d}",
                "video_id": video,
                "pair_id": pair["pair_id"],
                "source_id": pair["source_id"],
                "question": worded(template, pair, settings, paraphrase),
                "answer": answered.answers[variant],
                "type": template.type,
                "type_id": answered.type_ids[variant],
                "subset": template.subset,
                "variant": VARIANTS[variant],
                "complement_question_id": opposite,
                "counterpart_question_id": f"{other_video}_{position:02d}",
                "template_id": template.template_id,
                **({AMBIGUOUS: pair[AMBIGUOUS] and template.subset == "complement"} if AMBIGUOUS in pair else {}),
            }


def is_natural(phrase: str) -> bool:
    """Return whether a gerund phrase has a natural wording in all frames: no pattern of `refused` occurs in it."""
    return not load_natural().refused.search(repaired(phrase))


def repaired(phrase: str) -> str:
    """Return a gerund phrase with the replacements of `clavi_natural.yaml`: "waking up" for "awakening"."""
    for pattern, text in load_natural().repaired:
        phrase = pattern.sub(text, phrase)
    return phrase


@lru_cache(maxsize=1 << 14)
def forms_of(phrase: str) -> dict[str, str]:
    """Return the forms of a gerund phrase: the first verb and those coordinated by "and" or "or" are inflected."""
    words = repaired(phrase).split()
    verbs = [index for index, word in enumerate(words) if index == 0 or _is_coordinated(words[index - 1], word)]
    forms = {"x": " ".join(words)}
    for name, tag in (("x_base", "VB"), ("x_past", "VBD")):
        inflected = list(words)
        for index in verbs:
            lemma = verb_lemma(words[index].rstrip(","))
            inflected[index] = inflect(lemma, tag) + "," * words[index].endswith(",")
        forms[name] = " ".join(inflected)
    return forms


def _is_coordinated(before: str, word: str) -> bool:
    return before in ("and", "or", "then") and word.endswith("ing") and "VERB" in readings(word)
