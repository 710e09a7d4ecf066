"""The house: what imports what, what is packaged, what is never used."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
import stressreel
from every_command import command_function, every_command, whole_application
from stressreel.builders import BENCHMARKS, benchmark_names

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OUTSIDE = {"tests", "benchmarks", "examples", "docs", "build", "dist", "out"}

# Imports go from a higher number to a lower one; the longest name that fits a path counts. A new folder gets its place
# here. What the folders at the root may import follows from it (CONTRIBUTING.md draws them).
HEIGHT = {
    "__main__": 12,
    "cli": 11,
    "api": 10,
    "builders": 9,
    "builders/base": 8,
    "builders/runtime": 7,
    **dict.fromkeys(("data_cards", "exports"), 6),
    "evaluation/models": 5,
    "evaluation": 4,
    **dict.fromkeys(("evaluation/blind", "evaluation/metrics", "evaluation/probes"), 3),
    **dict.fromkeys(("negatives", "corruptions", "annotations"), 3),
    **dict.fromkeys(("templates", "video", "language"), 2),
    "core": 1,
    **{f"core/{name}": 0 for name in ("errors", "progress", "version")},
}
BESIDE = {("evaluation/blind", "evaluation/metrics")}
ONLY = {  # these import nothing else of the package
    "video": {"core", "core/errors", "core/version"},
    "templates": {"core/errors"},
    "core": {f"core/{name}" for name in ("errors", "progress", "version")},
}
SERVING_ALL = {"cli", "data_cards", "evaluation", "exports"}  # these, and builders/runtime, name no benchmark
FOLDERS = {name.split(":")[0].split(".")[2] for name in BENCHMARKS.values()}
OF_ONE = {  # the public functions and the list of commands, some of which are of one benchmark
    *("__init__.py", "api/benchmarks.py", "api/decompose.py", "cli/commands.py"),
}
TABLES = ("open_ended", "causal_confusion")  # and no table of one; others have names that mean something elsewhere too
# As a word of its own, or of a command or a path: "clavi", "build-clavi", "clavi.md.j2", but "a causal language model".
NAMED = re.compile(
    rf"^(?:{'|'.join({*BENCHMARKS, *FOLDERS, *TABLES, 'causalchaos'})})(?![\w ])"
    rf"|\bbuild-(?:{'|'.join(BENCHMARKS)})\b"
)
WHICH = re.compile(r"(?:\bbenchmark|\bbuilder|\[.(?:benchmark|builder).\]|\bbenchmark\.name|\.builder)$")
COMMAND = re.compile(r"(?:\[|\.get\()'command'[^\[(]*$")
PARSING = re.compile(r"(?:json\.(?:loads?|JSONDecoder)|yaml\.(?:\w*load\w*|parse|scan|compose\w*|\w*Loader))$")
PARSERS = {  # `core/documents.py` alone parses what others wrote; the rest states its reason
    "core/documents.py": "what others wrote, within limits",
    "exports/harness.py": "what an export wrote; it is copied there and imports nothing of ours",
    "exports/vlmevalkit_tasks.py": "what an export wrote; it is copied there and imports nothing of ours",
    "annotations/agqa.py": "a file of gigabytes, of which it holds a few rows at a time",
    "evaluation/metrics/answers.py": "answers of models, where JSON is one form of many; it is copied into exports too",
}
OWN_TABLES = {"language/lexicon.py", "templates/__init__.py"}  # these parse tables of the package
HARNESSES = ("inspect", "lmms-eval", "vlmevalkit")
HEAVY = ("av", "cv2", "datasets", "jinja2", "lemminflect", "matplotlib", "nltk", "numpy", "pandas", "pyarrow", "torch")


@cache
def packages() -> dict[str, Path]:
    """The folders with an `__init__.py`, by dotted name below the root, whose own name is empty."""
    found: dict[str, Path] = {}
    for path in ROOT.rglob("__init__.py"):
        *parts, _ = path.relative_to(ROOT).parts
        if not parts or (parts[0] not in OUTSIDE and not parts[0].startswith(".")):
            found[".".join(parts)] = path.parent
    return found


@cache
def modules() -> dict[str, ast.Module]:
    """The syntax tree of every module of the package, by path below the root."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"), path.name)
        for folder in packages().values()
        for path in sorted(folder.glob("*.py"))
    }


@cache
def nodes(tree: ast.AST) -> list[ast.stmt | ast.expr]:
    """Every statement and expression, at any depth."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr)]


def home(module: str) -> str:
    """The place of a path in HEIGHT: "video/edit.py" is of "video", "evaluation/blind/x.py" of "evaluation/blind"."""
    parts = module.removesuffix(".py").split("/")
    places = ("/".join(parts[:number]) for number in range(len(parts), 0, -1))
    return next((place for place in places if place in HEIGHT), parts[0])


def relative_imports(module: str, tree: ast.AST) -> Iterator[list[str]]:
    """The target of every relative import, also inside functions, as a path from the root."""
    package = module.split("/")[:-1]
    for node in nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            assert node.level <= len(package) + 1, f"{module}:{node.lineno} leaves the package"
            base = package[: len(package) + 1 - node.level] + (node.module.split(".") if node.module else [])
            yield from ([*base, alias.name] for alias in node.names)


def absolute_imports(tree: ast.AST) -> Iterator[str]:
    """The dotted name of everything that is imported by its absolute name."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def wrong_ways(module: str, tree: ast.AST) -> Iterator[str]:
    """Yield every import of a module that goes the wrong way, or is of the package by an absolute name."""
    here = home(module)
    for target in relative_imports(module, tree) if here != "__init__" else ():  # the public API imports from anywhere
        there = home("/".join(target))
        if target == ["__version__"] or there == here:
            continue
        assert there in HEIGHT, f"{module} imports {'.'.join(target)}, which has no place in HEIGHT"
        down = HEIGHT[there] < HEIGHT[here] or (here, there) in BESIDE
        if not down or there not in ONLY.get(here, {there}):
            yield ".".join(target)
    own = {"stressreel", *(path.removesuffix(".py").split("/")[0] for path in modules())}
    yield from (name for name in absolute_imports(tree) if name.split(".")[0] in own)


def docstrings(tree: ast.AST) -> set[ast.expr]:
    """The docstrings, which may name a benchmark as an example."""
    holders = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    firsts = [node.body[0] for node in ast.walk(tree) if isinstance(node, holders) and node.body]
    return {first.value for first in firsts if isinstance(first, ast.Expr)}


def named_benchmarks(module: str, tree: ast.AST) -> Iterator[str]:
    """Yield every place where code that serves all benchmarks knows one, and imports from one benchmark to another."""
    folder = module.split("/")
    if module in OF_ONE:
        return
    own = folder[1] if folder[0] == "builders" and folder[1] in FOLDERS else ""
    for target in relative_imports(module, tree):
        if target[0] == "builders" and target[1:2] != [own] and target[1] in FOLDERS:
            yield ".".join(target)
    if folder[0] not in SERVING_ALL and folder[:2] != ["builders", "runtime"]:
        return
    spared = docstrings(tree)
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and node not in spared and NAMED.search(str(node.value)):
            yield repr(node.value)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
            yield from [ast.unparse(node)] if any(WHICH.search(side) for side in sides) else ()


def recorded_commands(module: str, tree: ast.AST) -> Iterator[str]:
    """Yield every place that reads the recorded command, which is for people: what matters is in fields of its own."""
    for node in nodes(tree) if module != "core/build_settings.py" else ():  # which compares it with these fields
        read = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
        if (read or isinstance(node, ast.Call)) and COMMAND.search(ast.unparse(node)):
            yield ast.unparse(node)


def other_parsers(module: str, tree: ast.AST) -> Iterator[str]:
    """Yield every place that parses JSON or YAML and has no reason to do so itself."""
    if module not in PARSERS:
        spared = {"yaml.safe_load"} if module in OWN_TABLES else set()
        names = [
            *absolute_imports(tree),
            *(ast.unparse(node) for node in nodes(tree) if isinstance(node, ast.Attribute)),
        ]
        yield from (name for name in names if PARSING.match(name) and name not in spared)


RULES: list[Callable[[str, ast.AST], Iterator[str]]] = [wrong_ways, named_benchmarks, recorded_commands, other_parsers]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_no_module_breaks_a_rule(rule: Callable[[str, ast.AST], Iterator[str]]) -> None:
    assert len(modules()) > 30
    assert [(module, found) for module, tree in modules().items() for found in rule(module, tree)] == []


@pytest.mark.parametrize(
    ("rule", "module", "code"),
    [
        (wrong_ways, "video/edit.py", "from ..core.progress import Working"),
        (wrong_ways, "video/edit.py", "def f():\n    from ..annotations import charades"),
        (wrong_ways, "builders/runtime/build.py", "if TYPE_CHECKING:\n    from ..rebuild import Sources"),
        (wrong_ways, "video/edit.py", "from stressreel.core import errors"),
        (named_benchmarks, "cli/card.py", "TEMPLATES = {'clavi': 1}"),
        (named_benchmarks, "evaluation/metrics/items.py", "x = 1 if output.info['builder'] != name else 2"),
        (recorded_commands, "data_cards/card.py", "found = output.info.get('command', '')"),
        (other_parsers, "annotations/clavi.py", "def f():\n    import json\n    return json.JSONDecoder(strict=False)"),
        (other_parsers, "cli/options.py", "from yaml import full_load_all"),
    ],
)
def test_each_rule_sees_what_breaks_it(rule: Callable[[str, ast.AST], Iterator[str]], module: str, code: str) -> None:
    assert len(list(rule(module, ast.parse(code)))) == 1


def imports_of(trees: Mapping[str, ast.AST]) -> dict[str, set[str]]:
    """The modules that each module imports, also inside functions."""
    graph: dict[str, set[str]] = {}
    for module, tree in trees.items():
        paths = (["/".join(target), "/".join(target[:-1])] for target in relative_imports(module, tree))
        files = (next((f"{path}.py" for path in pair if f"{path}.py" in trees), module) for pair in paths)
        graph[module] = {*files} - {module}
    return graph


def test_no_modules_import_one_another_in_a_circle() -> None:
    TopologicalSorter(imports_of(modules())).prepare()
    code = {"video/a.py": "from .b import g", "video/b.py": "def g():\n    from . import a"}
    with pytest.raises(CycleError):
        TopologicalSorter(imports_of({name: ast.parse(text) for name, text in code.items()})).prepare()


def rooms() -> dict[str, set[str]]:
    """The folders at the root, with those that they import from. Public names in `__init__.py` are no arrow."""
    arrows: dict[str, set[str]] = {}
    for module, tree in modules().items():
        room = module.split("/")[0]
        targets = {target[0] for target in relative_imports(module, tree)}
        arrows.setdefault(room, set()).update(targets & {*packages()} - {room} if "/" in module else ())
    return {room: targets for room, targets in arrows.items() if room in packages()}


def test_house_stays_small_and_flat() -> None:
    arrows = rooms()
    floor: dict[str, int] = {}
    for room in TopologicalSorter(arrows).static_order():
        floor[room] = 1 + max((floor[lower] for lower in arrows[room]), default=0)
    for room in sorted(arrows, key=lambda room: -floor[room]):
        print(f"{floor[room]}  {room}: {', '.join(sorted(arrows[room]))}")
    num_arrows, num_rooms = sum(map(len, arrows.values())), len(arrows) + len({"benchmarks", ".ci", "root"})
    print(f"{num_rooms} rooms, {max(floor.values())} floors, {num_arrows} arrows, {len(modules())} files")
    assert num_rooms <= 16
    assert max(floor.values()) <= 7
    assert num_arrows <= 41


def test_card_templates_name_no_benchmark() -> None:
    templates = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for folder in packages().values()
        for path in folder.glob("*.md.j2")
    }
    assert {"data_cards/base.md.j2", *(f"builders/{name}/card.md.j2" for name in FOLDERS)} <= set(templates)
    assert not re.search(rf"\b({'|'.join(FOLDERS)})\b", templates["data_cards/base.md.j2"], re.IGNORECASE)
    for name, text in templates.items():
        assert re.findall(r".*info\.command.*", text) in ([], ["{{ info.command }}"]), name


# Packaging


def test_exactly_folders_with_an_init_are_packaged() -> None:
    listed = PROJECT["tool"]["setuptools"]["packages"]
    assert listed == sorted(".".join(["stressreel", name]).rstrip(".") for name in packages())
    assert list(ROOT.joinpath("tests").rglob("__init__.py")) == []


def test_every_data_file_is_packaged() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    for name, folder in packages().items():
        files = [path.name for path in folder.iterdir() if path.is_file() and path.suffix not in (".py", ".pyc")]
        packed = patterns.get(".".join(["stressreel", name]).rstrip("."), [])
        if name:
            assert [file for file in files if not any(fnmatch(file, pattern) for pattern in packed)] == []
        assert [pattern for pattern in packed if not any(fnmatch(file, pattern) for file in files)] == []


# Commands


PROGRAMS = [f"stressreel {name}" for name in every_command()] + [f"build-{name}" for name in BENCHMARKS]


@pytest.mark.parametrize("name", every_command())
def test_every_command_is_a_public_function_and_documented(name: str) -> None:
    words = "explain" if name == "score explain" else "list_" if name == "list" else re.sub("[ -]", "_", name)
    words = "export_tasks" if name.removeprefix("export ") in HARNESSES else words
    function, command = getattr(stressreel, words), command_function(name)
    assert command.__doc__
    assert [*inspect.signature(command).parameters] == [
        each for each in inspect.signature(function).parameters if each != "harness"
    ]
    app = whole_application().parse_commands(name.split())[1][-1]
    arguments = app.assemble_argument_collection(parse_docstring=True)
    assert [argument.name for argument in arguments if argument.parse and not argument.parameter.help] == []


def test_every_benchmark_has_folder_script_and_row() -> None:
    folders = {path.parent.name for path in (ROOT / "builders").glob("*/benchmark.py")}
    assert folders == FOLDERS
    assert benchmark_names() == sorted(BENCHMARKS)
    scripts = {name for name in PROJECT["project"]["scripts"] if name != "stressreel"}
    assert scripts == {f"build-{name}" for name in BENCHMARKS}


HELP = """
import contextlib, io, json, sys
from stressreel.cli import main
for program in json.loads(sys.stdin.read()):
    name, *arguments = program.split()
    sys.argv = [name, *arguments]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            (main.main if name == "stressreel" else main.build)()
        except SystemExit as leaving:
            code = leaving.code
    print(json.dumps([program, code, out.getvalue(), sorted({name.split(".")[0] for name in sys.modules})]))
"""


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    """One process says all helps, so what the first loads counts for the last as well."""
    begins = {f"{program} --help": f"Usage: {program} " for program in PROGRAMS}
    begins |= {
        "stressreel --help": "Usage: stressreel COMMAND",
        "stressreel --version": f"stressreel {stressreel.__version__}",
    }
    command, given = [sys.executable, "-c", HELP], json.dumps(list(begins))
    done = subprocess.run(command, input=given, cwd=tmp_path, check=True, capture_output=True, text=True)
    found = {program: said for program, *said in map(json.loads, done.stdout.splitlines())}
    assert set(found) == set(begins)
    for program, (code, out, loaded) in found.items():
        assert code == 0, program
        assert out.startswith(begins[program]), program
        assert "cyclopts" in loaded
        assert [name for name in HEAVY if name in loaded] == [], program


def test_what_lies_beside_the_package_is_complete() -> None:
    cited, project = (ROOT / "CITATION.cff").read_text(encoding="utf-8"), PROJECT["project"]
    assert f"\nversion: {project['version']}\n" in cited
    assert f"\nrepository-code: {project['urls']['Homepage']}\n" in cited
    assert f"name: {project['authors'][0]['name']}\n" in cited
    assert f"\nlicense: {project['license']}\n" in cited
    listed = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").split()
    beside = {path.name for path in ROOT.iterdir() if path.suffix in (".md", ".cff", ".txt")} - {"README.md"}
    assert beside | {"docs", "examples", "tests", "benchmarks"} <= set(listed)
