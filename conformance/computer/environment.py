"""The equipment of this machine: Java for Spark, node for JavaScript, packages, memory, cores.

Also how checkvalve itself came here, and so how to install what belongs to it.

Nothing here raises an error: a thing that is missing, or that cannot be asked, is a finding.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from checkvalve.spec.notation.errors import InputError

__all__ = [
    "EXTRAS", "GO_ADVICE", "GO_AT_LEAST", "JAVA_ADVICE", "JAVA_AT_LEAST", "MODULES",
    "NODE_ADVICE", "NODE_AT_LEAST", "PURPOSES", "SPARK_MODULE", "Java", "Tool",
    "available_memory", "find_go", "find_java", "find_node", "install_command",
    "java_environment", "missing_extra", "package_version", "requirements", "total_memory",
    "usable_cores",
]

JAVA_AT_LEAST = 17
SPARK_MODULE = "jdk.incubator.vector"
"""Spark 4's launcher asks for this module by name, and a Java without it does not start."""

NODE_AT_LEAST = 18
GO_AT_LEAST = 18
"""Of its versions 1.x."""

JAVA_ADVICE = (
    f"Install Java {JAVA_AT_LEAST} or newer (Debian, Ubuntu: apt-get install "
    "openjdk-17-jre-headless; Fedora: dnf install java-21-openjdk-headless; macOS: brew install "
    "openjdk@17), or set JAVA_HOME to one. A JRE from a Python package will not do: those lack "
    f"the module {SPARK_MODULE}."
)
NODE_ADVICE = (
    f"Install node {NODE_AT_LEAST} or newer (Debian, Ubuntu: apt-get install nodejs; Fedora: "
    "dnf install nodejs; macOS: brew install node)."
)
GO_ADVICE = (
    f"Install Go 1.{GO_AT_LEAST} or newer (Debian, Ubuntu: apt-get install --no-install-recommends "
    "golang-go, some 470 MB; Fedora: dnf install golang; macOS: brew install go)."
)

MODULES = {
    "google": "protobuf", "nats": "nats-py", "opentelemetry": "opentelemetry-sdk", "yaml": "PyYAML",
    "z3": "z3-solver", "zmq": "pyzmq",
}
"""The modules that are not named as the distribution which has them."""

PURPOSES = {
    "click": "the command line",
    "graphlay": "where the boxes and lines of drawings are",
    "jsonschema": "the shape of designs and fixtures",
    "llvmlite": "the native explorer",
    "networkx": "the wait-for graph of a design",
    "numpy": "the native explorer's memory",
    "PyYAML": "reading designs",
    "scipy": "liveness of large machines",
    "z3-solver": "the prover: verdicts for all constants",
}
"""The purpose of each distribution that checkvalve cannot do without."""

EXTRAS = {
    "testing": "suites in pytest runs of your own, state machines of Hypothesis",
    "spark": "suites on a cluster: conform --engine spark, and Parquet results",
    "targets": "the targets that are libraries of other projects",
    "brokers": "clients of real brokers: RabbitMQ, NATS, PostgreSQL",
    "zookeeper": "a real ZooKeeper; its server comes with pyspark",
    "certify": "checking certificates: checkvalve certify",
}
"""The purpose of each extra; its distributions stand in pyproject.toml (``requirements``)."""

_SYSTEM_JAVA: tuple[tuple[str, str], ...] = (
    ("/usr/lib/jvm", "*"), ("/usr/java", "*"), ("/opt/java", "*"),
    ("~/.sdkman/candidates/java", "*"),
    ("/Library/Java/JavaVirtualMachines", "*/Contents/Home"),
    ("~/Library/Java/JavaVirtualMachines", "*/Contents/Home"),
    ("/opt/homebrew/opt", "openjdk*/libexec/openjdk.jdk/Contents/Home"),
)
"""The folders where systems keep their Javas, and the name of a home below each."""

_SECONDS = 20.0
"""Seconds that a program may take to say its version."""


@dataclass(frozen=True)
class Java:
    """A Java: its home, major version, and why Spark cannot use it (empty if it can)."""

    home: Path
    major: int
    unfit: str

    @property
    def fits(self) -> bool:
        """True if Spark can run on it."""
        return not self.unfit


@dataclass(frozen=True)
class Tool:
    """A node or a Go: where it is, its version as it says it, and why it will not do (or empty)."""

    path: Path
    version: str
    unfit: str

    @property
    def fits(self) -> bool:
        """True if the targets in its language can run on it."""
        return not self.unfit


def find_java() -> Java | None:
    """The first Java that Spark can use; else the first Java at all, with what it lacks.

    Looked for in JAVA_HOME, on the PATH, then where systems keep them.
    """
    unfit = None
    for home in _java_homes():
        java = _ask_java(home)
        if java is not None and java.fits:
            return java
        unfit = unfit or java
    return unfit


def java_environment() -> dict[str, str]:
    """The environment with JAVA_HOME set to a Java that Spark can use, if there is one."""
    java = find_java()
    environment = dict(os.environ)
    if java is not None and java.fits:
        environment["JAVA_HOME"] = str(java.home)
    return environment


def _java_homes() -> Iterator[Path]:
    seen: set[Path] = set()
    for home in _java_places():
        if (home / "bin" / "java").is_file() and home.resolve() not in seen:
            seen.add(home.resolve())
            yield home


def _java_places() -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for folder, pattern in _SYSTEM_JAVA:
        yield from sorted(Path(folder).expanduser().glob(pattern))


def _ask_java(home: Path) -> Java | None:
    """The Java at ``home``, as it describes itself; None if it does not run."""
    program = str(home / "bin" / "java")
    modules = _output([program, "--list-modules"])
    version = _major(_output([program, "-version"]) or "")
    if version is None:
        return None
    if version < JAVA_AT_LEAST:
        return Java(home, version, f"it is Java {version}; Spark needs {JAVA_AT_LEAST} or newer")
    if SPARK_MODULE not in (modules or ""):
        return Java(home, version, f"it lacks the module {SPARK_MODULE}")
    return Java(home, version, "")


def _major(said: str) -> int | None:
    """The major version in what `java -version` said: 17 of "17.0.15", 8 of "1.8.0_402"."""
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else None


def find_node() -> Tool | None:
    """The node on the PATH, or None."""
    path = shutil.which("node") or shutil.which("nodejs")
    said = _output([path, "--version"]) if path else None
    found = re.match(r"v(\d+)[.\w]*", said or "")
    if path is None or found is None:
        return None
    unfit = "" if int(found[1]) >= NODE_AT_LEAST else f"it is older than {NODE_AT_LEAST}"
    return Tool(Path(path), found[0], unfit)


def find_go() -> Tool | None:
    """The Go on the PATH, or None."""
    path = shutil.which("go")
    said = _output([path, "version"]) if path else None
    found = re.search(r"go1\.(\d+)[.\w]*", said or "")
    if path is None or found is None:
        return None
    unfit = "" if int(found[1]) >= GO_AT_LEAST else f"it is older than 1.{GO_AT_LEAST}"
    return Tool(Path(path), found[0], unfit)


def _output(command: list[str]) -> str | None:
    """The output of ``command``, on either stream; None if it fails or takes too long."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=_SECONDS, check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace")


def package_version(distribution: str) -> str | None:
    """The installed version of a Python distribution; None if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


@cache
def requirements() -> Mapping[str, str]:
    """The distributions that checkvalve uses, each with the extra that it comes with, or "".

    Read off the metadata, which were made of pyproject.toml; none where checkvalve is no installed
    distribution, as on a node of a cluster that it was sent to.
    """
    try:
        wanted = metadata.requires("checkvalve") or []
    except metadata.PackageNotFoundError:
        return {}
    found: dict[str, str] = {}
    for each in wanted:
        name, _, marker = each.partition(";")
        distribution = re.split(r"[^\w.-]", name.strip(), maxsplit=1)[0]
        extra = re.search(r"extra == [\"']([\w-]+)[\"']", marker)
        if extra is None or extra[1] in EXTRAS:
            found.setdefault(distribution, extra[1] if extra else "")
    return found


def missing_extra(error: ImportError) -> InputError | None:
    """The advice what to install, where ``error`` is the lack of a module that comes with an extra.
    """
    module = (error.name or "").partition(".")[0]
    wanted = _plain(MODULES.get(module, module))
    extra = next((extra for name, extra in requirements().items() if _plain(name) == wanted), "")
    if not extra:
        return None
    step = f"Install it with: {install_command(extra)}"
    return InputError(f"the Python package {module} is not installed", "", step)


def _plain(distribution: str) -> str:
    """The name of a distribution as indexes compare it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def install_command(extra: str) -> str:
    """The shell command that adds an extra, from where checkvalve itself was installed."""
    # Beside the files of a clone, also where a tree of links stands in for them.
    clone = Path(__file__).resolve().parents[2]
    if (clone / "pyproject.toml").is_file():
        what = ["-e", f"{clone}[{extra}]"]
    else:
        what = [f"checkvalve[{extra}]{_installed_from()}"]
    return shlex.join(["python", "-m", "pip", "install", *what])


def _installed_from() -> str:
    """`` @ URL`` of what checkvalve was installed from; empty where that was an index.

    The record is direct_url.json of the Python packaging user guide.
    """
    try:
        record = metadata.distribution("checkvalve").read_text("direct_url.json")
        origin = json.loads(record or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    url, version = origin.get("url", ""), origin.get("vcs_info", {})
    if version:
        url = f"{version['vcs']}+{url}@{version['commit_id']}"
    return f" @ {url}" if url else ""


def usable_cores() -> int:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def total_memory() -> int | None:
    """The machine's memory in bytes; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def available_memory() -> int | None:
    """The bytes that programs can still take; None where the system does not say."""
    kilobytes = _memory_info().get("MemAvailable")
    return None if kilobytes is None else kilobytes * 1024


def _memory_info() -> Mapping[str, int]:
    if platform.system() != "Linux":
        return {}
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return {}
    return {name: int(size) for name, size in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.M)}
