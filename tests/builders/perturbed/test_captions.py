import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest
from commands import info, rows, run
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.captions import CaptionedClip, caption_id
from stressreel.annotations.entries import file_name
from stressreel.annotations.samples.cache import cached_sample
from stressreel.builders.perturbed.captions import BLOCK, text_tables, text_tools, text_units
from stressreel.builders.perturbed.prepare import plan_perturbed
from stressreel.builders.perturbed.render import PerturbedBuilder
from stressreel.builders.perturbed.selection import choose_pairs, choose_texts, combinations
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.builders.perturbed.tables import text_configs
from stressreel.builders.runtime.build import RunSettings, check_skips
from stressreel.builders.runtime.row_checks import check_links
from stressreel.core.errors import BuildError, InputError
from stressreel.core.output import FinishedOutput
from stressreel.core.plan import Skip
from stressreel.core.schema import Column, Config
from stressreel.corruptions.registry import list_corruptions, text_corruptions
from stressreel.corruptions.text.tools import Tools

TEXTS = tuple(text_corruptions())
VISUAL = tuple(c.name for c in list_corruptions("visual"))
TOOLS = Tools()


def clip(name, *captions, split="test"):
    return CaptionedClip(name, name, None, None, captions or ("a dog runs",), split)


class TestUnits:
    def test_one_for_each_perturbation_block_and_split(self):
        clips = [clip(f"v{n:04}", "a dog runs", "a cat sits") for n in range(BLOCK)] + [clip("w", split="train")]
        units = list(text_units(clips, ("no_nouns", "typos")))
        sizes = Counter((unit.payload["text"], unit.split, len(unit.payload["captions"])) for unit in units)
        expected = {("test", BLOCK): 2, ("train", 1): 1}
        assert sizes == {(name, *key): count for name in ("no_nouns", "typos") for key, count in expected.items()}
        assert len({unit.id for unit in units}) == len(units)
        assert not any(file_name(unit.id) for unit in units)  # none is named like a video
        captions = [caption[0] for unit in units if unit.tables == ("typos",) for caption in unit.payload["captions"]]
        assert captions == sorted(captions) == [caption_id(c.id, n) for c in clips for n in range(len(c.captions))]

    def test_they_do_not_thin_the_share_of_skips(self):
        settings = PerturbedSettings(perturbations=("jpeg",), text_perturbations=TEXTS)
        plan = plan_perturbed([clip("v"), clip("w")], settings)
        skip = Skip("v", "v", "undecodable", "it is broken")
        with pytest.raises(BuildError, match=r"1 of 2 clips \(50.0%\) had to be skipped"):
            check_skips(plan, [skip], RunSettings(max_skip=0.1))
        with pytest.raises(BuildError, match=r"every unit was skipped(.|\n)*v \(undecodable\): it is broken"):
            check_skips(plan, [skip, replace(skip, unit_id="w")], RunSettings(max_skip=1))

    def test_share_of_skips_counts_each_clip_once(self):
        cut = [CaptionedClip(f"c{n}", f"v{n // 3}", n, n + 1.0, ("a dog runs",), "test") for n in range(6)]
        plan = plan_perturbed(cut, PerturbedSettings(perturbations=("jpeg", "jumble")))
        short = [Skip(name, "v0", "too_short", "", "part") for name in ("c0", "c1")]
        check_skips(plan, short, RunSettings(max_skip=0.34))
        with pytest.raises(BuildError, match=r"2 of 6 clips \(33.3%\)"):
            check_skips(plan, short, RunSettings(max_skip=0.33))
        with pytest.raises(BuildError, match=r"4 of 6 clips \(66.7%\)"):
            check_skips(plan, [short[0], Skip("v1.jpeg", "v1", "undecodable", ""), short[0]], RunSettings(max_skip=0.3))

    @given(st.lists(st.tuples(st.text("ab#_0", min_size=1), st.integers(0, 30)), unique=True))
    def test_caption_ids_never_meet(self, captions):
        assert len({caption_id(*caption) for caption in captions}) == len(captions)

    def made(self, name, folder, *clips):
        builder = PerturbedBuilder(PerturbedSettings(text_perturbations=(name,)), tools=TOOLS)
        for unit in text_units(clips, (name,)):
            yield from (row for _, row in builder.rows(unit, builder.render(unit, folder)))

    def test_rows(self, tmp_path):
        first, second = self.made("no_verbs", tmp_path, clip("v", "a dog runs", "the red car"))
        assert (first["caption_id"], first["caption"], first["original"]) == ("v#0", "a dog [UNK]", "a dog runs")
        assert second["caption"] == second["original"] == "the red car"
        assert (second["changed"], second["reason"]) == (False, "no verb")

    def test_the_key_is_the_caption(self, tmp_path):
        """A caption's words do not depend on what else is in the data set."""
        sentence = "a man in a red hat slowly rides a horse"
        clips = clip("a"), clip("b", sentence, sentence), clip("c", sentence)
        (alone,) = self.made("shuffle_order", tmp_path, clip("b", sentence))
        among = {row["caption_id"]: row["caption"] for row in self.made("shuffle_order", tmp_path, *clips)}
        assert alone["caption"] == among["b#0"]
        assert len({among["b#0"], among["b#1"], among["c#0"]}) == 3


class TestChoice:
    def test_texts(self):
        assert len(TEXTS) == 35
        assert set(TEXTS) - set(choose_texts(None, Tools())) == {"mlm_suggestion", "back_trans"}
        assert set(TEXTS) - set(choose_texts(None, Tools(mlm="m"))) == {"back_trans"}
        assert choose_texts(None, Tools(mlm="m", translate=("a", "b"))) == choose_texts(["all"], Tools()) == TEXTS
        assert len(choose_texts(["all"], Tools(), bias=False)) == 31
        assert choose_texts(["gender_swap"], Tools(), bias=False) == ("gender_swap",)
        bias = ("all_female", "all_male", "gender_neutral", "gender_swap")
        assert choose_texts(["shuffle_order", "bias", "typos"], Tools()) == (*bias, "typos", "shuffle_order")

    def test_pairs(self):
        severity, pairs = combinations()
        assert (severity, len(pairs), len(set(pairs))) == (3, 66, 66)
        assert len(choose_pairs(None, VISUAL, TEXTS)) == 66
        assert len(choose_pairs(None, VISUAL, choose_texts(["all"], Tools(), bias=False))) == 6 * 8
        chosen = choose_pairs(["jpeg:typos", " freeze : ocr ", "jpeg:typos"], VISUAL, TEXTS)
        assert chosen == ("jpeg:typos", "freeze:ocr")

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (["jpeg"], "'jpeg' is not a combination"),
            (["jpeg:typo"], "Did you mean 'typos'"),
            (["jpeg:typos"], "names jpeg, typos, which"),
            (None, "none of the 66 combinations in the paper"),
        ],
    )
    def test_wrong_pairs(self, given, words):
        with pytest.raises(InputError, match=words):
            choose_pairs(given, ("rotation",), ("ocr",))


class TestPlan:
    def plan(self, **fields):
        clips = [clip("v", "a dog runs", "a cat sits"), clip("w")]
        return plan_perturbed(clips, PerturbedSettings(**{"perturbations": (), "severity": (3,)} | fields))

    def test_a_combination_has_a_row_for_each_caption_of_its_clip(self):
        pairs = ("jpeg:typos", "jpeg:ocr", "freeze:ocr")
        plan = self.plan(perturbations=("jpeg", "freeze"), text_perturbations=("typos", "ocr"), pairs=pairs)
        assert [config.name for config in plan.configs] == ["clean", "jpeg", "freeze", "typos", "ocr", "multimodal"]
        builder = PerturbedBuilder(PerturbedSettings(severity=(3,), render=False, pairs=pairs))
        rows = [row for u in plan.units if u.source_id for name, row in builder.rows(u, {}) if name == "multimodal"]
        assert Counter(row["perturbation"] for row in rows) == dict.fromkeys(pairs, 3)
        assert all(row["perturbation"] == f"{row['visual']}:{row['text']}" and row["severity"] == 3 for row in rows)
        assert {row["caption_id"] for row in rows if row["clip_id"] == "v"} == {"v#0", "v#1"}

    def test_what_decides_the_words_is_in_the_hash(self):
        chosen = {"text_perturbations": ("typos", "all_male")}
        others = [{"caption_style": "auto"}, {"text_mode": "released"}, {"seed": 1}, {"text_perturbations": ("typos",)}]
        assert len({self.plan(**chosen | other).hash for other in [{}, *others]}) == 5
        assert set(text_tables(("typos", "gender_swap"))) == {"text.yaml", "text/bias.yaml", "text/change_char.yaml"}
        assert text_tables(("typos",))["text.yaml"] != text_tables(("ocr",))["text.yaml"]


def test_names_of_tools_hold_no_place():
    class Known(Tools):
        def identity(self, corruptions, mode="stressreel"):
            models = [{"name": "org/model", "revision": "0f", "weights": "1"}, {"name": "b", "revision": "2"}]
            mlm = {"name": "/home/me/bert", "revision": "", "weights": "5e", "settings": "aa"}
            return {"tagger": "pattern 1", "mlm": mlm, "translation": models, "embeddings": {"glove": "77"}}

    assert text_tools(Known(), []) == {
        "tagger": "pattern 1",
        "mlm": "weights 5e settings aa",
        "translation": "org/model@0f weights 1, b@2",
        "embeddings": "glove 77",
    }


def test_captions_of_missing_clips_are_left_out_and_counted(tmp_path: Path) -> None:
    source = shutil.copytree(cached_sample("msrvtt"), tmp_path / "source")
    videos = sorted((source / "videos" / "all").glob("*.mp4"))
    for path in videos[3:]:
        path.unlink()
    out = tmp_path / "out"
    built = run(
        "build-perturbed", "--msrvtt", source, "--out", out, "--modality", "all", "--allow-missing", "--severity", 3,
        "--perturbations", "jpeg", "--text-perturbations", "no_verbs", "--pairs", "jpeg:no_verbs",
        "--preset", "ultrafast",
    )  # fmt: skip
    assert built.code == 0, built
    clips = {path.stem for path in videos[:3]}
    for table in ("clean", "jpeg", "no_verbs", "multimodal"):
        assert {row["clip_id"] for row in rows(out, table)} == clips
    skips = info(out)["skips"]
    assert skips["count"] == len(videos) - 3
    assert skips["rows_that_refer_to_them"] == {"no_verbs": {"test": len(videos) - 3}}
    assert "| no_verbs | 9 |" in (out / "README.md").read_text()
    checked = run("stressreel", "verify", out, "--no-decode")
    assert checked.code == 0, checked.out
    rebuilt = run(
        "stressreel", "verify", out, "--sources", source, "--no-decode", "--allow-unverified", "videos"
    )  # fmt: skip
    assert rebuilt.code == 0, rebuilt.out


def test_links_to_absent_clips_are_reported() -> None:
    @dataclass
    class Forged:
        def splits(self, table: str) -> list[str]:
            return ["test"]

        def rows(self, table: str, columns: list[str], split: str) -> list[dict[str, str]]:
            return [{"clip_id": name} for name in (["a"] if table == "clean" else ["a", "b"])]

    configs = (Config("clean", "clips", (Column("clip_id", "string", "id"),)), *text_configs(["no_verbs"]))
    findings = list(check_links(cast(FinishedOutput, Forged()), configs))
    assert findings[0] == "no_verbs/test: clip_id b is not in clean"
    assert len(findings) == 2
