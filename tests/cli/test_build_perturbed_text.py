"""`build-perturbed --modality text|multimodal|all` and `stressreel score text-shift`, as a user runs them."""

import json
import os
import shutil
from collections import Counter

import datasets
import pytest
import stressreel
from commands import info, refuses, rows, run, run_json, run_process, succeed
from stressreel.api.score_texts import shift_table
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import text_corruptions
from stressreel.corruptions.text.engine import TextRecipe
from stressreel.corruptions.text.tools import Tools

TEXTS = ("no_verbs", "random_noun", "shuffle_order", "keyboard", "gender_swap")


@pytest.fixture(scope="module")
def text(msrvtt, build_once):
    """Five texts of the sample; read only."""
    given = ("--modality", "text", "--text-perturbations", ",".join(TEXTS))
    return build_once("build-perturbed", "--msrvtt", msrvtt, *given)


def counts(out):
    return {name: sum(splits.values()) for name, splits in info(out)["counts"].items()}


def test_rows_of_texts(text, tmp_path):
    assert counts(text) == dict.fromkeys(("clean", *TEXTS), 5)
    assert "video" not in rows(text, "clean")[0]
    assert run_json("stressreel", "verify", text)["passed"]
    clean = {row["clip_id"]: row["captions"] for row in rows(text, "clean")}
    for name in TEXTS:
        for row in datasets.load_dataset(str(text), name, split="test", cache_dir=str(tmp_path)):
            original = clean[row["clip_id"]][0]
            made = TextRecipe(text_corruptions()[name], 0, row["caption_id"]).apply(original, Tools())
            assert row == {
                **{"caption_id": f"{row['clip_id']}#0", "perturbation": name, "clip_id": row["clip_id"]},
                **{"caption": made.text, "original": original, "changed": made.changed, "reason": made.reason or None},
            }


def test_combinations_name_a_clip_and_a_caption(msrvtt, tmp_path, build_once):
    texts, visual = ("no_verbs", "random_noun", "shuffle_order", "gender_swap"), ("jpeg", "jumble")
    names = ("--perturbations", ",".join(visual), "--text-perturbations", ",".join(texts))
    given = ("--modality", "multimodal", *names, "--preset", "ultrafast", "--limit", 3)
    combined = build_once("build-perturbed", "--msrvtt", msrvtt, *given)
    assert counts(combined) == {**dict.fromkeys(("clean", *visual, *texts), 3), "multimodal": 2 * 4 * 3}
    assert run_json("stressreel", "verify", combined)["passed"]
    table = datasets.load_dataset(str(combined), "multimodal", split="test", cache_dir=str(tmp_path))
    assert table.column_names == ["perturbation", "visual", "severity", "text", "clip_id", "caption_id"]
    assert Counter(table["perturbation"]) == {f"{one}:{other}": 3 for one in visual for other in texts}
    clips = {(name, row["clip_id"], row["severity"]) for name in visual for row in rows(combined, name)}
    words = {(name, row["clip_id"], row["caption_id"]) for name in texts for row in rows(combined, name)}
    assert {(row["visual"], row["clip_id"], row["severity"]) for row in table} == clips
    assert {(row["text"], row["clip_id"], row["caption_id"]) for row in table} == words
    with pytest.raises(InputError, match="Available: clean, jpeg, jumble"):
        stressreel.load(combined, "multimodal", videos=msrvtt)


def test_dry_run_counts_captions_and_combinations(msrvtt):
    done = run("build-perturbed", "--msrvtt", msrvtt, "--modality", "all", "--dry-run")
    assert "33 text perturbations x 5 captions = 165 perturbed captions" in done.out
    assert "with back_trans (--translate) and mlm_suggestion (--mlm): 35 x 5 captions = 175" in done.out
    assert "60 combinations x 5 captions = 300 rows" in done.out


def test_text_shift_is_written_shown_and_verified(text, msrvtt, tmp_path):
    out = shutil.copytree(text, tmp_path / "o")
    before = (out / "README.md").read_bytes()
    done = run_json("stressreel", "score", "text-shift", out, "--no-card")
    report = json.loads((out / "text_shift.json").read_text())
    assert {"canary": info(out)["canary"], **done} == report
    assert (out / "README.md").read_bytes() == before
    assert succeed("stressreel", "score", "text-shift", out).out.strip() == shift_table(report).strip()
    assert report["fingerprint"] == info(out)["fingerprint"]
    assert set(report["perturbations"]) == {*TEXTS}
    shift = report["perturbations"]["shuffle_order"]
    row = f"| `shuffle_order` | {shift['bleu4']:.2f} | {shift['meteor']:.2f} | {shift['rouge_l']:.2f} |"
    assert row in (out / "README.md").read_text()
    assert run("stressreel", "verify", out).code == 0
    shift["bleu4"] = 0.99
    (out / "text_shift.json").write_text(json.dumps(report))
    assert run("stressreel", "card", out).code == 0  # shows the forged scores
    assert "perturbations.shuffle_order.bleu4 is 0.99" in run("stressreel", "verify", out).out
    (out / "text_shift.json").write_text(json.dumps({**report, "tools": None}))
    damaged = "text_shift.json is damaged (tools is None, not an object)"
    assert damaged in run("stressreel", "verify", out).out
    refuses(run("stressreel", "card", out), damaged)
    succeed("build-perturbed", "--msrvtt", msrvtt, "--out", out, "--fresh", "--perturbations", "jpeg", "--no-render")
    assert not (out / "text_shift.json").exists()
    refuses(run("stressreel", "score", "text-shift", out), "no perturbed captions")


SIZES = {
    "msrvtt": (
        *("90,000 perturbed clips", "35 text perturbations x 1,000 captions = 35,000 perturbed captions"),
        "66 combinations x 1,000 captions = 66,000 rows",
    ),
    "youcook2": (
        *("3,350 clips of 436 source videos", "301,500 perturbed clips"),
        *("29 text perturbations x 3,350 captions = 97,150", "31 x 3,350 captions = 103,850 perturbed captions"),
    ),
}


@pytest.mark.shared
@pytest.mark.full
@pytest.mark.parametrize("name", SIZES)
def test_sizes_of_the_paper(name, shared):
    given = (f"--{name}", shared / "data" / name, "--modality", "all", "--dry-run")
    more = ("--text-perturbations", "all") if name == "msrvtt" else ()
    done = run_process("build-perturbed", *given, *more, env={**os.environ, "NLTK_DATA": str(shared / "nltk_data")})
    assert [size for size in SIZES[name] if size not in done.out] == []
