"""``checkvalve completion``: what a shell reads to complete commands and options."""

from __future__ import annotations

import json
from collections.abc import Mapping

import click

from .outcome import EXPECTED

__all__ = ["VARIABLE", "command", "complete"]

VARIABLE = "_CHECKVALVE_COMPLETE"
"""The environment variable by which a shell asks for completions."""

_PROGRAM = "checkvalve"


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(shell: str, as_json: bool) -> int:
    """Print what SHELL reads to complete commands, options and files.

    \b
    bash:  eval "$(checkvalve completion bash)"   in ~/.bashrc
    zsh:   eval "$(checkvalve completion zsh)"    in ~/.zshrc
    fish:  checkvalve completion fish > ~/.config/fish/completions/checkvalve.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # click knows these three
    made = kind(click.get_current_context().find_root().command, {}, _PROGRAM, VARIABLE)
    # Not made.source(): that of bash runs a bash to see which version it is.
    script = made.source_template % made.source_vars()
    click.echo(json.dumps({"shell": shell, "script": script}, indent=1) if as_json else script)
    return EXPECTED


def complete(root: click.Command, environment: Mapping[str, str]) -> int | None:
    """Answer a shell that asks for completions of ``root``, and return the exit code; None if
    none asks."""
    instruction = environment.get(VARIABLE)
    if not instruction:
        return None
    from click.shell_completion import shell_complete

    return shell_complete(root, {}, _PROGRAM, VARIABLE, instruction)
