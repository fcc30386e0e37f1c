"""A click group; its commands are imported when they are invoked."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from checkvalve.spec.notation.errors import InputError, InternalError
from checkvalve.spec.notation.labels import brief, nearest

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """A group with a help written from a table, so that no command has to be imported.

    ``package`` is where the modules are; ``groups`` maps headings of the help to commands: each
    command's name, which is its module's too, to the one sentence that the help shows.
    """

    def __init__(
        self, *args: Any, package: str, groups: Mapping[str, Mapping[str, str]], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._package = package
        self._groups = groups

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return [name for group in self._groups.values() for name in group]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command ``cmd_name``; None if there is none of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command = getattr(import_module(f"{self._package}.{cmd_name}"), "command", None)
        if not isinstance(command, click.Command):
            raise InternalError(f"{self._package}.{cmd_name} defines no click command `command`")
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does it; the message on an option before its command says where it belongs."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise self._misplaced(ctx, error.option_name, given) from None

    def _misplaced(self, ctx: click.Context, option: str, given: list[str]) -> InputError:
        what = f"{brief(option)!r} is no option of {ctx.command_path} itself"
        name = next((each for each in given if each in self.list_commands(ctx)), "")
        command = self.get_command(ctx, name) if name else None
        if command is None:
            path = ctx.command_path
            return InputError(what, next_step=f"Options follow their command: `{path} --help` "
                              f"lists the commands, and `{path} COMMAND --help` the options of "
                              "one.")
        if any(option in each.opts for each in command.params):
            return InputError(what, next_step="Options follow their command: write "
                              f"`{ctx.command_path} {name} {option} …`.")
        return InputError(what, next_step=f"{name} has none of this name either: see "
                          f"`{ctx.command_path} {name} --help`.")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the nearest names in the message about an unknown one."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.list_commands(ctx):
            step = nearest(name, self.list_commands(ctx), f"`{ctx.command_path} --help`")
            ctx.fail(f"there is no command {brief(name)!r}. {step}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table; click's own way imports every command."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, group in self._groups.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), about) for name, about in group.items()])
