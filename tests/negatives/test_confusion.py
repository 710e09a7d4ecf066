"""Negations and exchanged roles of right answers, by cases written by hand and by properties."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from stressreel.language.tagger import load_tagger
from stressreel.negatives.cast import Cast, confusion_table, derive_cast
from stressreel.negatives.confusion import KINDS, Confuser, Confusion, Unconfused, confuse_options, entities
from stressreel.negatives.mining import Choice, Negative, text_key

CASES = yaml.safe_load((Path(__file__).parent / "cases" / "confusion.yaml").read_text(encoding="utf-8"))
CAST = Cast(tuple(CASES["cast"]), CASES["genders"])


def confuser() -> Confuser:
    return Confuser(load_tagger("pattern"), CAST)


def texts_of(found: Confusion | Unconfused) -> str | None:
    return found.text if isinstance(found, Confusion) else None


@pytest.mark.parametrize(
    ("kind", "right", "wanted"), [(kind, right, wanted) for kind in KINDS for right, wanted in CASES[kind]]
)
def test_cases(kind: str, right: str, wanted: str | None) -> None:
    found = confuser().negation(right) if kind == "negation" else confuser().swap(right)
    assert texts_of(found) == wanted
    assert found.kind == kind
    if isinstance(found, Unconfused):
        assert found.reason


@pytest.mark.parametrize("right", [right for right, wanted in CASES["swap"] if wanted])
def test_an_exchange_is_undone_by_another(right: str) -> None:
    found = confuser().swap(right)
    assert isinstance(found, Confusion)
    again = confuser().swap(found.text)
    assert isinstance(again, Confusion)
    assert text_key(again.text) == text_key(right)


@pytest.mark.parametrize("right", [right for right, wanted in CASES["negation"] if wanted])
def test_capitals_marks_and_apostrophes_stay(right: str) -> None:
    found = confuser().negation(right)
    assert isinstance(found, Confusion)
    assert found.text[0].isupper() == right[0].isupper()
    assert found.text.endswith(".") == right.endswith(".")
    assert found.text.count("'") == right.count("'")


def test_a_reason_behind_is_flagged() -> None:
    found = confuser().negation("Tom jumped in pain because Jerry poked Tom.")
    assert isinstance(found, Confusion)
    assert "reason" in found.ambiguous
    plain = confuser().negation("Tom jumped in pain.")
    assert isinstance(plain, Confusion)
    assert not plain.ambiguous


def test_a_negated_complement_is_flagged() -> None:
    found = confuser().negation("Jerry was begging Tom not to press the horn.")
    assert found == Confusion("Jerry was not begging Tom not to press the horn.", "negation", "a negated complement")


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    for found in (confuser().negation(text), confuser().swap(text)):
        if isinstance(found, Confusion):
            assert text_key(found.text) != text_key(text)
        else:
            assert found.reason


def test_a_name_takes_who_where_a_noun_took_that() -> None:
    assert texts_of(confuser().swap("Tom saw the fish that Jerry held.")) == "The fish saw Tom who Jerry held."
    told = confuser().swap("Tom told the fish that Nibbles was there.")
    assert texts_of(told) == "The fish told Tom that Nibbles was there."


@pytest.mark.parametrize(
    "right",
    [
        "Spike was chasing Jerry and Jerry wanted to hide.",
        "Tom ran after Jerry and Jerry hid.",
        "Tom hit Jerry, and Jerry was angry.",
        "Tom was with Jerry and Jerry smiled.",
    ],
)
def test_nobody_is_joined_with_himself(right: str) -> None:
    keys = [entity.key for entity in entities(confuser().read(right), CAST)]
    assert all(len(key) == 1 for key in keys)
    made = texts_of(confuser().swap(right))
    assert made is None or not re.search(r"(\w+) and \1 (?:was|were) ", made)


def test_the_reason_of_a_refusal_is_said() -> None:
    reasons = {
        "Tom and Jerry saw Spike and hit each other.": "both sides do the same",
        "Jerry knew Spike and Tyke wanted to sleep.": 'it is not certain who is joined by "and"',
        "Tom and Jerry wanted Spike to think that Tom was ill.": "somebody is named alone and with others",
        "Tom wanted to eat the fish he had.": "a clause behind says who is meant",
        "Tom and Jerry sat between Spike.": "what is said holds of several only",
    }
    found = {right: confuser().swap(right) for right in reasons}
    assert found == {right: Unconfused("swap", reason) for right, reason in reasons.items()}
    assert confuser().negation("Tom did not find nothing.") == Unconfused("negation", "it is negated twice")
    assert confuser().negation("Tom took a bite of nothing.") == Unconfused("negation", 'it says "nothing"')


def test_entities() -> None:
    caption = confuser().read("Uncle Pecos and the baby duck saw tom's owner near his girlfriend.")
    assert [entity.key for entity in entities(caption, CAST)] == [
        ("baby duck", "uncle pecos"),
        ("tom's owner",),
        ("his girlfriend",),
    ]


def choice(right: str) -> Choice:
    wrong = [Negative(str(n), f"wrong {n}", 0.5, 0.5, 0.25, "hard") for n in range(4)]
    return Choice(
        ("wrong 0", "wrong 1", right, "wrong 2", "wrong 3"), 2, (wrong[0], wrong[1], None, wrong[2], wrong[3])
    )


@pytest.mark.parametrize("count", [0, 1, 2])
def test_options_are_replaced(count: int) -> None:
    right = "Tom was hitting Jerry."
    before = choice(right)
    after, results = confuse_options(right, before, confuser(), count=count, seed=0, item_id="7", kind="answer")
    differing = [n for n in range(5) if after.options[n] != before.options[n]]
    assert len(differing) == count
    assert after.answer_index == 2
    assert after.options[2] == right
    assert {source.kind for n in differing if (source := after.sources[n])} <= set(KINDS)
    assert [result.kind for result in results] == list(KINDS)
    assert len({text_key(option) for option in after.options}) == 5


def test_places_and_kinds_are_drawn_by_question() -> None:
    right = "Tom was hitting Jerry."
    found = [
        confuse_options(right, choice(right), confuser(), count=1, seed=0, item_id=str(n), kind="answer")[0]
        for n in range(80)
    ]
    changed = [next(n for n in range(5) if c.options[n] != choice(right).options[n]) for c in found]
    kinds = [source.kind for c, n in zip(found, changed, strict=True) if (source := c.sources[n])]
    assert set(changed) == {0, 1, 3, 4}
    assert 20 < kinds.count("swap") < 60


def test_what_another_option_says_replaces_nothing() -> None:
    right = "Tom was hitting Jerry."
    before = choice(right)
    options = ("tom was not hitting jerry", *before.options[1:])
    after, results = confuse_options(
        right, Choice(options, 2, before.sources), confuser(), count=2, seed=0, item_id="7", kind="answer"
    )
    assert results[0] == Unconfused("negation", "another option says the same")
    assert sum(one != other for one, other in zip(after.options, options, strict=True)) == 1


def test_the_cast_is_found_in_texts() -> None:
    texts = ["Then Tom wanted to catch Jerry.", "why did Tom run", "the cat saw that Jerry was there"] * 3
    texts += ["the house was red", "it was in Paris in May", "Later in Paris", "in Paris"]
    cast = derive_cast(texts)
    assert set(cast.names) == {"Tom", "Jerry"}


def test_tables_hold_no_word_of_two_genders() -> None:
    table = confusion_table()
    assert not table["female"] & table["male"]
    assert table["female"] <= table["animate"]
    assert table["male"] <= table["animate"]


# --- the released confusions ---

NEGATIVE = re.compile(r"\b(?:not|cannot|never|no|didnt|wasnt|without)\b")


def folded(text: str) -> str:
    """Without capitals, apostrophes and final stop."""
    return " ".join(re.sub("['’]", "", text.lower()).split()).rstrip(". ")


def released(folder: Path) -> list[tuple[str, str, str]]:
    """Give (right answer, released confusion, kind) of 371 rows; a changed count of negations tells the kind."""

    def read(name: str) -> list[dict[str, str]]:
        with (folder / name).open(encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))

    before = {row["qid"]: row for row in read("Splits/UD/A_test.csv")}
    found = []
    for row in read("CausalConfusion_A_test_first_371.csv"):
        right = row[f"a{row['answer']}"]
        for place in range(5):
            made = row[f"a{place}"]
            if made != before[row["qid"]][f"a{place}"]:
                negated = len(NEGATIVE.findall(folded(made))) != len(NEGATIVE.findall(folded(right)))
                found.append((right, made, "negation" if negated else "swap"))
    return found


@pytest.mark.shared
@pytest.mark.parametrize(("kind", "least"), [("negation", 0.84), ("swap", 0.67)])
def test_as_released(kind: str, least: float, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nltk.data.path", [str(shared / "nltk_data")])
    folder = shared / "data" / "causalchaos"
    with (folder / "Annotations.csv").open(encoding="utf-8-sig") as file:
        cast = derive_cast(row[name] for row in csv.DictReader(file) for name in ("Question", "Answer", "Explanation"))
    tool = Confuser(load_tagger.__wrapped__("auto"), cast)
    rows = [(right, made) for right, made, way in released(folder) if way == kind]
    same = 0
    for right, made in rows:
        found = tool.negation(right) if kind == "negation" else tool.swap(right)
        same += isinstance(found, Confusion) and folded(found.text) == folded(made)
    assert same / len(rows) >= least
