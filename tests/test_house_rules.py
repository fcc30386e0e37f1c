"""The style is a test: what CONTRIBUTING.md asks of the code, asked of every file."""

from __future__ import annotations

import ast
import inspect
import operator
import re
import runpy
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import networkx
import pytest

from checkvalve.conformance.ports.base import Port

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("spec", "reference", "conformance")
TYPED = (*PACKAGES, "benchmarks")
"""The folders that are held to all that is asked of code; only the packages are in the wheel."""

LINES_OF_A_FUNCTION = 70
LINES_OF_A_FILE = 600

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef

HEAVY = frozenset({
    "hypothesis", "jsonschema", "llvmlite", "networkx", "numpy", "pandas", "pyarrow", "pyspark",
    "pytest", "scipy", "yaml", "z3",
})
"""Imported inside the functions that use them, or where AT_THE_TOP says so."""

AT_THE_TOP = {
    "spec/engines/native/": {"llvmlite", "numpy"},
    "spec/engines/prove/": {"z3"},
    "conformance/columns/scan.py": {"llvmlite", "numpy"},
    "conformance/state_machines.py": {"hypothesis"},
    "benchmarks/": {"hypothesis", "networkx"},
    "conformance/pytest_plugin.py": {"pytest"},
}
"""Modules, and folders of such, that are imported by their own users only."""


RULES = {"always", "never_stuck", "step", "leads_to", "eventually_always", "guard_rule"}
"""Decorators that make a rule; its id is the first argument."""

ARTICLES = frozenset({
    "a", "an", "and", "are", "be", "by", "for", "has", "in", "is", "it", "its", "of", "or", "that",
    "the", "them", "this", "to", "was", "what", "which", "with"})
"""Words that say nothing of their own."""


def python_files(*folders: str) -> list[Path]:
    """The project's Python files, below ``folders`` or everywhere."""
    places = folders or (*TYPED, "tests", "examples", ".ci")
    found = [path for place in places for path in sorted((ROOT / place).rglob("*.py"))]
    return found if folders else [ROOT / "setup.py", *found]


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def place(path: Path, node: ast.AST | None = None) -> str:
    """``file:line``, from the root of the project."""
    line = f":{getattr(node, 'lineno', 1)}" if node is not None else ""
    return f"{path.relative_to(ROOT).as_posix()}{line}"


def public(node: ast.AST, inside: str = "") -> Iterator[tuple[str, Definition]]:
    """The functions and classes that others may name, each with its dotted name."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Definition):
            yield from public(child, inside)
        elif not child.name.startswith("_"):
            name = f"{inside}.{child.name}".lstrip(".")
            yield name, child
            if isinstance(child, ast.ClassDef):
                yield from public(child, name)


def parts_of(path: Path) -> tuple[str, ...]:
    """The parts of the name by which a file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ("checkvalve", *parts) if parts[0] in PACKAGES else parts


def methods_of(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """The methods of a module's classes, private ones too, each with its dotted name."""
    for each in tree.body:
        if isinstance(each, ast.ClassDef):
            yield from ((f"{each.name}.{part.name}", part)
                        for part in each.body if isinstance(part, Function))


def object_at(path: Path, name: str) -> Any:
    """The class or function of a dotted name in a file, imported."""
    return operator.attrgetter(name)(import_module(".".join(parts_of(path))))


@cache
def protocols() -> tuple[type, ...]:
    """The protocols (``typing.Protocol``) of the three packages."""
    found = [object_at(path, name) for path in python_files(*PACKAGES)
             for name, node in public(tree_of(path)) if isinstance(node, ast.ClassDef)
             if any("Protocol" in ast.unparse(base) for base in node.bases)]
    return tuple(each for each in found if getattr(each, "_is_protocol", False))


def parameters_of(thing: object) -> list[str] | None:
    """The names of a method's parameters, without those after which none can be named; None for
    a property."""
    if not inspect.isfunction(thing):
        return None
    return [name for name, each in inspect.signature(thing).parameters.items()
            if each.kind is not inspect.Parameter.POSITIONAL_ONLY]


def is_documented_in_a_protocol(owner: type, name: str) -> bool:
    """True if a protocol documents the method and ``owner`` implements it, without naming it.

    ``owner`` has all methods of the protocol, and this one with the protocol's parameters.
    """
    def implements(protocol: type) -> bool:
        members = [(method, inspect.getattr_static(protocol, method))
                   for method in dir(protocol) if not method.startswith("_")]
        return all(hasattr(owner, method) for method, each in members if inspect.isfunction(each))

    mine = inspect.getattr_static(owner, name)
    return owner not in protocols() and any(
        inspect.getdoc(theirs) is not None and parameters_of(mine) == parameters_of(theirs)
        for protocol in protocols() if implements(protocol)
        if (theirs := inspect.getattr_static(protocol, name, None)) is not None)


def is_an_operation_of_its_port(owner: type, name: str) -> bool:
    """True if ``owner`` is the adapter of a port that has the operation, with its arguments."""
    port = getattr(owner, "port", None)
    operation = port.operations.get(name.rstrip("_")) if isinstance(port, Port) else None
    method = inspect.getattr_static(owner, name)
    if operation is None or not inspect.isfunction(method):
        return False
    takes = inspect.getfullargspec(method)
    named = {*takes.args, *takes.kwonlyargs} - {"self"}
    needed = {each.name for each in operation.arguments if each.required}
    return (takes.varkw is not None or needed <= named) and named <= {
        each.name for each in operation.arguments}


def is_documented_elsewhere(path: Path, name: str) -> bool:
    """True for a method that a base class, a protocol or the port of its class documents."""
    inside, _, method = name.rpartition(".")
    if not inside:
        return False
    owner = object_at(path, inside)
    above = (getattr(base, method, None) for base in owner.__mro__[1:-1])
    return (any(inspect.getdoc(each) is not None for each in above if each is not None)
            or is_documented_in_a_protocol(owner, method)
            or is_an_operation_of_its_port(owner, method))


def modules_imported(node: ast.AST, path: Path) -> Iterator[tuple[ast.AST, str]]:
    """Every absolute name of a module that ``node`` imports, relative ones resolved."""
    if isinstance(node, ast.Import):
        yield from ((node, alias.name) for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            above = ".".join(parts_of(path)[: -node.level])
            base = f"{above}.{base}" if base else above
        yield node, base
        yield from ((node, f"{base}.{alias.name}") for alias in node.names)


def at_the_top(node: ast.AST) -> Iterator[ast.AST]:
    """The statements that run when a module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function) or is_for_types_only(child):
            continue
        yield child
        yield from at_the_top(child)


def is_for_types_only(node: ast.AST) -> bool:
    """True if ``node`` is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def test_no_function_is_longer_than_a_screen() -> None:
    """A function of more than 70 lines does two things."""
    long = [
        f"{place(path, node)} {node.name}"
        for path in python_files() for node in ast.walk(tree_of(path))
        if isinstance(node, Function)
        and (node.end_lineno or 0) - node.lineno + 1 > LINES_OF_A_FUNCTION
    ]
    assert long == []


def test_no_file_is_longer_than_600_lines() -> None:
    """A file of more than 600 lines has two subjects."""
    assert [place(path) for path in python_files()
            if len(path.read_text().splitlines()) > LINES_OF_A_FILE] == []


def test_every_public_function_and_class_has_a_docstring() -> None:
    """Every function that others may call says what it takes and gives.

    A rule's predicate has its statement in the decorator, an action of a machine is its own
    few lines, what a view shows has the name of an action, and a method that overrides another,
    implements a protocol or is an operation of a port is described there.
    """
    marks = RULES | {"action", "assume", "overload", "shown"}

    def is_marked(node: Definition) -> bool:
        return any(marks & {part.id for part in ast.walk(mark) if isinstance(part, ast.Name)}
                   for mark in node.decorator_list)

    assert [
        f"{place(path, node)} {name}"
        for path in python_files(*TYPED) for name, node in public(tree_of(path))
        if not is_marked(node) and not ast.get_docstring(node)
        and not is_documented_elsewhere(path, name)
    ] == []


def test_a_docstring_says_more_than_the_name() -> None:
    """"Done." or "The rule." of ``rule`` is of no use to a reader; "See ``X``." sends one on."""

    def says_nothing(name: str, text: str) -> bool:
        words = [word.lower() for word in re.findall(r"[\w']+", text)]
        parts = re.findall(r"[a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower())
        new = [word for word in words if word not in ARTICLES and not any(
            word.startswith(part[:4]) or part.startswith(word[:4]) for part in parts)]
        return not text.startswith("See ") and (len(words) < 4 or not new)

    assert [
        f"{place(path, node)} {node.name}: {text}"
        for path in python_files(*TYPED) for node in ast.walk(tree_of(path))
        if isinstance(node, Definition) and (text := ast.get_docstring(node))
        and says_nothing(node.name, text)
    ] == []


def test_no_docstring_only_points_to_where_its_method_is_described() -> None:
    """"See ``X``." helps a reader only where the class does not lead to ``X`` by itself."""
    pointer = re.compile(r"See (?:above|the (?:port|module|protocol)|[\w:]*`+[\w./]+`+)\.")
    named = ((path, name, node, ast.get_docstring(node) if isinstance(node, Definition) else None)
             for path in python_files(*PACKAGES)
             for name, node in methods_of(tree_of(path)))
    assert [
        f"{place(path, node)} {name}: {text}" for path, name, node, text in named
        if text and pointer.fullmatch(text) and is_documented_elsewhere(path, name)
    ] == []


def test_every_module_says_what_it_is() -> None:
    """A file that has code begins with what the code is for."""
    assert [place(path) for path in python_files()
            if tree_of(path).body and not ast.get_docstring(tree_of(path))] == []


def test_every_function_is_annotated() -> None:
    """Every parameter but self and cls has a type, and every function a return type."""

    def lacks(node: Function) -> bool:
        spec = node.args
        named = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
        others = [extra for extra in (spec.vararg, spec.kwarg) if extra is not None]
        bare = [one.arg for one in [*named, *others] if one.annotation is None]
        return node.returns is None or bool(set(bare) - {"self", "cls"})

    assert [
        f"{place(path, node)} {node.name}"
        for path in python_files(*TYPED, "tests") for node in ast.walk(tree_of(path))
        if isinstance(node, Function) and lacks(node)
    ] == []


@pytest.mark.parametrize(("package", "not_of"), [
    ("spec", ("checkvalve.reference", "checkvalve.conformance", "benchmarks")),
    ("reference", ("checkvalve.spec", "checkvalve.conformance", "benchmarks")),
    ("conformance", ("benchmarks",)),
])
def test_imports_run_one_way(package: str, not_of: tuple[str, ...]) -> None:
    """The spec knows no implementation, the reference is an oracle apart from the spec, and no
    package needs what is not in the wheel."""
    assert [
        f"{place(path, node)} imports {name}"
        for path in python_files(package) for node in ast.walk(tree_of(path))
        for _, name in modules_imported(node, path)
        if any(f"{name}.".startswith(f"{other}.") for other in not_of)
    ] == []


def module_of(path: Path) -> str:
    """The absolute name of the module in a file."""
    parts = parts_of(path)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(module: str) -> str:
    """The folder of a module; one that stands beside the packages of spec, reference or
    conformance is a package of its own."""
    file = ROOT / Path(*module.removeprefix("checkvalve.").split("."))
    return module if file.is_dir() or module.count(".") == 2 else module.rpartition(".")[0]


@cache
def imports_of_modules() -> frozenset[tuple[str, str]]:
    """The imports among our own modules, for types alone too: the importing and the imported."""
    ours = {module_of(path): path for path in python_files(*TYPED)}
    found = set()
    for name, path in ours.items():
        for statement in ast.walk(tree_of(path)):
            wanted = [other for _, other in modules_imported(statement, path) if other in ours]
            # The last is the narrowest: the module that was meant, not the package it is in.
            deepest = [other for other in wanted
                       if not any(each.startswith(f"{other}.") for each in wanted)]
            found |= {(name, other) for other in deepest if other != name}
    return frozenset(found)


def cycles_in(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The groups of members that lead to each other."""
    groups = networkx.strongly_connected_components(networkx.DiGraph(list(edges)))
    return [sorted(group) for group in groups if len(group) > 1]


def test_no_imports_of_modules_go_round_in_a_cycle() -> None:
    """Nor where one of them stands inside of a function, or is for types alone: a module can be
    read after another."""
    assert cycles_in(imports_of_modules()) == []


def test_no_imports_of_packages_go_round_in_a_cycle() -> None:
    """Folders lie in layers: the notation below the engines, suites below systems."""
    between = {(package_of(one), package_of(other)) for one, other in imports_of_modules()}
    assert cycles_in(edge for edge in between if edge[0] != edge[1]) == []


def test_what_all_systems_share_knows_none_of_them() -> None:
    """Ports, adapters, suites and campaigns name no folder of systems, nor does one system's
    folder know the list of all."""
    shared = (
        "adapters", "campaigns", "cli", "engines", "gate", "logs", "ports", "suites", "zoo")
    folders = "checkvalve.conformance.systems."
    assert sorted(
        (one, other) for one, other in imports_of_modules()
        if (one.split(".")[2:3] or [""])[0] in shared and other.startswith(folders)
        and (ROOT / "conformance" / "systems" / other.split(".")[3]).is_dir()) == []


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    """No start pays for a solver, a compiler or a cluster that it does not use."""

    def allowed(path: Path) -> set[str]:
        return {name for folder, names in AT_THE_TOP.items()
                if place(path).startswith(folder) for name in names}

    found = {
        f"{place(path, node)} imports {name.partition('.')[0]}"
        for path in python_files(*TYPED) for statement in at_the_top(tree_of(path))
        for node, name in modules_imported(statement, path)
        if name.partition(".")[0] in HEAVY - allowed(path)
    }
    assert sorted(found) == []


@pytest.mark.parametrize("module", [
    "checkvalve.conformance.cli", "checkvalve.spec.notation", "checkvalve.spec.flow",
    "checkvalve.spec.storm", "checkvalve.spec.queues", "checkvalve.reference",
])
def test_importing_the_core_loads_nothing_heavy(module: str) -> None:
    """A new process that imports ``module`` has none of the heavy packages in it."""
    program = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert HEAVY & set(loaded.stdout.decode().split()) == set()


def test_every_folder_with_code_is_a_package() -> None:
    """A folder without __init__.py would be missing from a wheel."""
    folders = {path.parent for path in python_files(*TYPED)}
    assert [place(folder) for folder in sorted(folders)
            if not (folder / "__init__.py").is_file()] == []


def test_beside_the_folders_stand_only_modules_that_users_name() -> None:
    """Everything else of the harness is in a folder that says what it is part of."""
    assert {path.stem for path in (ROOT / "conformance").glob("*.py")} == {
        "__init__", "pytest_plugin", "recorder", "serve", "state_machines", "testing"}


def test_every_package_is_typed_and_listed() -> None:
    """Type checkers follow the three packages, and the build knows each subpackage."""
    with mock.patch("setuptools.setup"), mock.patch.object(sys, "path", [str(ROOT), *sys.path]):
        build = runpy.run_path(str(ROOT / "setup.py"))
    there = {
        ".".join(("checkvalve", *path.parent.relative_to(ROOT).parts))
        for path in python_files(*PACKAGES) if path.name == "__init__.py"
    }
    assert all((ROOT / package / "py.typed").is_file() for package in PACKAGES)
    assert set(build["packages"]()) == there


def test_no_rule_id_is_used_twice() -> None:
    """One id, one rule: variants inherit a rule, and never write another under its name."""
    places: dict[str, set[str]] = {}
    for path in python_files("spec"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in RULES:
                id = ast.unparse(node.args[0])
                places.setdefault(id, set()).add(place(path, node))
    assert {id: sorted(where) for id, where in places.items() if len(where) > 1} == {}


def text_files() -> Iterator[Path]:
    """The text files of the project: everything that is not made or installed."""
    made = {".git", ".venv", "build", "dist", "__pycache__", ".checkvalve"}
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT).parts
        hidden = any(part in made or part.endswith(("_cache", ".egg-info", ".hypothesis"))
                     for part in inside)
        if not hidden and path.is_file():
            yield path


def test_the_text_names_no_machine_and_no_registry() -> None:
    """The project's text is true on every machine."""
    # In pieces, so that this file does not find itself.
    unwanted = re.compile("|".join([
        r"(?<![\w.])/wor" r"k/", r"(?<![\w.])/roo" r"t/", r"/home/\w", r"py" r"pi\.org",
        r"python" r"hosted", r"npm" r"js\.(?:org|com)", r"deb\.deb" r"ian", r"mvn" r"repository",
    ]))
    found = []
    for path in text_files():
        text = path.read_bytes().decode(errors="replace")
        found += [f"{place(path)}:{text.count(chr(10), 0, hit.start()) + 1}: {hit[0]}"
                  for hit in unwanted.finditer(text)]
    assert found == []
