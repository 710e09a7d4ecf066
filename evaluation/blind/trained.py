"""Train blind baselines on embeddings and cues.

Mined distractors are balanced against models of the same families. Baselines judge them independently because they
learn from other questions, with other random numbers and their own cues.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.extras import import_extra
from ...core.seeds import rng_for
from ...core.threads import one_thread
from .cues import ASKING
from .fitting import fit
from .measured import Measured, measured
from .questions import BlindQuestion, Floats, Vectors, arrange
from .trees import trees

CHARACTERS = (2, 5)
HIDDEN = 128
EPOCHS = 20
PENALTY = 1.0  # on the squared weights of a network
ENCODER = "needs a sentence encoder: pip install 'stressreel[sbert]'"


OptionScorer = Callable[[Measured, Measured, int, str], Floats]
"""Function that learns from questions and scores the options of others, given a seed and a key for random numbers."""


def option_logit(learnt: Measured, asked: Measured, seed: int, key: str) -> Floats:
    """Score options with a conditional logit on their cues, ignoring the question."""
    weights = fit(learnt.weighed(*learnt.of_options), learnt.rows.there, learnt.rows.right)
    scores: Floats = asked.weighed(*learnt.of_options) @ weights
    return scores


def option_network(learnt: Measured, asked: Measured, seed: int, key: str) -> Floats:
    """Score options with a neural network on their embeddings and cues, ignoring the question."""
    return _network(learnt, asked, learnt.of_options, False, seed, "option", key)


def question_network(learnt: Measured, asked: Measured, seed: int, key: str) -> Floats:
    """Score options with a neural network that compares each option with the question."""
    return _network(learnt, asked, ASKING, True, seed, "question", key)


def full_network(learnt: Measured, asked: Measured, seed: int, key: str) -> Floats:
    """Score options with a neural network on the question, the option, and the set of options."""
    return _network(learnt, asked, (*ASKING, *learnt.of_options), True, seed, "full", key)


def random_judge(learnt: Measured, asked: Measured, seed: int, key: str) -> Floats:
    """Score options with a network that was trained to distinguish correct options from those of other questions.

    The network is that of `question_network`. It never sees distractors, only typical answers.
    """
    rights = [one.options[one.right] for one in learnt.rows.asked]
    keys = learnt.rows.keys[np.arange(len(rights)), learnt.rows.right].tolist()
    against: list[BlindQuestion] = []
    for place, one in enumerate(learnt.rows.asked):
        taken = {keys[place]: rights[place]}
        for other in rng_for(seed, "blind", "random", key, one.id).integers(0, len(rights), 10 * len(one.options)):
            if len(taken) < len(one.options):
                taken.setdefault(keys[other], rights[other])
        if len(taken) > 1:
            against.append(replace(one, options=tuple(taken.values()), right=0))
    if not against:  # all correct options are identical
        return np.zeros(asked.rows.there.shape)
    return question_network(measured(arrange(against), learnt.embed, learnt.names), asked, seed, key)


def ngrams(learnt: Measured, asked: Measured, seed: int, key: str) -> Floats:
    """Score options with a logistic regression on TF-IDF of character n-grams (2 to 5), ignoring the question."""
    text = import_extra("sklearn.feature_extraction.text", what="a trained baseline")
    linear = import_extra("sklearn.linear_model", what="a trained baseline")
    weigh = text.TfidfVectorizer(
        analyzer="char_wb", ngram_range=CHARACTERS, lowercase=False, min_df=2, sublinear_tf=True
    )
    try:
        bags = weigh.fit_transform([option for texts in learnt.rows.texts() for option in texts])
    except ValueError:  # no character sequence occurs twice
        return np.zeros(asked.rows.there.shape)
    with one_thread():
        model = linear.LogisticRegression(solver="liblinear", random_state=0).fit(bags, learnt.rows.labels())
    scores = model.decision_function(weigh.transform([option for texts in asked.rows.texts() for option in texts]))
    return asked.rows.placed(scores)


@dataclass(frozen=True)
class Baseline:
    """A trained blind baseline, with the inputs that it requires.

    Attributes:
        embeds: Whether a sentence encoder is required.
        compares: Whether a question is required.
    """

    scores: OptionScorer
    meaning: str
    embeds: bool = False
    compares: bool = False


GUESSERS: dict[str, Baseline] = {
    "option_logit": Baseline(option_logit, "trained on cues of the options only (conditional logit)"),
    "option_network": Baseline(
        option_network, "trained on embeddings and cues of the options only (network)", embeds=True
    ),
    "question_network": Baseline(
        question_network, "trained on question and options, compared one by one (network)", embeds=True, compares=True
    ),
    "full_network": Baseline(
        full_network,
        "trained on the question, each option, and the set of options (network)",
        embeds=True,
        compares=True,
    ),
    "random_judge": Baseline(
        random_judge, "trained to distinguish correct answers from random ones (network)", embeds=True, compares=True
    ),
    "ngrams": Baseline(ngrams, "trained on the characters of options (TF-IDF, logistic regression)"),
    "trees": Baseline(trees, "trained on all cues, including those of training questions (gradient-boosted trees)"),
}
NO_QUESTION = "the items have no question besides the options"


def _network(learnt: Measured, asked: Measured, names: Sequence[str], compares: bool, seed: int, *key: str) -> Floats:
    networks = import_extra("sklearn.neural_network", what="a trained network")
    unfinished = import_extra("sklearn.exceptions", what="a trained network").ConvergenceWarning
    draw = int(rng_for(seed, "blind", "network", *key).integers(1 << 32))
    model = networks.MLPClassifier(HIDDEN, alpha=PENALTY, max_iter=EPOCHS, random_state=draw)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", unfinished)  # early stopping is intended
        model.fit(_embedded(learnt, names, compares), learnt.rows.labels())
        wrong, right = np.maximum(model.predict_proba(_embedded(asked, names, compares)).T, np.float64(1e-30))
    return asked.rows.placed(np.log(right) - np.log(wrong))


def _embedded(given: Measured, names: Sequence[str], compares: bool) -> Vectors:
    if given.vectors is None:
        raise ValueError("a network needs embeddings")
    there = given.rows.there
    scale = np.float32(np.sqrt(given.vectors.options.shape[2]))  # scales entries to about 1
    options = given.vectors.options[there] * scale
    parts = [options]
    if compares:
        asked = np.repeat(given.vectors.questions, there.sum(axis=1), axis=0) * scale
        parts = [options * asked, np.abs(options - asked)]
    return np.concatenate([*parts, given.weighed(*names)[there].astype(np.float32)], axis=1)
