"""A Hugging Face Hub on loopback, for tests: datasets, large files, commits, tags; it fails as it is told.

It speaks what `huggingface_hub` and `datasets` ask of the real one, without Xet: HF_HUB_DISABLE_XET=1.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import flask
import pytest
from huggingface_hub import constants, utils
from serving import serving

TOKEN = "hf_loopbackloopbackloopback"
LARGE = (".parquet", ".png")
ATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"
DATA = "/api/datasets/<owner>/<data>"


@dataclass(frozen=True)
class Refuse:
    """Answer a request with a status, before anything is done."""

    status: int
    message: str = "no"


@dataclass(frozen=True)
class Lose:
    """Do what is asked, and hang up without an answer."""


Fault = Refuse | Lose | None
Fail = Callable[[str, str, int], Fault]
"""Gets method and path of a request, and how often the same came before."""


@dataclass
class Repository:
    name: str
    private: bool
    commits: dict[str, tuple[str, dict[str, bytes]]] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, message: str, files: Mapping[str, bytes]) -> str:
        name = hashlib.sha1(f"{len(self.commits)} {message}".encode()).hexdigest()
        self.commits[name] = (message, dict(files))
        return name

    @property
    def head(self) -> str:
        return list(self.commits)[-1]

    def resolve(self, revision: str) -> str | None:
        revision = {"main": self.head, "refs/heads/main": self.head, **self.tags}.get(revision, revision)
        return revision if revision in self.commits else None

    def files(self, revision: str = "main") -> dict[str, bytes]:
        return self.commits[self.resolve(revision) or ""][1]


@dataclass
class Hub:
    url: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    fail: Fail = lambda method, path, before: None
    requests: list[tuple[str, str]] = field(default_factory=list)
    stored: dict[str, bytes] = field(default_factory=dict)
    writable: tuple[str, ...] = ("org",)  # organisations that the token may write to
    before_commit: Callable[[Repository], None] = lambda repository: None  # somebody else may push
    corrupt: str = ""  # a file whose content is broken when it is committed

    def make(self, name: str, *, private: bool = True) -> Repository:
        repository = self.repositories[f"datasets/{name}"] = Repository(f"datasets/{name}", private)
        repository.commit("initial commit", {".gitattributes": ATTRIBUTES})
        return repository

    def count(self, method: str, part: str) -> int:
        return sum(asked == method and part in path for asked, path in self.requests)


class Denied(Exception):
    """An answer that is none: a status, and headers that `huggingface_hub` reads."""

    def __init__(self, status: int, message: str, code: str = "", url: str = ""):
        super().__init__(message)
        self.answer = {"error": message, "url": url}, status, {"X-Error-Message": message, "X-Error-Code": code}


def entry(path: str, content: bytes) -> dict[str, Any]:
    """Describe a file as trees do: a large one by its pointer and its SHA-256."""
    found = {"type": "file", "path": path, "size": len(content)}
    if path.endswith(LARGE):
        sha256 = hashlib.sha256(content).hexdigest()
        found["lfs"] = {"oid": sha256, "size": len(content), "pointerSize": 130}
        content = f"oid sha256:{sha256}".encode()
    return {**found, "oid": hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()}


def tree(files: Mapping[str, bytes], folder: str, recursive: bool) -> list[dict[str, Any]]:
    below = f"{folder}/" if folder else ""
    found = {path.removeprefix(below): content for path, content in files.items() if path.startswith(below)}
    folders = {path.rpartition("/")[0] if recursive else path.split("/")[0] for path in found if "/" in path}
    listed = [{"type": "directory", "path": below + name, "oid": "0" * 40} for name in sorted(folders)]
    return listed + [entry(below + path, content) for path, content in found.items() if recursive or "/" not in path]


def application(hub: Hub) -> flask.Flask:
    """Return what answers requests: each view is given the repository and, of a revision, the commit."""
    app = flask.Flask("hub")

    def sent() -> Any:
        return flask.request.get_json(force=True)

    @app.url_value_preprocessor
    def prepare(endpoint: str | None, values: dict[str, Any] | None) -> None:
        token, values = flask.request.headers.get("Authorization"), values if values is not None else {}
        if token not in (None, f"Bearer {TOKEN}"):
            raise Denied(401, "Invalid credentials in Authorization header")
        owner = values.pop("owner", "")
        if endpoint in ("tag", "preupload", "batch", "commit") and not (token and owner in hub.writable):
            raise Denied(403, "You don't have the rights to write here")
        if owner:
            values["repository"] = found = hub.repositories.get(f"datasets/{owner}/{values.pop('data')}")
            if found is None or (found.private and not token):
                raise Denied(404 if token else 401, "Repository not found", "RepoNotFound")
            values["commit"] = found.resolve(given := values.pop("revision", "main"))
            if values["commit"] is None:
                raise Denied(404, f"Invalid rev id: {given}", "RevisionNotFound")

    @app.errorhandler(Denied)
    def deny(denied: Denied) -> Any:
        return denied.answer

    @app.errorhandler(404)
    def missing(error: Exception) -> Any:
        return Denied(404, "Entry not found", "EntryNotFound").answer

    app.add_url_rule("/api/validate-yaml", view_func=dict, methods=["POST"])

    @app.post("/api/repos/create")
    def create() -> Any:
        body, token = sent(), flask.request.headers.get("Authorization")
        name = f"{body['organization']}/{body['name']}"
        if not token or body["organization"] not in hub.writable:
            raise Denied(403, "You don't have the rights to create a repository here")
        if f"datasets/{name}" in hub.repositories:
            raise Denied(409, "You already created this repo", url=f"{hub.url}/datasets/{name}")
        hub.make(name, private=body.get("private", False) or body.get("visibility") == "private")
        return {"url": f"{hub.url}/datasets/{name}"}

    @app.get(DATA)
    @app.get(f"{DATA}/revision/<path:revision>")
    def info(repository: Repository, commit: str) -> Any:
        siblings = [{"rfilename": path} for path in repository.files(commit)]
        return {"id": repository.name, "sha": commit, "private": repository.private, "siblings": siblings, "tags": []}

    @app.get(f"{DATA}/tree/<revision>")
    @app.get(f"{DATA}/tree/<revision>/<path:folder>")
    def list_tree(repository: Repository, commit: str, folder: str = "") -> Any:
        recursive = flask.request.args.get("recursive", "").lower() == "true"
        return tree(repository.files(commit), folder.strip("/"), recursive)

    @app.post(f"{DATA}/paths-info/<revision>")
    def paths(repository: Repository, commit: str) -> Any:
        files = repository.files(commit)
        return [entry(path, files[path]) for path in sent()["paths"] if path in files]

    @app.get(f"{DATA}/refs")
    def refs(repository: Repository, commit: str) -> Any:
        tags = [{"name": t, "ref": f"refs/tags/{t}", "targetCommit": c} for t, c in repository.tags.items()]
        main = {"name": "main", "ref": "refs/heads/main", "targetCommit": commit}
        return {"branches": [main], "converts": [], "tags": tags}

    @app.post(f"{DATA}/tag/<revision>")
    def tag(repository: Repository, commit: str) -> Any:
        if sent()["tag"] in repository.tags:
            raise Denied(409, "Tag reference exists already")
        repository.tags[sent()["tag"]] = commit
        return {}

    @app.post(f"{DATA}/preupload/<revision>")
    def preupload(repository: Repository, commit: str) -> Any:
        modes = {file["path"]: "lfs" if file["path"].endswith(LARGE) else "regular" for file in sent()["files"]}
        return {"files": [{"path": path, "uploadMode": mode, "shouldIgnore": False} for path, mode in modes.items()]}

    @app.post("/datasets/<owner>/<data>.git/info/lfs/objects/batch")
    def batch(repository: Repository, commit: str) -> Any:
        objects = sent()["objects"]
        for each in objects:
            if each["oid"] not in hub.stored:
                each["actions"] = {"upload": {"href": f"{hub.url}/lfs/{each['oid']}"}}
        return {"transfer": "basic", "objects": objects}

    @app.put("/lfs/<oid>")
    def upload(oid: str) -> Any:
        hub.stored[oid] = flask.request.get_data()
        assert hashlib.sha256(hub.stored[oid]).hexdigest() == oid
        return {}

    @app.post(f"{DATA}/commit/<revision>")
    def commit(repository: Repository, commit: str) -> Any:
        header, *changes = (json.loads(line) for line in flask.request.get_data().splitlines())
        hub.before_commit(repository)
        if header["value"].get("parentCommit") not in (None, repository.head):
            raise Denied(412, "A commit has happened since. Please refresh and try again.")
        files = dict(repository.files())
        for change in changes:
            path, value = change["value"]["path"], change["value"]
            if change["key"] == "deletedFile":
                del files[path]
            else:
                files[path] = hub.stored[value["oid"]] if "oid" in value else base64.b64decode(value["content"])
            if path == hub.corrupt:
                files[path] += b"!"
        name = repository.commit(f"{header['value']['summary']}\n\n{header['value']['description']}", files)
        return {"commitUrl": f"{hub.url}/{repository.name}/commit/{name}", "commitOid": name}

    @app.get("/datasets/<owner>/<data>/resolve/<revision>/<path:path>")
    def resolve(repository: Repository, commit: str, path: str) -> Any:
        content = repository.files(commit).get(path)
        if content is None:
            raise Denied(404, "Entry not found", "EntryNotFound")
        about = entry(path, content)
        etag = about.get("lfs", about)["oid"]
        answer = flask.send_file(io.BytesIO(content), "application/octet-stream", conditional=True, etag=etag)
        answer.headers["X-Repo-Commit"] = commit
        return answer

    return app


@contextmanager
def running() -> Iterator[Hub]:
    hub, lock = Hub(), threading.Lock()
    app = application(hub)

    def answer(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        asked = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        with lock:
            fault = hub.fail(*asked, hub.requests.count(asked))
            hub.requests.append(asked)
            if isinstance(fault, Refuse):
                body = json.dumps({"error": fault.message}).encode()
                start(f"{fault.status} no", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
                return [body]
            found = app(environ, start)
        if isinstance(fault, Lose):
            raise ConnectionAbortedError
        return found

    with serving(answer) as hub.url:
        yield hub


@contextmanager
def connected(patch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Run a Hub that `huggingface_hub` talks to in this process, with a token and without waiting."""
    with running() as hub:
        patch.setattr(constants, "ENDPOINT", hub.url)
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}")
        patch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        patch.setenv("HF_TOKEN", TOKEN)
        patch.setattr(time, "sleep", lambda seconds: None)
        utils.disable_progress_bars()
        yield hub
        utils.enable_progress_bars()
        utils.close_session()
