"""A PostgreSQL cluster in a temporary folder, which trusts every client on this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final

from ...spec.notation.errors import TargetError
from ..adapters.child import last_lines
from .programs import POSTGRESQL, PSQL, find_program
from .server import HOST, Server

__all__ = ["USER", "PostgreSQL", "psql"]

USER: Final = "postgres"
_MAKE_SECONDS: Final = 120
_INITDB: Final = replace(POSTGRESQL, name="initdb")
_READY: Final = replace(POSTGRESQL, name="pg_isready")


class PostgreSQL(Server):
    """One cluster. As root it runs as the user ``postgres``, for the server refuses to be root."""

    what: ClassVar[str] = "the PostgreSQL server"

    def prepare(self) -> None:
        """Make the cluster. Raises ``TargetError`` if that fails."""
        if os.geteuid() == 0:
            shutil.chown(self.folder, _user(), _user())
        made = subprocess.run(
            _as_user(_INITDB.find(), "-D", str(self.folder / "data"), "-A", "trust",
                     "-U", USER, "--no-sync", "-E", "UTF8", "--no-locale"),
            cwd=self.folder, capture_output=True, timeout=_MAKE_SECONDS, check=False)
        if made.returncode:
            said = made.stderr.decode("utf-8", "replace")
            raise TargetError(f"{self.what} cannot make a cluster{last_lines(said)}",
                              next_step="Try initdb by hand; the user who runs it owns the folder.")

    def argv(self) -> Sequence[str]:
        """The command line that serves ``port`` of loopback from ``folder``."""
        settings = {
            "listen_addresses": HOST, "unix_socket_directories": "", "fsync": "off",
            "shared_buffers": "16MB", "autovacuum": "off", "max_connections": "40",
        }
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        return _as_user(POSTGRESQL.find(), "-D", str(self.folder / "data"),
                        "-p", str(self.port), *options)

    def serves(self) -> bool:
        """True if the server takes connections."""
        asked = subprocess.run(
            [_READY.find(), "-q", "-h", HOST, "-p", str(self.port)], check=False)
        return asked.returncode == 0


def psql(port: int) -> list[str]:
    """The command line of a client that reads SQL on its stdin: one value a line, no decoration.

    Raises ``InputError`` if there is none.
    """
    return [PSQL.find(), "-XqAt", "-h", HOST, "-p", str(port), "-U", USER, USER]


def _user() -> str:
    try:
        return pwd.getpwnam(USER).pw_name
    except KeyError:
        return pwd.getpwuid(os.geteuid()).pw_name


def _as_user(*command: str) -> list[str]:
    if os.geteuid() != 0:
        return list(command)
    by = find_program("setpriv", "Install util-linux, or run this as another user than root.")
    return [by, f"--reuid={_user()}", f"--regid={_user()}", "--clear-groups", *command]
