import shutil
from collections import Counter
from types import SimpleNamespace

from commands import info, rows, run
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.captions import CaptionedClip, caption_id
from stressreel.annotations.entries import file_name
from stressreel.annotations.samples import cached_sample
from stressreel.builders.perturbed.captions import BLOCK, text_tables, text_tools, text_units
from stressreel.builders.perturbed.render import PerturbedBuilder
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.builders.perturbed.tables import text_configs
from stressreel.builders.runtime.table_checks import check_links
from stressreel.core.schema import Column, Config
from stressreel.corruptions.text.tools import Tools

TOOLS = Tools()


def clip(name, *captions, split="test"):
    return CaptionedClip(name, name, None, None, captions or ("a dog runs",), split)


def test_units_by_perturbation_block_and_split():
    clips = [clip(f"v{n:04}", "a dog runs", "a cat sits") for n in range(BLOCK)] + [clip("w", split="train")]
    units = list(text_units(clips, ("no_nouns", "typos")))
    sizes = Counter((unit.payload["text"], unit.split, len(unit.payload["captions"])) for unit in units)
    expected = {("test", BLOCK): 2, ("train", 1): 1}
    assert sizes == {(name, *key): count for name in ("no_nouns", "typos") for key, count in expected.items()}
    assert len({unit.id for unit in units}) == len(units)
    assert not any(file_name(unit.id) for unit in units)  # none is named like a video
    captions = [caption[0] for unit in units if unit.tables == ("typos",) for caption in unit.payload["captions"]]
    assert captions == sorted(captions) == [caption_id(c.id, n) for c in clips for n in range(len(c.captions))]


@given(st.lists(st.tuples(st.text("ab#_0", min_size=1), st.integers(0, 30)), unique=True))
def test_caption_ids_are_unique(captions):
    assert len({caption_id(*caption) for caption in captions}) == len(captions)


def perturb(name, folder, *clips):
    builder = PerturbedBuilder(PerturbedSettings(text_perturbations=(name,)), tools=TOOLS)
    units = text_units(clips, (name,))
    return [row for unit in units for _, row in builder.rows(unit, builder.render(unit, folder))]


def test_rows_state_changes_and_reasons(tmp_path):
    first, second = perturb("no_verbs", tmp_path, clip("v", "a dog runs", "the red car"))
    assert (first["caption_id"], first["caption"], first["original"]) == ("v#0", "a dog [UNK]", "a dog runs")
    assert second["caption"] == second["original"] == "the red car"
    assert (second["changed"], second["reason"]) == (False, "no verb")


def test_perturbed_caption_does_not_depend_on_others(tmp_path):
    sentence = "a man in a red hat slowly rides a horse"
    clips = clip("a"), clip("b", sentence, sentence), clip("c", sentence)
    (alone,) = perturb("shuffle_order", tmp_path, clip("b", sentence))
    among = {row["caption_id"]: row["caption"] for row in perturb("shuffle_order", tmp_path, *clips)}
    assert alone["caption"] == among["b#0"]
    assert len({among["b#0"], among["b#1"], among["c#0"]}) == 3


def test_word_tables_are_hashed():
    assert set(text_tables(("typos", "gender_swap"))) == {"text.yaml", "text/bias.yaml", "text/change_char.yaml"}
    assert text_tables(("typos",))["text.yaml"] != text_tables(("ocr",))["text.yaml"]


def test_tools_are_recorded_without_local_paths(monkeypatch):
    models = [{"name": "org/model", "revision": "0f", "weights": "1"}, {"name": "b", "revision": "2"}]
    mlm = {"name": "/home/me/bert", "revision": "", "weights": "5e", "settings": "aa"}
    identity = {"tagger": "pattern 1", "mlm": mlm, "translation": models, "embeddings": {"glove": "77"}}
    monkeypatch.setattr(Tools, "identity", lambda *given: identity)
    assert text_tools(TOOLS, []) == {
        "tagger": "pattern 1",
        "mlm": "weights 5e settings aa",
        "translation": "org/model@0f weights 1, b@2",
        "embeddings": "glove 77",
    }


def test_captions_of_missing_clips_are_counted(tmp_path):
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
    for options in ((), ("--sources", source, "--allow-unverified", "videos")):
        verified = run("stressreel", "verify", out, "--no-decode", *options)
        assert verified.code == 0, verified.out


def test_links_to_absent_clips_are_reported():
    clips = {"clean": ["a"], "no_verbs": ["a", "b"]}
    output = SimpleNamespace(
        splits=lambda table: ["test"], rows=lambda table, *_: [{"clip_id": name} for name in clips[table]]
    )
    configs = (Config("clean", "clips", (Column("clip_id", "string", "id"),)), *text_configs(["no_verbs"]))
    findings = list(check_links(output, configs))
    assert findings[0] == "no_verbs/test: clip_id b is not in clean"
    assert len(findings) == 2
