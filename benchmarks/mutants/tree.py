"""The trees: where the project's text is, and copies of it with one mutant in them."""

from __future__ import annotations

import ast
import compileall
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from py_compile import PycInvalidationMode

from checkvalve.spec.notation.errors import InputError

from .operators import Mutant

__all__ = ["Project", "Tree", "here"]


@dataclass(frozen=True)
class Project:
    """A package with its folders at the root of a clone, next to ``tests``.

    ``package`` is the name by which it is imported, ``folders`` are its subpackages.
    """

    root: Path
    package: str = "checkvalve"
    folders: tuple[str, ...] = ("spec", "reference", "conformance")

    def file(self, module: str) -> Path:
        """The file of a module, named without the package."""
        return self.root.joinpath(*module.split(".")).with_suffix(".py")

    def source(self, module: str) -> str:
        """The text of a module. Raises ``InputError`` where there is none."""
        try:
            return self.file(module).read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(f"there is no module {module}: {error.strerror}",
                             str(self.file(module)),
                             "Mend the list in benchmarks/mutants/modules.py.") from error

    @cached_property
    def commit(self) -> str:
        """The commit that is checked out, with a ``+`` where files differ from it."""
        def git(*command: str) -> str:
            done = subprocess.run(("git", "-C", str(self.root), *command), capture_output=True,
                                  text=True, check=False)
            return done.stdout.strip()

        changed = git("status", "--porcelain", "--", *self.folders, "tests")
        return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")

    def changed_since(self, commit: str) -> set[Path]:
        """The files with other code than at a commit, and those that were not there.

        Raises ``InputError`` for what is no commit.
        """
        def git(*command: str) -> subprocess.CompletedProcess[bytes]:
            return subprocess.run(("git", "-C", str(self.root), *command), capture_output=True,
                                  check=False)

        told = git("diff", "--name-only", "--no-renames", "-z", commit, "--", *self.folders)
        if told.returncode:
            raise InputError(f"git knows no commit {commit}", "", "Name one that `git log` shows.")
        names = [name for name in told.stdout.decode().split("\0") if name.endswith(".py")]
        return {file for name in names for file in [self.root / name] if file.is_file()
                and _code(git("show", f"{commit}:{name}").stdout) != _code(file.read_bytes())}

    def digest(self, *files: Path) -> str:
        """A digest of the code in some files: of their texts without comments and docstrings."""
        texts = hashlib.sha256()
        for file in files:
            texts.update(_code(file.read_bytes()) + b"\0" if file.is_file() else b"-")
        return texts.hexdigest()[:16]


def _code(text: bytes) -> bytes:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) \
                and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree).encode()


def here() -> Project:
    """The clone that this program is part of. Raises ``InputError`` in an installed wheel."""
    root = Path(__file__).resolve().parents[2]
    if not (root / "tests").is_dir():
        raise InputError("the mutants are killed by the tests, which are not installed", "",
                         "Clone the project, and run `make mutants` there.")
    return Project(root)


class Tree:
    """A copy of a project's package, compiled, which can be imported from ``folder``."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project = project
        self.folder = folder
        for name in project.folders:
            shutil.copytree(project.root / name, self._package / name,
                            ignore=shutil.ignore_patterns("__pycache__"))
        # Never compared with the text again: within a second a mutant may follow another.
        compileall.compile_dir(self._package, quiet=2,
                               invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)

    @property
    def _package(self) -> Path:
        return self.folder / self.project.package

    def module_of(self, file: str) -> str:
        """The module that a file of this tree is, named without the package; or an empty text."""
        prefix = f"{self._package}/"
        if not (file.startswith(prefix) and file.endswith(".py")):
            return ""
        return file[len(prefix) : -len(".py")].replace("/", ".")

    @contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """With the mutant in place of its module, and after that as before."""
        file = self._package.joinpath(*mutant.module.split(".")).with_suffix(".py")
        original = file.read_text(encoding="utf-8")
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            compiled.unlink()
        file.write_text(mutant.applied(original), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(original, encoding="utf-8")
            compileall.compile_file(
                file, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
