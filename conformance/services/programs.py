"""The programs of real servers: where they are, or what to install."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...spec.notation.errors import InputError

__all__ = [
    "BEANSTALKD", "EPMD", "ETCD", "MOSQUITTO", "NATS", "POSTGRESQL", "PROGRAMS", "PSQL",
    "RABBITMQ", "REDIS", "Program", "find_program",
]


@dataclass(frozen=True)
class Program:
    """``name`` is the command, ``package`` Debian's package that has it.

    ``folders`` is a pattern of folders that have it where the PATH has not: those below
    ``/usr``, the newest last. ``serves`` says what it is for, as in "elections by Redis".
    """

    name: str
    package: str
    what: str
    folders: str = ""
    serves: str = "elections"

    @property
    def advice(self) -> str:
        """One sentence that says what to install."""
        return (f"Install {self.what} (Debian, Ubuntu: apt-get install {self.package}; macOS: "
                f"brew install {self.package.removesuffix('-server')}).")

    def path(self) -> str | None:
        """Its path, or None if it is not there."""
        places = sorted(Path("/usr").glob(self.folders), reverse=True) if self.folders else []
        found = (shutil.which(self.name, path=each) for each in (None, *map(str, places)))
        return next((path for path in found if path), None)

    def find(self) -> str:
        """Its path. Raises ``InputError``, with what to install, if it is not there."""
        path = self.path()
        if path is None:
            raise InputError(f"the program {self.name} was not found", "", self.advice)
        return path


# Debian keeps PostgreSQL's programs away from the PATH, and NATS's from that of most users.
_OF_POSTGRESQL: Final = "lib/postgresql/*/bin"

ETCD: Final = Program("etcd", "etcd-server", "etcd")
REDIS: Final = Program(
    "redis-server", "redis-server", "Redis", serves="elections, queues and brokers")
BEANSTALKD: Final = Program("beanstalkd", "beanstalkd", "beanstalkd", serves="brokers")
NATS: Final = Program("nats-server", "nats-server", "NATS", "sbin", serves="queues and brokers")
POSTGRESQL: Final = Program(
    "postgres", "postgresql", "PostgreSQL", _OF_POSTGRESQL, "elections and brokers")
PSQL: Final = Program("psql", "postgresql", "PostgreSQL", _OF_POSTGRESQL)
MOSQUITTO: Final = Program("mosquitto", "mosquitto", "mosquitto", "sbin", "brokers")
RABBITMQ: Final = Program(
    "rabbitmq-server", "rabbitmq-server", "RabbitMQ", "sbin", "brokers")
EPMD: Final = Program("epmd", "erlang-base", "Erlang", serves="brokers")

PROGRAMS: Final[Sequence[Program]] = (
    ETCD, REDIS, POSTGRESQL, NATS, BEANSTALKD, MOSQUITTO, RABBITMQ)
"""The servers."""


def find_program(name: str, advice: str) -> str:
    """The path of another program. Raises ``InputError`` with the ``advice`` if it is missing."""
    path = shutil.which(name)
    if path is None:
        raise InputError(f"the program {name} was not found", "", advice)
    return path
