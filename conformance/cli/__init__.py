"""The command line: ``checkvalve COMMAND …``.

Each command is one module beside this one, which defines a click command called
``command`` that returns its exit code; the module is imported when the command is
invoked and not before, so that ``checkvalve --help`` stays instant. What a command raises
becomes one message and one exit code here, and nowhere else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

import click

from ..computer.progress import switched_on
from ..computer.streams import write_all
from .lazy import LazyGroup
from .outcome import run

__all__ = ["COMMANDS", "GROUPS", "main", "root"]

GROUPS: Mapping[str, Mapping[str, str]] = {
    "To begin": {
        "new": "Write a file to start from: an adapter, a design or a gate.",
    },
    "Your design": {
        "check": "Check designs for deadlock, growth, loss, disorder and starvation.",
        "law": "Find the parameter values for which a design is free of deadlock.",
        "certify": "Check the certificate of a verdict on a design by other means.",
        "export": "Write a design or a machine for another model checker: SPIN or TLC.",
    },
    "Your implementation": {
        "conform": "Run a conformance suite on an implementation.",
        "campaign": "Run suites with many seeds and settings; what was cut off continues.",
        "identify": "Find out what a queue does when it is full.",
        "replay": "Run a saved failure again, on any implementation.",
        "judge": "Judge recorded logs by the rules of a suite.",
        "suites": "List the suites by subject, or say of one what it asks and judges.",
        "targets": "List the implementations that come with checkvalve, by suite.",
    },
    "Your team": {
        "gate": "Run all that a checkvalve.toml lists; one verdict, for CI.",
        "doctor": "Show what this machine has and what each part needs.",
        "completion": "Print what bash, zsh or fish reads to complete commands.",
    },
    "The rule book": {
        "rules": "List the rules, with their sources and where each is used.",
        "verify": "Verify the chapters of the rule book and print expected against found.",
        "zoo": "Show which rule of a suite kills which broken twin.",
    },
}
"""The commands by what they are about, in the order in which help lists them."""

COMMANDS: Mapping[str, str] = {
    name: about for group in GROUPS.values() for name, about in group.items()}


def _print_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # 20 ms that only --version has to pay

        click.echo(f"checkvalve {version('checkvalve')}")
        context.exit()


@click.group(cls=LazyGroup, package=__name__, groups=GROUPS, no_args_is_help=False)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
    help="Print the version.",
)
def root() -> None:
    """Verify, test and gate backpressure: queues, locks, links, streams, timers, pending requests,
    servers, stream processors, elections, replication, and designs of these.

    Exit codes: 0 all as expected, 1 something violated, 2 something unknown,
    64 bad usage or bad input, 69 a target that failed, 70 an error of checkvalve itself.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    write_all()
    if (code := _completed()) is not None:
        sys.exit(code)
    with switched_on():
        code = run(root, sys.argv[1:] if arguments is None else list(arguments))
    sys.exit(code)


def _completed() -> int | None:
    """The exit code where a shell asked for completions; None where it did not."""
    if "_CHECKVALVE_COMPLETE" not in os.environ:
        return None  # the usual case, which imports nothing
    from .completion import complete
    return complete(root, os.environ)
