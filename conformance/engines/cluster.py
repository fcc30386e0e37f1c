"""A real Spark cluster on this machine: one standalone master and its workers, on loopback.

For tests, and for trying a run before it goes to a cluster that others share. Its processes
end with the ``with`` block, and also if this process is killed inside it: each stands behind
a shell that reads from a pipe which only this process holds open.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType

from checkvalve.spec.notation.errors import InputError

from ..computer.java import require_java
from ..computer.patience import Countdown
from .session import QUICK_START

__all__ = ["SUPERVISE", "StandaloneCluster"]

_START_SECONDS = 90.0
"""Seconds that each of them may take to come up, on an idle machine."""

_STOP_SECONDS = 10.0
_LOOPBACK = "127.0.0.1"
_DEPLOY = "org.apache.spark.deploy"
SUPERVISE = """
exec 3<&0
"$@" </dev/null & child=$!
(read -r _ <&3; kill "$child") & wait "$child"
kill 0
"""
"""Run a command; end it when the pipe on stdin closes, and its process group when it ends."""


class StandaloneCluster:
    """A context manager: ``with StandaloneCluster(workers=2) as cluster: cluster.master``.

    ``workers`` processes offer ``cores`` cores and ``memory_mib`` MiB each. All ports are
    free ones and listen on the loopback interface alone. Logs and work files are in
    ``folder``, which is removed at the end. Raises InputError if it does not come up.
    """

    def __init__(self, workers: int = 2, *, cores: int = 1, memory_mib: int = 1024) -> None:
        if min(workers, cores, memory_mib) < 1:
            raise InputError("a cluster needs at least one worker, one core and one MiB")
        self._size = workers
        self._cores = cores
        self._memory_mib = memory_mib
        self._stack = ExitStack()
        self.folder = Path()
        self.master = ""

    def __enter__(self) -> StandaloneCluster:
        with ExitStack() as stack:
            name = stack.enter_context(tempfile.TemporaryDirectory(prefix="checkvalve-cluster-"))
            self.folder = Path(name)
            self._start(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
        self.master = ""

    def _start(self, stack: ExitStack) -> None:
        """Start a master and its workers, each a process, and wait until all are registered; the
        stack ends them."""
        environment = _environment(self.folder)
        listen = ["--host", _LOOPBACK, "--port", "0", "--webui-port", "0"]
        master = _Daemon("master", [f"{_DEPLOY}.master.Master", *listen], self.folder, environment)
        stack.callback(master.stop)
        self.master = master.wait_for(r"Starting Spark master at (spark://\S+)")
        share = ["--cores", str(self._cores), "--memory", f"{self._memory_mib}m"]
        workers = []
        for number in range(self._size):
            name = f"worker-{number}"
            place = ["--work-dir", str(self.folder / f"{name}.work")]
            command = [f"{_DEPLOY}.worker.Worker", *listen, *share, *place, self.master]
            workers.append(_Daemon(name, command, self.folder, environment))
            stack.callback(workers[-1].stop)
        for worker in workers:
            worker.wait_for(r"(Successfully registered with master)")


class _Daemon:
    """One Spark process in a process group of its own, and its log."""

    def __init__(
        self, name: str, command: list[str], folder: Path, environment: Mapping[str, str]
    ) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        starter = str(Path(environment["SPARK_HOME"]) / "bin" / "spark-class")
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", SUPERVISE, "sh", starter, *command],
                stdin=subprocess.PIPE, stdout=log, stderr=log, env=dict(environment),
                cwd=folder, start_new_session=True,
            )

    def wait_for(self, pattern: str) -> str:
        """Wait until the log matches ``pattern``, and return the first group of the match."""
        limit = Countdown(_START_SECONDS)
        while not limit.over:
            found = re.search(pattern, self._text())
            if found:
                return found[1]
            if self._process.poll() is not None:
                break
            time.sleep(limit.slice(0.2))
        last = (self._text().strip().splitlines() or ["it said nothing"])[-1]
        what = f"the {self.name} of the Spark cluster on this machine did not start: {last}"
        raise InputError(what, "", "See `checkvalve doctor` for what Spark needs.")

    def stop(self) -> None:
        """End the process group: asked first, then forced; returns when it is gone."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _text(self) -> str:
        return self.log.read_text(errors="replace")


def _environment(folder: Path) -> dict[str, str]:
    """The environment of the processes: our Java, loopback, nothing of the user's Spark settings.
    """
    import pyspark

    settings = folder / "conf"
    settings.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    return kept | {
        "JAVA_HOME": str(require_java()),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_CONF_DIR": str(settings),
        "SPARK_LOCAL_IP": _LOOPBACK,
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK_START,
        # The second entrance, for batch jobs, has a fixed port; two clusters would collide.
        "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
    }
