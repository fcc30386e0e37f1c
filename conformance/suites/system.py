"""The record of a system, from which all that checkvalve says of a component comes.

A folder of ``systems`` is one kind of component. Its ``__init__`` has the record, ``SYSTEM``;
beside it stand ``port`` (``PORT``), ``suite`` (``SUITE``), ``twins`` (``TWINS``), and the adapters
of what comes with checkvalve. These are imported when they are asked for: each may need a library
of its own, and help has to be there at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...spec import shelf
from ...spec.notation.errors import InputError
from ..computer.launchers import LAUNCHERS
from ..ports.base import Adapter, Port

if TYPE_CHECKING:
    from ..foreign.surface import Wanted
    from .bug import Bug
    from .identity import Identify
    from .suite import AnySuite
    from .twin import Twin

__all__ = ["QUICK_CASES", "SUBJECTS", "Shipped", "System"]

QUICK_CASES: Final = 40
"""Cases of a quick run, with which a default run begins: 36 with some twenty short programs each,
so that each rule of a suite is in focus with capacity 1, 2, 3, and four with one long program each,
which find what breaks late."""

SUBJECTS: Final = tuple(subject for subject in shelf.SUBJECTS if subject != "designs")
"""The subjects of suites, in the order of the book; designs are checked, and not tested."""


@dataclass(frozen=True)
class Shipped:
    """An implementation that comes with checkvalve.

    ``name`` is the target's name and ``about`` one line on it. ``place`` is where its adapter is,
    below the system's folder: ``module:Class``, or a program with its arguments, for node
    (``file.js``) or the launchers of Java and Go (``File.java``, ``File.go``). One that has a
    ``rehearsal`` runs in real time, it waits for clocks and other processes: a program takes it
    seconds. So few are run, those that exercise most on the target of that name, which answers
    alike in virtual time. ``made_here`` says of one that it is of this project, where its name and
    ``about`` do not.
    """

    name: str
    place: str
    about: str
    rehearsal: str = ""
    made_here: bool = False

    @property
    def is_ours(self) -> bool:
        """True of the reference in any form, and of other code of this project."""
        return (self.made_here or self.name.partition(".")[0] == "reference"
                or self.about.startswith("the reference"))

    @property
    def in_real_time(self) -> bool:
        """True if a program takes it seconds."""
        return bool(self.rehearsal)

    @property
    def is_program(self) -> bool:
        """True if it runs in a process of its own, and needs node, Java or Go."""
        return Path(self.place.partition(" ")[0]).suffix in LAUNCHERS


@dataclass(frozen=True)
class System:
    """One kind of component.

    ``name`` is the name of its suite and of its port, and ``folder`` that of its package.
    ``subject`` is one of SUBJECTS, ``about`` is a noun phrase, and ``page`` the page of docs
    that has the tables of its port. The first of the ``shipped`` is the reference that the
    suite is proved on. ``cases`` is how many a default run begins with, chosen by what they
    find of mutants (docs/mutants.md). ``drawings`` is the module of its figures, if it has
    some, ``identity`` the one that finds out which kind of it a target is, and ``bugs`` the one
    that lists real bugs with what became of them. ``by_name`` is the module whose ``make``
    makes an adapter of a class of the user's, and whose ``WANTED`` says what it looks for.
    ``no_logs`` says why its recorded logs are not judged, if it has no module ``logs``.
    """

    name: str
    folder: str
    subject: str
    about: str
    page: str
    shipped: tuple[Shipped, ...]
    cases: int = QUICK_CASES
    drawings: str = ""
    identity: str = ""
    bugs: str = ""
    by_name: str = ""
    no_logs: str = ""

    @property
    def maker(self) -> str:
        """``module:function`` of what makes an adapter of a class by its name; may be empty."""
        return f"{self.folder}.{self.by_name}:make" if self.by_name else ""

    @cached_property
    def looked_for(self) -> Sequence[Wanted]:
        """The operations that a class has which is tested by its name; none if there is no such
        way."""
        if not self.by_name:
            return ()
        wanted: Sequence[Wanted] = import_module(f"{self.folder}.{self.by_name}").WANTED
        return wanted

    @cached_property
    def figures(self) -> Mapping[str, str]:
        """By file name below docs/figures, what ``make pages`` draws."""
        if not self.drawings:
            return {}
        figures: Mapping[str, str] = import_module(f"{self.folder}.{self.drawings}").FIGURES
        return figures

    @cached_property
    def identify(self) -> Identify | None:
        """The function that finds out which kind of it a target is, if there are several."""
        if not self.identity:
            return None
        identify: Identify = import_module(f"{self.folder}.{self.identity}").identify
        return identify

    @cached_property
    def logs(self) -> Any:
        """The record ``LOGS`` of how its logs are judged; None if they cannot be. Its type is not
        imported: logs look up in tables of suites what their events mean."""
        if find_spec(f"{self.folder}.logs") is None:
            return None
        return import_module(f"{self.folder}.logs").LOGS

    @cached_property
    def histories(self) -> tuple[Bug, ...]:
        """Real bugs of it, each with its twins and machines."""
        if not self.bugs:
            return ()
        histories: tuple[Bug, ...] = import_module(f"{self.folder}.{self.bugs}").BUGS
        return histories

    @cached_property
    def port(self) -> Port:
        """The operations that an implementation must offer."""
        port: Port = import_module(f"{self.folder}.port").PORT
        return port

    @cached_property
    def suite(self) -> AnySuite:
        """The requests to an implementation, and the machines that judge it."""
        suite: AnySuite = import_module(f"{self.folder}.suite").SUITE
        return suite

    @cached_property
    def twins(self) -> Mapping[str, Twin]:
        """By name, references with one seeded bug each."""
        twins: Mapping[str, Twin] = import_module(f"{self.folder}.twins").TWINS
        return twins

    @property
    def reference(self) -> Shipped:
        """The implementation on which the suite is proved."""
        return self.shipped[0]

    @property
    def references(self) -> tuple[Shipped, ...]:
        """All implementations of checkvalve's own."""
        return tuple(each for each in self.shipped if each.name.partition(".")[0] == "reference")

    @cached_property
    def chapters(self) -> frozenset[str]:
        """The chapters of the machines that its suite judges by, and of those that are tied to them
        by a refinement: a mechanism, and broken variants of it."""
        from ...spec.chapters import chapters

        judging = {machine for rule in self.suite.rules() for machine in self.suite.machines(rule)}
        tied = {row.machine for chapter in chapters() for row in chapter.refinements
                if row.observer in judging}
        modules = {machine.__module__ for machine in judging | tied}
        return frozenset(
            chapter.name for chapter in chapters() if chapter.module.__name__ in modules)

    def is_named(self, name: str) -> bool:
        """True if ``name`` is the suite's, or that of a group with it."""
        return _is_in(name, self.name)

    def is_about(self, name: str) -> bool:
        """True if ``name`` is that of one of its chapters, or that of a group with one of them."""
        return any(_is_in(name, each) for each in self.chapters)

    def adapter(self, shipped: Shipped) -> Adapter:
        """A new adapter of one of the implementations that run in this process.

        Raises ``InputError`` where a library that it needs is missing.
        """
        module, _, name = shipped.place.partition(":")
        adapter: Adapter = getattr(import_module(f"{self.folder}.{module}"), name)()
        return adapter

    def program(self, shipped: Shipped) -> list[str]:
        """The command of one that is a program; InputError where it is not on this machine's disk,
        or what runs it is not."""
        file, *arguments = shipped.place.split()
        path = Path(str(files(self.folder).joinpath(file)))
        if not path.is_file():
            raise InputError(
                f"{shipped.name} is a program, and cannot be run from inside an archive",
                next_step="Install checkvalve where the cases run.")
        return [*LAUNCHERS[path.suffix].argv(shipped.name, path), *arguments]


def _is_in(group: str, name: str) -> bool:
    """True if a dotted name is that of a group, or begins with it."""
    return name == group or name.startswith((f"{group}.", f"{group}_"))
