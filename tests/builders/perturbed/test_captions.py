"""How the work on captions is planned, chosen and done."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.captions import CaptionedClip, caption_id
from stressreel.builders.perturbed.captions import BLOCK, choose_texts, text_tables, text_tools, text_units
from stressreel.builders.perturbed.combinations import Pair, choose_pairs, combinations
from stressreel.builders.perturbed.plan import plan_perturbed
from stressreel.builders.perturbed.render import PerturbedBuilder
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.builders.perturbed.tables import visual_tables
from stressreel.builders.runtime.build import Options, check_skips
from stressreel.core.errors import BuildError, InputError
from stressreel.core.plan import Skip
from stressreel.corruptions.registry import check_text_name, list_corruptions, text_corruptions
from stressreel.corruptions.text.tools import Tools

TEXTS = tuple(text_corruptions())
VISUAL = tuple(c.name for c in list_corruptions("visual"))
PATTERN = Tools("pattern")


def clip(name: str, *captions: str, split: str = "test") -> CaptionedClip:
    return CaptionedClip(name, name, None, None, captions or ("a dog runs",), split)


class TestUnits:
    def test_one_for_each_perturbation_block_and_split(self) -> None:
        clips = [clip(f"v{n:04}", "a dog runs", "a cat sits") for n in range(BLOCK)] + [clip("w", split="train")]
        units = list(text_units(clips, ("no_nouns", "typos")))
        sizes = Counter((unit.payload["text"], unit.split, len(unit.payload["captions"])) for unit in units)
        expected = {("test", BLOCK): 2, ("train", 1): 1}
        assert sizes == {(name, *key): count for name in ("no_nouns", "typos") for key, count in expected.items()}
        assert len({unit.id for unit in units}) == len(units)
        captions = [caption[0] for unit in units if unit.tables == ("typos",) for caption in unit.payload["captions"]]
        assert captions == sorted(captions) == [caption_id(c.id, n) for c in clips for n in range(len(c.captions))]

    def test_they_need_no_video_and_are_rendered_all_the_same(self) -> None:
        plan = plan_perturbed(
            [clip("v")], PerturbedSettings(perturbations=(), text_perturbations=("no_nouns",), render=False)
        )
        text, clean = sorted(plan.units, key=lambda unit: unit.source_id)
        builder = PerturbedBuilder(PerturbedSettings(render=False))
        assert (text.source_id, clean.source_id) == ("", "v")
        assert (builder.renders(text), builder.missing(text), builder.stamp(text)) == (True, None, "")
        assert not builder.renders(clean)

    def test_they_do_not_thin_the_share_of_skips(self) -> None:
        clips = [clip("v"), clip("w")]
        plan = plan_perturbed(clips, PerturbedSettings(perturbations=("jpeg",), text_perturbations=TEXTS))
        skip = Skip("v", "v", "undecodable", "it is broken")
        with pytest.raises(BuildError, match=r"1 of 2 units \(50.0%\) had to be skipped"):
            check_skips(plan, [skip], Options(max_skip=0.1))
        with pytest.raises(BuildError, match="every unit was skipped"):
            check_skips(plan, [skip, replace(skip, unit_id="w")], Options(max_skip=1))

    @given(st.lists(st.tuples(st.text("ab#_0", min_size=1), st.integers(0, 30)), unique=True))
    def test_caption_ids_never_meet(self, captions: list[tuple[str, int]]) -> None:
        assert len({caption_id(*caption) for caption in captions}) == len(captions)

    def test_ids_are_none_of_a_video(self) -> None:
        from stressreel.annotations.captions import file_name

        assert all(not file_name(unit.id) for unit in text_units([clip("v")], TEXTS))

    def test_a_fault_names_the_caption(self, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
        def broken(caption: object) -> str:
            raise KeyError("oops")

        corruption = check_text_name("no_nouns")
        monkeypatch.setitem(corruption.__dict__, "function", broken)
        (unit,) = text_units([clip("v", "a dog runs")], ("no_nouns",))
        with pytest.raises(RuntimeError, match=r"v#0, 'a dog runs': KeyError: 'oops'"):
            PerturbedBuilder(PerturbedSettings(), tools=PATTERN).render(unit, tmp_path)

    def test_rows(self, tmp_path) -> None:
        settings = PerturbedSettings(text_perturbations=("no_verbs",))
        (unit,) = text_units([clip("v", "a dog runs", "the red car")], settings.text_perturbations)
        builder = PerturbedBuilder(settings, tools=PATTERN)
        (name, first), (_, second) = builder.rows(unit, builder.render(unit, tmp_path))
        assert name == "no_verbs"
        assert first == {
            **{"caption_id": "v#0", "perturbation": "no_verbs", "clip_id": "v"},
            **{"caption": "a dog [UNK]", "original": "a dog runs", "changed": True, "reason": None},
        }
        assert second["caption"] == second["original"] == "the red car"
        assert (second["changed"], second["reason"]) == (False, "no verb")

    def test_the_key_is_the_caption(self, tmp_path) -> None:
        """A caption's words do not depend on what else is in the data set."""
        settings = PerturbedSettings(text_perturbations=("shuffle_order",))
        builder = PerturbedBuilder(settings, tools=PATTERN)
        sentence = "a man in a red hat slowly rides a horse"

        def made(*clips: CaptionedClip) -> dict[str, str]:
            units = list(text_units(clips, settings.text_perturbations))
            rows = [row for unit in units for _, row in builder.rows(unit, builder.render(unit, tmp_path))]
            return {row["caption_id"]: row["caption"] for row in rows}

        alone = made(clip("b", sentence))
        among = made(clip("a"), clip("b", sentence, sentence), clip("c", sentence))
        assert alone["b#0"] == among["b#0"]
        assert len({among["b#0"], among["b#1"], among["c#0"]}) == 3


class TestChoice:
    def test_what_needs_no_model_is_the_default(self) -> None:
        assert set(TEXTS) - set(choose_texts(None, Tools())) == {"mlm_suggestion", "back_trans"}
        assert set(TEXTS) - set(choose_texts(None, Tools(mlm="m"))) == {"back_trans"}
        assert choose_texts(None, Tools(mlm="m", translate=("a", "b"))) == TEXTS

    def test_all(self) -> None:
        assert choose_texts(["all"], Tools()) == TEXTS
        assert len(TEXTS) == 35

    def test_youcook2_has_no_bias(self) -> None:
        assert len(choose_texts(["all"], Tools(), bias=False)) == 31
        assert len(choose_texts(None, Tools(), bias=False)) == 29
        assert choose_texts(["gender_swap"], Tools(), bias=False) == ("gender_swap",)

    def test_names_and_families_in_the_papers_order(self) -> None:
        assert choose_texts(["shuffle_order", "bias", "typos"], Tools()) == (
            *("all_female", "all_male", "gender_neutral", "gender_swap", "typos", "shuffle_order"),
        )
        with pytest.raises(InputError, match="Did you mean 'typos'"):
            choose_texts(["typo"], Tools())

    def test_the_papers_66(self) -> None:
        severity, pairs = combinations()
        assert severity == 3
        assert len(pairs) == len(set(pairs)) == 66
        assert {pair.visual for pair in pairs} <= set(VISUAL)
        assert {pair.text for pair in pairs} <= set(TEXTS)
        assert len(choose_pairs(None, VISUAL, TEXTS)) == 66
        without = choose_texts(["all"], Tools(), bias=False)
        assert len(choose_pairs(None, VISUAL, without)) == 6 * 8

    def test_pairs_of_ones_own(self) -> None:
        assert choose_pairs(["jpeg:typos", " freeze : ocr ", "jpeg:typos"], VISUAL, TEXTS) == (
            "jpeg:typos",
            "freeze:ocr",
        )

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (["jpeg"], "'jpeg' is no combination"),
            (["typos:jpeg"], "'typos' is a text perturbation"),
            (["jpeg:typo"], "Did you mean 'typos'"),
            (["jpeg:typos"], "names jpeg, typos, which"),
        ],
    )
    def test_wrong_pairs(self, given: list[str], words: str) -> None:
        with pytest.raises(InputError, match=words):
            choose_pairs(given, ("freeze",), ("ocr",))

    def test_no_pair_is_left(self) -> None:
        with pytest.raises(InputError, match="none of the paper's 66"):
            choose_pairs(None, ("rotation",), TEXTS)


class TestPlan:
    def plan(self, **fields):
        clips = [clip("v", "a dog runs", "a cat sits"), clip("w")]
        return plan_perturbed(clips, PerturbedSettings(**{"perturbations": (), "severities": (3,)} | fields))

    def test_tables(self) -> None:
        plan = self.plan(perturbations=("jpeg",), text_perturbations=("typos",), pairs=("jpeg:typos",))
        assert [config.name for config in plan.configs] == ["clean", "jpeg", "typos", "multimodal"]
        filled = {unit.source_id: unit.tables for unit in plan.units}
        assert filled == {"": ("typos",), "v": ("clean", "jpeg", "multimodal"), "w": ("clean", "jpeg", "multimodal")}
        info = {"settings": {"perturbations": ["jpeg"]}, "counts": {"jpeg": {}, "typos": {}, "clean": {}}}
        assert visual_tables(info) == ["clean", "jpeg"]

    def test_a_combination_has_a_row_for_each_caption_of_its_clip(self) -> None:
        pairs = ("jpeg:typos", "jpeg:ocr", "freeze:ocr")
        plan = self.plan(perturbations=("jpeg", "freeze"), text_perturbations=("typos", "ocr"), pairs=pairs)
        builder = PerturbedBuilder(PerturbedSettings(severities=(3,), render=False, pairs=pairs))
        rows = [row for u in plan.units if u.source_id for name, row in builder.rows(u, {}) if name == "multimodal"]
        assert Counter(row["perturbation"] for row in rows) == dict.fromkeys(pairs, 3)
        assert all(row["perturbation"] == f"{row['visual']}:{row['text']}" and row["severity"] == 3 for row in rows)
        assert {row["caption_id"] for row in rows if row["clip_id"] == "v"} == {"v#0", "v#1"}

    def test_what_decides_the_words_is_in_the_hash(self) -> None:
        base = self.plan(text_perturbations=("typos", "all_male")).hash
        others = [{"caption_style": "auto"}, {"text_mode": "released"}, {"seed": 1}, {"text_perturbations": ("typos",)}]
        for other in others:
            assert self.plan(**{"text_perturbations": ("typos", "all_male"), **other}).hash != base

    def test_tables_of_words_are_hashed(self) -> None:
        assert text_tables(()) == {}
        assert set(text_tables(("typos", "gender_swap"))) == {"text.yaml", "text/bias.yaml", "text/change_char.yaml"}
        assert text_tables(("typos",))["text.yaml"] != text_tables(("ocr",))["text.yaml"]


class TestTools:
    def test_names_hold_no_place(self) -> None:
        class Known(Tools):
            def identity(self, corruptions):
                return {
                    "tagger": "pattern, textblob 1",
                    "mlm": {"name": "/home/me/bert", "revision": "", "weights": "5e", "settings": "aa"},
                    "translation": [
                        {"name": "org/model", "revision": "0f", "weights": "1"},
                        {"name": "b", "revision": "2"},
                    ],
                    "embeddings": {"glove": "77"},
                }

        assert text_tools(Known(), []) == {
            "tagger": "pattern, textblob 1",
            "mlm": "weights 5e settings aa",
            "translation": "org/model@0f weights 1, b@2",
            "embeddings": "glove 77",
        }

    def test_pair_is_written_as_it_is_read(self) -> None:
        assert str(Pair.read("jpeg:typos")) == "jpeg:typos"
