"""Find Java, node, Go, Chromium and servers, or install them: .venv/bin/python .ci/programs.py.

Installs only where that is one safe command: Debian and its kin, as root or with sudo.
Elsewhere it says what to install and fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from checkvalve.conformance.computer import environment
from checkvalve.conformance.services.programs import PROGRAMS, RABBITMQ

# The newest first; each release of Debian has one or two of them.
JAVA_PACKAGES = ("openjdk-21-jre-headless", "openjdk-17-jre-headless", "openjdk-25-jre-headless",
                 "default-jre-headless")
NODE_PACKAGES = ("nodejs",)
GO_PACKAGES = ("golang-go",)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SERVERS = [program for program in PROGRAMS if program is not RABBITMQ]
"""Those that the tests run on; RabbitMQ takes too long, and its test is left out without it."""
VENV = Path(__file__).resolve().parent.parent / ".venv"
FETCHED = {
    VENV / "browser": {"axe-core/axe.min.js": "axe-core@4.10.3"},
    VENV / "editors": {".bin/taplo": "@taplo/cli@0.7.0",
                       ".bin/yaml-language-server": "yaml-language-server@1.25.0"},
}
"""Packages of npm that only tests use, by the folder that has them, with a file of each."""


def main() -> None:
    """Make sure of all, or say what is missing and fail."""
    if not java_fits():
        install("Java", JAVA_PACKAGES)
    if not node_fits():
        install("node", NODE_PACKAGES)
    if environment.find_go() is None:   # without it the tests of Go's channels are left out
        install("Go", GO_PACKAGES)
    if not any(map(shutil.which, BROWSERS)):   # without it the tests of HTML reports are left out
        install("Chromium", ("chromium",))
    fetch_packages()
    for program in SERVERS:
        if program.path() is None:
            install(program.what, (program.package,))
    missing = []
    if not java_fits():
        java = environment.find_java()
        found = f"the one in {java.home} does not fit: {java.unfit}" if java else "none found"
        missing.append(f"Java, for the tests on Spark ({found}). {environment.JAVA_ADVICE}")
    if not node_fits():
        missing.append(f"node, for the tests of the JavaScript queue. {environment.NODE_ADVICE}")
    missing += [f"{program.name}, for the tests on real servers. {program.advice}"
                for program in SERVERS if program.path() is None]
    if missing:
        sys.exit("The tests need:\n- " + "\n- ".join(missing))


def fetch_packages() -> None:
    """Fetch what checks a page for accessibility (it is under the MPL-2.0), and what editors check
    TOML and YAML with (MIT), where it is not there."""
    for folder, packages in FETCHED.items():
        if all((folder / "node_modules" / file).is_file() for file in packages):
            continue
        if shutil.which("npm") is None:
            install("npm", ("npm",))
        if shutil.which("npm") is not None:
            run(["npm", "install", "--silent", "--no-save", "--no-audit", "--no-fund", "--prefix",
                 str(folder), *packages.values()])


def java_fits() -> bool:
    """Whether there is a Java that Spark can use."""
    java = environment.find_java()
    return java is not None and java.fits


def node_fits() -> bool:
    """Whether there is a node that is new enough."""
    node = environment.find_node()
    return node is not None and node.fits


def install(what: str, packages: Sequence[str]) -> None:
    """Install the first of ``packages`` that this Debian has, if there is the right to."""
    rights = administrator()
    if rights is None or shutil.which("apt-get") is None:
        return
    update(tuple(rights))
    apt = ["apt-get", "install", "-q", "-y", "--no-install-recommends"]
    for package in packages:
        # A rehearsal: that apt knows a name does not mean that it can install it.
        if run([*apt, "--simulate", package]):
            print(f"Installing {what}: apt-get install {package} …", flush=True)
            run([*rights, *apt, package], aloud=True)
            return


@cache
def update(rights: tuple[str, ...]) -> None:
    """Fetch the lists of packages, once for all of them."""
    run([*rights, "apt-get", "update", "-q"])


def administrator() -> list[str] | None:
    """What to put before a command to run it as root; None where that is not possible."""
    if not hasattr(os, "geteuid"):
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    # Without a terminal nobody can type the password, and asking for it would hang.
    sudo = ["sudo"] if sys.stdin.isatty() else ["sudo", "-n"]
    return sudo if run([*sudo, "true"]) else None


def run(command: list[str], *, aloud: bool = False) -> bool:
    """Whether ``command`` succeeds; what it prints goes to stderr if ``aloud``, else nowhere."""
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    output = sys.stderr if aloud else subprocess.DEVNULL
    stdin = None if command[0] == "sudo" else subprocess.DEVNULL
    done = subprocess.run(command, env=quiet, stdin=stdin, stdout=output,
                          stderr=None if aloud else subprocess.DEVNULL, check=False)
    return done.returncode == 0


if __name__ == "__main__":
    main()
