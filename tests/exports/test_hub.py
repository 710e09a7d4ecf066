"""Pushes to a Hub on loopback that is busy, breaks, loses answers, or is used by others meanwhile."""

import json

import pytest
from hub import ATTRIBUTES, TOKEN, Lose, Refuse
from huggingface_hub import HfApi, constants
from stressreel.core.errors import HubError, UsageError
from stressreel.exports.hub import File, Target, check_names, hashed, inspect_repository, push

# huggingface_hub's own way of sending large files without Xet
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

FIRST = {
    "README.md": b"---\nconfigs: []\n---\n",
    "questions/test-00000-of-00001.parquet": b"questions",
    "units.parquet": b"units",
    "videos/test-00000-of-00002.parquet": b"one",
    "videos/test-00001-of-00002.parquet": b"two",
}
SECOND = {name: content for name, content in FIRST.items() if not name.startswith("videos/")}
SECOND["videos/test-00000-of-00001.parquet"] = b"one and two"
COMMITTING = "/api/datasets/org/data/commit/main"


class Pusher:
    """Pushes a version as the command does, whose fingerprint consists of its number."""

    def __init__(self, hub, folder):
        self.hub, self.folder, self.builder = hub, folder, "own"
        self.api = HfApi(endpoint=hub.url, token=TOKEN)

    def about(self, version):
        counts = {"questions": {"test": 1}, "videos": {"test": 2}}
        stated = {"dataset_version": f"{version}.0.0", "fingerprint": f"{version}" * 64, "counts": counts}
        return {"builder": self.builder, **stated}

    def __call__(self, content=FIRST, version=1, name="org/data", tag=None, public=False):
        about, files = self.about(version), []
        for file, data in sorted({**content, "build.json": json.dumps(about).encode()}.items()):
            path = self.folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            files.append(hashed(File(file, path, len(data))))
        target = Target(name, tag or f"v{version}.0.0", public)
        found = inspect_repository(self.api, target, about)
        return push(self.api, target, about, files, found, ["Licence: none."])

    @property
    def repository(self):
        return self.hub.repositories["datasets/org/data"]

    def holds(self, content, version=1):
        build = json.dumps(self.about(version)).encode()
        return self.repository.files() == {**content, "build.json": build, ".gitattributes": ATTRIBUTES}


@pytest.fixture
def pusher(hub, tmp_path):
    return Pusher(hub, tmp_path / "out")


def test_push_makes_one_tagged_private_commit_once(pusher):
    done = pusher()
    assert pusher.holds(FIRST)
    assert pusher.repository.private
    assert done.private
    first, (message, _) = pusher.repository.commits.values()
    assert first[0] == "initial commit"
    assert message.startswith("Push own 1.0.0, fingerprint 1111111111111111\n\nBy stressreel ")
    assert message.endswith("\nLicence: none.")
    assert pusher.repository.tags == {"v1.0.0": pusher.repository.head} == {"v1.0.0": done.commit}
    assert (done.made, done.added, done.deleted, done.kept) == (True, 6, 0, ())
    pusher.hub.requests.clear()
    again = pusher()
    assert (again.made, again.commit, again.tagged) == (False, done.commit, done.commit)
    assert {method for method, _ in pusher.hub.requests} <= {"GET", "HEAD"}
    pusher.repository.tags.clear()
    assert not pusher().made
    assert pusher.repository.tags == {"v1.0.0": done.commit}


def test_new_version_sends_changes_and_deletes_old_files(pusher):
    first = pusher()
    with_others = {**pusher.repository.files(), "LICENSE": b"mine", "videos/test-extra.parquet": b"stray"}
    pusher.repository.commit("by hand", with_others)
    pusher.hub.requests.clear()
    done = pusher(SECOND, 2)
    assert pusher.holds({**SECOND, "LICENSE": b"mine"}, 2)
    assert done.kept == ("LICENSE",)
    assert (done.added, done.deleted) == (2, 3)  # build.json and the new shard; two shards and the stray one
    assert pusher.hub.count("PUT", "/lfs/") == 1
    assert pusher.repository.tags == {"v1.0.0": first.commit, "v2.0.0": done.commit}


def test_public_tagged_and_other_repositories_are_unchanged(pusher):
    first = pusher(public=True)
    assert not first.private
    with pytest.raises(HubError, match=r"org/data is public\. Pass --public"):
        pusher(SECOND, 2)
    with pytest.raises(HubError, match=r"already has the tag v1\.0\.0, which belongs to other content"):
        pusher(SECOND, 2, tag="v1.0.0", public=True)
    done = pusher(FIRST | {"README.md": b"more"}, public=True)  # a new card of the same content
    assert done.commit == pusher.repository.head != first.commit
    assert done.tagged == first.commit == pusher.repository.tags["v1.0.0"]
    pusher.builder = "other"
    with pytest.raises(HubError, match="output of other would replace"):
        pusher(SECOND, 2, public=True)
    assert pusher.repository.head == done.commit


def test_foreign_repository_is_not_changed(pusher):
    repository = pusher.hub.make("org/data")
    for foreign in ({"data.csv": b"mine"}, {"build.json": b'{"fingerprint": 3}'}):
        repository.commit("by hand", foreign)
        with pytest.raises(HubError, match=rf"`stressreel push` did not write \({next(iter(foreign))}\)"):
            pusher()
    repository.commit("emptied", {".gitattributes": ATTRIBUTES})
    assert pusher().made


# What goes wrong


@pytest.mark.parametrize(
    "path",
    [
        "POST /api/repos/create",
        "GET /api/datasets/org/data",
        "POST /api/datasets/org/data/preupload/main",
        "POST /datasets/org/data.git/info/lfs/objects/batch",
        f"POST {COMMITTING}",
        "GET /api/datasets/org/data/refs",
    ],
)
def test_transient_failures_are_retried(path, pusher):
    method, path = path.split()
    for faults in ((Refuse(500), Refuse(503)), (Refuse(429), Lose()), (Lose(), Lose())):
        pusher.hub.repositories.clear()
        pusher.hub.requests.clear()
        failing = {(method, path, number): fault for number, fault in enumerate(faults)}
        pusher.hub.fail = lambda *asked, failing=failing: failing.get(asked)
        done = pusher()
        assert pusher.hub.requests.count((method, path)) > 1
        assert pusher.holds(FIRST)
        assert len(pusher.repository.commits) == 2  # also if the response to the first was lost: it named its parent
        assert pusher.repository.tags == {"v1.0.0": done.commit}


def test_stopped_push_does_not_resend_large_files(pusher):
    pusher.hub.fail = lambda method, path, before: Refuse(500) if path == COMMITTING else None
    with pytest.raises(HubError, match=r"repeatedly failed with status 500 .* Uploaded files are kept"):
        pusher()
    assert (len(pusher.repository.commits), pusher.repository.tags) == (1, {})
    assert pusher.hub.count("PUT", "/lfs/") == 4
    pusher.hub.fail = lambda method, path, before: None
    assert pusher().made
    assert pusher.hub.count("PUT", "/lfs/") == 4


@pytest.mark.parametrize("path", ["units.parquet", "LICENSE"])
def test_concurrent_change_is_refused(path, pusher):
    def theirs(repository):
        pusher.hub.before_commit = lambda repository: None  # once
        repository.commit("theirs", {**repository.files(), path: b"theirs"})

    pusher()
    pusher.hub.before_commit = theirs
    with pytest.raises(HubError, match=r"Another client made it in the meantime; yours was not made"):
        pusher(SECOND, 2)
    assert pusher.repository.files()[path] == b"theirs"
    assert "v2.0.0" not in pusher.repository.tags
    sent = pusher.hub.count("PUT", "/lfs/")
    assert pusher(SECOND, 2).made
    assert pusher.hub.count("PUT", "/lfs/") == sent


def test_corrupted_upload_is_detected(pusher):
    pusher.hub.corrupt = "units.parquet"
    with pytest.raises(HubError, match=r"differs from the output at commit .* \(units\.parquet\)\. It was not tagged"):
        pusher()
    assert pusher.repository.tags == {}


def test_missing_permission_is_reported(pusher):
    with pytest.raises(HubError, match="your token has no write permission for other/data"):
        pusher(name="other/data")
    pusher.hub.make("other/data")  # it may be read
    with pytest.raises(HubError, match=r"no write permission for other/data \(.*You don't have the rights"):
        pusher(name="other/data")
    pusher.api = HfApi(endpoint=pusher.hub.url, token="hf_wrong")
    with pytest.raises(HubError, match="does not accept the token"):
        pusher()
    assert [*pusher.hub.repositories] == ["datasets/other/data"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ENDPOINT", "http://127.0.0.1:1", r"the Hub cannot be reached at http://127\.0\.0\.1:1"),
        ("HF_HUB_OFFLINE", True, "offline mode is enabled"),
    ],
)
def test_unreachable_hub_is_named(name, value, words, pusher, monkeypatch):
    monkeypatch.setattr(constants, name, value)
    pusher.api = HfApi(endpoint=value if isinstance(value, str) else pusher.hub.url, token=TOKEN)
    with pytest.raises(HubError, match=words):
        pusher()


def test_invalid_names_and_tags_are_refused():
    for name in ("data", "a/b/c", "/data", "org/", "org/a b", "org/a..b", "org/-a", "org/a.git"):
        with pytest.raises(UsageError, match="is not a valid repository name"):
            check_names(Target(name, "v1"))
    for tag in ("", "main", "a b", "-v", "a/b", "v1..2"):
        with pytest.raises(UsageError, match="--tag"):
            check_names(Target("org/data", tag))
    check_names(Target("org/da-ta_1.0", "v1.0.0-rc.1+b"))
