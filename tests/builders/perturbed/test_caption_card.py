from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from cards import render_card
from stressreel.annotations.msrvtt import MSRVTT
from stressreel.annotations.youcook2 import YOUCOOK2
from stressreel.core.output import FinishedOutput, open_output
from stressreel.core.source import Source
from stressreel.corruptions.registry import check_text_name

TEXTS = ("gender_swap", "no_verbs", "random_noun", "shuffle_order")
CAPTIONS = ["a man rides a horse", "the red | car", "two dogs play", "a girl sings", "a `quoted` word", "a boy runs"]


@pytest.fixture(scope="module")
def output(once: Callable[..., Path], build_once: Callable[..., Path]) -> FinishedOutput:
    lines = ["video,caption", *(f"film{number // 2},{caption}" for number, caption in enumerate(CAPTIONS))]
    captions = once("six_captions.csv", lambda path: path.write_text("\n".join(lines)))
    names = ("--perturbations", "jpeg,jumble", "--severity", 3, "--text-perturbations", ",".join(TEXTS))
    given = ("--captions", captions, "--modality", "all", *names, "--tagger", "pattern", "--no-render")
    return open_output(build_once("build-perturbed", *given))


def card(output: FinishedOutput, **settings: object) -> str:
    info = output.info | {"settings": output.info["settings"] | settings}
    return render_card(output.path, info)


def text_only(output: FinishedOutput) -> FinishedOutput:
    settings = output.info["settings"] | {"perturbations": [], "severities": [], "pairs": []}
    counts = {name: output.info["counts"][name] for name in ("clean", *TEXTS)}
    return FinishedOutput(output.path, output.info | {"settings": settings, "counts": counts})


def section(text: str, title: str) -> str:
    return re.split(r"\n#{2,3} ", text[text.index(f"# {title}\n") :])[0]


def tables(text: str) -> list[list[list[str]]]:
    """All tables, without their rules."""
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    rows = [[re.split(r"(?<!\\)\|", line.strip()[1:-1]) for line in block.splitlines()] for block in blocks]
    return [[[cell.strip() for cell in row] for row in (block[0], *block[2:])] for block in rows]


def rows(output: FinishedOutput, name: str) -> list[dict]:
    return pq.read_table(next((output.path / name).glob("*.parquet"))).to_pylist()


class TestCaptions:
    def test_shares_and_reasons(self, output: FinishedOutput) -> None:
        table = tables(section(card(output), "Captions"))[0]
        assert [row[0] for row in table[1:]] == [f"`{name}`" for name in TEXTS]
        for name, row in zip(TEXTS, table[1:], strict=True):
            found = rows(output, name)
            corruption = check_text_name(name)
            assert row[1:3] == [corruption.family, corruption.kind]
            assert row[3] == f"{100 * sum(r['changed'] for r in found) / len(found):.1f} %"
            reasons = Counter(r["reason"] for r in found if not r["changed"])
            assert row[5] == ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common(2))
        assert {"0.0 %", "100.0 %"} != {row[3] for row in table[1:]}

    def test_three_examples_each(self, output: FinishedOutput) -> None:
        table = tables(section(card(output), "Captions"))[1]
        place, name = 1, ""
        counts: Counter[str] = Counter()
        for row in table[place:]:
            name = row[0].strip("`") or name
            counts[name] += 1
            known = {(r["original"], r["caption"]) for r in rows(output, name) if r["changed"]}
            plain = {tuple(text.replace("|", "\\|").replace("`", "'") for text in pair) for pair in known}
            assert (row[1][1:-1], row[2][1:-1]) in plain
        assert counts == {name: min(3, sum(r["changed"] for r in rows(output, name))) for name in TEXTS}

    def test_numbers(self, output: FinishedOutput) -> None:
        numbers = {row[0]: row[1] for row in tables(section(card(output), "Numbers"))[0]}
        changed = [row["changed"] for name in TEXTS for row in rows(output, name)]
        assert numbers["perturbed captions"] == str(len(changed)) == "24"
        assert numbers["of them changed"] == f"{100 * sum(changed) / 24:.1f} %"
        assert numbers["perturbed clips"] == "6"
        assert numbers["combinations: pairs; rows"] == f"{len(output.info['settings']['pairs'])}; 48"

    def test_combinations(self, output: FinishedOutput) -> None:
        grid = tables(section(card(output), "Combinations"))[0]
        assert grid[0] == ["", *(f"`{name}`" for name in ("gender_swap", "no_verbs", "random_noun", "shuffle_order"))]
        assert {row[0]: row[1:] for row in grid[1:]} == {"`jpeg`": ["x"] * 4, "`jumble`": ["x"] * 4}
        fewer = [pair for pair in output.info["settings"]["pairs"] if pair != "jpeg:no_verbs"]
        grid = tables(section(card(output, pairs=fewer), "Combinations"))[0]
        assert {row[0]: row[2] for row in grid[1:]} == {"`jpeg`": "", "`jumble`": "x"}

    def test_columns(self, output: FinishedOutput) -> None:
        _, clips, words, pairs = tables(section(card(output), "Tables"))
        assert [row[0] for row in words[1:]] == [
            f"`{name}`"
            for name in ("caption_id", "perturbation", "clip_id", "caption", "original", "changed", "reason")
        ]
        assert pairs[1][0] == "`perturbation`"
        assert ["`captions`", "list of string"] in [row[:2] for row in clips]

    def test_text_alone(self, output: FinishedOutput) -> None:
        build = text_only(output)
        text = render_card(build.path, build.info)
        assert (
            yaml.safe_load(text.split("---\n")[1])["pretty_name"] == "Perturbed clips, text half, built with stressreel"
        )
        for words in ("visual perturbation", "stressreel.load", "Combinations", "PSNR", "hendrycks", "How it is made"):
            assert words not in text.replace("Visual perturbations, the other half", ""), words
        assert 'load_dataset("OUT", "gender_swap", split="test")  # 6 rows, one for each caption' in text

    @pytest.mark.parametrize(
        ("source", "settings", "words"),
        [
            (YOUCOOK2, {"text_perturbations": ["no_verbs"], "pairs": []}, "YouCook2-P has no family `bias`"),
            (MSRVTT, {"text_mode": "released"}, "`--text-mode released`"),
            (MSRVTT, {"caption_style": "imperative"}, "taken to be orders (`--caption-style imperative`)"),
            (MSRVTT, {}, "| perturbed captions | 24 | 35,000 |"),
        ],
    )
    def test_what_was_chosen(self, output: FinishedOutput, source: Source, settings: dict, words: str) -> None:
        info = output.info | {
            "source": source.as_json(),
            "settings": output.info["settings"] | settings,
        }
        assert words in render_card(output.path, info)


class TestShift:
    @pytest.fixture
    def scored(self, output: FinishedOutput, tmp_path: Path) -> FinishedOutput:
        out = shutil.copytree(output.path, tmp_path / "o")
        shift = {"captions": 6, "changed": 0.5, "bleu4": 0.25, "meteor": 0.5, "rouge_l": 0.75}
        judged = {"mean": 812.34, "mean_without_outliers": 99.5, "outliers": 0.25}
        report = {
            "fingerprint": output.info["fingerprint"],
            "tools": {"sacrebleu": "2"},
            "originals": {"different": 6, "perplexity": judged | {"outliers": 0.0, "mean": 20.0}},
            "perturbations": {"no_verbs": {"family": "drop_text", **shift, "perplexity": judged}},
            "families": {"drop_text": {"perturbations": 1, "bleu4": 0.25, "meteor": 0.5, "rouge_l": 0.75}},
            "paper": {"drop_text": {"bleu4": 0.29, "meteor": 0.53, "rouge_l": 0.17}},
        }
        (out / "text_shift.json").write_text(json.dumps(report))
        return FinishedOutput(out, output.info)

    def test_the_numbers_are_shown(self, scored: FinishedOutput) -> None:
        text = section(card(scored), "How far captions moved")
        assert "| **drop_text** | **0.25** (0.29) | **0.50** (0.53) | **0.75** (0.17) | |" in text
        assert "| `no_verbs` | 0.25 | 0.50 | 0.75 | 812.3 (99.5 without 25 %) |" in text
        assert "| originals | | | | 20.0 |" in text

    def test_those_of_another_content_are_not(self, scored: FinishedOutput) -> None:
        other = FinishedOutput(scored.path, scored.info | {"fingerprint": "0"})
        assert "How far captions moved" not in render_card(other.path, other.info)
