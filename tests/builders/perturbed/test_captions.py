import shutil
from collections import Counter

from commands import info, rows, succeed
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.captions import CaptionedClip, caption_id
from stressreel.annotations.entries import file_name
from stressreel.annotations.samples import cached_sample
from stressreel.builders.perturbed.captions import BLOCK, text_tables, text_tools, text_units
from stressreel.builders.perturbed.render import PerturbedBuilder
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.corruptions.text.tools import Tools

TOOLS = Tools()


def clip(name, *captions, split="test"):
    return CaptionedClip(name, name, None, None, captions or ("a dog runs",), split)


def test_units_by_perturbation_block_and_split():
    clips = [clip(f"v{n:04}", "a dog runs", "a cat sits") for n in range(BLOCK)] + [clip("w", split="train")]
    units = list(text_units(clips, ("no_nouns", "typos")))
    sizes = Counter((unit.payload["text"], unit.split, len(unit.payload["captions"])) for unit in units)
    names = ("no_nouns", "typos")
    assert sizes == {(name, *key): n for name in names for key, n in {("test", BLOCK): 2, ("train", 1): 1}.items()}
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
    found = perturb("no_verbs", tmp_path, clip("v", "a dog runs", "the red car"))
    stated = [[row[name] for name in ("caption_id", "original", "caption", "changed", "reason")] for row in found]
    assert stated[0] == ["v#0", "a dog runs", "a dog [UNK]", True, None]
    assert stated[1] == ["v#1", "the red car", "the red car", False, "no verb"]


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
    source, out = shutil.copytree(cached_sample("msrvtt"), tmp_path / "source"), tmp_path / "out"
    first, *missing = sorted((source / "videos" / "all").glob("*.mp4"))
    for path in missing:
        path.unlink()
    names = ("--perturbations", "jpeg", "--text-perturbations", "no_verbs", "--pairs", "jpeg:no_verbs")
    given = ("--msrvtt", source, "--out", out, "--modality", "all", "--allow-missing", "--preset", "ultrafast")
    succeed("build-perturbed", *given, *names, "--severity", 3)
    for table in ("clean", "jpeg", "no_verbs", "multimodal"):
        assert {row["clip_id"] for row in rows(out, table)} == {first.stem}
    skips = info(out)["skips"]
    assert skips["count"] == len(missing)
    assert skips["rows_that_refer_to_them"] == {"no_verbs": {"test": len(missing)}}
    for options in ((), ("--sources", source, "--allow-unverified", "videos")):
        succeed("stressreel", "verify", out, "--no-decode", *options)
