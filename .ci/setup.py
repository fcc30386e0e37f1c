"""Set up .venv with checkvalve in it: python3 .ci/setup.py [--extras dev].

Needs nothing but Python. What is up to date already is left alone, which takes a tenth of
a second, so that every target of the Makefile can begin with it.

The editable install is a tree of links that looks like the installed package, which is what
lets a type checker follow ``checkvalve.spec``. Such a tree knows only the files that were
there when it was made, so it is made again when a file has come or gone: beside the old one,
and then ``.venv/packages``, which is where Python and mypy look, is switched to it in one
step. So checkvalve never vanishes while others run it, and nothing outside of .venv is needed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "checkvalve-setup.json"
BUILD = ROOT / "build"
LINKS = VENV / "packages"
TREES = VENV / "trees"
PRESENT = LINKS / "checkvalve" / "spec" / "__init__.py"
FOLDERS = ("spec", "reference", "conformance")
OLDEST = (3, 11)
EVERYTHING = "dev"
"""The extra that has all the others in it."""


def main() -> None:
    """Bring .venv up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", default="targets", help="of pyproject.toml, with commas")
    extras = set(parser.parse_args().extras.split(","))
    use_new_enough_python()
    done = read_stamp()
    # An environment that has more than was asked for now stays as it is.
    extras |= set(done.get("extras", []))
    if EVERYTHING in extras:
        extras = {EVERYTHING}
    wanted = {"extras": sorted(extras), "needs": needs(), "files": files(), "texts": texts()}
    if done == wanted:
        return
    if done | {"texts": ""} == wanted | {"texts": ""}:
        compile_tree()
        STAMP.write_text(json.dumps(wanted))
        return
    make_venv()
    STAMP.unlink(missing_ok=True)
    link_tree()
    compile_tree()
    if done.get("needs") != wanted["needs"] or done.get("extras") != wanted["extras"]:
        install(sorted(extras))
    STAMP.write_text(json.dumps(wanted))


def use_new_enough_python() -> None:
    """Go on in a newer Python if this one is too old, or stop and say what to install."""
    if sys.version_info >= OLDEST:
        return
    for minor in range(20, OLDEST[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer:
            os.execv(newer, [newer, *sys.argv])
    stop(f"checkvalve needs Python 3.{OLDEST[1]} or newer, and this is {sys.version.split()[0]}.",
         "Install one, or say where it is: make PYTHON=/path/to/python3 …")


def read_stamp() -> dict[str, object]:
    """What was installed the last time, or nothing if .venv does not work any more."""
    try:
        works = subprocess.run([PYTHON, "-c", ""], check=False).returncode == 0
        done = dict(json.loads(STAMP.read_text())) if works else {}
        # A tree that is lost is made again, and nothing else.
        return done if PRESENT.is_file() else done | {"files": ""}
    except (OSError, ValueError):
        return {}


def needs() -> str:
    """A digest of what decides which dependencies are installed."""
    return digest([sys.version, str(ROOT), (ROOT / "pyproject.toml").read_text(),
                   Path(__file__).read_text()])


def files() -> str:
    """A digest of the names of all files in the packages."""
    found = (str(path.relative_to(ROOT)) for path in of_packages())
    return digest([(ROOT / "setup.py").read_text(), *sorted(found)])


def texts() -> str:
    """A digest of when each file in the packages was last written."""
    return digest(sorted(f"{path} {path.stat().st_mtime_ns}" for path in of_packages()))


def of_packages() -> list[Path]:
    """The files in the packages."""
    return [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts]


def digest(texts: Iterable[str]) -> str:
    """One short digest of several texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def make_venv() -> None:
    """Make .venv if it is not there or does not work."""
    if subprocess_works([PYTHON, "-m", "pip", "--version"]):
        return
    print("Making .venv …", flush=True)
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=False)
    if made.returncode != 0:
        stop("This Python cannot make a virtual environment.",
             "Install what it lacks (Debian, Ubuntu: apt-get install python3-venv) and try again.")


def subprocess_works(command: list[str | Path]) -> bool:
    """Whether ``command`` can be run and succeeds; its output is dropped."""
    try:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def link_tree() -> None:
    """Make a new tree of links to all files of the packages, and switch to it in one step."""
    TREES.mkdir(exist_ok=True)
    tree = Path(tempfile.mkdtemp(dir=TREES))
    tree.chmod(0o755)
    for path in of_packages():
        link = tree / "checkvalve" / path.relative_to(ROOT)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    draft = tree / "packages"
    draft.symlink_to(tree, target_is_directory=True)
    os.replace(draft, LINKS)
    # The tree before this one stays: somebody may be in the midst of reading it.
    trees = sorted(TREES.iterdir(), key=lambda each: each.stat().st_mtime_ns)
    for old in trees[:-2]:
        shutil.rmtree(old, ignore_errors=True)


def compile_tree() -> None:
    """Compile the packages once, so that no process does it that starts later.

    Python does this by itself, but not where PYTHONDONTWRITEBYTECODE is set, as in many containers:
    there each process compiled what it imported, which took longer than most commands. What is up
    to date is left alone. A file that is edited afterwards is compiled at its import, as
    ever, until the next time.
    """
    # What cannot be compiled is reported when it is imported.
    subprocess.run([PYTHON, "-m", "compileall", "-q", LINKS], check=False,
                   stdout=subprocess.DEVNULL)


def install(extras: list[str]) -> None:
    """Install checkvalve as editable, with its dependencies, and have Python look in LINKS."""
    print(f"Installing checkvalve[{','.join(extras)}] into .venv (a minute or two) …", flush=True)
    pip("setuptools>=77", "pip>=24")
    pip("--no-build-isolation", "--config-settings", "editable_mode=strict",
        "--editable", f"{ROOT}[{','.join(extras)}]")
    library = subprocess.run(
        [PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True).stdout.strip()
    (pointer,) = Path(library).glob("__editable__.checkvalve-*.pth")
    draft = pointer.with_suffix(".draft")
    draft.write_text(f"{LINKS}\n{WARNING}\n")
    os.replace(draft, pointer)
    for built in BUILD.glob("__editable__.checkvalve-*"):    # setuptools' own tree, in its place
        shutil.rmtree(built, ignore_errors=True)


WARNING = (
    "import os, sys; "
    f"os.path.isfile({str(PRESENT)!r}) or "
    "sys.stderr.write('checkvalve: the files that this environment leads to are gone. '"
    f"'Run this again: cd {shlex.quote(str(ROOT))} && make core\\n')"
)
"""What Python runs when it starts in .venv: without it, a module would merely be missing."""


def pip(*arguments: str) -> None:
    """Run ``pip install``, or stop with what it said."""
    command = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, *arguments], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        print(done.stdout, file=sys.stderr)
        stop("Installing failed; what pip says of it is above.",
             "Mend that (most often: no network, no space) and run the same command again.")


def stop(what: str, next_step: str) -> None:
    """End with one message."""
    sys.exit(f"{what}\n{next_step}")


if __name__ == "__main__":
    main()
