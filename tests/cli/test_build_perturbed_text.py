"""`build-perturbed --modality text|multimodal|all` and `stressreel score text-shift`, as a user runs them."""

import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import datasets
import pytest
import stressreel
from commands import info, refuses, rows, run, run_process, start, wait_until
from stressreel.api.score_text_shift import shift_table
from stressreel.builders.perturbed.combinations import combinations

TEXTS = ("no_verbs", "random_noun", "shuffle_order", "keyboard", "gender_swap")
PLAIN = ("--tagger", "pattern", "--no-progress")
COLUMNS = ["caption_id", "perturbation", "clip_id", "caption", "original", "changed", "reason"]


@pytest.fixture(scope="module")
def text(msrvtt: Path, build_once: Callable[..., Path]) -> Path:
    """Five texts of the sample; read only."""
    arguments = ("--modality", "text", "--text-perturbations", ",".join(TEXTS), *PLAIN)
    return build_once("build-perturbed", "--msrvtt", msrvtt, *arguments)


@pytest.fixture(scope="module")
def combined(msrvtt: Path, build_once: Callable[..., Path]) -> Path:
    """What two visual and these texts combine to, with videos; read only."""
    names = ("--perturbations", "jpeg,jumble,rotation", "--text-perturbations", ",".join(TEXTS))
    given = ("--modality", "multimodal", *names, "--preset", "ultrafast", "--limit", 3, *PLAIN)
    return build_once("build-perturbed", "--msrvtt", msrvtt, *given)


class TestText:
    def test_one_config_for_each_and_clean(self, text: Path) -> None:
        counts = {name: sum(splits.values()) for name, splits in info(text)["counts"].items()}
        assert counts == dict.fromkeys(("clean", *sorted(TEXTS, key=list(counts).index)), 5)
        assert "video" not in rows(text, "clean")[0]

    @pytest.mark.parametrize("name", TEXTS)
    def test_load_dataset(self, text: Path, name: str, tmp_path: Path) -> None:
        table = datasets.load_dataset(str(text), name, split="test", cache_dir=str(tmp_path))
        assert table.column_names == COLUMNS
        clean = {row["clip_id"]: row["captions"] for row in rows(text, "clean")}
        for row in table:
            assert row["caption_id"] == f"{row['clip_id']}#0"
            assert row["original"] == clean[row["clip_id"]][0]
            assert row["changed"] == (row["caption"] != row["original"]) == (row["reason"] is None)

    def test_a_recipe_gives_the_same(self, text: Path) -> None:
        from stressreel.corruptions.registry import text_corruptions
        from stressreel.corruptions.text.engine import TextRecipe
        from stressreel.corruptions.text.tools import Tools

        for name in TEXTS:
            for row in rows(text, name):
                result = TextRecipe(text_corruptions()[name], 0, row["caption_id"]).apply(
                    row["original"], Tools("pattern")
                )
                assert (result.text, result.changed, result.reason or None) == (
                    *(row["caption"], row["changed"], row["reason"]),
                )

    def test_verify(self, text: Path) -> None:
        report = json.loads(run("stressreel", "verify", text, "--json").out)
        assert [check for check in report["checks"] if not check["passed"]] == []
        assert "derived" in {check["name"] for check in report["checks"]}

    def test_with_two_workers_elsewhere(self, text: Path, msrvtt: Path, tmp_path: Path) -> None:
        arguments = ("--modality", "text", "--text-perturbations", ",".join(reversed(TEXTS)), "--seed", 0, *PLAIN)
        assert run("build-perturbed", "--msrvtt", msrvtt, "--out", tmp_path / "o", "--workers", 2, *arguments).code == 0
        assert info(tmp_path / "o")["fingerprint"] == info(text)["fingerprint"]

    def test_the_seed_counts(self, text: Path, msrvtt: Path, tmp_path: Path) -> None:
        given = ("--modality", "text", "--text-perturbations", "shuffle_order,no_verbs", "--seed", 1, *PLAIN)
        assert run("build-perturbed", "--msrvtt", msrvtt, "--out", tmp_path / "o", *given).code == 0
        assert rows(tmp_path / "o", "no_verbs") == rows(text, "no_verbs")
        assert rows(tmp_path / "o", "shuffle_order") != rows(text, "shuffle_order")

    def test_the_command_in_the_card_builds_the_same(self, text: Path, msrvtt: Path, tmp_path: Path) -> None:
        words = info(text)["command"].split()
        assert words[:3] == ["build-perturbed", "--msrvtt", "DIR"]
        again = [str(msrvtt) if word == "DIR" else str(tmp_path / "o") if word == "OUT" else word for word in words[1:]]
        assert run("build-perturbed", *again, "--no-progress").code == 0
        assert (tmp_path / "o" / "build.json").read_bytes() == (text / "build.json").read_bytes()

    def test_orders(self, tmp_path: Path) -> None:
        (tmp_path / "c.csv").write_text("video,caption\nfilm,mix the eggs and whisk\n")
        for style, verb in (("imperative", "[UNK] the eggs and [UNK]"), ("declarative", None)):
            given = ("--modality", "text", "--text-perturbations", "no_verbs", "--caption-style", style, *PLAIN)
            out = tmp_path / style
            assert run("build-perturbed", "--captions", tmp_path / "c.csv", "--out", out, *given).code == 0
            assert info(out)["settings"]["caption_style"] == style
            assert verb is None or rows(out, "no_verbs")[0]["caption"] == verb

    def test_other_settings_are_refused(self, text: Path, msrvtt: Path, tmp_path: Path) -> None:
        out = shutil.copytree(text, tmp_path / "o")
        arguments = ("--modality", "text", "--text-perturbations", ",".join(TEXTS), "--text-mode", "released", *PLAIN)
        done = run("build-perturbed", "--msrvtt", msrvtt, "--out", out, *arguments)
        refuses(done, "settings.text_mode: stressreel → released")
        assert "settings.text_perturbations" not in done.err

    def test_after_kill_and_resume(self, tmp_path: Path) -> None:
        lines = (f"film{number},a man in a red hat rides a brown horse number {number}" for number in range(1200))
        (tmp_path / "c.csv").write_text("video,caption\n" + "\n".join(lines))
        given = ("--captions", tmp_path / "c.csv", "--modality", "text", "--text-perturbations", "drop_text", *PLAIN)
        whole, out = tmp_path / "whole", tmp_path / "out"
        assert run("build-perturbed", *given, "--out", whole, "--workers", 1).code == 0
        journal = out / ".build" / "journal.jsonl"
        process = start("build-perturbed", *given, "--out", out, "--workers", 2)
        wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 5, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        before = [line for line in journal.read_bytes().split(b"\n")[:-1] if b'"facts"' in line]
        assert 5 <= len(before) < 24
        done = run("build-perturbed", *given, "--out", out, "--workers", 1)
        assert done.code == 0
        assert f"{len(before)} of 24 are done" in done.err
        after = [json.loads(line).get("unit") for line in journal.read_bytes().split(b"\n")[:-1]]
        assert max(Counter(filter(None, after)).values()) == 1
        assert (out / "build.json").read_bytes() == (whole / "build.json").read_bytes()
        assert (out / "README.md").read_bytes() == (whole / "README.md").read_bytes()


class TestMultimodal:
    def test_only_what_is_combined_is_built(self, combined: Path) -> None:
        counts = {name: sum(splits.values()) for name, splits in info(combined)["counts"].items()}
        texts = {"no_verbs", "random_noun", "shuffle_order", "gender_swap"}  # keyboard and rotation are in no pair
        assert counts == {**dict.fromkeys(("clean", "jpeg", "jumble", *texts), 3), "multimodal": 2 * 4 * 3}
        assert {row["severity"] for name in ("jpeg", "jumble") for row in rows(combined, name)} == {3}

    def test_every_row_names_a_clip_and_a_caption(self, combined: Path, tmp_path: Path) -> None:
        table = datasets.load_dataset(str(combined), "multimodal", split="test", cache_dir=str(tmp_path))
        assert table.column_names == ["perturbation", "visual", "severity", "text", "clip_id", "caption_id"]
        clips = {(n, r["clip_id"], r["severity"]): r for n in ("jpeg", "jumble") for r in rows(combined, n)}
        words = {(n, r["caption_id"]): r for n in TEXTS for r in rows(combined, n)}
        assert Counter(table["perturbation"]) == {
            str(p): 3 for p in combinations()[1] if p.visual in table["visual"] and p.text in TEXTS
        }
        for row in table:
            clip = clips[row["visual"], row["clip_id"], row["severity"]]
            caption = words[row["text"], row["caption_id"]]
            assert clip["video"]["bytes"]
            assert caption["clip_id"] == clip["clip_id"]
            assert caption["original"] in clip["captions"]

    def test_verify(self, combined: Path) -> None:
        report = json.loads(run("stressreel", "verify", combined, "--json").out)
        assert [check for check in report["checks"] if not check["passed"]] == []
        assert "derived" in {check["name"] for check in report["checks"]}

    def test_load_knows_the_videos(self, combined: Path, msrvtt: Path) -> None:
        videos = msrvtt / "videos" / "all"
        assert len(stressreel.load(combined, "jumble", videos=videos)) == 3
        for name in ("no_verbs", "multimodal"):
            with pytest.raises(stressreel.errors.InputError, match="It has: clean, jpeg, jumble"):
                stressreel.load(combined, name, videos=videos)

    def test_pairs_of_ones_own_need_no_other_flag(self, msrvtt: Path, tmp_path: Path) -> None:
        given = ("--modality", "multimodal", "--pairs", "freeze:typos,rotation:keyboard", "--no-render", *PLAIN)
        assert run("build-perturbed", "--msrvtt", msrvtt, "--out", tmp_path / "o", *given).code == 0
        assert list(info(tmp_path / "o")["counts"]) == [
            "clean",
            "rotation",
            "freeze",
            "keyboard",
            "typos",
            "multimodal",
        ]
        assert {row["perturbation"] for row in rows(tmp_path / "o", "multimodal")} == {
            "freeze:typos",
            "rotation:keyboard",
        }
        assert run("stressreel", "verify", tmp_path / "o").code == 0

    def test_what_has_no_video_is_in_no_combination(self, msrvtt: Path, tmp_path: Path) -> None:
        source = shutil.copytree(msrvtt, tmp_path / "source")
        next(source.rglob("video90002.mp4")).unlink()
        names = ("--perturbations", "jpeg", "--text-perturbations", "no_verbs,typos", "--severity", "1,3")
        given = ("--msrvtt", source, "--modality", "all", *names, "--preset", "ultrafast", *PLAIN)
        refuses(run("build-perturbed", *given, "--out", tmp_path / "o"), "1 source video missing")
        done = run("build-perturbed", *given, "--out", tmp_path / "o", "--allow-missing")
        assert done.code == 0, done.err
        counts = {name: sum(splits.values()) for name, splits in info(tmp_path / "o")["counts"].items()}
        assert counts == {"clean": 4, "jpeg": 8, "no_verbs": 5, "typos": 5, "multimodal": 4}
        verified = run("stressreel", "verify", tmp_path / "o")
        assert verified.code == 0, verified.out


class TestUse:
    def test_video_is_the_default(self, msrvtt: Path) -> None:
        done = run("build-perturbed", "--msrvtt", msrvtt, "--perturbations", "jpeg", "--dry-run")
        assert "25 perturbed clips" in done.out
        assert "text perturbations" not in done.out

    def test_dry_run(self, msrvtt: Path) -> None:
        given = ("--modality", "all", "--no-render", "--dry-run", "--tagger", "pattern")  # so that nothing is probed
        done = run("build-perturbed", "--msrvtt", msrvtt, *given)
        assert "33 text perturbations x 5 captions = 165 perturbed captions" in done.out
        assert "with back_trans (--translate) and mlm_suggestion (--mlm): 35 x 5 captions = 175" in done.out
        assert "60 combinations x 5 captions = 300 rows" in done.out

    def test_a_dry_run_fetches_nothing(self, msrvtt: Path) -> None:
        given = ("--modality", "text", "--text-perturbations", "all", "--dry-run")
        done = run("build-perturbed", "--msrvtt", msrvtt, *given)
        assert "35 text perturbations x 5 captions = 175" in done.out
        assert "mlm_suggestion fetches its model from the hub, unless --mlm names it" in done.out
        assert done.err == ""

    @pytest.mark.parametrize(
        ("arguments", "words", "code"),
        [
            (("--text-perturbations", "typos"), "--text-perturbations needs --modality text", 2),
            (("--modality", "text", "--pairs", "jpeg:typos"), "--pairs needs --modality multimodal or all", 2),
            (("--modality", "all", "--severity", "1,2"), "clips at severity 3", 2),
            (("--modality", "text", "--text-perturbations", ","), "names nothing", 2),
            (("--modality", "text", "--text-perturbations", "typo"), "Did you mean 'typos'", 2),
            (("--modality", "multimodal", "--pairs", "jpeg"), "'jpeg' is no combination", 2),
            (("--modality", "multimodal", "--perturbations", "rotation"), "none of the paper's 66", 1),
        ],
    )
    def test_what_does_not_go_together(self, msrvtt: Path, arguments: tuple[str, ...], words: str, code: int) -> None:
        refuses(run("build-perturbed", "--msrvtt", msrvtt, *arguments, "--dry-run"), words, code=code)

    @pytest.mark.parametrize(
        ("arguments", "words", "code"),
        [
            (("--text-perturbations", "mlm_suggestion", "--mlm", "nowhere/at/all"), "--mlm DIR", 2),
            (("--text-perturbations", "back_trans", "--translate", "./a", "./b"), "--translate DIR DIR", 1),
            (("--text-perturbations", "swap_syn_word_embedding", "--glove", "none.txt"), "--glove", 2),
        ],
    )
    def test_missing_tools_are_said_before_work_starts(
        self, msrvtt: Path, tmp_path: Path, arguments: tuple[str, ...], words: str, code: int
    ) -> None:
        done = run("build-perturbed", "--msrvtt", msrvtt, "--modality", "text", "--out", tmp_path / "o", *arguments)
        refuses(done, words, code=code)
        assert not (tmp_path / "o").exists()

    def test_a_config_file(self, msrvtt: Path, tmp_path: Path) -> None:
        (tmp_path / "c.yaml").write_text("modality: text\ntext-perturbations: typos,ocr\ntranslate: [a, b]\n")
        done = run("build-perturbed", "--msrvtt", msrvtt, "--config", tmp_path / "c.yaml", "--dry-run")
        assert "2 text perturbations x 5 captions = 10" in done.out


def tiny_mlm(folder: Path) -> Path:
    """A masked language model with random weights, as save_pretrained writes them."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder.mkdir()
    pieces = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "person", "dog", "runs", "walks", "kitchen", "big")
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=len(pieces), **shape)).save_pretrained(folder)
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


class TestModels:
    def test_a_given_model_is_used_and_named_by_its_content(self, msrvtt: Path, tmp_path: Path) -> None:
        model = tiny_mlm(tmp_path / "private-place")
        dry = run("build-perturbed", "--msrvtt", msrvtt, "--modality", "text", "--mlm", model, "--dry-run", *PLAIN)
        assert "34 text perturbations x 5 captions = 170" in dry.out
        given = ("--modality", "text", "--text-perturbations", "mlm_suggestion", *PLAIN)
        out = tmp_path / "o"
        done = run("build-perturbed", "--msrvtt", msrvtt, "--mlm", model, "--out", out, *given)
        assert done.code == 0, done.err
        assert any(row["changed"] for row in rows(out, "mlm_suggestion"))
        assert info(out)["tools"]["mlm"].startswith("weights ")
        assert "--mlm DIR" in info(out)["command"]
        for file in ("build.json", "README.md"):
            assert "private-place" not in (out / file).read_text()
        moved = model.rename(tmp_path / "elsewhere")
        again = run("build-perturbed", "--msrvtt", msrvtt, "--mlm", moved, "--out", out, *given)
        assert "complete already" in again.err
        (moved / "config.json").write_text((moved / "config.json").read_text().replace("0.1", "0.2"))
        # a process reads a model's files once
        other = run_process("build-perturbed", "--msrvtt", msrvtt, "--mlm", moved, "--out", out, *given)
        refuses(other, "tools.mlm: weights ")
        assert run("stressreel", "verify", out).code == 0


class TestTextShift:
    def test_table_file_and_card(self, text: Path, tmp_path: Path) -> None:
        out = shutil.copytree(text, tmp_path / "o")
        done = run("stressreel", "score", "text-shift", out, "--no-progress")
        assert done.code == 0, done.err
        report = json.loads((out / "text_shift.json").read_text())
        assert report["fingerprint"] == info(out)["fingerprint"]
        assert set(report["perturbations"]) == {*TEXTS}
        assert done.out.strip() == shift_table(report).strip()
        card = (out / "README.md").read_text()
        shift = report["perturbations"]["shuffle_order"]
        assert f"| `shuffle_order` | {shift['bleu4']:.2f} | {shift['meteor']:.2f} | {shift['rouge_l']:.2f} |" in card
        assert run("stressreel", "verify", out).code == 0

    def test_as_json_and_without_the_card(self, text: Path, tmp_path: Path) -> None:
        out = shutil.copytree(text, tmp_path / "o")
        before = (out / "README.md").read_bytes()
        done = run("stressreel", "score", "text-shift", out, "--json", "--no-card", "--no-progress")
        assert json.loads(done.out) == json.loads((out / "text_shift.json").read_text())
        assert (out / "README.md").read_bytes() == before

    def test_an_output_without_captions(self, msrvtt: Path, tmp_path: Path) -> None:
        given = ("--perturbations", "jpeg", "--no-render", "--no-progress")
        assert run("build-perturbed", "--msrvtt", msrvtt, "--out", tmp_path / "o", *given).code == 0
        refuses(
            run("stressreel", "score", "text-shift", tmp_path / "o"),
            "no perturbed captions",
            "`build-perturbed --help`",
        )

    def test_fresh_throws_the_numbers_away(self, text: Path, msrvtt: Path, tmp_path: Path) -> None:
        out = shutil.copytree(text, tmp_path / "o")
        assert run("stressreel", "score", "text-shift", out, "--no-progress").code == 0
        given = ("--modality", "text", "--text-perturbations", "typos", *PLAIN)
        assert run("build-perturbed", "--msrvtt", msrvtt, "--out", out, "--fresh", *given).code == 0
        assert not (out / "text_shift.json").exists()


@pytest.mark.shared
def test_sizes_of_the_paper(shared: Path) -> None:
    def plan(*arguments: object) -> str:
        environment = {**os.environ, "NLTK_DATA": str(shared / "nltk_data")}
        return run_process("build-perturbed", *arguments, "--modality", "all", "--dry-run", env=environment).out

    done = plan("--msrvtt", shared / "data" / "msrvtt", "--text-perturbations", "all")
    assert "90,000 perturbed clips" in done
    assert "35 text perturbations x 1,000 captions = 35,000 perturbed captions" in done
    assert "66 combinations x 1,000 captions = 66,000 rows" in done
    done = plan("--youcook2", shared / "data" / "youcook2")
    assert "301,500 perturbed clips" in done
    assert "29 text perturbations x 3,350 captions = 97,150 perturbed captions" in done
    assert "31 x 3,350 captions = 103,850 perturbed captions" in done


@pytest.mark.shared
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "limit", [pytest.param(40, id="one-in-25"), pytest.param(1000, id="all", marks=pytest.mark.full)]
)
def test_the_captions_of_msrvtt(shared: Path, tmp_path: Path, limit: int) -> None:
    environment = {**os.environ, "NLTK_DATA": str(shared / "nltk_data")}
    given = ("--msrvtt", shared / "data" / "msrvtt", "--limit", limit, "--modality", "text", "--text-perturbations")
    families = "add_text,bias,change_char,drop_text,positional,text_style"
    arguments = (*given, families, "--out", tmp_path / "o", "--workers", 2, "--no-progress")
    done = run_process("build-perturbed", *arguments, env=environment)
    assert done.code == 0, done.err
    counts = info(tmp_path / "o")["counts"]
    assert {sum(splits.values()) for splits in counts.values()} == {limit}
    verified = run_process("stressreel", "verify", tmp_path / "o", env=environment)
    assert verified.code == 0, verified.out
