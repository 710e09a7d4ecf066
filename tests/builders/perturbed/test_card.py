import io
import re
from collections import Counter
from math import inf, log10

import numpy as np
import pyarrow.parquet as pq
import pytest
import stressreel
import yaml
from cards import fields_not_needed, render_card
from PIL import Image
from stressreel.annotations.captions import CAPTIONS
from stressreel.annotations.msrvtt import MSRVTT, SAMPLE
from stressreel.annotations.youcook2 import YOUCOOK2
from stressreel.builders.perturbed.figures import clearest_frame, perturbed_figures
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.builders.perturbed.statistics import AMONG, FRAMES, decibels, grows, spread
from stressreel.builders.perturbed.tables import COLUMNS, VIDEO
from stressreel.core.output import FinishedOutput, open_output
from stressreel.corruptions.registry import check_name, check_text_name, list_corruptions
from stressreel.corruptions.visual.engine import Recipe
from stressreel.video.thumbnails import frames_of

NAMES = ("impulse_noise", "mpeg1", "reverse_sampling", "jumble", "freeze")
SEVERITIES = (1, 3, 5)
FAST = ("--preset", "ultrafast", "--no-progress")
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
def parts(two_parts, build_once):
    """Two parts of one video, without loss."""
    given = ("--captions", two_parts / "c.csv", "--perturbations", "sampling,reverse_sampling,jpeg")
    return open_output(build_once("build-perturbed", *given, "--severity", 4, "--lossless", *FAST))


@pytest.fixture(scope="module")
def texts(once, build_once):
    """Six captions and combinations, without videos."""
    lines = ["video,caption", *(f"film{number // 2},{caption}" for number, caption in enumerate(WORDS))]
    captions = once("six_captions.csv", lambda path: path.write_text("\n".join(lines)))
    names = ("--perturbations", "jpeg,jumble", "--severity", 3, "--text-perturbations", ",".join(TEXTS))
    given = ("--captions", captions, "--modality", "all", *names, "--tagger", "pattern", "--no-render")
    return open_output(build_once("build-perturbed", *given))


def card(output):
    return (output.path / "README.md").read_text(encoding="utf-8")


def with_settings(output, **settings):
    return render_card(output.path, output.info | {"settings": output.info["settings"] | settings})


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


class TestText:
    def test_it_is_what_the_shards_give_again(self, output, recipes, parts, texts):
        for build in (output, recipes, parts, texts):
            assert card(build) == render_card(build.path, build.info)
            assert str(build.path) not in card(build)
        assert fields_not_needed(output) == []
        for field in ("fingerprint", "command", "settings", "limit"):
            with pytest.raises(LookupError):
                render_card(output.path, {name: value for name, value in output.info.items() if name != field})

    def test_tables_and_columns(self, output, recipes, texts):
        for build, columns in ((output, (*COLUMNS, VIDEO)), (recipes, COLUMNS)):
            assert {row[0]: row[2] for row in tables(card(build), "Tables")[1][1:]} == {
                c.name: c.meaning.strip("`") for c in columns
            }
        counts = tables(card(output), "Tables")[0]
        assert counts[0] == ["config", "test", "all", "content"]
        assert [row[1:3] for row in counts[1:]] == [["2", "2"]] + [["6", "6"]] * len(NAMES)
        _, clips, words, pairs = tables(card(texts), "Tables")
        assert [row[0] for row in words[1:]] == list(rows(texts, "no_verbs")[0])
        assert pairs[1][0] == "perturbation"
        assert ["captions", "list of string"] in [row[:2] for row in clips]

    def test_every_perturbation_is_there_with_its_levels(self, recipes):
        levels, origins = tables(card(recipes), "Perturbations")
        for corruption, row, origin in zip(list_corruptions(), levels[1:], origins[1:], strict=True):
            assert row[0] == origin[0] == corruption.name
            assert [row[1], row[3]] == [corruption.family, corruption.unit]
            assert [cell.split(" (")[0] for cell in row[4:]] == [corruption.level(s) for s in range(1, 6)]
            assert origin[1:] == [corruption.source, corruption.differs, corruption.grows or "yes"]

    def test_how_it_was_made(self, output, recipes, parts):
        drawn = "Sampled per frame: `impulse_noise`.\n", "Sampled per clip: `jumble`, `freeze`.\n"
        made = "--limit 2", "CRF 23, preset ultrafast", "A clip is a whole file"
        example = 'load_dataset("OUT", "impulse_noise", split="test")  # 6 rows, 3 for each clip'
        nothing = "Not random: `mpeg1`, `reverse_sampling`.\n"
        said = (output.info["command"], output.info["fingerprint"], *drawn, *made, example, nothing)
        assert [words for words in said if words not in card(output)] == []
        assert "The whole source is perturbed and then cut" in card(parts)
        assert "without loss" in card(parts)
        assert "those of the frames shown, in the source; they are orange" in card(parts)
        first = with_settings(parts, clip_first=True)
        assert "cut out before it is perturbed" in first
        assert "those of the frames shown; they are orange" in first
        assert "`--limit" not in card(recipes)
        assert 'stressreel.load("OUT", "gaussian_noise", videos="DIR", severity=3)' in card(recipes)

    @pytest.mark.parametrize(
        ("source", "licence", "words", "absent"),
        [
            (SAMPLE, "cc0-1.0", "This is not MSR-VTT", "zhou2018"),
            (MSRVTT, "other", "Share recipes, not videos", "zhou2018"),
            (YOUCOOK2, "other", "zhou2018towards", "xu2016"),
            (CAPTIONS, "unknown", "Whose videos are these", "xu2016"),
        ],
        ids=lambda value: getattr(value, "key", ""),
    )
    def test_licences_and_citations(self, recipes, source, licence, words, absent):
        text = render_card(recipes.path, recipes.info | {"source": source.as_json()})
        fields = yaml.safe_load(text.split("---\n")[1])
        assert fields["license"] == licence
        assert ("license_link" in fields) == ("| paper |" in text) == (licence == "other")
        assert words in text
        assert absent not in text
        assert text.count("{schiappa2022") == text.count("{hendrycks2019") == 1

    def test_without_videos_nothing_is_measured(self, recipes):
        assert not any(words in card(recipes) for words in ("Strength", "Size of files", ".png"))
        assert not (recipes.path / "figures").exists()
        assert perturbed_figures(recipes) == {}


class TestCaptions:
    def test_shares_reasons_and_examples(self, texts):
        shares, examples = tables(card(texts), "Captions")[:2]
        changed = []
        for name, row in zip(TEXTS, shares[1:], strict=True):
            found, corruption = rows(texts, name), check_text_name(name)
            changed += [each["changed"] for each in found]
            reasons = Counter(each["reason"] for each in found if not each["changed"]).most_common(2)
            share = f"{100 * sum(each['changed'] for each in found) / len(found):.1f} %"
            assert row[:4] == [name, corruption.family, corruption.kind, share]
            assert row[5] == ", ".join(f"{reason} ({count})" for reason, count in reasons)
        place = ""
        shown = {name: [] for name in TEXTS}
        for row in examples[1:]:
            shown[place := row[0] or place].append(row[1:3])
        for name, pairs in shown.items():
            known = [[row["original"], row["caption"]] for row in rows(texts, name) if row["changed"]]
            plain = [[text.replace("|", "\\|").replace("`", "'") for text in pair] for pair in known]
            assert len(pairs) == min(3, len(known))
            assert all(pair in plain for pair in pairs)
        numbers = named(card(texts), "Numbers")
        assert numbers["perturbed captions"][0] == str(len(changed)) == "24"
        assert numbers["of which changed"][0] == f"{100 * sum(changed) / 24:.1f} %"
        assert numbers["combinations: pairs; rows"][0] == f"{len(texts.info['settings']['pairs'])}; 48"

    def test_combinations(self, texts):
        grid = tables(card(texts), "Combinations")[0]
        assert grid == [["", *TEXTS], ["jpeg", *"xxxx"], ["jumble", *"xxxx"]]
        fewer = [pair for pair in texts.info["settings"]["pairs"] if pair != "jpeg:no_verbs"]
        assert tables(with_settings(texts, pairs=fewer), "Combinations")[0][1] == ["jpeg", "x", "", "x", "x"]

    def test_text_alone(self, texts):
        settings = texts.info["settings"] | {"perturbations": [], "severities": [], "pairs": []}
        counts = {name: texts.info["counts"][name] for name in ("clean", *TEXTS)}
        text = render_card(texts.path, texts.info | {"settings": settings, "counts": counts})
        assert "pretty_name: Perturbed clips, text half, built with stressreel" in text
        text = text.replace("Visual perturbations, the other half", "")
        absent = ("visual perturbation", "stressreel.load", "Combinations", "PSNR", "hendrycks", "How it is made")
        assert [words for words in absent if words in text] == []
        assert 'load_dataset("OUT", "gender_swap", split="test")  # 6 rows, one for each caption' in text

    @pytest.mark.parametrize(
        ("source", "settings", "words"),
        [
            (YOUCOOK2, {"text_perturbations": ["no_verbs"], "pairs": []}, "YouCook2-P has no family `bias`"),
            (MSRVTT, {"text_mode": "released"}, "`--text-mode released`"),
            (MSRVTT, {"caption_style": "imperative"}, "treated as instructions (`--caption-style imperative`)"),
            (MSRVTT, {}, "| perturbed captions | 24 | 35,000 |"),
        ],
    )
    def test_what_was_chosen(self, texts, source, settings, words):
        assert words in with_settings(FinishedOutput(texts.path, texts.info | {"source": source.as_json()}), **settings)


class TestNumbers:
    def test_sizes_and_counts(self, output):
        lengths = {
            name: {(row["clip_id"], row["severity"]): len(row["video"]["bytes"]) for row in rows(output, name)}
            for name in ("clean", *NAMES)
        }
        clean = sum(lengths["clean"].values())
        for name, (total, *ratios) in named(card(output), "Size of files").items():
            assert int(total.replace(",", "")) == sum(lengths[name].values())
            found = [sum(size for (_, s), size in lengths[name].items() if s == severity) for severity in SEVERITIES]
            assert ratios == [f"{size / clean:.2f}" for size in found]
        numbers = {name: row[0] for name, row in named(card(output), "Numbers").items()}
        assert int(numbers["bytes of video"].replace(",", "")) == sum(sum(each.values()) for each in lengths.values())
        minutes = sum(row["num_frames"] / row["fps"] for row in rows(output, "clean")) / 60
        assert numbers["clips"] == numbers["source videos"] == numbers["captions"] == "2"
        assert numbers["perturbed clips"] == "30"
        lasting = f"{minutes:.2f} min; {minutes * 16:.2f} min"
        assert numbers["total duration: clips; clean and perturbed videos"] == lasting

    @pytest.mark.parametrize("name", ["impulse_noise", "mpeg1"])
    def test_psnr(self, output, name):
        def frames(row):
            return [frame.to_ndarray().astype(float) for frame in frames_of(row["video"]["bytes"])]

        clean = {row["clip_id"]: frames(row) for row in rows(output, "clean")}
        errors = {severity: [] for severity in SEVERITIES}
        for row in rows(output, name):
            pairs = list(zip(clean[row["clip_id"]], frames(row), strict=True))
            errors[row["severity"]] += [((pairs[n][0] - pairs[n][1]) ** 2).mean() for n in spread(range(AMONG), FRAMES)]
        expected = [f"{10 * log10(255**2 / np.mean(found)):.1f}" for found in errors.values()]
        assert named(card(output), "Strength: pixels")[name] == [*expected, "yes"]

    def test_displacements(self, output, parts):
        table = named(card(output), "Strength: order")
        for name in ("reverse_sampling", "jumble", "freeze"):
            for place, severity in enumerate(SEVERITIES):
                moved = []
                for row in rows(output, "clean"):
                    numbers = np.arange(row["num_frames"], dtype=np.uint8)
                    clip = np.broadcast_to(numbers[:, None, None, None], (len(numbers), 1, 1, 3))
                    shown = stressreel.corrupt(clip, name, severity=severity, key=row["source_id"])[:, 0, 0, 0]
                    moved += np.abs(shown.astype(int) - numbers).tolist()
                assert table[name][place] == f"{np.mean(moved):.1f}"
        assert (table["freeze"][-1], table["jumble"][-1]) == ("yes", "not throughout")
        numbers = np.r_[36:78, 15:45]  # the source has 90 frames, and these are in its parts
        table = named(card(parts), "Strength: order")
        assert table["sampling"] == [f"{(numbers % 16).mean():.1f}"]
        assert table["reverse_sampling"] == [f"{np.abs((89 - numbers) // 16 * 16 - numbers).mean():.1f}"]

    def test_spread_and_grows(self):
        assert [spread("abc", 5), spread(range(100), 4), spread([], 4)] == [["a", "b", "c"], [12, 37, 62, 87], []]
        assert grows({1: 30.0, 2: 29.9}, falling=True)
        assert not grows({1: 30.0, 2: 29.96}, falling=True)
        assert grows({2: 5.0, 1: 4.0}, falling=False)
        assert not grows({1: 4.0, 2: 4.0}, falling=False)
        assert not grows({1: inf, 2: inf}, falling=True)
        assert decibels([0.0]) == inf


class TestPictures:
    def test_they_are_the_same_every_time_and_have_no_metadata(self, output):
        found = perturbed_figures(output)
        assert (
            set(found) == {path.name for path in (output.path / "figures").iterdir()} == {"pixels.png", "temporal.png"}
        )
        for name, content in found.items():
            assert content == (output.path / "figures" / name).read_bytes()
            assert f"(figures/{name})" in card(output)
            assert not re.search(rb"tEXt|iTXt|zTXt|tIME|eXIf", content[:2000])
            with Image.open(io.BytesIO(content)) as picture:
                assert 500 < picture.width < 1200

    def test_the_frame_of_the_sheet_is_turned_at_every_severity(self):
        """A frame whose angle is near 0 looks as if nothing were done to it."""
        row = {"clip_id": "v", "source_id": "v", "num_frames": 20, "first_frame": 0}
        rising = np.add.outer(np.arange(96), np.arange(128)).astype(np.uint8)[..., None]
        assert clearest_frame(row, ("jpeg", "static_rotate"), PerturbedSettings()) == 10
        for seed in range(4):
            settings = PerturbedSettings(seed=seed)
            number = clearest_frame(row | {"num_frames": 200}, ("jpeg", "rotation"), settings)
            for severity in settings.severities:
                recipe = Recipe(check_name("rotation"), severity, seed, "v")
                changes = [np.abs(recipe.frame(rising, n).astype(int) - rising).mean() for n in range(26)]
                assert changes[number] > max(changes) / 4
