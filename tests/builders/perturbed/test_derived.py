import shutil

import pytest
from changed import columns, derived, put
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.builders.perturbed.tables import suite_configs

VISUAL, TEXT = ("jpeg", "jumble"), ("typos", "no_verbs")
TABLES = suite_configs(
    PerturbedSettings(render=True, perturbations=VISUAL, text_perturbations=TEXT, pairs=("jpeg:no_verbs",))
)
FREE = {"jumble": " ".join(column.name for column in TABLES[0].columns)}  # a table like the one before


def test_fresh_output_has_no_findings(suite, suite_options, build_once, two_parts, tmp_path):
    assert derived(suite) == []
    shutil.copy(two_parts / "film.mp4", tmp_path)
    (tmp_path / "c.csv").write_text((two_parts / "c.csv").read_text() + "film,third,7,9\n")  # past the end
    captions = ("--captions", tmp_path / "c.csv", "--max-skip", 1)
    assert derived(build_once("build-perturbed", *captions, *suite_options)) == []


def test_each_changed_value_is_found(suite):
    def missed(place):
        return not derived(suite, put(place, value=lambda value: 1 if value is None else value * 2 or 1))

    assert list(filter(missed, columns(TABLES, FREE))) == []


def all_tables(**values):
    def change(forged):
        for row in (row for table in ("clean", *VISUAL) for row in forged.rows(table)):
            row.update(values)

    return change


@pytest.mark.parametrize(
    "change",
    [
        all_tables(first_frame=1),
        all_tables(source_frames=10_000),
        lambda forged: forged.tables["no_verbs"]["test"][0].update(clip_id="elsewhere"),
        lambda forged: forged.tables["typos"]["test"].pop(),
        lambda forged: forged.tables["jpeg"]["test"].append(forged.tables["jpeg"]["test"][0]),
    ],
)
def test_contradictions_are_found(suite, change):
    assert derived(suite, change)


def test_other_tagger_leaves_only_captions_open(suite):
    def other_tagger(forged):
        forged.info["tools"]["tagger"] = "pattern of another time"

    def flag(forged):
        other_tagger(forged)
        put("no_verbs.changed")(forged)

    assert derived(suite, other_tagger) == []
    assert derived(suite, flag)
