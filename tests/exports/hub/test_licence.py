"""What may be published, for every source that stressreel knows."""

import importlib
from pathlib import Path

import pytest
import stressreel
from stressreel.annotations.agqa import AGQA
from stressreel.annotations.causalchaos import SAMPLE
from stressreel.core.errors import InputError, UsageError
from stressreel.core.source import Source
from stressreel.exports.hub.licence import permission

FOLDER = Path(stressreel.__file__).parent / "annotations"
SOURCES = {
    f"{path.stem}.{name}": value
    for path in sorted(FOLDER.glob("*.py"))
    for name, value in vars(importlib.import_module(f"stressreel.annotations.{path.stem}")).items()
    if isinstance(value, Source)
}
SAID = "Written permission of 3 May\nby the owners."


def test_sources_are_of_every_kind() -> None:
    assert {source.redistributable for source in SOURCES.values()} == {True, False, None}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("videos", [True, False])
def test_only_what_is_known_to_be_free_goes_without_a_word(name: str, videos: bool) -> None:
    source = SOURCES[name]
    if source.redistributable:
        assert source.license["license"] in permission(source, videos=videos, confirmed=None)
    else:
        with pytest.raises(InputError) as refused:
            permission(source, videos=videos, confirmed=None)
        assert (source.terms or source.name) in str(refused.value)
    if videos and source.redistributable is False:  # stay whatever is said
        with pytest.raises(InputError, match="may not be published"):
            permission(source, videos=True, confirmed=SAID)
    else:
        said = permission(source, videos=videos, confirmed=SAID)
        assert '"Written permission of 3 May by the owners."' in said
        assert (source.terms or "") in said


def test_empty_words_are_no_words() -> None:
    for source in (SAMPLE, AGQA):
        with pytest.raises(UsageError, match="is empty"):
            permission(source, videos=False, confirmed=" \n")
