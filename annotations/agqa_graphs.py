"""Load AGQA 2.0's scene graphs from `AGQA_{train,test}_stsgs.pkl`, and cache them video by video.

Unpickling can run code, exhaust memory or crash the interpreter, and the files (443 and 168 MB; Grunde-McLaughlin et
al. 2021) can only be loaded whole. They are therefore unpickled in a separate process, which accepts only builtin types
and writes the graphs to the user's cache, in a folder named after the hash of the file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from ..core.documents import once, parse_json, read_pickle, read_text, shortened
from ..core.errors import InputError, StressreelError, UsageError
from ..core.files import atomic, canonical_json, output_error, sha256_file, sha256_text, user_cache
from ..templates import read_table
from ..templates.agqa import load_agqa
from .agqa import SPLITS, find_agqa_files
from .entries import is_file_name
from .scene_graphs import ActionSpan, Frames, SceneGraph, frames_of, graph_as_json, graph_from_json

VERSION = 2  # version of the cache format
NO_CONTACT = "not contacting"
MOST_MEMORY = 40, 2 << 30  # memory limit in bytes: per byte of the pickle, plus a constant
ADVICE = "Download AGQA's scene graphs again: https://cs.stanford.edu/people/ranjaykrishna/agqa/"


@dataclass(frozen=True, slots=True)
class GraphFile:
    """A cache file with one JSON graph per line.

    `spans` holds the byte offset and the length of the line for each video.
    """

    path: Path
    spans: Mapping[str, tuple[int, int]]

    def read(self, video_id: str) -> SceneGraph | None:
        """Return the graph of a video, or None if there is none. Raise InputError if the file is damaged."""
        span = self.spans.get(video_id)
        if span is None:
            return None
        try:
            with open(self.path, "rb") as handle:
                handle.seek(span[0])
                return graph_from_json(video_id, parse_json(handle.read(span[1]).decode()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{self.path} is damaged ({error}). Delete its folder to rebuild it.") from error


def find_graph_files(path: Path, splits: Sequence[str] = SPLITS) -> dict[str, Path]:
    """Find the scene graphs in a folder, or in a single file, and return their paths by split."""
    return find_agqa_files(path, "AGQA_{}_stsgs.pkl", splits, "Unpack them there.")


def open_graphs(path: Path) -> GraphFile:
    """Open the scene graphs in a pickle, converting it in a separate process on first use.

    Conversion may use up to 2 GB of memory plus 40 times the size of the file; 10 times is typical. Ids are translated
    with `ENG.txt` from the folder of the pickle or its parent, or else with `templates/agqa_ids.yaml`.

    Raises:
        UsageError: The file does not exist.
        InputError: The file contains objects other than builtins, or no scene graphs.
        OutputError: The cache folder cannot be written.
    """
    from filelock import FileLock

    try:
        content = sha256_file(path)
    except OSError as error:
        kind = UsageError if isinstance(error, FileNotFoundError | NotADirectoryError) else InputError
        raise kind(f"cannot read {path}: {error.strerror}. Check the path and its permissions.") from error
    names = id_names(path.parent)
    key = sha256_text(canonical_json([VERSION, content, names, sorted(load_agqa().by_class)]))[:24]
    folder = user_cache() / "agqa-graphs" / key
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "lock"):  # other processes wait until the first has finished
            graphs = _cached(folder)
            if graphs is None:
                _convert_apart(path, folder, names)
                graphs = _cached(folder)
    except OSError as error:
        if isinstance(error, StressreelError):
            raise
        raise output_error(error, folder) from error
    if graphs is None:
        raise InputError(f"{folder} is damaged. Delete it to rebuild it.")
    return graphs


def id_names(folder: Path) -> dict[str, str]:
    """Return the English name of each object, relation and verb id.

    Names come from `ENG.txt` if it is in the folder or its parent, or else from the built-in table.
    """
    table = read_table("agqa_ids")
    names: dict[str, str] = {**table["objects"], **table["relations"]}
    path = next((path for parent in (folder, folder.parent) if (path := parent / "ENG.txt").is_file()), None)
    if path is None:
        return names
    try:
        released = parse_json(read_text(path), once)
    except ValueError as error:
        raise InputError(f"{path} is not valid JSON ({error}). {ADVICE}") from error
    if not isinstance(released, dict) or not all(isinstance(name, str) and name.strip() for name in released.values()):
        raise InputError(f"{path}: expected a JSON object that maps ids to English names. {ADVICE}")
    # `ENG.txt` may list object names before merging, whereas questions use merged names
    return {**names, **{key: name.strip() for key, name in released.items()}, **table["objects"]}


def _cached(folder: Path) -> GraphFile | None:
    try:
        index = parse_json((folder / "index.json").read_text(encoding="utf-8"))
        spans = {str(video): (int(begins), int(length)) for video, (begins, length) in index["videos"].items()}
        size = (folder / "graphs.jsonl").stat().st_size
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return GraphFile(folder / "graphs.jsonl", spans) if size == index.get("size") else None


def _convert_apart(path: Path, folder: Path, names: Mapping[str, str]) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    code = f"from {__name__} import convert_here; convert_here()"
    command = [sys.executable, "-c", code, str(path), str(folder)]
    done = subprocess.run(command, input=json.dumps(names).encode(), env=environment, capture_output=True, check=False)
    message = done.stderr.decode(errors="replace").strip()
    if done.returncode == 3:
        raise InputError(message)
    if done.returncode == 4:
        raise OSError(int(message or 0), os.strerror(int(message or 0)))
    if done.returncode:
        last = message.splitlines()[-1] if message else f"it ended with {done.returncode}"
        raise InputError(f"{path.name} cannot be read; it may be damaged or malicious ({last}). {ADVICE}")


def convert_here() -> None:
    """Convert the pickle named on the command line. Expects the names of the ids as JSON on standard input."""
    path, folder = Path(sys.argv[1]), Path(sys.argv[2])
    names = parse_json(sys.stdin.read())
    try:
        _limit_memory(path.stat().st_size)
        convert(path, folder, names)
    except InputError as error:
        sys.stderr.write(str(error))
        raise SystemExit(3) from None
    except OSError as error:
        sys.stderr.write(str(error.errno or 0))
        raise SystemExit(4) from None
    except MemoryError:
        sys.stderr.write("it asks for too much memory")
        raise SystemExit(5) from None
    sys.stdout.flush()
    os._exit(0)  # freeing millions of vertices would take longer than reading them


def _limit_memory(size: int) -> None:
    try:
        import resource
    except ImportError:
        return
    per_byte, constant = MOST_MEMORY
    most = per_byte * size + constant
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def convert(path: Path, folder: Path, names: Mapping[str, str]) -> None:
    """Write the graphs of a pickle to a folder, together with an index of their positions."""
    spans: dict[str, tuple[int, int]] = {}
    offset = 0
    with atomic(folder / "graphs.jsonl") as temporary, open(temporary, "wb") as handle:
        for graph in read_graphs(path, names):
            line = canonical_json({"video": graph.video_id, **graph_as_json(graph)}).encode() + b"\n"
            handle.write(line)
            spans[graph.video_id] = offset, len(line)
            offset += len(line)
    with atomic(folder / "index.json") as temporary:
        temporary.write_text(canonical_json({"size": offset, "videos": spans}), encoding="utf-8")


def read_graphs(path: Path, names: Mapping[str, str]) -> Iterator[SceneGraph]:
    """Unpickle a file in this process and yield its scene graphs. Use `open_graphs` for files that you do not trust.

    Raises:
        InputError: The file contains objects other than builtins, or no scene graphs. The message gives the video,
            the vertex and the field.
    """
    videos = read_pickle(path, ADVICE)
    if not isinstance(videos, dict):
        raise InputError(
            f"{path.name}: expected a dictionary with an entry for each video, got {type(videos).__name__}. {ADVICE}"
        )
    for video in list(videos):
        vertices = videos.pop(video)
        if not isinstance(video, str) or not is_file_name(video):
            raise InputError(f"{path.name}: expected video ids as keys, got {_kind(video)}. {ADVICE}")
        yield _Converter(path, video, names).graph(vertices)


def _kind(value: Any) -> str:
    """Describe a value briefly; printing it in full would not end, as vertices refer to each other in cycles."""
    return shortened(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"


class _Converter:
    def __init__(self, path: Path, video: str, names: Mapping[str, str]) -> None:
        self.path = path
        self.video = video
        self.names = names
        self.bits: dict[str, Frames] = {}
        self.times: list[float] = []

    def refuse(self, vertex: object, name: str, expected: str, given: object) -> NoReturn:
        raise InputError(
            f"{self.path.name}, video {self.video}, vertex {_kind(vertex)}, field {name}: expected {expected}, got "
            f"{_kind(given)}. {ADVICE}"
        )

    def graph(self, vertices: Any) -> SceneGraph:
        if not isinstance(vertices, dict):
            self.refuse("", "(all)", "a dictionary of vertices", vertices)
        kinds: dict[str, list[tuple[str, dict[str, Any]]]] = {kind: [] for kind in ("frame", "o", "r", "c")}
        for key, vertex in vertices.items():
            if not isinstance(key, str) or not key or not isinstance(vertex, dict):
                self.refuse(key, "(all)", "a dictionary with a vertex id as key", vertex)
            kind = "frame" if key[0].isdigit() else "r" if key[0] == "v" else key[0]
            if kind not in kinds:
                self.refuse(key, "(all)", "the id of a frame, object, relation or action", key)
            kinds[kind].append((key, vertex))
        timed = sorted((self.seconds(key, vertex, "secs"), key) for key, vertex in kinds["frame"])
        self.times = [time for time, _ in timed]
        self.bits = {key: 1 << index for index, (_, key) in enumerate(timed)}
        relations: dict[str, dict[str, Frames]] = {}
        contacts, visible = defaultdict[str, Frames](int), defaultdict[str, Frames](int)
        for key, vertex in kinds["r"]:
            name, frame = self.name(key, vertex), self.frame(key)
            touches = vertex.get("type") == "contact" and name != NO_CONTACT
            objects = relations.setdefault(name, defaultdict(int))
            for thing in self.objects(key, vertex):
                objects[thing] |= frame
                if touches:
                    contacts[thing] |= frame
        for key, vertex in kinds["o"]:
            visible[self.name(key, vertex)] |= self.frame(key)
        spans = [self.action(key, vertex) for key, vertex in kinds["c"]]
        spans.sort(key=lambda span: (span.start, span.end, span.phrase))
        return SceneGraph(self.video, tuple(self.times), relations, contacts, tuple(spans), "agqa", visible=visible)

    def seconds(self, key: str, vertex: Mapping[str, Any], name: str) -> float:
        time = vertex.get(name)
        if isinstance(time, bool) or not isinstance(time, int | float) or not isfinite(time) or abs(time) > 1e7:
            self.refuse(key, name, "a number of seconds", time)
        return float(time)

    def frame(self, key: str) -> Frames:
        _, _, frame = key.partition("/")
        if frame not in self.bits:
            self.refuse(key, "id", "a frame of the video after the slash", key)
        return self.bits[frame]

    def name(self, key: str, vertex: Mapping[str, Any]) -> str:
        identity = vertex.get("class")
        if isinstance(identity, str):
            if name := self.names.get(identity, "" if identity[:1] in "orv" else identity):
                return name
            if identity in load_agqa().objects or identity in load_agqa().relations:
                return identity
        self.refuse(key, "class", "an AGQA class id", identity)

    def objects(self, key: str, vertex: Mapping[str, Any]) -> Iterator[str]:
        objects = vertex.get("objects")
        if isinstance(objects, dict):
            objects = objects.get("vertices")
        if not isinstance(objects, list | tuple):
            self.refuse(key, "objects", "a list of objects", objects)
        for thing in objects:
            if isinstance(thing, str):
                thing = {"class": thing.partition("/")[0]}
            if not isinstance(thing, dict):
                self.refuse(key, "objects", "objects", thing)
            yield self.name(key, thing)

    def action(self, key: str, vertex: Mapping[str, Any]) -> ActionSpan:
        words = load_agqa().by_class.get(key.partition("/")[0])
        phrase = words.phrase if words else vertex.get("phrase")
        if not isinstance(phrase, str) or not phrase.strip():
            self.refuse(key, "phrase", "a phrase for the action", phrase)
        start, end = self.seconds(key, vertex, "start"), self.seconds(key, vertex, "end")
        listed = vertex.get("all_f") or ()
        if not isinstance(listed, list | tuple):
            self.refuse(key, "all_f", "a list of frames", listed)
        covered = 0
        for frame in listed:
            identity = frame.get("id") if isinstance(frame, dict) else frame
            if not isinstance(identity, str):
                self.refuse(key, "all_f", "frames of the video", identity)
            covered |= self.bits.get(identity, 0)
        return ActionSpan(phrase, start, end, covered or frames_of(self.times, start, end))
