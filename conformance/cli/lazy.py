"""A click group whose commands are imported when they are invoked."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from checkvalve.spec.notation.errors import InternalError

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """A group whose help is written from a table, so that no command has to be imported.

    ``package`` is where the modules are; ``table`` maps each command's name, which is its
    module's too, to the one sentence that the group's help shows.
    """

    def __init__(
        self, *args: Any, package: str, table: Mapping[str, str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._package = package
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command ``cmd_name``; None if there is none of that name."""
        if cmd_name not in self._table:
            return None
        command = getattr(import_module(f"{self._package}.{cmd_name}"), "command", None)
        if not isinstance(command, click.Command):
            raise InternalError(f"{self._package}.{cmd_name} defines no click command `command`")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table; click's own way imports every command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._table.items()))
