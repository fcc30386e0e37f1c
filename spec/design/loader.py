"""From the text of a design file to a :class:`Design`, or one clear message.

The shape is checked against the schema; this module checks what a schema cannot say: that
names exist, that each task has the links its kind needs, that what is held at the start
fits.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ..notation.errors import InputError
from .net.builder import Aim
from .net.translate import translate
from .reading.copies import expanded, has_copies
from .reading.endings import has_ends, with_ends
from .reading.kinds import Misfit, Parts, sorted_out
from .reading.language import (
    CHOICES, MAX_EARLY, Design, Flow, Kind, Link, Merging, Mortality, Pool, Routing, Step, StepKind,
    Taking, Task,
)
from .reading.parameters import Point, points, resolved
from .reading.programs import length
from .reading.properties import NO_STARVATION, no_starvation
from .reading.schema import check_shape, suggest
from .reading.source import NOWHERE, Node, Spot, Watch, parse
from .reading.symbols import whole

__all__ = ["load", "load_all", "load_point", "load_tree", "only"]

T = TypeVar("T")

# Flow kinds translated into a row for each number of elements that do not fit.
_COUNTED = {Flow.DROP_NEWEST, Flow.DROP_OLDEST, Flow.UNBOUNDED}
MAX_GIVES = 16
MAX_POSITIONS = 200

# The links a kind needs: (fewest inputs, most inputs, fewest outputs, most outputs).
_MANY = 10**9
_DEGREES: Mapping[Kind, tuple[int, int, int, int]] = {
    Kind.SOURCE: (0, 0, 1, _MANY),
    Kind.SINK: (1, _MANY, 0, 0),
    Kind.MAP: (1, 1, 1, 1),
    Kind.FILTER: (1, 1, 1, 1),
    Kind.MERGE: (2, _MANY, 1, 1),
    Kind.ZIP: (2, _MANY, 1, _MANY),
    Kind.BROADCAST: (1, 1, 1, _MANY),
    Kind.ROUTE: (1, 1, 2, _MANY),
    Kind.WINDOW: (1, 1, 1, _MANY),
    Kind.ALIGN: (2, _MANY, 1, _MANY),
    Kind.SCRIPT: (0, _MANY, 0, _MANY),
    Kind.CALL: (0, 0, 0, 0),
    Kind.TRANSITION: (0, _MANY, 0, _MANY),
}


def load(text: str, file: str = "<text>") -> Design:
    """Read a design; ``file`` is only used in messages.

    Raises InputError, naming file and line, for the first thing that is wrong, and for a file
    that stands for several designs.
    """
    return only(load_all(text, file), file)


def only(found: Sequence[Design], file: str) -> Design:
    """The one design of a file; raises InputError where its parameters make several."""
    if len(found) > 1:
        raise InputError(f"its parameters have ranges, so the file stands for {len(found)} designs",
                         file, "Give each parameter one value here.")
    return found[0]


def load_all(
    text: str, file: str = "<text>", given: Mapping[str, str] | None = None
) -> list[Design]:
    """Read a file: a design for each choice of values of its parameters, of which ``given`` has
    some (see ``parameters``). Raises InputError as ``load`` does.
    """
    return load_tree(parse(text, file), file, given)


def load_tree(
    root: Node, file: str, given: Mapping[str, str] | None = None, assumed: Sequence[str] = (),
    watch: Watch = lambda: None,
) -> list[Design]:
    """As ``load_all``, of a tree; its reader took for granted what is ``assumed``. ``watch`` is
    called often, and may raise."""
    found = [replace(load_point(root, point, file, watch=watch), assumed=tuple(assumed))
             for point in points(root, file, given or {})]
    columns = zip(*(each.parameters for each in found), strict=True)
    swept = [place for place, values in enumerate(columns) if len(set(values)) > 1]
    return [_named(design, swept) for design in found]


def load_point(
    root: Node, point: Point, file: str, known: bool = False, watch: Watch = lambda: None
) -> Design:
    """The design of a tree for these values of its parameters, which may be symbols (see
    ``symbols``) where the shape of the tree is ``known`` to be right."""
    watch()
    copied = has_copies(root)
    tree = expanded(root, point, file, watch) if copied else resolved(root, point, file)
    watch()
    if not known:
        check_shape(tree, file, "expanded" if copied else "resolved", watch)
    return replace(_Loader(tree, file, watch).design(), parameters=tuple(point.items()))


def _named(design: Design, swept: Sequence[int]) -> Design:
    """The design, named apart from the others of its file by the parameters in which they differ.

    """
    values = [f"{name}={value}" for name, value in (design.parameters[place] for place in swept)]
    return replace(design, name=" ".join([design.name, *values]))


class _Loader:
    """Turns a tree that has the right shape into a design."""

    def __init__(self, root: Node, file: str, watch: Watch) -> None:
        self.root = root
        self.file = file
        self.watch = watch

    def design(self) -> Design:
        """The design, with its names resolved."""
        top = self.root.value
        tasks = {name: _task(name, node, _spot(top["tasks"], name))
                 for name, node in self._watched(_entries(top["tasks"]))}
        pools = {
            name: Pool(name, whole(node.value["threads"].value), _spot(top["pools"], name))
            for name, node in _entries(top.get("pools"))
        }
        links = self._links(top["links"].value if "links" in top else [], tasks)
        parts = self._written_out(Parts(tasks, links, pools))
        design = Design(
            name=top["name"].value, about=_text(top.get("about")), tasks=parts.tasks,
            links=parts.links, pools=parts.pools, expect=self._expect(top.get("expect"), tasks),
            file=self.file, spot=(self.root.key_spots or {}).get("name", NOWHERE),
        )
        for task in self._watched(parts.tasks.values()):
            self._check_task(design, task)
        # A design that cannot be translated is refused here too.
        translate(design, Aim(), self.watch)
        return design

    def _watched(self, entries: Iterable[T]) -> Iterator[T]:
        for entry in entries:
            self.watch()
            yield entry

    def _written_out(self, parts: Parts) -> Parts:
        """The same without ends, groups and kinds; raises InputError for what cannot be."""
        try:
            if has_ends(parts.tasks.values()):
                parts = with_ends(parts, self.watch)
            groups = _groups(parts.links)
            tasks = {name: _deciding(task, groups.get(name, {}))
                     for name, task in parts.tasks.items()}
            parts = replace(parts, tasks=tasks)
            if any(link.kinds for link in parts.links.values()) or any(
                    action.of or action.named for task in tasks.values()
                    for action in task.actions):
                parts = sorted_out(parts, self.watch)
        except Misfit as wrong:
            raise self._error(wrong.spot, wrong.what, wrong.next_step) from None
        return parts

    def _error(self, spot: Spot, what: str, next_step: str) -> InputError:
        return InputError(what, f"{self.file}:{spot}", next_step)

    def _known(self, name: str, of: Collection[str], what: str, spot: Spot) -> str:
        if name in of:
            return name
        names = list(of)
        near = difflib.get_close_matches(name, names, n=1)
        kind, *which = what.split(" ", 1)  # as in "link to this task"
        several = " ".join([f"{kind}s", *which])
        advice = f"Did you mean {near[0]!r}?" if near else (
            f"The {several} are: {', '.join(names)}." if names else f"The design has no {several}."
        )
        raise self._error(spot, f"there is no {what} called {name!r}", advice)

    # --- links -------------------------------------------------------------------------

    def _links(self, nodes: list[Node], tasks: Mapping[str, Task]) -> dict[str, Link]:
        found: dict[str, Link] = {}
        for node in self._watched(nodes):
            link = self._link(node, tasks)
            if link.name in found:
                raise self._error(
                    node.spot, f"two links are called {link.name!r} "
                    f"(the first on line {found[link.name].spot.line})",
                    "Give one of them another `name:`.",
                )
            found[link.name] = link
        return found

    def _link(self, node: Node, tasks: Mapping[str, Task]) -> Link:
        """A link of the checked tree; its capacity follows from its flow where the file does not
        say it."""
        get = node.value.get
        writers, readers = (self._ends(node, key, tasks) for key in ("from", "to"))
        flow = Flow(_text(get("flow")) or "blocking")
        link = Link(
            name=_text(get("name")) or f"{'+'.join(writers)}->{'+'.join(readers)}",
            writers=writers, readers=readers, spot=node.spot, flow=flow,
            capacity=1 if flow is Flow.STOP_AND_WAIT
            else None if flow is Flow.UNBOUNDED else _number(get("capacity"), 1),
            batch=_number(get("batch"), 1), initial=_number(get("initial"), 0),
            gives=_number(get("gives"), 1), takes=_number(get("takes"), 1),
            lossy=_number(get("lossy"), 0), group=_text(get("group")),
            kinds=_kinds(get("kinds")), stop=_number(get("stop"), 0),
            go=_number(get("go"), _number(get("stop"), 0)), lag=_number(get("lag"), 0),
            full=Flow(_text(get("full")) or "fail"), taking=Taking(_text(get("take")) or "any"),
        )
        if flow is Flow.STOP_GO and "capacity" not in node.value:
            link = replace(link, capacity=link.stop + link.lag + 1)
        self._check_link(node, link)
        return link

    def _check_link(self, node: Node, link: Link) -> None:
        """Raise InputError for a link with ends, capacity, flow and amounts that do not fit each
        other."""
        if not (link.writers and link.readers):
            self._check_open_end(node, link)
        if link.capacity == 0 and (link.flow is not Flow.BLOCKING or link.lossy
                                   or (link.gives, link.takes) != (1, 1)):
            raise self._error(
                _spot(node, "capacity"), f"link {link.name!r} has capacity 0, so it must be a "
                "plain blocking link of single elements",
                "Remove its other keys, or give it a capacity.",
            )
        if link.capacity == 0 and set(link.writers) & set(link.readers):
            raise self._error(_spot(node, "capacity"), f"link {link.name!r} has capacity 0, and a "
                              "task cannot meet itself", "Give it a capacity.")
        if link.flow is Flow.STOP_GO:
            self._check_signals(node, link)
        if link.flow in _COUNTED and link.gives > MAX_GIVES:
            raise self._error(
                _spot(node, "gives"), f"link {link.name!r} writes {link.gives} elements at once, "
                f"but a link with flow {link.flow.value} at most {MAX_GIVES}", "Lower `gives`.",
            )
        if link.capacity is not None and link.initial > link.capacity:
            raise self._error(
                _spot(node, "initial"), f"link {link.name!r} starts with {link.initial} "
                f"elements, but has room for {link.capacity}",
                "Lower `initial` or raise `capacity`.",
            )

    def _check_signals(self, node: Node, link: Link) -> None:
        """A mark that can be passed, and one below it; one element at a time."""
        if link.capacity is not None and link.capacity <= link.stop:
            raise self._error(_spot(node, "stop"), f"link {link.name!r} calls stop when there are "
                              f"more than {link.stop} elements, but has room for {link.capacity}",
                              "Lower `stop` below `capacity`.")
        if link.go > link.stop:
            raise self._error(_spot(node, "go"), f"link {link.name!r} calls go at {link.go} "
                              f"elements, above its mark `stop: {link.stop}`", "Lower `go`.")
        if link.gives != 1 or link.initial > link.stop:
            raise self._error(link.spot, f"link {link.name!r} has flow stop-go, so it is written "
                              "one element at a time, and starts below its mark",
                              "Remove `gives`, or lower `initial`.")

    def _check_open_end(self, node: Node, link: Link) -> None:
        """No task writes, or no task reads: a place of a net that is only emptied, or filled."""
        if not (link.writers or link.readers):
            raise self._error(node.spot, "the link has no task at either end", "Remove it.")
        if "name" not in node.value:
            raise self._error(node.spot, "a link with no task at one end must have a name",
                              "Give it a `name:`.")
        if link.capacity == 0 or link.flow in (Flow.CREDIT, Flow.STOP_AND_WAIT,
                                                Flow.STOP_GO):
            raise self._error(node.spot, f"link {link.name!r} needs a task at both ends",
                              "Name a task in `from` and in `to`, or make it a blocking link with "
                              "room.")

    def _ends(self, node: Node, key: str, tasks: Mapping[str, Task]) -> tuple[str, ...]:
        value = node.value[key]
        nodes: list[Node] = value.value if isinstance(value.value, list) else [value]
        names = [self._known(end.value, tasks, "task", end.spot) for end in nodes]
        if len(set(names)) < len(names):
            raise self._error(value.spot, f"`{key}` names a task twice", "Name it once.")
        return tuple(names)

    # --- tasks -------------------------------------------------------------------------

    def _check_task(self, design: Design, task: Task) -> None:
        """Raise InputError for a task that does not fit its links, pools or steps."""
        inputs, outputs = design.inputs(task.name), design.outputs(task.name)
        least_in, most_in, least_out, most_out = _DEGREES[task.kind]
        written = len(design.exits(task.name) if task.kind is Kind.ROUTE
                      else design.choices(task.name))
        for count, least, most, what in (
            (len(design.gates(task.name)), least_in, most_in, "to"),
            (written, least_out, most_out, "from"),
        ):
            if not least <= count <= most:
                raise self._error(
                    task.spot, f"the {task.kind.value} {task.name!r} has {_links(count)} "
                    f"{what} it, but needs {_range(least, most)}",
                    f"Add or remove a link with `{what}: {task.name}`"
                    f"{', or put a merge before it' if what == 'to' and most == 1 < count else ''}"
                    f"{_or_a_kind_for(len(design.gates(task.name)), written)}.",
                )
        if task.kind is Kind.TRANSITION:
            self._check_transition(task, inputs, outputs)
        for pool in task.pool:
            self._known(pool, design.pools, "pool", task.spot)
        if task.kind is Kind.CALL and len(task.pool) != task.depth:
            raise self._error(task.spot, f"the call {task.name!r} is {task.depth} deep, but names "
                              f"{len(task.pool)} pools", "Name one pool, or one for each level.")
        if task.prefers:
            names = list(dict.fromkeys(link.queue for link in inputs))
            self._known(task.prefers, names, "link to this task", task.spot)
        if task.kind in (Kind.WINDOW, Kind.ALIGN):
            self._check_gathering(design, task)
        if task.kind is Kind.SCRIPT:
            self._check_steps(design, task)

    def _check_gathering(self, design: Design, task: Task) -> None:
        """A window, or an align: what they wait for can come, and what they write is decided."""
        if task.slide > task.size:
            raise self._error(task.spot, f"the window {task.name!r} slides by {task.slide}, more "
                              f"than its size of {task.size}",
                              "Lower `slide`, or discard elements with a filter before it.")
        if task.early and task.size > MAX_EARLY:
            raise self._error(task.spot, f"the window {task.name!r} of {task.size} elements may "
                              f"close early, which one of at most {MAX_EARLY} may",
                              "Lower `size`; a few elements show the same.")
        for links in design.choices(task.name) if task.kind is Kind.WINDOW else ():
            if len(links) > 1:
                raise self._error(task.spot, f"the window {task.name!r} cannot choose where to "
                                  f"write ({', '.join(link.name for link in links)})",
                                  "Let a route behind it do so.")
        for links in design.gates(task.name) if task.kind is Kind.ALIGN else ():
            if all(link.kind != task.barrier for link in links):
                raise self._error(
                    links[0].spot, f"{task.name!r} waits for a {task.barrier!r} from each input, "
                    f"but {links[0].queue!r} has no elements of that kind",
                    suggest(task.barrier, [link.kind for link in links])
                    or f"Give it `kinds:`, with {task.barrier!r} among them.")

    def _check_transition(
        self, task: Task, inputs: Sequence[Link], outputs: Sequence[Link]
    ) -> None:
        """Raise InputError for a transition that has no links, or takes or gives more than they
        allow."""
        if not (inputs or outputs):
            raise self._error(task.spot, f"the transition {task.name!r} has no link",
                              f"Add a link with `to: {task.name}` or `from: {task.name}`.")
        for amounts, links, way in ((task.takes, inputs, "to"), (task.gives, outputs, "from")):
            for name in amounts:
                self._known(name, [link.name for link in links], f"link {way} {task.name}",
                            task.spot)
        for link in outputs:
            most = task.gives.get(link.name, link.gives)
            if link.flow in _COUNTED and most > MAX_GIVES:
                raise self._error(
                    task.spot, f"the transition {task.name!r} gives {most} elements at once, but a "
                    f"link with flow {link.flow.value} takes at most {MAX_GIVES}",
                    f"Give {link.name!r} a capacity, or write fewer elements to it.")
        for link in outputs:
            if link.group:
                raise self._error(link.spot, f"the transition {task.name!r} writes to all its "
                                  "links, so it cannot choose among a `group`",
                                  "Let a route read from it, or write a transition for each link.")
        for link in (*inputs, *outputs):
            if link.capacity == 0 and (task.takes or task.gives):
                raise self._error(task.spot, f"link {link.name!r} has capacity 0, so it must be a "
                                  "plain blocking link of single elements", "Give it a capacity.")

    def _check_steps(self, design: Design, task: Task) -> None:
        """Raise ``InputError`` for a step about a link or pool that its task does not have, and for
        too long a script."""
        own = {
            StepKind.WRITE: [link.name for link in design.outputs(task.name)],
            StepKind.READ: [link.name for link in design.inputs(task.name)],
        }
        for step in task.actions:
            if step.kind in own:
                way = "from" if step.kind is StepKind.WRITE else "to"
                self._known(step.target, own[step.kind], f"link {way} {task.name}", step.spot)
            else:
                self._known(step.target, design.pools, "pool", step.spot)
        for step in task.steps:
            self._check_choices(design, step)
        if (count := length(task.steps)) > MAX_POSITIONS:
            raise self._error(task.spot, f"the script {task.name!r} has {count} steps in all, more "
                              f"than {MAX_POSITIONS}", "Divide it among several scripts.")

    def _check_choices(self, design: Design, step: Step) -> None:
        """Check that each branch of an ``either`` begins with a step that can be waited for, and
        that is no choice itself."""
        for branch in step.branches if step.kind is StepKind.EITHER else ():
            if not branch:
                raise self._error(step.spot, "a branch of `either` is empty, so there is nothing "
                                  "to wait for", "Write `timeout: []` beside `either:`, if it may "
                                  "continue at any time, or `else: []`, if it does not wait.")
            if branch[0].kind in CHOICES:
                raise self._error(branch[0].spot, "a branch of `either` begins with a choice "
                                  "of the script's own, so there is nothing to wait for",
                                  "Begin it with a read, a write to one link, an acquire or a "
                                  "release.")
            if step.otherwise is not None and branch[0].kind is StepKind.WRITE:
                self._check_refusing(design, branch[0])
        for steps in step.ways:
            for inner in steps:
                self._check_choices(design, inner)

    def _check_refusing(self, design: Design, step: Step) -> None:
        """A write beside ``else`` is to a link that may be full."""
        link = design.links[step.target]
        if link.capacity == 0:
            raise self._error(step.spot, f"link {link.name!r} has capacity 0, so whether a reader "
                              "is there cannot be asked beforehand", "Give it a capacity, or use "
                              "`timeout:` instead of `else:`.")
        if link.flow not in (Flow.BLOCKING, Flow.CREDIT, Flow.STOP_AND_WAIT, Flow.STOP_GO):
            raise self._error(step.spot, f"link {link.name!r} can always be written, as its flow "
                              f"is {link.flow.value}, so `else` is never taken", "Remove `else:`.")

    def _expect(self, node: Node | None, tasks: Mapping[str, Task]) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, child in _entries(node):
            if key != NO_STARVATION:
                found[key] = child.value
                continue
            for task, verdict in child.value.items():
                self._known(task, tasks, "task", verdict.spot)
                found[no_starvation(task)] = verdict.value
        return found


# --- reading values ------------------------------------------------------------------------

def _entries(node: Node | None) -> list[tuple[str, Node]]:
    return [] if node is None else list(node.value.items())


def _text(node: Node | None) -> str:
    return "" if node is None else str(node.value).strip()


def _number(node: Node | None, default: int) -> int:
    return default if node is None else whole(node.value)


def _spot(node: Node, key: str) -> Spot:
    return (node.key_spots or {}).get(key, node.spot)


def _links(count: int) -> str:
    return {0: "no link", 1: "1 link"}.get(count, f"{count} links")


def _or_a_kind_for(links_in: int, links_out: int) -> str:
    """Advice beside a link to add or remove: the kinds of tasks that fit such numbers of links."""
    fitting = [kind.value for kind, (least_in, most_in, least_out, most_out) in _DEGREES.items()
               if least_in <= links_in <= most_in and least_out <= links_out <= most_out]
    return f", or give it a kind that may have these: {', '.join(fitting)}" if fitting else ""


def _range(least: int, most: int) -> str:
    if least == most:
        return "none" if not least else f"exactly {least}"
    return f"at least {least}" if most == _MANY else f"{least} to {most}"


def _task(name: str, node: Node, spot: Spot) -> Task:
    """A task of the checked tree; keys that are absent have the language's defaults."""
    get = node.value.get
    kind = Kind(get("kind").value)
    decides = kind is Kind.FILTER or kind is Kind.ROUTE  # they hold what they decide about
    depth = _number(get("depth"), 1)
    count = get("count")
    return Task(
        name=name, kind=kind, spot=spot, hand=_number(get("hand"), int(decides)),
        count=None if count is None else whole(count.value),
        merging=Merging(_text(get("policy")) or "any"), prefers=_text(get("prefers")),
        routing=Routing(_text(get("by")) or "content"), pool=_pools(get("pool"), kind, depth),
        steps=_steps(get("steps")) or (),
        roots=_number(get("roots"), 1), depth=depth,
        takes=_amounts(get("takes")), gives=_amounts(get("gives")),
        may=Mortality(_text(get("may"))), size=_number(get("size"), 1),
        slide=_number(get("slide"), _number(get("size"), 1)), early=_true(get("early")),
        barrier=_text(get("barrier")),
    )


def _amounts(node: Node | None) -> dict[str, int]:
    return {name: whole(child.value) for name, child in _entries(node)}


def _pools(node: Node | None, kind: Kind, depth: int) -> tuple[str, ...]:
    if node is None:
        return ()
    if isinstance(node.value, list):
        return tuple(child.value for child in node.value)
    return (node.value,) * (depth if kind is Kind.CALL else 1)


def _steps(node: Node | None) -> tuple[Step, ...] | None:
    return None if node is None else tuple(_step(step) for step in node.value)


def _step(node: Node) -> Step:
    """A step of a script: a loop, a choice with its branches, or an operation with its fields."""
    fields: dict[str, Any] = node.value
    key = next(kind for kind in StepKind if kind.value in fields)
    if key is StepKind.REPEAT:
        return Step(key, count=whole(fields["repeat"].value), spot=node.spot,
                    branches=(_steps(fields["steps"]) or (),))
    if key not in CHOICES:
        each = _steps(fields.get("each"))
        return Step(key, fields[key.value].value, _number(fields.get("count"), 1),
                    final=_true(fields.get("final")), of=_text(fields.get("of")),
                    named=_text(fields.get("as")), up_to=_number(fields.get("up-to"), 0),
                    closed=_steps(fields.get("closed")), loops="until" in fields,
                    branches=() if each is None else (each,), spot=node.spot)
    branches = [_steps(branch) or () for branch in fields[key.value].value]
    if key is StepKind.EITHER:  # one that begins with another one waits for both
        branches = [way for branch in branches for way in _ways(branch)]
    return Step(key, branches=tuple(branches), timeout=_steps(fields.get("timeout")),
                otherwise=_steps(fields.get("else")), final=_true(fields.get("final")),
                spot=node.spot)


def _kinds(node: Node | None) -> tuple[str, ...]:
    """The names of the kinds: those of a list, or the numbers from 1."""
    if node is None:
        return ()
    if isinstance(node.value, list):
        return tuple(str(child.value) for child in node.value)
    return tuple(str(number) for number in range(1, int(node.value) + 1))


def _true(node: Node | None) -> bool:
    return node is not None and bool(node.value)


def _ways(branch: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    first = branch[0] if branch else None
    if first and first.kind is StepKind.EITHER and first.timeout is first.otherwise is None:
        yield from ((*inner, *branch[1:]) for inner in first.branches)
    else:
        yield branch


def _groups(links: Mapping[str, Link]) -> dict[str, dict[str, list[str]]]:
    """By writer and group, the links among which a write to the group chooses."""
    found: dict[str, dict[str, list[str]]] = {}
    for link in links.values():
        if link.group and link.group not in links:
            for writer in dict.fromkeys(link.writers):
                found.setdefault(writer, {}).setdefault(link.group, []).append(link.name)
    return found


def _deciding(task: Task, groups: Mapping[str, Sequence[str]]) -> Task:
    """The task with each write to a group as a choice among its links."""
    if not task.steps:
        return task

    def each(steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(found for step in steps for found in one(step))

    def one(step: Step) -> tuple[Step, ...]:
        if step.kind is not StepKind.WRITE or step.target not in groups:
            return (replace(
                step, branches=tuple(map(each, step.branches)),
                timeout=None if step.timeout is None else each(step.timeout),
                otherwise=None if step.otherwise is None else each(step.otherwise)),)
        ways = tuple((replace(step, target=name, count=1),) for name in groups[step.target])
        once = Step(StepKind.BRANCH, branches=ways, spot=step.spot) if len(ways) > 1 else ways[0][0]
        return (once,) * min(step.count, MAX_POSITIONS + 1)

    return replace(task, steps=each(task.steps))
