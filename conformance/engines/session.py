"""A SparkSession of our own: made within bounded time or refused in one sentence.

Spark's own answer to a wrong address is a minute of silence and two hundred lines; so what
can be asked beforehand (the form of the URL, whether anything listens there, Java) is asked
beforehand, and what Spark says goes to a file that the message names.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from checkvalve.spec.notation.errors import CheckvalveError, InputError

from ..computer.environment import JAVA_AT_LEAST, install_command
from ..computer.java import require_java
from ..computer.patience import VARIABLE, Countdown
from .deaths import NoMemoryThere, WorkerDied
from .task import error_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "QUICK_START", "changed", "check_master", "explain", "scratch", "spark_session", "within"]

CONNECT_SECONDS = 5.0
"""Seconds that a host may take to accept a connection."""

START_SECONDS = 90.0
"""Seconds that Spark may take to come up; its own limit for a silent master is 60 s."""

_FORMS = (
    r"local(\[([1-9]\d*|\*)(,\d+)?\])?|local-cluster\[(?:[1-9]\d*,){2}\d+\]|spark://[^/,]+:\d+(,[^/,]+:\d+)*"
    r"|sc://[^/]+(/.*)?|k8s://.+|yarn"
)
_FORM_ADVICE = (
    "Give local[2], local-cluster[2,1,1024], spark://HOST:PORT, sc://HOST:PORT, k8s://URL or yarn."
)
_SETTINGS = {
    "spark.app.name": "checkvalve",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_LOOPBACK = "127.0.0.1"
_PYSPARK_AT_LEAST = 4
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For Javas on this machine: they live for seconds, and the work is done by Python."""

LONG_RUN = "-XX:+UseSerialGC"
"""For those that hand over millions of rows: Java does half of that work, and takes half the time
for it once both of its compilers have been at work."""

Result = TypeVar("Result")


@contextmanager
def spark_session(
    master: str, settings: Mapping[str, str] | None = None, *, seconds: float = START_SECONDS,
    is_long: bool = False,
) -> Iterator[SparkSession]:
    """A session on the cluster at ``master``, stopped at the end; ``settings`` are Spark's own.
    If it ``is_long``, Javas of this machine compile for speed, and not for a quick start.

    Raises InputError: ``master`` is no address of Spark's or nothing answers there, there is
    no Java, or a session runs in this process already (then give that one to the engine).
    """
    check_master(master)
    from pyspark.sql import SparkSession

    _check_edition()
    if _runs_already():
        raise InputError("a SparkSession runs in this process already", "",
                         "Give it as session=..., or stop it.")
    remote = master.startswith("sc://")
    chosen = dict(settings or {}) if remote else _defaults(master, is_long) | dict(
        settings or {})

    def make() -> SparkSession:
        builder = SparkSession.builder.config(map=dict(chosen))
        return (builder.remote(master) if remote else builder.master(master)).getOrCreate()

    silence = f"Spark at {master} did not come up within {seconds:g} s"
    with _launching(master) as log:
        said = log.stat().st_size
        try:
            session = within(seconds, make, silence)
        except Exception as error:
            # Where Java itself does not start, its own words are all there is.
            words = log.read_bytes()[said:].decode(errors="replace")
            raise explain(error, f"cannot use Spark at {master}", words) from error
    try:
        with _without_traces(), warnings.catch_warnings():
            # Its caution about new editions of pandas is no business of users of checkvalve.
            warnings.filterwarnings("ignore", module="pyspark")
            yield session
    finally:
        with suppress(Exception):  # a cluster that went away must not hide the first error
            session.stop()


@contextmanager
def changed(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Let a session have some settings for a while, and then those that it had."""
    before = {name: session.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)


@contextmanager
def _without_traces() -> Iterator[None]:
    """No trace of an interrupt: py4j logs one, and a root logger without handlers prints it."""
    root, nothing = logging.getLogger(), logging.NullHandler()
    root.addHandler(nothing)
    try:
        yield
    finally:
        root.removeHandler(nothing)


def _check_edition() -> None:
    """Raise InputError for a pyspark that lacks what the engine calls."""
    import pyspark

    if int(pyspark.__version__.partition(".")[0]) < _PYSPARK_AT_LEAST:
        raise InputError(
            f"pyspark {pyspark.__version__} is too old", "", "checkvalve needs "
            f"{_PYSPARK_AT_LEAST} or newer, on the cluster as well: {install_command('spark')}")


def _runs_already() -> bool:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        SparkSession.active()
    except PySparkException:
        return False
    return True


def check_master(master: str) -> None:
    """Raise InputError if ``master`` is no address of Spark's, or nothing listens there."""
    if not re.fullmatch(_FORMS, master):
        raise InputError(f"{master!r} is not the address of a Spark master", "", _FORM_ADVICE)
    where = re.match(r"(spark|sc)://([^/;]+)", master)
    if where is None:
        return
    ports = [_endpoint(part, master) for part in where[2].split(",")]
    refusals = [why for host, port in ports if (why := _refusal(host, port))]
    if len(refusals) == len(ports):
        raise InputError(f"no Spark master answers at {master}: {refusals[0]}", "",
                         "Start it, or give the address that its log or web page shows.")


def _endpoint(text: str, master: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":") if ":" in text else (text, "", "15002")
    if not port.isdigit() or not 0 < int(port) < 65536 or not host:
        raise InputError(f"{master!r} has no port between 1 and 65535", "", _FORM_ADVICE)
    return host.strip("[]"), int(port)


def _refusal(host: str, port: int) -> str:
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__
    return ""


def within(seconds: float, call: Callable[[], Result], silence: str) -> Result:
    """The result of ``call``, which gets a thread of its own; InputError ``silence`` if late.

    ``seconds`` are those of an idle machine (see patience.py).
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - it is raised again where it matters
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True, name="checkvalve-spark")
    thread.start()
    limit = Countdown(seconds)
    while thread.is_alive() and not limit.over:
        thread.join(limit.slice())
    if errors:
        raise errors[0]
    if not results:
        raise InputError(silence, "", "See whether the cluster is up and has free cores, and "
                         "whether its Spark is of the same version as the pyspark here; if it "
                         f"is only slow, set {VARIABLE}=3.")
    return results[0]


def _is_here(master: str) -> bool:
    """True if all of ``master`` runs on this machine, or can be reached by loopback alone."""
    return master.startswith("local") or bool(
        re.match(r"spark://(127\.0\.0\.1|localhost|\[::1\]):", master)
    )


def _defaults(master: str, is_long: bool) -> dict[str, str]:
    options = LONG_RUN if is_long else QUICK_START
    here = {
        "spark.driver.host": _LOOPBACK,
        "spark.driver.bindAddress": _LOOPBACK,
        "spark.driver.extraJavaOptions": options,
        "spark.executor.extraJavaOptions": options,
    }
    return _SETTINGS | (here if _is_here(master) else {})


@contextmanager
def _launching(master: str) -> Iterator[Path]:
    """While Spark starts, set its environment and send its words to our log."""
    before = dict(os.environ)
    os.environ.update(_environment(master))
    try:
        with _stderr_to(_log()), warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="pyspark")
            yield _log()
    finally:
        os.environ.clear()
        os.environ.update(before)


def _environment(master: str) -> dict[str, str]:
    """The variables that Spark's processes must see in addition; those that the user has set stay.
    """
    if master.startswith("sc://"):
        return {}
    wanted = {"JAVA_HOME": str(require_java())}
    if _is_here(master):
        wanted |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": _LOOPBACK,
                   "SPARK_HOME": str(_spark_home())}
    return {name: value for name, value in wanted.items()
            if name == "JAVA_HOME" or name not in os.environ}


@cache
def _spark_home() -> Path:
    """The installed Spark, by links: ``local-cluster`` writes its work into SPARK_HOME."""
    import pyspark

    home = scratch() / "spark"
    home.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        if entry.name != "work":
            (home / entry.name).symlink_to(entry)
    return home


@cache
def scratch() -> Path:
    """A folder that lives as long as this process: Spark's Java outlives each session."""
    folder = Path(tempfile.mkdtemp(prefix="checkvalve-spark-"))
    atexit.register(_clear, folder)
    return folder


def _log() -> Path:
    return scratch() / "spark.log"


_kept: set[Path] = set()


def _clear(folder: Path) -> None:
    if folder not in _kept:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    # Java inherits file descriptor 2, whatever sys.stderr is; only there can it be caught.
    sys.stderr.flush()
    saved = os.dup(2)
    try:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)
        os.close(saved)


_ENDED = "the target ended the Python process that it runs in"
_NO_MEMORY = "an executor ran out of memory"
_DEATHS: dict[str, type[CheckvalveError]] = {_ENDED: WorkerDied, _NO_MEMORY: NoMemoryThere}
_SPARK_SAYS = (
    (r"UnsupportedClassVersionError", "Java is too old for the installed Spark",
     f"Install a newer one, and set JAVA_HOME to it: Spark 4 needs Java {JAVA_AT_LEAST}."),
    (r"Could not parse Master URL", "it is not an address that Spark understands", _FORM_ADVICE),
    (r"PYTHON_VERSION_MISMATCH|Python in worker has different version",
     "the Python of the executors is of another version than the one here",
     "Set PYSPARK_PYTHON to a Python of this version on every node."),
    (r"Cannot run program \"[^\"]+\"[^\n]*error=2",
     "a node has no Python where PYSPARK_PYTHON says",
     "Set PYSPARK_PYTHON to a Python that every node has."),
    (r"No module named '(pyarrow|pandas)|(PyArrow|Pandas) >= \S+ must be installed",
     "the Python of the executors lacks pyarrow or pandas",
     "Install checkvalve[spark] into it on every node."),
    (r"All masters are unresponsive|stopped SparkContext|Application has been killed",
     "what answers there is no Spark master, or one of another version",
     "Use the pyspark of the cluster's version."),
    (r"Executor memory \d+ must be at least", "the memory of an executor is too little for Spark",
     "Give it 512 MiB or more, as in local-cluster[2,1,1024]."),
    (r"OutOfMemoryError|exit code 52\b|exited with code 52\b|exit code 137|code 137\b|"
     r"exceeding (memory|physical memory) limits|\bMemoryError\b",
     _NO_MEMORY,
     "Give executors more (spark.executor.memory), or more tasks: --partitions."),
    (r"Python worker exited unexpectedly", _ENDED,
     "Run it here with one process to see which case does it, or put it behind command:."),
    (r"ClassNotFoundException: Class org\.apache\.hadoop\.fs|No FileSystem for scheme|"
     r"UnsupportedFileSystemException",
     "the cluster has no file system for URLs that begin so",
     "Give Spark its jar (for s3a: spark.jars.packages org.apache.hadoop:hadoop-aws, of the "
     "version of Spark's Hadoop) in spark-defaults.conf, or a folder that all nodes share."),
    (r"PATH_NOT_FOUND", "there is no such file or folder, as the cluster sees it",
     "Give a path that all its nodes share, or a URL."),
    (r"TABLE_OR_VIEW_NOT_FOUND", "Spark has no such table",
     "Give its name as Spark's catalog has it."),
    (r"PATH_ALREADY_EXISTS", "there is something at the path of the results already",
     "Give another path, or remove it."),
    (r"STATEFUL_OPERATOR_NOT_MATCH|STORE_BACKEND_NOT_SUPPORTED_FOR_TWS|"
     r"VALUE_SCHEMA_NOT_COMPATIBLE",
     "this checkpoint was written by another edition of checkvalve",
     "Judge the log from its begin, with a new --checkpoint and --out."),
    (r"Cannot change timeMode",
     "this checkpoint was begun without --patience, --forget, --late and a tolerance, and now one "
     "of them is given, or the other way round",
     "Give what was given then, or judge the log from its begin, with a new --checkpoint and "
     "--out."),
)


def explain(error: Exception, doing: str, said: str = "") -> CheckvalveError:
    """The error to show the user for an error of Spark's while ``doing`` something.

    ``said`` is what Spark printed meanwhile, where the error itself says little. An
    executor's own error is given back as it was raised there.
    """
    if isinstance(error, CheckvalveError):
        return error
    text = str(error)
    told = error_in(text)
    if told is not None:
        return told
    for pattern, what, step in _SPARK_SAYS:
        if re.search(pattern, text + said):
            kind = _DEATHS.get(what, InputError)
            return kind(f"{doing}: {what}", "", step)
    if "JAVA_GATEWAY_EXITED" in text and said.strip():
        text = said
    _kept.add(scratch())
    step = f"What Spark said is in {_log()}." if _log().exists() else "See the log of Spark."
    return InputError(f"{doing}: {_gist(text)}", "", step)


def _gist(text: str) -> str:
    """The line of ``text`` that names an error: the last one, for causes come last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line.removeprefix("Caused by: ").removeprefix(": ") for line in lines
               if re.match(_NAMES_ERROR, line)]
    return (telling[-1:] or lines or ["no message"])[0].rstrip(".")[:300]


_NAMES_ERROR = r"(Caused by: |: )?[\w.$]*(Error|Exception): |\[[A-Z_.]+\]"
