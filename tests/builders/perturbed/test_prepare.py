from pathlib import Path

import pytest
from stressreel.builders.perturbed.prepare import tools_of
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.core.errors import InputError
from stressreel.language import tagger


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagger, "_nltk_folder", lambda: None)


class TestTaggerOfWorkers:
    """A worker elsewhere may find other data: it is told what was found here, and may not fall back."""

    @pytest.mark.parametrize(("folder", "kind"), [(None, "pattern"), (Path("data"), "nltk")])
    def test_is_chosen_once(self, monkeypatch: pytest.MonkeyPatch, folder: Path | None, kind: str) -> None:
        monkeypatch.setattr(tagger, "_nltk_folder", lambda: folder)
        assert tools_of(PerturbedSettings(msrvtt="sample", modality="text")).tagger_kind == kind

    def test_is_not_looked_for_without_captions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(tagger, "_nltk_folder")
        assert tools_of(PerturbedSettings(msrvtt="sample")).tagger_kind == "auto"

    @pytest.mark.usefixtures("no_data")
    def test_never_falls_back(self) -> None:
        with pytest.raises(InputError, match="NLTK's tagger data is not found"):
            tagger.load_tagger.__wrapped__("nltk")
