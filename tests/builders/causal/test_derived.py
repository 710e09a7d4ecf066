from pathlib import Path
from typing import Any

import pytest
from changed import columns, derived, other, put
from extras import needs
from forger import Change, Forgery
from stressreel.builders.causal.settings import CausalSettings
from stressreel.builders.causal.tables import causal_configs

pytestmark = needs("sentence_transformers")

# Mining decides who lends an option and who is easily guessed, copies where frames are.
FREE = {
    **dict.fromkeys(("ud", "causal_confusion"), "blind_guessable confusions"),
    "clips": "first_frame fps width height duration_s source_sha256",
}
TABLES = causal_configs(CausalSettings(annotations="sample", splits=("ud",)))  # "un" has the rules of "ud"


def shorter(count: int) -> Change:
    return put("clips.num_frames", 1, lambda frames: frames - count)


def test_untouched_output_has_no_findings(built_causal: Path) -> None:
    assert derived(built_causal) == derived(built_causal, shorter(12)) == []  # half a second may be missing


def another(value: Any) -> Any:
    """Another value; of lists another first one."""
    if isinstance(value, list):
        first = {**value[0], "kind": "other"} if isinstance(value[0], dict) else "It rained all day."
        return [first, *value[1:]]
    return other(value)


@pytest.mark.parametrize("place", columns(TABLES, FREE))
def test_another_value_is_found(built_causal: Path, place: str) -> None:
    """Of a row whose first options are other rows' right ones; a text that is carried over follows from none."""
    table = place.partition(".")[0]

    def change(forged: Forgery) -> None:
        first = ([row.get(name) for name in ("sources", "explanation_sources")] for row in forged.rows(table))
        number = next((n for n, found in enumerate(first) if all(s and s[0]["kind"] == "hard" for s in found)), 1)
        put(place, number, another)(forged)

    assert derived(built_causal, change)


def exchanged(forged: Forgery) -> None:
    """Put the right answer in another place, with its source."""
    row = forged.tables["ud"]["test"][0]
    here, there = row["answer_index"], (row["answer_index"] + 1) % len(row["options"])
    for name in ("options", "sources"):
        row[name][here], row[name][there] = row[name][there], row[name][here]
    row["answer_index"] = there


def to_the_train(forged: Forgery) -> None:
    for table in ("ud", "open_ended"):
        forged.tables[table]["train"].append(forged.tables[table]["test"].pop())


@pytest.mark.parametrize(
    "change",
    [
        exchanged,
        to_the_train,
        shorter(60),
        lambda forged: forged.tables["un"]["test"].pop(),
        put("causal_confusion.options", value=lambda texts: ["It rained all day.", *texts[1:]]),
    ],
)
def test_a_contradiction_is_found(built_causal: Path, change: Change) -> None:
    assert derived(built_causal, change)
