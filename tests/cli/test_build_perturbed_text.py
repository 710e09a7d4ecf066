"""`build-perturbed --modality text|multimodal|all` and `stressreel score text-shift`, as a user runs them."""

import json
import os
import shutil
from collections import Counter

import datasets
import pytest
import stressreel
from commands import info, refuses, rows, run, run_json, run_process
from stressreel.api.score_texts import shift_table
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import text_corruptions
from stressreel.corruptions.text.engine import TextRecipe
from stressreel.corruptions.text.tools import Tools

TEXTS = ("no_verbs", "random_noun", "shuffle_order", "keyboard", "gender_swap")
PLAIN = ("--no-progress",)
COLUMNS = ["caption_id", "perturbation", "clip_id", "caption", "original", "changed", "reason"]


@pytest.fixture(scope="module")
def text(msrvtt, build_once):
    """Five texts of the sample; read only."""
    given = ("--modality", "text", "--text-perturbations", ",".join(TEXTS))
    return build_once("build-perturbed", "--msrvtt", msrvtt, *given)


@pytest.fixture(scope="module")
def combined(msrvtt, build_once):
    """What two visual and these texts combine to, with videos; read only."""
    texts = ",".join(name for name in TEXTS if name != "keyboard")  # in no combination
    names = ("--perturbations", "jpeg,jumble", "--text-perturbations", texts)
    given = ("--modality", "multimodal", *names, "--preset", "ultrafast", "--limit", 3)
    return build_once("build-perturbed", "--msrvtt", msrvtt, *given)


def counts(out):
    return {name: sum(splits.values()) for name, splits in info(out)["counts"].items()}


def verified(out):
    report = run_json("stressreel", "verify", out)
    assert [check for check in report["checks"] if not check["passed"]] == []
    return {check["name"] for check in report["checks"]}


class TestText:
    def test_rows(self, text, tmp_path):
        assert counts(text) == dict.fromkeys(("clean", *TEXTS), 5)
        assert "video" not in rows(text, "clean")[0]
        assert "derived" in verified(text)
        clean = {row["clip_id"]: row["captions"] for row in rows(text, "clean")}
        for name in TEXTS:
            table = datasets.load_dataset(str(text), name, split="test", cache_dir=str(tmp_path))
            assert table.column_names == COLUMNS
            for row in table:
                assert row["caption_id"] == f"{row['clip_id']}#0"
                assert row["original"] == clean[row["clip_id"]][0]
                recipe = TextRecipe(text_corruptions()[name], 0, row["caption_id"])
                made = recipe.apply(row["original"], Tools())
                assert (row["caption"], row["changed"], row["reason"]) == (made.text, made.changed, made.reason or None)

    def test_the_seed_counts(self, text, msrvtt, tmp_path):
        given = ("--modality", "text", "--text-perturbations", "shuffle_order,no_verbs", "--seed", 1, *PLAIN)
        assert run("build-perturbed", "--msrvtt", msrvtt, "--out", tmp_path / "o", *given).code == 0
        assert rows(tmp_path / "o", "no_verbs") == rows(text, "no_verbs")
        assert rows(tmp_path / "o", "shuffle_order") != rows(text, "shuffle_order")

    def test_orders(self, tmp_path):
        (tmp_path / "c.csv").write_text("video,caption\nfilm,mix the eggs and whisk\n")
        given = ("--modality", "text", "--text-perturbations", "no_verbs", "--caption-style", "imperative", *PLAIN)
        assert run("build-perturbed", "--captions", tmp_path / "c.csv", "--out", tmp_path / "o", *given).code == 0
        assert rows(tmp_path / "o", "no_verbs")[0]["caption"] == "[UNK] the eggs and [UNK]"


class TestMultimodal:
    def test_rows_name_a_clip_and_a_caption(self, combined, msrvtt, tmp_path):
        texts = {"no_verbs", "random_noun", "shuffle_order", "gender_swap"}
        visual = ("jpeg", "jumble")
        assert counts(combined) == {**dict.fromkeys(("clean", *visual, *texts), 3), "multimodal": 2 * 4 * 3}
        assert "derived" in verified(combined)
        table = datasets.load_dataset(str(combined), "multimodal", split="test", cache_dir=str(tmp_path))
        assert table.column_names == ["perturbation", "visual", "severity", "text", "clip_id", "caption_id"]
        assert Counter(table["perturbation"]) == {f"{one}:{other}": 3 for one in visual for other in texts}
        clips = {(n, r["clip_id"], r["severity"]): r for n in visual for r in rows(combined, n)}
        words = {(n, r["caption_id"]): r for n in texts for r in rows(combined, n)}
        assert {severity for _, _, severity in clips} == {3}
        for row in table:
            clip, caption = clips[row["visual"], row["clip_id"], 3], words[row["text"], row["caption_id"]]
            assert clip["video"]["bytes"]
            assert caption["clip_id"] == clip["clip_id"]
            assert caption["original"] in clip["captions"]
        for name in ("no_verbs", "multimodal"):
            with pytest.raises(InputError, match="Available: clean, jpeg, jumble"):
                stressreel.load(combined, name, videos=msrvtt)

    def test_pairs_of_ones_own_need_no_other_flag(self, msrvtt, tmp_path):
        given = (
            "--modality",
            "multimodal",
            "--pairs",
            "freeze:typos,rotation:keyboard",
            "--no-render",
            "--no-progress",
        )
        assert run("build-perturbed", "--msrvtt", msrvtt, "--out", tmp_path / "o", *given).code == 0
        assert list(counts(tmp_path / "o")) == ["clean", "rotation", "freeze", "keyboard", "typos", "multimodal"]
        pairs = {row["perturbation"] for row in rows(tmp_path / "o", "multimodal")}
        assert pairs == {"freeze:typos", "rotation:keyboard"}
        assert verified(tmp_path / "o")

    def test_what_has_no_video_is_in_no_combination(self, msrvtt, tmp_path):
        source = shutil.copytree(msrvtt, tmp_path / "source")
        next(source.rglob("video90002.mp4")).unlink()
        names = ("--perturbations", "jpeg", "--text-perturbations", "no_verbs,typos", "--severity", "1,3")
        given = ("--msrvtt", source, "--modality", "all", *names, "--preset", "ultrafast", *PLAIN)
        refuses(run("build-perturbed", *given, "--out", tmp_path / "o"), "1 source video missing")
        assert run("build-perturbed", *given, "--out", tmp_path / "o", "--allow-missing").code == 0
        assert counts(tmp_path / "o") == {
            "clean": 4,
            "jpeg": 8,
            "no_verbs": 4,
            "typos": 4,
            "multimodal": 4,
            "left_out": 3,
        }
        assert verified(tmp_path / "o")


class TestUse:
    def test_dry_run(self, msrvtt):
        done = run("build-perturbed", "--msrvtt", msrvtt, "--modality", "all", "--dry-run")
        assert "33 text perturbations x 5 captions = 165 perturbed captions" in done.out
        assert "with back_trans (--translate) and mlm_suggestion (--mlm): 35 x 5 captions = 175" in done.out
        assert "60 combinations x 5 captions = 300 rows" in done.out
        assert done.err == ""


class TestTextShift:
    def test_table_file_and_card(self, text, msrvtt, tmp_path):
        out = shutil.copytree(text, tmp_path / "o")
        before = (out / "README.md").read_bytes()
        done = run("stressreel", "score", "text-shift", out, "--json", "--no-card", "--no-progress")
        report = json.loads((out / "text_shift.json").read_text())
        assert {"canary": info(out)["canary"], **json.loads(done.out)} == report
        assert (out / "README.md").read_bytes() == before
        done = run("stressreel", "score", "text-shift", out, "--no-progress")
        assert report["fingerprint"] == info(out)["fingerprint"]
        assert set(report["perturbations"]) == {*TEXTS}
        assert done.out.strip() == shift_table(report).strip()
        shift = report["perturbations"]["shuffle_order"]
        row = f"| `shuffle_order` | {shift['bleu4']:.2f} | {shift['meteor']:.2f} | {shift['rouge_l']:.2f} |"
        assert row in (out / "README.md").read_text()
        assert run("stressreel", "verify", out).code == 0
        for shift in report["perturbations"].values():
            shift["bleu4"] = 0.99
        (out / "text_shift.json").write_text(json.dumps(report))
        assert run("stressreel", "card", out).code == 0  # shows the forged scores
        done = run("stressreel", "verify", out)
        assert done.code == 1
        assert "text_shift.json: perturbations.shuffle_order.bleu4 is 0.99" in done.out
        (out / "text_shift.json").write_text(json.dumps({**report, "tools": None}))
        damaged = "text_shift.json is damaged (tools is None, not an object)"
        assert damaged in run("stressreel", "verify", out).out
        refuses(run("stressreel", "card", out), damaged)
        given = ("--modality", "text", "--text-perturbations", "typos", "--no-progress")
        assert run("build-perturbed", "--msrvtt", msrvtt, "--out", out, "--fresh", *given).code == 0
        assert not (out / "text_shift.json").exists()

    def test_an_output_without_captions(self, msrvtt, build_once):
        given = ("--perturbations", "jpeg", "--limit", 2, "--no-render")
        out = build_once("build-perturbed", "--msrvtt", msrvtt, *given)
        refuses(run("stressreel", "score", "text-shift", out), "no perturbed captions", "`build-perturbed --help`")


@pytest.mark.shared
@pytest.mark.full
def test_captions_of_the_paper(shared):
    environment = {**os.environ, "NLTK_DATA": str(shared / "nltk_data")}
    msrvtt, youcook2 = ("--msrvtt", shared / "data" / "msrvtt"), ("--youcook2", shared / "data" / "youcook2")

    def plan(*given):
        return run_process("build-perturbed", *given, "--modality", "all", "--dry-run", env=environment).out

    done = plan(*msrvtt, "--text-perturbations", "all")
    assert "35 text perturbations x 1,000 captions = 35,000 perturbed captions" in done
    assert "66 combinations x 1,000 captions = 66,000 rows" in done
    done = plan(*youcook2)
    assert "29 text perturbations x 3,350 captions = 97,150 perturbed captions" in done
    assert "31 x 3,350 captions = 103,850 perturbed captions" in done
