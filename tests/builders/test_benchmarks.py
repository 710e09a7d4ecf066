import pytest
from stressreel.builders import benchmark_names, load_benchmark
from stressreel.builders.base import Benchmark
from stressreel.core.build_settings import BuildSettings
from stressreel.core.errors import InputError
from stressreel.core.settings import create, options_of


@pytest.fixture(params=benchmark_names())
def benchmark(request: pytest.FixtureRequest) -> Benchmark:
    return load_benchmark(request.param)


def test_sample_uses_existing_options(benchmark: Benchmark) -> None:
    assert benchmark.sample
    settings = create(benchmark.settings, benchmark.sample)
    assert isinstance(settings, BuildSettings)
    assert set(benchmark.sample) <= {each.name for each in options_of(benchmark.settings)}


def test_unknown_name_suggests_a_benchmark() -> None:
    with pytest.raises(InputError, match=r"unknown benchmark 'clavy'\. Did you mean 'clavi'\? .*perturbed"):
        load_benchmark("clavy")
