"""A real ZooKeeper server, from the jars that come with PySpark.

It is alone (no ensemble), keeps its data in a temporary folder, and forces nothing to the disk:
what it has written survives its being killed, though not a crash of the machine. Its sessions may
be as short as two ticks.
"""

from __future__ import annotations

import importlib.util
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from ...spec.notation.errors import InputError
from ..computer.environment import install_command
from ..computer.java import require_java
from .server import HOST, Server

__all__ = ["JAVA_OPTIONS", "ZooKeeper", "spark_classpath"]

_MAIN: Final = "org.apache.zookeeper.server.ZooKeeperServerMain"
_JARS: Final = (
    "zookeeper-*", "zookeeper-jute-*", "curator-*", "slf4j-api-*", "log4j-api-*", "log4j-core-*",
    "log4j-slf4j2-impl-*", "netty-*", "metrics-core-*", "snappy-java-*", "commons-*", "guava-*",
    "failureaccess-*",
)
"""Spark's jars that ZooKeeper and its clients in Java need."""

JAVA_OPTIONS: Final = (
    # It lives for seconds: start quickly, and take little.
    "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
    "-Xshare:auto",
)
_CONNECTIONS: Final = "org.apache.zookeeper.server.NettyServerCnxnFactory"
"""The class that takes connections. ZooKeeper's default (NIO) fails to close one that it takes
before its database is there, so that a client which comes while the server starts waits in vain,
until it has no session left; this one refuses it at once.
"""
_ANSWER_SECONDS: Final = 2.0


class ZooKeeper(Server):
    """One server. ``tick`` is its unit of time, in milliseconds.

    A client's session lasts from two ticks up to ``longest_session`` ms, as the client asks.
    """

    what: ClassVar[str] = "the ZooKeeper server"

    def __init__(
        self, *, tick: int = 100, longest_session: int = 60_000, seconds: float = 60.0
    ) -> None:
        super().__init__(seconds=seconds)
        self._tick = tick
        self._longest_session = longest_session

    def argv(self) -> Sequence[str]:
        """The command line that serves ``port`` of loopback from ``folder``."""
        java = require_java() / "bin" / "java"
        configuration = self.folder / "zookeeper.cfg"
        # The form ``PORT FOLDER`` of the command line would serve every network of the machine.
        configuration.write_text("".join(f"{key}={value}\n" for key, value in {
            "clientPort": self.port, "clientPortAddress": HOST, "dataDir": self.folder / "data",
            "tickTime": self._tick, "maxSessionTimeout": self._longest_session,
            "maxClientCnxns": 0, "admin.enableServer": "false",
            "4lw.commands.whitelist": "srvr",
        }.items()))
        return (
            str(java), *JAVA_OPTIONS, "-Dzookeeper.forceSync=no", "-Dlog4j2.level=ERROR",
            f"-Dzookeeper.serverCnxnFactory={_CONNECTIONS}", "-cp", spark_classpath(), _MAIN,
            str(configuration))

    def serves(self) -> bool:
        """True if the server reports that it serves: it listens some time before it does."""
        with socket.create_connection((HOST, self.port), _ANSWER_SECONDS) as connection:
            connection.sendall(b"srvr")
            said = b""
            while received := connection.recv(4096):
                said += received
        return b"Mode: standalone" in said


def spark_classpath(*before: Path) -> str:
    """The class path of ZooKeeper and its clients in Java, with some folders ``before`` it.

    Raises ``InputError`` if PySpark is not installed, or its jars are not the usual ones.
    """
    found = importlib.util.find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        raise InputError(
            "ZooKeeper's classes come with the Python package pyspark, which is not installed",
            "", f"Install it with: {install_command('zookeeper')}")
    folder = Path(next(iter(found.submodule_search_locations))) / "jars"
    jars = sorted(jar for pattern in _JARS for jar in folder.glob(f"{pattern}.jar"))
    if not any(jar.name.startswith("zookeeper-") for jar in jars):
        raise InputError(
            "this PySpark has no jar of ZooKeeper", str(folder),
            f"Install a whole one with: {install_command('zookeeper')}")
    return os.pathsep.join(map(str, (*before, *jars)))
