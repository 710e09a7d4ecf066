"""Builds into object storage, on an S3 server in this process."""

from __future__ import annotations

import itertools
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import stressreel
from buckets import Bucket, serving
from commands import Ran, info, refuses, run, start, wait_until
from stressreel.builders.runtime import object_store
from stressreel.builders.runtime.object_store import Lock, ObjectStore, check_conditions, claim_objects
from stressreel.core import objects as module
from stressreel.core.errors import InputError, OutputError, UsageError
from stressreel.core.objects import Lost, Objects, address, local_copy, objects_at

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
def sample(once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    return once("charades-sample", lambda folder: run("stressreel", "sample", folder, "--kind", "charades"))


def build(sample: Path, out: object, *more: object, **options: object) -> Ran:
    given = ("--charades", sample, "--limit", 2, "--preset", "ultrafast", "--no-progress", "--workers", 1)
    return run("build-clavi", *given, "--out", out, *more)


def keys(place: Objects) -> set[str]:
    return {found.key for found in place.list()}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("s3://bucket/a/b", "s3://bucket/a/b"),
        ("s3://bucket/", "s3://bucket"),
        (Path("s3://bucket/a/b"), "s3://bucket/a/b"),
        (Path("gs://bucket"), "gs://bucket"),
        ("az://container/x", "az://container/x"),
        ("/a/s3://b", None),
        ("s3", None),
        ("http://h/x", None),
        ("s4://b/x", None),
        ("c:/x", None),
    ],
)
def test_addresses_are_told_from_paths(given: str | Path, meant: str | None) -> None:
    assert address(given) == meant


def test_objects_are_put_read_listed_and_removed(place: Objects, tmp_path: Path) -> None:
    assert place.get("a") is None
    assert place.head("a") is None
    etag = place.put("x/a", b"1")
    (tmp_path / "f").write_bytes(b"22")
    place.put("x/b", tmp_path / "f")
    assert {(found.key, found.size) for found in place.list("x/")} == {("x/a", 1), ("x/b", 2)}
    with pytest.raises(Lost):
        place.put("x/a", b"2", only="new")
    with pytest.raises(Lost):
        place.put("x/a", b"2", only='"other"')
    place.put("x/a", b"3", only=etag)
    assert place.get("x/a") == b"3"
    place.fetch("x/b", tmp_path / "g")
    assert (tmp_path / "g").read_bytes() == b"22"
    place.remove("x/a", "x/b", "x/none")
    assert keys(place) == set()


def test_what_is_too_large_is_not_fetched(place: Objects) -> None:
    place.put("build.json", b"x" * 11)
    assert place.get("build.json", 11) == b"x" * 11
    with pytest.raises(InputError, match=r"build\.json has 11 bytes, and no file of this kind more than 10\."):
        place.get("build.json", 10)


def test_a_lost_answer_is_not_a_lost_race(place: Objects) -> None:
    """A put that was done and is tried again finds what it wrote itself."""
    place.put("a", b"mine", only="new")
    place.put("a", b"mine", only="new")
    with pytest.raises(Lost):
        place.put("a", b"yours", only="new")


def test_passing_faults_are_tried_again(place: Objects, bucket: Bucket) -> None:
    failing = {"PUT": 2, "GET": 2}

    def fault(method: str, path: str) -> bytes | None:
        failing[method] = failing.get(method, 0) - 1
        return b"503 Slow Down" if failing[method] >= 0 else None

    bucket.fault = fault
    place.put("a", b"1")
    assert place.get("a") == b"1"


def test_refusals_are_said(place: Objects, bucket: Bucket) -> None:
    bucket.fault = lambda method, path: b"403 Forbidden"
    with pytest.raises(OutputError, match="AWS_ACCESS_KEY_ID"):
        place.put("a", b"1")
    with pytest.raises(UsageError, match="no address"):
        objects_at("/a")


def test_a_remote_build_is_the_local_one(place: Objects, sample: Path, tmp_path: Path) -> None:
    assert build(sample, tmp_path / "local").code == 0
    done = build(sample, place.url)
    assert done.code == 0, done.err
    local = info(tmp_path / "local")
    assert json.loads(place.get("build.json") or b"{}")["fingerprint"] == local["fingerprint"]
    files = {p.relative_to(tmp_path / "local").as_posix() for p in (tmp_path / "local").rglob("*") if p.is_file()}
    assert keys(place) == {name for name in files if not name.startswith(".build/")}
    for name in (
        "README.md",
        "croissant.json",
        "units.parquet",
        *(name for name in files if name.endswith(".parquet")),
    ):
        assert place.get(name) == (tmp_path / "local" / name).read_bytes(), name
    again = build(sample, place.url)
    assert again.code == 0, again.err
    assert "is complete already" in again.err
    assert not any(key.startswith(".build/") for key in keys(place))
    cache = tmp_path / "cache" / "stressreel" / "remote-builds"
    assert not [path for path in cache.rglob("*.parquet")]


def test_a_remote_output_is_read_verified_and_scored(
    place: Objects, sample: Path, bucket: Bucket, tmp_path: Path
) -> None:
    assert build(sample, place.url).code == 0
    output = stressreel.read(place.url)
    rows = list(output.rows("questions"))
    assert len(rows) == 2 * 2 * 19
    assert not any(
        path.endswith(".parquet") and "/videos/" in path for method, path in bucket.requests if method == "GET"
    )
    answers = tmp_path / "a.jsonl"
    answers.write_text("".join(json.dumps({"id": row["question_id"], "answer": "yes"}) + "\n" for row in rows))
    scored = run("stressreel", "score", place.url, "--predictions", answers, "--split", "all", "--json")
    assert scored.code == 0, scored.err
    assert json.loads(scored.out)["headline"]["accuracy"]["value"] == pytest.approx(6 / 19)
    verified = run("stressreel", "verify", place.url)
    assert verified.code == 0, verified.out + verified.err
    first = rows[0]["video_id"]
    assert output.video(first)[4:8] == b"ftyp"
    place.put(next(key for key in sorted(keys(place)) if key.startswith("questions/")), b"damaged")
    assert run("stressreel", "verify", place.url).code == 1


def test_a_remote_output_is_compared_as_a_local_one(
    place: Objects, sample: Path, bucket: Bucket, tmp_path: Path
) -> None:
    given = ("--crf", 40)
    builds = [build(sample, tmp_path / "a"), build(sample, tmp_path / "b", *given), build(sample, place.url, *given)]
    assert [done.code for done in builds] == [0, 0, 0]
    bucket.requests.clear()
    assert run("stressreel", "diff", tmp_path / "b", place.url).code == 0
    assert not [path for method, path in bucket.requests if method == "GET" and "-of-" in path]
    local, remote = (run("stressreel", "diff", tmp_path / "a", b, "--json") for b in (tmp_path / "b", place.url))
    assert local.code == remote.code == 1
    assert json.loads(local.out) | {"b": place.url} == json.loads(remote.out)
    fetched = [path for method, path in bucket.requests if method == "GET" and "-of-" in path]
    assert fetched
    assert all("/videos/" in path for path in fetched)  # the other tables are the same


def test_datasets_is_told_where_the_shards_are(place: Objects, sample: Path, tmp_path: Path) -> None:
    import datasets

    assert build(sample, tmp_path / "local").code == 0
    loaded = datasets.load_dataset(
        "parquet", **stressreel.data_files(tmp_path / "local", "questions"), cache_dir=str(tmp_path / "hf")
    )
    assert sum(table.num_rows for table in loaded.values()) == 2 * 2 * 19
    assert loaded[next(iter(loaded))].features["answer"].names == ["no", "yes"]
    done = build(sample, place.url)
    assert f'load_dataset("parquet", **data_files("{place.url}", "questions"))' in done.out
    found = stressreel.data_files(place.url, "questions")
    assert found["storage_options"] == {"client_kwargs": {"endpoint_url": os.environ["AWS_ENDPOINT"]}}
    for split, urls in found["data_files"].items():
        for url in urls:
            key = url.removeprefix(place.url + "/")
            assert place.get(key) == (tmp_path / "local" / key).read_bytes()
            assert key.startswith(f"questions/{split}-")
    with pytest.raises(UsageError, match="has no table 'none'"):
        stressreel.data_files(place.url, "none")


def test_what_is_no_output_is_said(place: Objects) -> None:
    refuses(run("stressreel", "verify", place.url), "has no build.json", code=2)
    place.put(".build/plan.json", b"{}")
    refuses(run("stressreel", "verify", place.url), "not finished")


def test_other_things_in_a_prefix_stay(place: Objects, sample: Path) -> None:
    place.put("precious.txt", b"1")
    refuses(build(sample, place.url), "precious.txt", "stays as it is")
    refuses(build(sample, place.url, "--fresh"), "precious.txt")
    assert keys(place) == {"precious.txt"}


def test_another_plan_is_refused_and_fresh_begins_again(place: Objects, sample: Path) -> None:
    assert build(sample, place.url).code == 0
    refuses(build(sample, place.url, "--seed", 3), "started with something else")
    before = json.loads(place.get("build.json") or b"")["fingerprint"]
    place.put("mine.txt", b"1")
    done = build(sample, place.url, "--seed", 3, "--fresh")
    assert done.code == 0, done.err
    assert json.loads(place.get("build.json") or b"")["fingerprint"] != before
    assert place.get("mine.txt") == b"1"


def test_another_build_json_is_not_ours(place: Objects, sample: Path) -> None:
    for content in (b"{}", b"[]", b'{"counts": {"": {}}, "plan_sha256": "x"}', b'{"counts": null}', b"\xff"):
        place.put("build.json", content)
        place.put("figures/mine.png", b"1")
        refuses(build(sample, place.url, "--fresh"), "stays as it is")
        assert keys(place) == {"build.json", "figures/mine.png"}


def test_a_wrong_command_does_not_spoil_a_finished_output(place: Objects, sample: Path) -> None:
    assert build(sample, place.url).code == 0
    refuses(build(sample, place.url, "--seed", 3), "started with something else")
    again = build(sample, place.url)
    assert again.code == 0, again.err


def test_fresh_after_a_half_done_publication_leaves_no_old_shard(
    place: Objects, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = Objects.put

    def killed(self: Objects, key: str, content: bytes | Path, *, only: str | None = None) -> str:
        if key == "build.json":
            raise KeyboardInterrupt
        return put(self, key, content, only=only)

    with monkeypatch.context() as patch:
        patch.setattr(Objects, "put", killed)
        assert build(sample, place.url).code == 130
    place.put("videos/test-00007-of-00009.parquet", b"old")
    done = build(sample, place.url, "--seed", 3, "--fresh")
    assert done.code == 0, done.err
    assert place.head("videos/test-00007-of-00009.parquet") is None


def test_a_clearing_that_was_killed_goes_on(place: Objects, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert build(sample, place.url).code == 0
    remove = Objects.remove

    def killed(self: Objects, *names: str) -> None:
        remove(self, *names)
        if "build.json" in names:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Objects, "remove", killed)
        assert build(sample, place.url, "--fresh").code == 130
    assert place.head("build.json") is None
    done = build(sample, place.url, "--seed", 4)
    assert done.code == 0, done.err


def test_a_source_that_cannot_be_fetched_ends_the_build(
    place: Objects, sample: Path, tmp_path: Path, bucket: Bucket
) -> None:
    import shutil

    for path in sample.rglob("*.mp4"):
        place.put(f"videos/{path.name}", path)
    shutil.copytree(sample, tmp_path / "annotations", ignore=shutil.ignore_patterns("*.mp4"))
    bucket.fault = lambda method, path: b"403 Forbidden" if method == "GET" and path.endswith(".mp4") else None
    done = build(tmp_path / "annotations", tmp_path / "out", "--videos", f"{place.url}/videos", "--allow-missing")
    refuses(done, "cannot be read", "AWS_ACCESS_KEY_ID")
    assert not (tmp_path / "out" / "build.json").exists()


def test_cards_of_remote_outputs_are_not_written_here(place: Objects, sample: Path) -> None:
    assert build(sample, place.url).code == 0
    refuses(run("stressreel", "card", place.url), "lies in object storage", code=2)


def test_odd_addresses_are_refused(bucket: Bucket, sample: Path) -> None:
    for name in ("run#1", "a?b", "a%20b", "a*"):
        refuses(build(sample, f"{bucket.url}/{name}"), "which addresses use otherwise", code=2)
    refuses(build(sample, "gs://bucket/out"), "gs://")


def test_what_was_removed_from_the_store_is_missed(place: Objects, sample: Path) -> None:
    assert build(sample, place.url).code == 0
    assert run("stressreel", "verify", place.url, "--no-decode").code == 0
    place.remove("units.parquet")
    assert run("stressreel", "verify", place.url, "--no-decode").code == 1


def test_receipts_of_another_machine_are_taken_up(
    place: Objects, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One machine renders and dies before it packs; the other, with an empty cache, renders nothing."""
    import stressreel.builders.runtime.build as building

    def died(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(building, "pack", died)
        assert build(sample, place.url).code == 130
    receipts = [key for key in keys(place) if key.startswith(".build/receipts/")]
    assert len(receipts) == 2
    assert not any(key == ".build/lock" for key in keys(place))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other-machine"))
    import stressreel.builders.clavi.render as rendering

    monkeypatch.setattr(rendering.ClaviBuilder, "render", died)
    done = build(sample, place.url)
    assert done.code == 0, done.err
    assert not any(key.startswith(".build/") for key in keys(place))


def test_a_driver_that_was_killed_while_it_put_is_resumed(place: Objects, sample: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    arguments = ("--charades", sample, "--preset", "ultrafast", "--no-progress", "--workers", 1, "--out", place.url)
    process = start("build-clavi", *arguments, env=environment)
    wait_until(lambda: any(key.startswith(".build/receipts/") for key in keys(place)), process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert place.head("build.json") is None
    refuses(run("build-clavi", *arguments), "another driver builds in", "if it is dead")
    place.remove(".build/lock")
    done = run("build-clavi", *arguments)
    assert done.code == 0, done.err
    assert run("build-clavi", *arguments[:-1], tmp_path / "local").code == 0
    assert json.loads(place.get("build.json") or b"")["fingerprint"] == info(tmp_path / "local")["fingerprint"]


def test_faults_in_the_middle_do_not_change_the_result(
    place: Objects, sample: Path, bucket: Bucket, tmp_path: Path
) -> None:
    count = itertools.count()
    bucket.fault = lambda method, path: b"500 Down" if next(count) % 5 == 2 else None
    done = build(sample, place.url)
    assert done.code == 0, done.err
    bucket.fault = lambda method, path: None
    assert build(sample, tmp_path / "local").code == 0
    assert json.loads(place.get("build.json") or b"")["fingerprint"] == info(tmp_path / "local")["fingerprint"]


def test_a_put_that_fails_in_the_middle_leaves_no_object(place: Objects, tmp_path: Path) -> None:
    class Broken:
        def __iter__(self) -> Iterator[bytes]:
            yield b"x" * 10_000_000
            raise RuntimeError("torn")

    import obstore

    with pytest.raises(RuntimeError, match="torn"):
        obstore.put(module._store(place.url), "a", iter(Broken()))
    assert place.head("a") is None


def test_two_drivers_do_not_build_in_one_place(place: Objects) -> None:
    with claim_objects(place), pytest.raises(OutputError, match="another driver builds in"), claim_objects(place):
        pass
    assert keys(place) == set()


def test_of_many_that_race_one_wins(place: Objects) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def race(number: int) -> Lock | None:
        lock = Lock(place)
        try:
            lock.acquire(time.time())
        except OutputError:
            return None
        return lock

    with ThreadPoolExecutor(12) as pool:
        won = [lock for lock in pool.map(race, range(12)) if lock]
    assert len(won) == 1
    won[0].release()


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
    time.sleep(0.2)
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
    with pytest.raises(OutputError, match="writes over an object"):
        check_conditions(place)


def test_files_are_known_by_their_content(place: Objects, tmp_path: Path) -> None:
    store = ObjectStore(place)
    for content in (b"one", b"two"):
        folder = store.scratch("u")
        (folder / "1.mp4").write_bytes(content)
        store.deliver("u", {"1.mp4": 3})
        assert not folder.exists()
    assert store.has("u", {"1.mp4": 3})
    assert not store.has("u", {"1.mp4": 4})
    import hashlib

    assert store.read("u", "1.mp4", hashlib.sha256(b"one").hexdigest()) == b"one"
    assert store.read("u", "1.mp4", hashlib.sha256(b"none").hexdigest()) == b""


def test_sources_may_lie_in_object_storage(place: Objects, sample: Path, tmp_path: Path, bucket: Bucket) -> None:
    assert build(sample, tmp_path / "local").code == 0
    videos = sorted(path for path in sample.rglob("*.mp4"))
    for path in videos:
        place.put(f"videos/{path.name}", path)
    import shutil

    shutil.copytree(sample, tmp_path / "annotations", ignore=shutil.ignore_patterns("*.mp4"))
    bucket.requests.clear()
    done = build(tmp_path / "annotations", tmp_path / "remote", "--videos", f"{place.url}/videos")
    assert done.code == 0, done.err
    assert info(tmp_path / "remote")["fingerprint"] == info(tmp_path / "local")["fingerprint"]
    fetched = [path for method, path in bucket.requests if method == "GET" and path.endswith(".mp4")]
    assert len(fetched) == len(set(fetched)) > 0


def test_copies_make_room_for_others(place: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IN_USE", -1.0)
    monkeypatch.setenv(module.LIMIT_VARIABLE, "0.000003")
    for name in ("a", "b", "c"):
        place.put(f"{name}.mp4", name.encode() * 1400)
    found = []
    for name in ("a", "b", "c"):
        found.append(local_copy(Path(f"{place.url}/{name}.mp4")))
        assert found[-1].read_bytes() == name.encode() * 1400
        os.utime(found[-1], (1000 + len(found), 1000 + len(found)))
    assert [path.exists() for path in found] == [False, True, True]
    monkeypatch.setenv(module.LIMIT_VARIABLE, "lots")
    place.put("d.mp4", b"d")
    with pytest.raises(UsageError, match="number of gigabytes"):
        local_copy(Path(f"{place.url}/d.mp4"))
