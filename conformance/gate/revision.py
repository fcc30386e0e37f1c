"""A revision of git in a folder of its own: checked out, looked for modules in, and removed.

The folder is a temporary worktree. What the user has checked out, staged or stashed is not touched.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from checkvalve.spec.notation.errors import InputError

__all__ = ["Repository", "only_in_tree"]

_OF_A_HOOK: Final = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE")
"""Variables that git sets for its hooks. They are about the user's tree, and not about ours."""

_WITH_A_REV: Final = ("Write for example --against origin/main, and fetch it before: a clone of "
                      "depth 1 has one revision only (GitHub: fetch-depth: 0).")
_WITHOUT_GIT: Final = "Run it in a clone, or compare with a file: --write-baseline FILE."


class Repository:
    """The repository that a folder is in, and one of its revisions.

    Raises InputError where there is no git, no repository, or no such revision.
    """

    def __init__(self, folder: Path, revision: str) -> None:
        self._folder = folder
        self.top = Path(self._git("rev-parse", "--show-toplevel")).resolve()
        self.commit = self._git(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}",
            wrong=f"there is no revision {revision[:80]!r} in this repository", advice=_WITH_A_REV)

    def uncommitted(self) -> int:
        """The number of files below the folder that differ from the last commit, or are new."""
        listed = self._git("status", "--porcelain", "--", ".", ":(exclude).checkvalve")
        return len(listed.splitlines())

    def is_of_it(self, path: Path) -> bool:
        """True if a path is of this repository: below its top, and not ignored, as an environment
        within it is."""
        whole = path.resolve()
        if not whole.is_relative_to(self.top) or whole.is_relative_to(Path(sys.prefix).resolve()):
            return False
        return whole == self.top or not self._says("check-ignore", "-q", str(whole))

    @contextmanager
    def worktree(self) -> Iterator[Path]:
        """The revision in a temporary folder, which is removed at the end."""
        with TemporaryDirectory(prefix="checkvalve-") as folder:
            tree = Path(folder).resolve() / "tree"
            # No hooks: a checkout for a gate is none of the developer's.
            self._git("-c", f"core.hooksPath={os.devnull}", "worktree", "add", "--quiet",
                      "--detach", str(tree), self.commit,
                      wrong=f"git cannot check out {self.commit[:12]}")
            try:
                yield tree
            finally:
                self._says("worktree", "remove", "--force", str(tree))
        self._says("worktree", "prune")

    @contextmanager
    def modules_from(self, tree: Path, modules: Iterable[str]) -> Iterator[None]:
        """Within it, modules of the repository are looked for in ``tree`` alone.

        Without this, a package that is installed in editable form would be imported from the
        user's own tree: the revision would be compared with itself.
        """
        before = list(sys.path)
        sys.path[:] = [*self._folders(tree, modules), *self._moved(tree)]
        try:
            yield
        finally:
            sys.path[:] = before

    def _folders(self, tree: Path, modules: Iterable[str]) -> Iterator[str]:
        """The folders in ``tree`` for what an import hook finds in the user's own."""
        for module in dict.fromkeys(modules):
            folder = _folder_of(module)
            if folder is not None and self.is_of_it(folder):
                yield str(tree / folder.resolve().relative_to(self.top))

    def _moved(self, tree: Path) -> Iterator[str]:
        ours = Path(__file__).resolve()     # checkvalve may be developed in this very repository
        for place in sys.path:
            path = Path(place or ".")
            if not path.exists() or ours.is_relative_to(path.resolve()) or not self.is_of_it(path):
                yield place
            elif (moved := tree / path.resolve().relative_to(self.top)).exists():
                yield str(moved)

    def _git(self, *arguments: str, wrong: str = "", advice: str = _WITHOUT_GIT) -> str:
        """The output of git. Raises InputError, with what git said, if it fails."""
        done = self._run(arguments)
        if done.returncode:
            said = " ".join(done.stderr.split())[:300]
            what = wrong or ("this is in no repository of git" if "not a git repository" in said
                             else "git cannot be used here")
            raise InputError(f"{what}{f': {said}' if said else ''}", str(self._folder), advice)
        return done.stdout.strip()

    def _says(self, *arguments: str) -> bool:
        return self._run(arguments).returncode == 0

    def _run(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items()
                       if name not in _OF_A_HOOK}
        try:
            return subprocess.run(
                ["git", "-C", str(self._folder), *arguments], capture_output=True, text=True,
                errors="replace", check=False, env={**environment, "LC_ALL": "C"})
        except FileNotFoundError:
            raise InputError("--against needs git, which is not installed", str(self._folder),
                             "Install git, or compare with a file: --write-baseline FILE.",
                             ) from None


def _folder_of(module: str) -> Path | None:
    """The folder in which the top level of a module is found. Nothing is imported."""
    top = module.partition(".")[0]
    try:
        found = find_spec(top)
    except (ImportError, ValueError):
        return None
    if found is None or found.origin in (None, "built-in", "frozen"):
        return None
    path = Path(str(found.origin))
    return path.parents[1] if found.submodule_search_locations else path.parent


def only_in_tree(module: str, repository: Repository, tree: Path, folder: Path) -> bool:
    """True unless, in place of a module that ``tree`` does not have, that of the user's own tree
    would be imported. ``folder`` is that of the configuration in ``tree``.
    """
    top = module.partition(".")[0]
    if PathFinder.find_spec(top, [*sys.path, str(folder)]) is not None:
        return True
    where = _folder_of(module)
    return where is None or not repository.is_of_it(where)
