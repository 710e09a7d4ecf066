import re

import pytest
import yaml
from cards import fields_not_needed, render_card
from commands import rows
from stressreel.annotations.captions import CAPTIONS
from stressreel.annotations.msrvtt import MSRVTT, SAMPLE
from stressreel.annotations.youcook2 import YOUCOOK2
from stressreel.core.output import open_output
from stressreel.corruptions.registry import check_text_name, select_corruptions

TEXTS = ("gender_swap", "no_verbs", "random_noun", "shuffle_order")
WORDS = ["a man rides a horse", "the red | car", "two dogs play", "a girl sings", "a `quoted` word", "a boy runs"]
LINES = [f"film{number // 2},{caption}" for number, caption in enumerate(WORDS)]


@pytest.fixture(scope="module")
def recipes(msrvtt, build_once):
    """All 18, without videos."""
    return open_output(build_once("build-perturbed", "--msrvtt", msrvtt, "--no-render"))


def card(output):
    return (output.path / "README.md").read_text(encoding="utf-8")


def tables(output, title):
    """All tables of a section, without their rules."""
    text = card(output)
    section = re.split(r"\n#{2,3} ", text[text.index(f"# {title}\n") :])[0]
    blocks = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    found = [[re.split(r"(?<!\\)\|", line.strip()[1:-1]) for line in block.splitlines()] for block in blocks]
    return [[[cell.strip().strip("`") for cell in row] for row in (block[0], *block[2:])] for block in found]


def test_card_follows_from_shards(suite, recipes):
    for build in (open_output(suite), recipes):
        assert card(build) == render_card(build.path, build.info)
        assert str(build.path) not in card(build)
    assert fields_not_needed(open_output(suite)) == []


def test_all_perturbations_have_levels_and_sources(recipes):
    levels, origins = tables(recipes, "Perturbations")
    for corruption, row, origin in zip(select_corruptions(["all"]), levels[1:], origins[1:], strict=True):
        assert row[0] == origin[0] == corruption.name
        assert [row[1], row[3]] == [corruption.family, corruption.unit]
        assert [cell.split(" (")[0] for cell in row[4:]] == [corruption.level(s) for s in range(1, 6)]
        assert origin[1:] == [corruption.source, corruption.differs, corruption.grows or "yes"]


@pytest.mark.parametrize(
    ("source", "licence", "words", "absent"),
    [
        (SAMPLE, "cc0-1.0", "This is not MSR-VTT", "zhou2018"),
        (MSRVTT, "other", "Share recipes, not videos", "zhou2018"),
        (YOUCOOK2, "other", "zhou2018towards", "xu2016"),
        (CAPTIONS, "unknown", "Unknown licence", "xu2016"),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_licences_and_citations(recipes, source, licence, words, absent):
    text = render_card(recipes.path, recipes.info | {"source": source.as_json()})
    fields = yaml.safe_load(text.split("---\n")[1])
    assert fields["license"] == licence
    assert ("license_link" in fields) == ("| paper |" in text) == (licence == "other")
    assert words in text
    assert absent not in text
    assert text.count("{schiappa2022") == text.count("{hendrycks2019") == 1


def test_captions_have_shares_and_examples(once, build_once):
    captions = once("six_captions.csv", lambda path: path.write_text("\n".join(["video,caption", *LINES])))
    given = ("--captions", captions, "--modality", "text", "--text-perturbations", ",".join(TEXTS))
    texts = open_output(build_once("build-perturbed", *given))
    shares, examples = tables(texts, "Captions")[:2]
    found = {name: rows(texts.path, name) for name in TEXTS}
    for (name, captions), row in zip(found.items(), shares[1:], strict=True):
        share = f"{100 * sum(caption['changed'] for caption in captions) / len(captions):.1f}%"
        assert row[:4] == [name, check_text_name(name).family, check_text_name(name).kind, share]
    changed = [row for captions in found.values() for row in captions if row["changed"]]
    pairs = ((row["original"], row["caption"]) for row in changed)
    plain = {tuple(text.replace("|", "\\|").replace("`", "'") for text in pair) for pair in pairs}
    assert {tuple(row[1:3]) for row in examples[1:]} <= plain
    numbers = {row[0]: row[1] for row in tables(texts, "Numbers")[0][1:]}
    assert numbers["of which changed"] == f"{100 * len(changed) / 24:.1f}%"
