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
from commands import Ran, info, refuses, run, start, succeed, wait_until
from stressreel.annotations.samples import cached_sample
from stressreel.builders.runtime import object_store
from stressreel.builders.runtime.object_store import claim_objects
from stressreel.core import objects as module
from stressreel.core.errors import OutputError
from stressreel.core.objects import Objects
from stressreel.core.output_files import END

pytest.importorskip("obstore", reason="the extra cloud is not installed")
pytest.importorskip("moto", reason="moto is not installed")
SMALL = ("--limit", 2, "--preset", "ultrafast", "--workers", 1)
SAMPLE = cached_sample("charades")  # before XDG_CACHE_HOME changes
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
def local(build_once: Callable[..., Path]) -> Path:
    """What `build` makes, in a folder; read only."""
    return build_once("build-clavi", "--charades", SAMPLE, *SMALL)


def build(out: object, *more: object) -> Ran:
    options = (*SMALL, "--no-progress", *more)
    return run("build-clavi", "--charades", SAMPLE, "--out", out, *options)


def completes(place: Objects, *more: object) -> str:
    """Build to the end; return the fingerprint."""
    done = build(place.url, *more)
    assert done.code == 0, done.err
    return str(json.loads(place.get("build.json") or b"{}")["fingerprint"])


def keys(place: Objects) -> set[str]:
    return {found["path"] for found in place.list()}


def rendered(place: Objects) -> set[str]:
    """The units that have a receipt."""
    return {found["path"].removeprefix(object_store.RECEIPTS) for found in place.list(object_store.RECEIPTS)}


def forbidden(method: str, ending: str) -> Callable[[str, str], bytes | None]:
    return lambda asked, path: b"403 Forbidden" if asked == method and path.endswith(ending) else None


def test_remote_build_equals_local_build(place: Objects, local: Path, tmp_path: Path) -> None:
    completes(place)
    files = {path.relative_to(local).as_posix() for path in local.rglob("*") if path.is_file()}
    assert keys(place) == {name for name in files if not name.startswith(".build/")}
    for name in ("README.md", "croissant.json", *(name for name in files if name.endswith(".parquet"))):
        assert place.get(name) == (local / name).read_bytes(), name
    assert "is already complete" in build(place.url).err
    assert not list((tmp_path / "cache" / "stressreel" / "remote-builds").rglob("*.parquet"))
    found = stressreel.data_files(place.url, "questions")
    assert found["storage_options"] == {"client_kwargs": {"endpoint_url": os.environ["AWS_ENDPOINT"]}}
    shards = {url.removeprefix(place.url + "/") for urls in found["data_files"].values() for url in urls}
    assert shards == {key for key in keys(place) if key.startswith("questions/")}
    refuses(build(place.url, "--seed", 3), "different settings or inputs")
    refuses(run("stressreel", "card", place.url), "is in object storage", code=2)


@pytest.mark.full
def test_remote_output_is_read_verified_and_compared(
    place: Objects, local: Path, bucket: Bucket, tmp_path: Path
) -> None:
    completes(place, "--crf", 40)
    output = stressreel.read(place.url)
    rows = list(output.rows("questions"))
    assert len(rows) == 2 * 2 * 19
    assert not [path for method, path in bucket.requests if method == "GET" and "/videos/" in path]
    succeed("stressreel", "verify", place.url)
    assert output.video(rows[0]["video_id"])[4:8] == b"ftyp"
    assert build(tmp_path / "b", "--crf", 40).code == 0
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
def test_prefix_with_other_objects_is_refused(place: Objects, content: dict[str, bytes]) -> None:
    for name, value in content.items():
        place.put(name, value)
    for more in ((), ("--fresh",)):
        refuses(build(place.url, *more), "Nothing was changed")
    assert keys(place) == {*content}
    for odd in (f"{place.url}#1", "s3://"):
        assert build(odd).code == 2


def test_killed_build_resumes_on_another_machine(
    place: Objects, local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One machine is killed after its first receipt; the other, with an empty cache, renders only the rest."""
    process = start("build-clavi", "--charades", SAMPLE, *SMALL, "--out", place.url)
    wait_until(lambda: rendered(place), process)
    process.kill()
    process.communicate()
    assert place.head("build.json") is None
    refuses(run("stressreel", "verify", place.url), "unfinished build")
    before = rendered(place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other-machine"))
    refuses(build(place.url), "another process is building", "Finished work is kept")
    monkeypatch.setattr(object_store, "DEAD_S", 0.0)
    calls, render = [], rendering.ClaviBuilder.render
    monkeypatch.setattr(rendering.ClaviBuilder, "render", lambda *given: (calls.append(given[1].id), render(*given))[1])
    assert completes(place) == info(local)["fingerprint"]
    assert not before & set(calls)
    assert not any(key.startswith(".build/") for key in keys(place))


def test_second_run_is_refused_and_dead_one_stops(place: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    with claim_objects(place) as first:
        refuses(build(place.url), "another process is building")
        first.alone()
        with monkeypatch.context() as patch:
            patch.setattr(object_store, "DEAD_S", 0.0)
            patch.setenv("XDG_CACHE_HOME", str(first.path / "another-machine"))
            completes(place)
        with pytest.raises(OutputError, match="while this one was suspended"):
            first.publish()


def test_failed_upload_or_full_disk_leaves_output_unfinished(
    place: Objects, local: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No reader takes the output for finished, and the same command completes it."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(rendering.ClaviBuilder, "render", full)
        refuses(build(place.url), "no space left", "set XDG_CACHE_HOME")
    bucket.fault = forbidden("PUT", "croissant.json")
    refuses(build(place.url), "croissant.json cannot be accessed", "AWS_ACCESS_KEY_ID")
    assert "build.json" not in keys(place)
    refuses(run("stressreel", "verify", place.url), "unfinished build")
    bucket.fault = lambda method, path: None
    assert completes(place) == info(local)["fingerprint"]


@pytest.mark.full
def test_requests_are_repeated_and_fresh_keeps_notes(place: Objects, local: Path, bucket: Bucket) -> None:
    seen: set[tuple[str, str]] = set()

    def fault(method: str, path: str) -> bytes | None:
        first = (method, path) not in seen
        seen.add((method, path))
        return b"503 Slow Down" if first else None

    bucket.fault = fault
    assert completes(place) == info(local)["fingerprint"]
    place.put("LICENSE", b"mine")
    card = (place.get("README.md") or b"").decode()
    place.put("README.md", card.replace(END, f"Read this first.\n{END}").encode())
    first = keys(place)
    completes(place, "--fresh", "--seed", 3)
    assert keys(place) == first
    assert place.get("LICENSE") == b"mine"
    assert b"Read this first." in (place.get("README.md") or b"")


@pytest.mark.full
def test_sources_are_read_from_object_storage(place: Objects, local: Path, tmp_path: Path, bucket: Bucket) -> None:
    for path in SAMPLE.rglob("*.mp4"):
        place.put(f"videos/{path.name}", path)
    annotations, out = tmp_path / "annotations", tmp_path / "out"
    shutil.copytree(SAMPLE, annotations, ignore=shutil.ignore_patterns("*.mp4"))
    given = ("--charades", annotations, "--videos", f"{place.url}/videos", "--allow-missing", *SMALL, "--out", out)
    bucket.fault = forbidden("GET", ".mp4")
    refuses(run("build-clavi", *given), "cannot be accessed", "AWS_ACCESS_KEY_ID")
    bucket.fault = lambda method, path: None
    bucket.requests.clear()
    succeed("build-clavi", *given)
    assert info(out)["fingerprint"] == info(local)["fingerprint"]
    fetched = [path for method, path in bucket.requests if method == "GET" and path.endswith(".mp4")]
    assert len(fetched) == len(set(fetched)) > 0
