import errno
import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import stressreel
import stressreel.builders.clavi.render as rendering
from buckets import Bucket, serving
from commands import Ran, info, refuses, run, start, wait_until
from stressreel.annotations.samples import cached_sample
from stressreel.builders.runtime import object_store
from stressreel.builders.runtime.object_store import claim_objects
from stressreel.core import objects as module
from stressreel.core.errors import OutputError
from stressreel.core.objects import Objects
from stressreel.core.output_files import END

pytest.importorskip("obstore", reason="the extra cloud is not installed")
pytest.importorskip("moto", reason="moto is not installed")
OPTIONS = ("--limit", 2, "--preset", "ultrafast", "--no-progress", "--workers", 1)
NAMES = (f"out-{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def server() -> Iterator[Bucket]:
    with serving() as bucket:
        yield bucket


@pytest.fixture
def bucket(server: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """The server's bucket with no faults, and a cache of one's own."""
    server.fault = lambda method, path: None
    server.requests.clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    module._stamp_once.cache_clear()
    module._store.cache_clear()
    return server


@pytest.fixture
def place(bucket: Bucket) -> Objects:
    return Objects(f"{bucket.url}/{next(NAMES)}")


@pytest.fixture(scope="module")
def sample() -> Path:
    return cached_sample("charades")


@pytest.fixture(scope="module")
def local(build_once: Callable[..., Path], sample: Path) -> Path:
    """What `build` makes, in a folder; read only."""
    return build_once("build-clavi", "--charades", sample, "--limit", 2, "--preset", "ultrafast", "--workers", 1)


def build(sample: Path, out: object, *more: object) -> Ran:
    return run("build-clavi", *OPTIONS, "--charades", sample, "--out", out, *more)


def keys(place: Objects) -> set[str]:
    return {found["path"] for found in place.list()}


def rendered(place: Objects) -> set[str]:
    """The units that have a receipt."""
    return {found["path"].removeprefix(object_store.RECEIPTS) for found in place.list(object_store.RECEIPTS)}


def fingerprint(place: Objects) -> str:
    return str(json.loads(place.get("build.json") or b"{}")["fingerprint"])


def test_remote_build_equals_local_build(place: Objects, sample: Path, local: Path, tmp_path: Path) -> None:
    done = build(sample, place.url)
    assert done.code == 0, done.err
    files = {path.relative_to(local).as_posix() for path in local.rglob("*") if path.is_file()}
    assert keys(place) == {name for name in files if not name.startswith(".build/")}
    for name in ("README.md", "croissant.json", *(name for name in files if name.endswith(".parquet"))):
        assert place.get(name) == (local / name).read_bytes(), name
    assert "is already complete" in build(sample, place.url).err
    assert not list((tmp_path / "cache" / "stressreel" / "remote-builds").rglob("*.parquet"))
    found = stressreel.data_files(place.url, "questions")
    assert found["storage_options"] == {"client_kwargs": {"endpoint_url": os.environ["AWS_ENDPOINT"]}}
    assert {url.removeprefix(place.url + "/") for urls in found["data_files"].values() for url in urls} == {
        key for key in keys(place) if key.startswith("questions/")
    }
    refuses(build(sample, place.url, "--seed", 3), "started with different settings or inputs")
    refuses(run("stressreel", "card", place.url), "is in object storage", code=2)


@pytest.mark.full
def test_remote_output_is_read_verified_and_compared(
    place: Objects, sample: Path, local: Path, bucket: Bucket, tmp_path: Path
) -> None:
    assert build(sample, place.url, "--crf", 40).code == 0
    output = stressreel.read(place.url)
    rows = list(output.rows("questions"))
    assert len(rows) == 2 * 2 * 19
    assert not [path for method, path in bucket.requests if method == "GET" and "/videos/" in path]
    assert run("stressreel", "verify", place.url).code == 0
    assert output.video(rows[0]["video_id"])[4:8] == b"ftyp"
    assert build(sample, tmp_path / "b", "--crf", 40).code == 0
    shutil.rmtree(tmp_path / "cache")
    bucket.requests.clear()
    near, far = (run("stressreel", "diff", local, b, "--json") for b in (tmp_path / "b", place.url))
    assert near.code == far.code == 1
    assert json.loads(near.out) | {"b": place.url} == json.loads(far.out)
    fetched = [path for method, path in bucket.requests if method == "GET" and "-of-" in path]
    assert fetched
    assert all("/videos/" in path for path in fetched)  # the other tables are the same
    place.put(next(key for key in sorted(keys(place)) if key.startswith("questions/")), b"damaged")
    assert run("stressreel", "verify", place.url).code == 1


@pytest.mark.parametrize("content", [{"precious.txt": b"1"}, {"build.json": b'{"counts": null}', "figures/a": b"1"}])
def test_prefix_with_other_objects_is_refused(place: Objects, sample: Path, content: dict[str, bytes]) -> None:
    for name, value in content.items():
        place.put(name, value)
    for more in ((), ("--fresh",)):
        refuses(build(sample, place.url, *more), "Nothing was changed")
    assert keys(place) == {*content}


def test_odd_addresses_are_refused(bucket: Bucket, sample: Path) -> None:
    refuses(build(sample, f"{bucket.url}/run#1"), "which have a special meaning in URLs", code=2)
    refuses(build(sample, "s3://"), "has no bucket", code=2)


def test_killed_build_resumes_on_another_machine(
    place: Objects, sample: Path, local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One machine is killed after its first receipt; the other, with an empty cache, renders only the rest."""
    process = start("build-clavi", *OPTIONS, "--charades", sample, "--out", place.url)
    wait_until(lambda: rendered(place), process)
    process.kill()
    process.communicate()
    assert place.head("build.json") is None
    refuses(run("stressreel", "verify", place.url), "unfinished build")
    before = rendered(place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other-machine"))
    refuses(build(sample, place.url), "another process is building", "Finished work is kept")
    monkeypatch.setattr(object_store, "DEAD_S", 0.0)
    rendering_calls = []
    render = rendering.ClaviBuilder.render
    monkeypatch.setattr(
        rendering.ClaviBuilder, "render", lambda *given: (rendering_calls.append(given[1].id), render(*given))[1]
    )
    done = build(sample, place.url)
    assert done.code == 0, done.err
    assert not before & set(rendering_calls)
    assert fingerprint(place) == info(local)["fingerprint"]
    assert not any(key.startswith(".build/") for key in keys(place))


def test_second_run_is_refused_and_dead_one_stops(
    place: Objects, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with claim_objects(place) as first:
        refuses(build(sample, place.url), "another process is building")
        first.alone()
        with monkeypatch.context() as patch:
            patch.setattr(object_store, "DEAD_S", 0.0)
            patch.setenv("XDG_CACHE_HOME", str(first.path / "another-machine"))
            assert build(sample, place.url).code == 0
        with pytest.raises(OutputError, match="while this one was suspended"):
            first.publish()
    assert fingerprint(place)


def test_failed_upload_leaves_output_unfinished(place: Objects, sample: Path, bucket: Bucket, tmp_path: Path) -> None:
    """An upload fails for good: no reader takes the output for finished, and the same command completes it."""
    bucket.fault = lambda method, path: (
        b"403 Forbidden" if method == "PUT" and path.endswith("croissant.json") else None
    )
    refuses(build(sample, place.url), "croissant.json cannot be accessed", "AWS_ACCESS_KEY_ID")
    assert "build.json" not in keys(place)
    refuses(run("stressreel", "verify", place.url), "unfinished build")
    bucket.fault = lambda method, path: None
    assert build(sample, place.url).code == 0


@pytest.mark.full
def test_failed_requests_are_repeated(place: Objects, sample: Path, local: Path, bucket: Bucket) -> None:
    seen: set[tuple[str, str]] = set()

    def fault(method: str, path: str) -> bytes | None:
        first = (method, path) not in seen
        seen.add((method, path))
        return b"503 Slow Down" if first else None

    bucket.fault = fault
    done = build(sample, place.url)
    assert done.code == 0, done.err
    assert fingerprint(place) == info(local)["fingerprint"]


def test_full_disk_is_reported(place: Objects, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(rendering.ClaviBuilder, "render", full)
        refuses(build(sample, place.url), "no space left", "set XDG_CACHE_HOME")
    assert build(sample, place.url).code == 0


@pytest.mark.full
def test_fresh_keeps_notes_and_other_objects(place: Objects, sample: Path) -> None:
    assert build(sample, place.url).code == 0
    place.put("LICENSE", b"mine")
    card = (place.get("README.md") or b"").decode()
    place.put("README.md", card.replace(END, f"Read this first.\n{END}").encode())
    first = keys(place)
    done = build(sample, place.url, "--fresh", "--seed", 3)
    assert done.code == 0, done.err
    assert keys(place) == first
    assert place.get("LICENSE") == b"mine"
    assert b"Read this first." in (place.get("README.md") or b"")


@pytest.mark.full
def test_sources_are_read_from_object_storage(
    place: Objects, sample: Path, local: Path, tmp_path: Path, bucket: Bucket
) -> None:
    for path in sample.rglob("*.mp4"):
        place.put(f"videos/{path.name}", path)
    shutil.copytree(sample, tmp_path / "annotations", ignore=shutil.ignore_patterns("*.mp4"))
    given = (tmp_path / "annotations", tmp_path / "remote", "--videos", f"{place.url}/videos", "--allow-missing")
    bucket.fault = lambda method, path: b"403 Forbidden" if method == "GET" and path.endswith(".mp4") else None
    refuses(build(*given), "cannot be accessed", "AWS_ACCESS_KEY_ID")
    bucket.fault = lambda method, path: None
    bucket.requests.clear()
    done = build(*given)
    assert done.code == 0, done.err
    assert info(tmp_path / "remote")["fingerprint"] == info(local)["fingerprint"]
    fetched = [path for method, path in bucket.requests if method == "GET" and path.endswith(".mp4")]
    assert len(fetched) == len(set(fetched)) > 0
