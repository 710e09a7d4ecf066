"""One small output of each builder, with videos, and its exports; read only."""

import json

import pytest
from commands import succeed
from stressreel.core.output import open_output


@pytest.fixture(scope="module", autouse=True)
def _undecoded():
    """Let `datasets` hand out videos as bytes without torchcodec, which needs FFmpeg's shared libraries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("datasets.config.TORCHCODEC_AVAILABLE", False)
        yield


@pytest.fixture(scope="session")
def outputs(built, built_causal, built_suite, built_graphs):
    return {"clavi": built, "causal": built_causal, "perturbed": built_suite, "decomp": built_graphs}


@pytest.fixture(scope="session")
def opened(outputs):
    return {name: open_output(path) for name, path in outputs.items()}


@pytest.fixture(scope="session")
def exported(outputs, tmp_path_factory):
    """Exports an output once, by the format and the benchmark's name."""
    made = {}

    def export(form, name):
        if (form, name) not in made:
            to = tmp_path_factory.mktemp("exports") / name
            more = {"files": ("--no-progress",), "webdataset": ("--no-progress", "--shard-size", "300kB")}.get(form, ())
            done = succeed("stressreel", "export", form, outputs[name], "--to", to, *more)
            if form in ("lmms-eval", "inspect", "vlmevalkit"):
                assert f"stressreel score {outputs[name]} --predictions logs" in done.out
                assert "Left out" not in done.out
            made[form, name] = to
        return made[form, name]

    return export


@pytest.fixture(scope="session")
def asked(exported):
    """Returns the samples of each task of a benchmark, as inspect-ai reads them."""

    def samples(name):
        folder = exported("inspect", name)
        tasks = json.loads((folder / "output.json").read_text())["tasks"]
        texts = {task: (folder / f"{task}.jsonl").read_text(encoding="utf-8") for task in tasks}
        return {task: [json.loads(line) for line in text.splitlines()] for task, text in texts.items()}

    return samples
