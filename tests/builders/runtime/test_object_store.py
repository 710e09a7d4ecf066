import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import stressreel
import stressreel.builders.clavi.render as rendering
import stressreel.builders.runtime.build as building
from buckets import Bucket, serving
from commands import Ran, info, refuses, run
from stressreel.annotations.samples.cache import cached_sample
from stressreel.builders.runtime import object_store
from stressreel.builders.runtime.object_store import Lock, check_conditions
from stressreel.core import objects as module
from stressreel.core.errors import OutputError
from stressreel.core.objects import Lost, Objects

pytest.importorskip("obstore", reason="the extra cloud is not installed")
pytest.importorskip("moto", reason="moto is not installed")
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
    module._version_of.cache_clear()
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
    given = ("--charades", sample, "--limit", 2, "--preset", "ultrafast", "--no-progress", "--workers", 1)
    return run("build-clavi", *given, "--out", out, *more)


def keys(place: Objects) -> set[str]:
    return {found.key for found in place.list()}


def fingerprint(place: Objects) -> str:
    return str(json.loads(place.get("build.json") or b"{}")["fingerprint"])


def died(*_: object) -> None:
    raise KeyboardInterrupt


def test_objects_are_put_on_conditions(place: Objects) -> None:
    etag = place.put("x/a", b"1", only="new")
    assert place.put("x/a", b"1", only="new") == etag  # the answer to the first try may have been lost
    for only in ("new", '"other"'):
        with pytest.raises(Lost):
            place.put("x/a", b"2", only=only)
    place.put("x/a", b"3", only=etag)
    assert place.get("x/a") == b"3"


def test_a_remote_build_is_the_local_one(place: Objects, sample: Path, local: Path, tmp_path: Path) -> None:
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
def test_a_remote_output_is_read_verified_and_compared(
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
def test_other_things_in_a_prefix_stay(place: Objects, sample: Path, content: dict[str, bytes]) -> None:
    for name, value in content.items():
        place.put(name, value)
    for more in ((), ("--fresh",)):
        refuses(build(sample, place.url, *more), "Nothing was changed")
    assert keys(place) == {*content}


def test_odd_addresses_are_refused(bucket: Bucket, sample: Path) -> None:
    refuses(build(sample, f"{bucket.url}/run#1"), "which have a special meaning in URLs", code=2)
    refuses(build(sample, "s3://"), "has no bucket", code=2)
    refuses(build(sample, "gs://bucket/out"), "gs://")


def test_receipts_of_another_machine_are_taken_up(
    place: Objects, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One machine renders and dies before it packs; the other, with an empty cache, renders nothing."""
    with monkeypatch.context() as patch:
        patch.setattr(building, "pack", died)
        assert build(sample, place.url).code == 130
    receipts = [key for key in keys(place) if key.startswith(".build/receipts/")]
    assert len(receipts) == 2
    assert ".build/lock" not in keys(place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other-machine"))
    monkeypatch.setattr(rendering.ClaviBuilder, "render", died)
    done = build(sample, place.url)
    assert done.code == 0, done.err
    assert not any(key.startswith(".build/") for key in keys(place))


def test_a_dead_driver_s_lock_is_taken_and_a_live_one_notices(place: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "BEAT", 0.05)
    first, second = Lock(place), Lock(place)
    first.acquire(time.time())
    with pytest.raises(OutputError, match="last seen"):
        second.acquire(time.time())
    second = Lock(place)
    monkeypatch.setattr(first, "_renew", lambda: None)
    first._stop.set()
    first._thread.join()
    second.acquire(time.time() + 1000)
    second.check()
    first._stop.clear()
    Lock._renew(first)
    with pytest.raises(OutputError, match="took it over"):
        first.check()
    first.release()
    assert place.head(".build/lock") is not None
    second.release()
    assert place.head(".build/lock") is None


def test_a_store_without_conditions_is_refused(place: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    put = Objects.put
    monkeypatch.setattr(Objects, "put", lambda self, key, content, only=None: put(self, key, content))
    with pytest.raises(OutputError, match="ignores conditions on writes"):
        check_conditions(place)


@pytest.mark.full
def test_sources_may_lie_in_object_storage(
    place: Objects, sample: Path, local: Path, tmp_path: Path, bucket: Bucket
) -> None:
    for path in sample.rglob("*.mp4"):
        place.put(f"videos/{path.name}", path)
    shutil.copytree(sample, tmp_path / "annotations", ignore=shutil.ignore_patterns("*.mp4"))
    given = (tmp_path / "annotations", tmp_path / "remote", "--videos", f"{place.url}/videos", "--allow-missing")
    bucket.fault = lambda method, path: b"403 Forbidden" if method == "GET" and path.endswith(".mp4") else None
    refuses(build(*given), "cannot be read", "AWS_ACCESS_KEY_ID")
    bucket.fault = lambda method, path: None
    bucket.requests.clear()
    done = build(*given)
    assert done.code == 0, done.err
    assert info(tmp_path / "remote")["fingerprint"] == info(local)["fingerprint"]
    fetched = [path for method, path in bucket.requests if method == "GET" and path.endswith(".mp4")]
    assert len(fetched) == len(set(fetched)) > 0
