import re

import pyarrow.parquet as pq
import pytest
import yaml
from cards import fields_not_needed, render_card
from stressreel.annotations.captions import CAPTIONS
from stressreel.annotations.msrvtt import MSRVTT, SAMPLE
from stressreel.annotations.youcook2 import YOUCOOK2
from stressreel.core.output import open_output
from stressreel.corruptions.registry import check_text_name, select_corruptions

NAMES = ("impulse_noise", "mpeg1", "reverse_sampling", "jumble", "freeze")
SEVERITIES = (1, 3, 5)
FAST = ("--preset", "ultrafast")
TEXTS = ("gender_swap", "no_verbs", "random_noun", "shuffle_order")
WORDS = ["a man rides a horse", "the red | car", "two dogs play", "a girl sings", "a `quoted` word", "a boy runs"]


@pytest.fixture(scope="module")
def output(msrvtt, build_once):
    arguments = ("--perturbations", ",".join(NAMES), "--severity", "1,3,5", "--limit", 2, *FAST)
    return open_output(build_once("build-perturbed", "--msrvtt", msrvtt, *arguments))


@pytest.fixture(scope="module")
def recipes(msrvtt, build_once):
    """All 18, without videos."""
    return open_output(build_once("build-perturbed", "--msrvtt", msrvtt, "--no-render"))


@pytest.fixture(scope="module")
def texts(once, build_once):
    """Six captions and combinations, without videos."""
    lines = ["video,caption", *(f"film{number // 2},{caption}" for number, caption in enumerate(WORDS))]
    captions = once("six_captions.csv", lambda path: path.write_text("\n".join(lines)))
    names = ("--perturbations", "jpeg,jumble", "--severity", 3, "--text-perturbations", ",".join(TEXTS))
    given = ("--captions", captions, "--modality", "all", *names, "--no-render")
    return open_output(build_once("build-perturbed", *given))


def card(output):
    return (output.path / "README.md").read_text(encoding="utf-8")


def tables(text, title):
    """All tables of a section, without their rules."""
    section = re.split(r"\n#{2,3} ", text[text.index(f"# {title}\n") :])[0]
    blocks = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    rows = [[re.split(r"(?<!\\)\|", line.strip()[1:-1]) for line in block.splitlines()] for block in blocks]
    return [[[cell.strip().strip("`") for cell in row] for row in (block[0], *block[2:])] for block in rows]


def named(text, title):
    return {row[0]: row[1:] for row in tables(text, title)[0][1:]}


def rows(output, name):
    return pq.read_table(next((output.path / name).glob("*.parquet"))).to_pylist()


def test_card_follows_from_shards(output, recipes, texts):
    for build in (output, recipes, texts):
        assert card(build) == render_card(build.path, build.info)
        assert str(build.path) not in card(build)
    assert fields_not_needed(output) == []


def test_all_perturbations_have_levels_and_sources(recipes):
    levels, origins = tables(card(recipes), "Perturbations")
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


def test_captions_have_shares_and_examples(texts):
    shares, examples = tables(card(texts), "Captions")[:2]
    changed = []
    for name, row in zip(TEXTS, shares[1:], strict=True):
        captions, corruption = rows(texts, name), check_text_name(name)
        changed += [caption["changed"] for caption in captions]
        share = f"{100 * sum(caption['changed'] for caption in captions) / len(captions):.1f}%"
        assert row[:4] == [name, corruption.family, corruption.kind, share]
    known = {(row["original"], row["caption"]) for name in TEXTS for row in rows(texts, name) if row["changed"]}
    plain = {tuple(text.replace("|", "\\|").replace("`", "'") for text in pair) for pair in known}
    assert {tuple(row[1:3]) for row in examples[1:]} <= plain
    numbers = named(card(texts), "Numbers")
    assert numbers["of which changed"][0] == f"{100 * sum(changed) / 24:.1f}%"
