"""A Hugging Face Hub on loopback, for tests: repositories, large files, commits, tags; it fails as it is told.

It speaks what `huggingface_hub` and `datasets` ask of the real one, without Xet: HF_HUB_DISABLE_XET=1.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from huggingface_hub import constants, utils

TOKEN = "hf_loopbackloopbackloopback"
LARGE = (".parquet", ".png")
ATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"
KINDS = r"(models|datasets|spaces)"
NAME = r"([\w.-]+/[\w.-]+)"


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
    lock: threading.RLock = field(default_factory=threading.RLock)

    def make(self, name: str, *, private: bool = True, kind: str = "datasets") -> Repository:
        repository = Repository(private)
        repository.commit("initial commit", {".gitattributes": ATTRIBUTES})
        self.repositories[f"{kind}/{name}"] = repository
        return repository

    def count(self, method: str, part: str) -> int:
        return sum(asked == method and part in path for asked, path in self.requests)


class Denied(Exception):
    """An answer that is none: a status, and headers that `huggingface_hub` reads."""

    def __init__(self, status: int, message: str, code: str = "", **body: str):
        super().__init__(message)
        self.body = {"error": message, **body}
        self.status, self.headers = status, {"X-Error-Message": message, **({"X-Error-Code": code} if code else {})}


def entry(path: str, content: bytes) -> dict[str, Any]:
    """Describe a file as trees do: a large one by its pointer and its SHA-256."""
    found = {"type": "file", "path": path, "size": len(content)}
    if not path.endswith(LARGE):
        return {**found, "oid": hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()}
    sha256 = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {len(content)}\n".encode()
    oid = hashlib.sha1(b"blob %d\0" % len(pointer) + pointer).hexdigest()
    return {**found, "oid": oid, "lfs": {"oid": sha256, "size": len(content), "pointerSize": len(pointer)}}


def tree(files: Mapping[str, bytes], folder: str, recursive: bool) -> list[dict[str, Any]]:
    below = f"{folder}/" if folder else ""
    found = {path.removeprefix(below): content for path, content in files.items() if path.startswith(below)}
    folders = {path.rpartition("/")[0] if recursive else path.split("/")[0] for path in found if "/" in path}
    listed = [{"type": "directory", "path": below + name, "oid": "0" * 40} for name in sorted(folders)]
    return listed + [entry(below + path, content) for path, content in found.items() if recursive or "/" not in path]


class Answers:
    """What a Hub answers: one method for each kind of request, found by `ROUTES`."""

    def __init__(self, hub: Hub, authorized: bool):
        self.hub, self.authorized = hub, authorized

    def repository(self, kind: str, name: str) -> Repository:
        found = self.hub.repositories.get(f"{kind}/{name}")
        if found is None or (found.private and not self.authorized):
            raise Denied(404 if self.authorized else 401, "Repository not found", "RepoNotFound")
        return found

    def writable(self, kind: str, name: str) -> Repository:
        if not self.authorized or name.split("/")[0] not in self.hub.writable:
            raise Denied(403, "You don't have the rights to write here")
        return self.repository(kind, name)

    def revision(self, repository: Repository, given: str) -> str:
        found = repository.resolve(unquote(given))
        if found is None:
            raise Denied(404, f"Invalid rev id: {given}", "RevisionNotFound")
        return found

    def create(self, body: Any) -> Any:
        name = f"{body['organization']}/{body['name']}"
        if not self.authorized or body["organization"] not in self.hub.writable:
            raise Denied(403, "You don't have the rights to create a repository here")
        if f"{body['type']}s/{name}" in self.hub.repositories:
            raise Denied(409, "You already created this repo", url=f"{self.hub.url}/{body['type']}s/{name}")
        private = body.get("private", False) or body.get("visibility") == "private"
        self.hub.make(name, private=private, kind=f"{body['type']}s")
        return {"url": f"{self.hub.url}/{body['type']}s/{name}"}

    def info(self, kind: str, name: str, revision: str | None = None) -> Any:
        repository = self.repository(kind, name)
        commit = self.revision(repository, revision or "main")
        siblings = [{"rfilename": path} for path in repository.files(commit)]
        return {"id": name, "sha": commit, "private": repository.private, "siblings": siblings, "tags": []}

    def tree(self, kind: str, name: str, revision: str, folder: str | None, *, query: dict[str, list[str]]) -> Any:
        repository = self.repository(kind, name)
        commit = self.revision(repository, revision)
        recursive = query.get("recursive", ["false"])[0].lower() == "true"
        return tree(repository.files(commit), unquote(folder or "").strip("/"), recursive)

    def paths(self, kind: str, name: str, revision: str, *, body: Any) -> Any:
        repository = self.repository(kind, name)
        files = repository.files(self.revision(repository, revision))
        return [entry(path, files[path]) for path in body["paths"] if path in files]

    def refs(self, kind: str, name: str) -> Any:
        repository = self.repository(kind, name)
        tags = [{"name": t, "ref": f"refs/tags/{t}", "targetCommit": c} for t, c in repository.tags.items()]
        main = {"name": "main", "ref": "refs/heads/main", "targetCommit": repository.head}
        return {"branches": [main], "converts": [], "tags": tags}

    def tag(self, kind: str, name: str, revision: str, *, body: Any) -> Any:
        repository = self.writable(kind, name)
        if body["tag"] in repository.tags:
            raise Denied(409, "Tag reference exists already")
        repository.tags[body["tag"]] = self.revision(repository, revision)
        return {}

    def preupload(self, kind: str, name: str, revision: str, *, body: Any) -> Any:
        self.writable(kind, name)
        modes = [(each["path"], "lfs" if each["path"].endswith(LARGE) else "regular") for each in body["files"]]
        return {"files": [{"path": path, "uploadMode": mode, "shouldIgnore": False} for path, mode in modes]}

    def batch(self, name: str, *, body: Any) -> Any:
        self.writable("datasets", name)
        found = []
        for each in body["objects"]:
            upload = {"actions": {"upload": {"href": f"{self.hub.url}/lfs/{each['oid']}"}}}
            found.append({**each, **({} if each["oid"] in self.hub.stored else upload)})
        return {"transfer": "basic", "objects": found}

    def upload(self, oid: str, *, body: bytes) -> Any:
        assert hashlib.sha256(body).hexdigest() == oid
        self.hub.stored[oid] = body
        return {}

    def commit(self, kind: str, name: str, revision: str, *, body: bytes) -> Any:
        repository = self.writable(kind, name)
        lines = [json.loads(line) for line in body.splitlines()]
        header = lines[0]["value"]
        self.hub.before_commit(repository)
        if header.get("parentCommit") not in (None, repository.head):
            raise Denied(412, "A commit has happened since. Please refresh and try again.")
        files = dict(repository.files())
        for line in lines[1:]:
            path = line["value"]["path"]
            if line["key"] == "file":
                files[path] = base64.b64decode(line["value"]["content"])
            elif line["key"] == "lfsFile":
                files[path] = self.hub.stored[line["value"]["oid"]]
            else:
                del files[path]
            if path == self.hub.corrupt:
                files[path] += b"!"
        commit = repository.commit(f"{header['summary']}\n\n{header['description']}", files)
        return {"commitUrl": f"{self.hub.url}/{kind}/{name}/commit/{commit}", "commitOid": commit}

    def resolve(self, kind: str, name: str, revision: str, path: str) -> tuple[str, dict[str, Any], bytes]:
        repository = self.repository(kind, name)
        commit = self.revision(repository, revision)
        files = repository.files(commit)
        if unquote(path) not in files:
            raise Denied(404, "Entry not found", "EntryNotFound")
        return commit, entry(unquote(path), files[unquote(path)]), files[unquote(path)]


ROUTES = {
    (method, re.compile(pattern)): answer
    for method, pattern, answer in (
        ("POST", "/api/repos/create", "create"),
        ("POST", "/api/validate-yaml", "validate"),
        ("GET", f"/api/{KINDS}/{NAME}", "info"),
        ("GET", f"/api/{KINDS}/{NAME}/revision/([^/]+)", "info"),
        ("GET", f"/api/{KINDS}/{NAME}/tree/([^/]+)(/.+)?", "tree"),
        ("POST", f"/api/{KINDS}/{NAME}/paths-info/([^/]+)", "paths"),
        ("GET", f"/api/{KINDS}/{NAME}/refs", "refs"),
        ("POST", f"/api/{KINDS}/{NAME}/tag/([^/]+)", "tag"),
        ("POST", f"/api/{KINDS}/{NAME}/preupload/([^/]+)", "preupload"),
        ("POST", f"/datasets/{NAME}.git/info/lfs/objects/batch", "batch"),
        ("PUT", "/lfs/([0-9a-f]+)", "upload"),
        ("POST", f"/api/{KINDS}/{NAME}/commit/([^/]+)", "commit"),
    )
}
RESOLVE = re.compile(f"/{KINDS}/{NAME}/resolve/([^/]+)/(.+)")


@contextmanager
def running(fail: Fail = lambda method, path, before: None) -> Iterator[Hub]:
    hub = Hub(fail=fail)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet

        def handle_all(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Transfer-Encoding") == "chunked":
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            with hub.lock:
                path = urlsplit(self.path).path
                fault = hub.fail(self.command, path, hub.requests.count((self.command, path)))
                hub.requests.append((self.command, path))
                try:
                    if isinstance(fault, Refuse):
                        raise Denied(fault.status, fault.message)
                    status, headers, content = self.answer(path, body)
                except Denied as denied:
                    status, headers, content = denied.status, denied.headers, json.dumps(denied.body).encode()
            if isinstance(fault, Lose):
                self.close_connection = True
                return
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if "Content-Length" not in headers:
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)
            except OSError:  # the client has gone
                self.close_connection = True

        def answer(self, path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
            given = self.headers.get("Authorization")
            if given is not None and given != f"Bearer {TOKEN}":
                raise Denied(401, "Invalid credentials in Authorization header")
            answers = Answers(hub, given is not None)
            if match := RESOLVE.fullmatch(path):
                return self.file(*answers.resolve(*match.groups()))
            for (method, pattern), name in ROUTES.items():
                if method == self.command and (match := pattern.fullmatch(path)):
                    more: dict[str, Any] = {}
                    if name == "tree":
                        more["query"] = parse_qs(urlsplit(self.path).query)
                    elif method != "GET":
                        more["body"] = body if name in ("upload", "commit") else json.loads(body)
                    found = {} if name == "validate" else getattr(answers, name)(*match.groups(), **more)
                    return 200, {"Content-Type": "application/json"}, json.dumps(found).encode()
            raise Denied(404, f"nothing at {path}", "EntryNotFound")

        def file(self, commit: str, about: dict[str, Any], content: bytes) -> tuple[int, dict[str, str], bytes]:
            tag = about["lfs"]["oid"] if "lfs" in about else about["oid"]
            headers = {"X-Repo-Commit": commit, "ETag": f'"{tag}"', "Accept-Ranges": "bytes"}
            match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
            if match is None:
                return 200, {**headers, "Content-Length": str(len(content))}, content
            start, stop = int(match[1]), min(int(match[2] or len(content) - 1), len(content) - 1) + 1
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(content)}"
            return 206, headers, content[start:stop]

        do_GET = do_POST = do_PUT = do_HEAD = handle_all

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def connected(patch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Run a Hub that `huggingface_hub` talks to in this process, with a token and without waiting."""
    with running() as hub:
        for name, value in (
            ("ENDPOINT", hub.url),
            ("HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}"),
            ("HF_HUB_DISABLE_XET", True),
        ):
            patch.setattr(constants, name, value)
        patch.setenv("HF_TOKEN", TOKEN)
        patch.setattr(time, "sleep", lambda seconds: None)
        utils.disable_progress_bars()
        yield hub
        utils.enable_progress_bars()
        utils.close_session()
