"""A RabbitMQ server, with its files, and the port mapper that Erlang needs."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from ...spec.notation.errors import TargetError
from ..computer.patience import Countdown
from .process import KeptProcess
from .programs import EPMD, RABBITMQ
from .server import HOST, Server, free_port

__all__ = ["RabbitMQ"]

_ANSWER_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.05
_FIRST_WORDS: Final = b"Starting RabbitMQ"
_SCRIPTS: Final = "/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin"
"""Debian's command of this name changes the user and the folder, and then runs one of these."""


class RabbitMQ(Server):
    """One node, which takes seconds to start. Its durable queues are there again after it was
    killed."""

    what: ClassVar[str] = "the RabbitMQ server"

    def __init__(self, *, seconds: float = 60.0) -> None:
        super().__init__(seconds=seconds)
        self._mapper: KeptProcess | None = None
        self._mapper_port = 0
        self._distribution = 0

    def prepare(self) -> None:
        """Say that no plugin is to be loaded, and start the port mapper: one that the server starts
        by itself would outlive it."""
        (self.folder / "plugins").write_text("[].", encoding="utf-8")
        self._distribution = free_port()
        self._mapper_port = free_port()
        self._mapper = KeptProcess([EPMD.find(), "-port", str(self._mapper_port), "-address", HOST])

    def argv(self) -> Sequence[str]:
        """The command line that serves ``port`` of loopback from ``folder``."""
        places = sorted(Path("/").glob(f"{_SCRIPTS[1:]}/rabbitmq-server"))
        return (str(places[-1]) if places else RABBITMQ.find(), "-noinput")

    def environment(self) -> Mapping[str, str]:
        """The settings of the node, all below its own folder."""
        folder = str(self.folder)
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin", "HOME": folder,
            "LANG": "C.UTF-8", "RABBITMQ_ALLOW_INPUT": "1", "RABBITMQ_LOGS": "-",
            "RABBITMQ_NODENAME": f"checkvalve{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": HOST, "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._distribution),
            "RABBITMQ_MNESIA_BASE": f"{folder}/data", "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
            "ERL_EPMD_PORT": str(self._mapper_port), "ERL_EPMD_ADDRESS": HOST,
        }

    def serves(self) -> bool:
        """True if the server answers the header of another protocol with its own."""
        with socket.create_connection((HOST, self.port), _ANSWER_SECONDS) as connection:
            connection.sendall(b"HTTP\x00\x00\x00\x00")
            return connection.recv(8).startswith(b"AMQP")

    def wait_for_leader(self, queue: str) -> None:
        """Wait until a quorum queue has a leader after a restart, which the server's log says.

        Raises ``TargetError`` if it has none in time.
        """
        left = Countdown(self.seconds)
        while not re.search(rf"'{re.escape(queue)}' in vhost '/': candidate -> leader",
                            self._log_since_start()):
            if left.over:
                raise TargetError(f"the quorum queue {queue} of {self.what} has no leader "
                                  f"{self.seconds:g} s after a restart")
            time.sleep(_LOOK_SECONDS)

    def _log_since_start(self) -> str:
        said = self._log.read_bytes()
        return said[said.rfind(_FIRST_WORDS):].decode("utf-8", "replace")

    def close(self) -> None:
        """Kill it and its port mapper, and remove its folder."""
        super().close()
        mapper, self._mapper = getattr(self, "_mapper", None), None
        if mapper is not None:
            mapper.close()
