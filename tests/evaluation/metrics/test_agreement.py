import numpy as np
import pytest
from stressreel.evaluation.metrics.agreement import (
    OUTVOTED,
    Vote,
    accuracy_by,
    disputed,
    krippendorff_alpha,
    marks_of,
    median_seconds,
    pearson,
    pooled,
    self_agreement,
    shares_right,
    spearman,
)
from stressreel.evaluation.metrics.answers import YES_NO
from stressreel.evaluation.metrics.bootstrap import Tally

ERRORS = {"ann": 0.05, "bob": 0.1, "cy": 0.3}
QUESTIONS = [f"q{number}" for number in range(4000)]
TRUTH = {name: number % 2 for number, name in enumerate(QUESTIONS)}


def simulated() -> list[Vote]:
    """Three people who answer yes/no questions with independent errors."""
    rng = np.random.default_rng(3)
    return [
        Vote(person, name, TRUTH[name] ^ int(rng.random() < error))
        for person, error in ERRORS.items()
        for name in QUESTIONS
    ]


def table(rows: str) -> list[Vote]:
    """Votes from a table with a person in each row and a question in each column, where * is a missing value."""
    lines = [line.split() for line in rows.strip().splitlines()]
    return [
        Vote(str(person), str(column), None if cell == "*" else int(cell), "cannot tell" * (cell == "*"))
        for person, line in enumerate(lines)
        for column, cell in enumerate(line)
    ]


@pytest.mark.parametrize(
    ("rows", "alpha"),
    [
        pytest.param(
            """
            1 2 3 3 2 1 4 1 2 * * *
            1 2 3 3 2 2 4 1 2 5 * 3
            * 3 3 3 2 3 4 2 2 5 1 *
            1 2 3 3 2 4 4 1 2 5 1 *
            """,
            0.743,
            id="Krippendorff 2011, example C",
        ),
        pytest.param(
            """
            0 1 0 0 0 0 0 0 1 0
            1 1 1 0 0 1 0 0 0 0
            """,
            0.095,
            id="Krippendorff 2011, example A",
        ),
    ],
)
def test_alpha_of_published_examples(rows: str, alpha: float) -> None:
    pytest.importorskip("nltk")
    assert krippendorff_alpha(table(rows)) == pytest.approx(alpha, abs=5e-4)


def test_alpha_is_undefined_without_two_choices() -> None:
    pytest.importorskip("nltk")
    assert np.isnan(krippendorff_alpha(table("1 1 1")))
    assert np.isnan(krippendorff_alpha(table("1 1 *\n1 1 2")))


def test_planted_errors_come_out() -> None:
    votes = simulated()
    accuracy = accuracy_by(votes, TRUTH, dict(zip(QUESTIONS, QUESTIONS, strict=True)), lambda vote: vote.person)
    for person, error in ERRORS.items():
        count, value = accuracy[person]
        assert count == len(QUESTIONS)
        assert value.value == pytest.approx(1 - error, abs=0.015)
        assert value.low < 1 - error < value.high
    pytest.importorskip("nltk")
    pairs = [(0.05, 0.1), (0.05, 0.3), (0.1, 0.3)]
    agree = np.mean([(1 - a) * (1 - b) + a * b for a, b in pairs])
    assert krippendorff_alpha(votes) == pytest.approx(1 - (1 - agree) / 0.5, abs=0.02)


def test_interval_is_over_source_videos() -> None:
    """All questions about a video are answered alike, so that 40 questions about 8 videos are worth 8."""
    names = [f"q{number}" for number in range(40)]
    votes = [Vote("ann", name, int(number % 8 < 4)) for number, name in enumerate(names)]
    truth = dict.fromkeys(names, 1)
    (_, wide), (_, narrow) = (
        accuracy_by(votes, truth, sources, lambda vote: "all")["all"]
        for sources in (
            {name: str(number % 8) for number, name in enumerate(names)},
            dict(zip(names, names, strict=True)),
        )
    )
    assert wide.value == narrow.value == 0.5
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_repeats_count_only_for_self_agreement() -> None:
    votes = [
        Vote("ann", "a", 1, seconds=4),
        Vote("ann", "b", 0, seconds=6),
        Vote("ann", "a", 0, seconds=8, repeat=True),
        Vote("ann", "b", 0, seconds=20, repeat=True),
    ]
    truth, sources = {"a": 1, "b": 1}, {"a": "v", "b": "w"}
    assert accuracy_by(votes, truth, sources, lambda vote: vote.person)["ann"][0] == 2
    assert (self_agreement(votes), median_seconds(votes)) == (0.5, 7)
    assert np.isnan(self_agreement(votes[:2]))
    assert shares_right(votes, truth) == {"a": 1, "b": 0}


def test_disputes_by_majority_and_by_marks() -> None:
    cast = {
        "right": "1 1 0",
        "outvoted": "0 0 1",
        "tie": "0 1",
        "one mark of two": "1 wrong",
        "one mark of three": "1 1 wrong",
        "several and outvoted": "0 0 several several",
        "others and cannot tell": "0 1 1 cannot_tell",
    }
    votes = []
    for name, words in cast.items():
        for person, word in enumerate(words.split()):
            choice, mark = (int(word), "") if word.isdigit() else (None, word.replace("_", " "))
            votes.append(Vote(str(person), name, choice, mark, "why" * bool(mark)))
    found = {each.question_id: each for each in disputed(votes, dict.fromkeys(cast, 1), dict.fromkeys(cast, YES_NO))}
    assert {name: each.why for name, each in found.items()} == {
        "outvoted": OUTVOTED,
        "one mark of two": "marked wrong",
        "several and outvoted": "marked several",
    }
    assert found["outvoted"].votes == {"no": 2, "yes": 1}
    assert found["one mark of two"].votes == {"yes": 1, "marked wrong": 1}
    assert found["one mark of two"].reasons == ("why",)
    assert marks_of(votes) == {"cannot tell": 1, "several": 2, "wrong": 2}
    assert disputed([Vote("a", "q", 2)], {"q": 0}, {"q": ("x", "y", "z")})[0].votes == {"C": 1}


def test_pooled_tallies_add_up_where_people_answered() -> None:
    one = Tally(("a", "b"), ("x",), np.array([[1.0], [0]]), np.array([[2.0], [1]]))
    other = Tally(("b", "c"), ("y", "x"), np.array([[1.0, 1], [0, 1]]), np.array([[1.0, 1], [1, 1]]))
    both = pooled([one, other])
    assert (both.sources, both.cells) == (("a", "b", "c"), ("x", "y"))
    assert both.whole() == {"x": 3 / 5, "y": 1 / 2}


def test_correlations_share_ranks_of_ties() -> None:
    a, b = np.array([1.0, 1, 2, 9]), np.array([3.0, 1, 2, 4])
    assert spearman(a, b) == pytest.approx(pearson(np.array([1.5, 1.5, 3, 4]), np.array([3.0, 1, 2, 4])))
    assert pearson(a, 2 * a + 1) == pytest.approx(1)
    assert pearson(a, -a) == spearman(a, -a) == pytest.approx(-1)
    assert np.isnan(pearson(a, np.ones(4)))
