"""Conversations about ports with operations that never wait: one request, one answer, no
tickets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from ...spec.notation.errors import InputError
from ...spec.notation.interpreter import Step
from ...spec.notation.labels import filled
from ..ports.base import ALWAYS, Message, Session, excerpt
from .asking import greet, refused
from .besides import Given, Plan
from .exchange import NOTHING, Act, Answer, Exchange
from .remembered import Effect, Variable
from .says import Fields, Known, On, Seen, Table
from .values import Value, unlike

__all__ = ["PlainConversation", "Seen", "policy"]

_PICKS_MAX = 512


def policy(name: str) -> str:
    """The capability of a target with this policy: a rule may need it."""
    return f"the policy {name}"


def _each(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]


class PlainConversation:
    """One session; a subclass knows the port. See ``Conversation``.

    The table ``says`` has the meaning of requests and answers, and the values that requests pick
    from. A subclass declares for that the variables that it remembers of what was shown
    (``remembered``), and the fields that it ``knows`` beyond those of a message (``besides``).
    ``settings`` are those of hello, and ``constants`` the observer's; ``times`` counts how
    often each of its actions was shown, and ``request`` is the one that is being answered.
    """

    says: ClassVar[Table | None] = None
    carries: ClassVar[Mapping[str, Collection[str]]] = {}
    """By operation, the fields of its request that a program may set itself: values of items. Of
    numbers that are picked, and sent in other fields (``On.sends``), a mapping says how they follow
    from a request."""
    errors_tell: ClassVar[bool] = False
    """True if an error is as good as an answer, for the rules that could have been broken."""
    starts: ClassVar[int] = 0
    """The time at which a session begins, in milliseconds."""
    needs_policy: ClassVar[bool] = False
    """True if rules need a policy, which is then among what the target ``can`` (``policy``)."""
    lacks: ClassVar[Mapping[str, Collection[str]]] = {}
    """By policy, operations that mean nothing of a target with it."""
    variables: ClassVar[tuple[Variable[Any], ...]] = ()
    effects: ClassVar[Mapping[str, tuple[Effect, ...]]] = {}
    """The variables that it declares, and by action the changes of these."""
    knows: ClassVar[tuple[Given, ...]] = ()
    """The fields that a message has besides its own; those that its base knows come first."""
    measures: ClassVar[Mapping[str, str]] = {}
    """By measure of the suite, the variable that has it; None there is not known yet."""
    plan: ClassVar[Plan] = Plan(())
    """The fields that messages have besides, those that its bases know included."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        bases = [base for base in cls.__bases__ if issubclass(base, PlainConversation)]
        cls.plan = Plan(tuple(dict.fromkeys((
            *(each for base in bases for each in base.plan.knows),
            *vars(cls).get("knows", ())))))
        own = tuple(each for each in vars(cls).values() if isinstance(each, Variable))
        cls.variables = tuple({each.name: each for each in (
            *(each for base in bases for each in base.variables), *own)}.values())
        effects: dict[str, list[Effect]] = {}
        for action, effect in (pair for each in cls.variables for pair in each.effects()):
            effects.setdefault(action, []).append(effect)
        cls.effects = {action: tuple(found) for action, found in effects.items()}

    def __init__(
        self, session: Session, port: str, settings: Mapping[str, int],
        constants: Mapping[str, int] | None = None,
    ) -> None:
        self._session = session
        self._port = port
        self.settings = settings
        self.constants = constants or {}
        self.tells = True
        self.wanted: frozenset[str] | None = None
        self.times = Counter[str]()
        self.request: Message = {}
        self._meant: tuple[On, Fields] | None = None
        self._meant_by: Message | None = None
        self._sensible: tuple[Act | None, Message | None] = None, None
        for each in self.variables:
            setattr(self, each.name, each.first())
        self.greeting = greeting = greet(session, port, settings, now=self.starts)
        self.can: frozenset[str] = frozenset(greeting["can"]) | {
            act for act, do in self._named.items() if do in greeting["can"]} | self.always()
        self.policy: str = greeting["policy"]
        self.can -= frozenset(self.lacks.get(self.policy, ()))
        if self.needs_policy:
            self.can |= {policy(self.policy)}

    @cached_property
    def known(self) -> Known:
        """The values that the observer knows. A greeting alone needs none of them, and may be with
        settings that the observer does not take."""
        assert self.says is not None, "a conversation without a table overrides what needs one"
        return self.says.known(self.constants)

    @property
    def _named(self) -> Mapping[str, str]:
        return self.says.named if self.says is not None else {}

    @property
    def asks(self) -> Fields:
        """The request that is being answered, with what else was known of it."""
        return self._row(self.request)[1]

    # --- for subclasses ------------------------------------------------------------------

    def always(self) -> frozenset[str]:
        """The operations that the target has whether or not it lists them, as every adapter of the
        port."""
        return ALWAYS & self.says.rows.keys() if self.says is not None else frozenset()

    def request_of(self, act: Act) -> Message | None:
        """The request that an act makes now, from what its row ``picks``; None where it makes no
        sense. A field that a program may set itself has the value that it says; if the field is a
        list, its first values are those."""
        assert self.says is not None, "a conversation without a table overrides what needs one"
        (row, picking), about = self.says.acts[act.do], act.about
        if row.turns and act.pick >= row.turns[0]:
            picking, about = row.turns[1], ()
        request = self.begin(row.do, act) if row.fits(self) else None
        if request is None:
            return None
        left = act.pick
        for name, picks in picking.items():
            told = [value for field, value in about if field == name] if about else ()
            if told and name not in row.lists:
                request[name] = told[-1]
                continue
            values = picks(self, request)
            value = values[left % len(values)] if values else None
            if value is None:
                return None
            left //= len(values)
            if told:
                value = [*told[:len(value)], *value[len(told):]]
            if not isinstance(value, dict):
                request[name] = value
            elif about:
                request |= value | {each: of for each, of in about if each in value}
            else:
                request |= value
        for name, taken in row.new.items() if picking is row.picks else ():
            request[name] = self._unlike(request[name], getattr(self, taken))
        if not row.if_all and not row.sends:
            return request
        return self._sent(row, request)

    def _sent(self, row: On, picked: Message) -> Message | None:
        """The request of what an act has picked, if it is one; a field that is None is not sent."""
        if not all(holds(self, picked) for holds in row.if_all):
            return None
        if not row.sends:
            return picked
        sent: Message = {"do": row.do}
        for name, works in row.sends.items():
            found = works(self, {**sent, **picked})
            if found is not None:
                sent[name] = found
        return sent

    def begin(self, do: str, act: Act) -> Message | None:
        """The fields of a request that are not picked; None where it makes no sense now."""
        return {"do": do}

    def _unlike(self, value: Any, taken: Collection[Value]) -> Any:
        if not isinstance(value, list):
            return unlike(value, taken)
        found: list[Value] = []
        for each in value:
            found.append(unlike(each, [*taken, *found]))
        return found

    def about(self, message: Message) -> Fields:
        """A request, or an event or answer that there is or could be, with what else is known."""
        steps = self.plan[tuple(message)]
        if not steps:
            return message
        fields = dict(message)
        for name, works in steps:
            if name:
                fields[name] = works(self, fields)
            else:
                fields |= works(self, fields)
        return fields

    def note(self, action: str, about: Fields) -> None:
        """Remember what later requests depend on: an action that was shown, and its fields. Of an
        answer that is no list, those of its request are among them."""
        for effect in self.effects.get(action, ()):
            effect(vars(self), about)

    def told(self, row: On, request: Fields) -> Iterable[Step]:
        """The steps that a request is itself."""
        return [tells.step(request, self.known) for tells in row.tells]

    # --- what comes from the table, unless it is overridden ------------------------------

    def asked(self, request: Message) -> str:
        """A request in words."""
        row, fields = self._row(request)
        return filled(row.asked, fields)

    def possible(self, request: Message) -> Iterator[Answer]:
        """The answers that there could be to a request."""
        row, fields = self._row(request)
        return row.could(self, fields)

    def seen(self, request: Message, answer: Any) -> Seen:
        """The steps and words that an answer shows; called once for each answer, in order."""
        row, fields = self._row(request)
        return row.shown(self, fields, answer)

    def _row(self, request: Message) -> tuple[On, Fields]:
        """The row of a request, and what was known of that when it was made."""
        if self._meant is None or self._meant_by is not request:
            assert self.says is not None, "a conversation without a table overrides what needs one"
            fields = self.about(request)
            row = next(row for row in self.says.rows[request["do"]]
                       if not row.where or fields.get(row.where))
            self._meant, self._meant_by = (row, fields), request
        return self._meant

    # --- for the engine ------------------------------------------------------------------

    def makes_sense(self, act: Act) -> bool:
        if act.do not in self.can:
            return False
        request = self.request_of(act)
        self._sensible = act, request
        return request is not None

    def made(self, act: Act) -> Message:
        """The request of an act that is said now: as it was when that was found to make sense."""
        (asked, request), self._sensible = self._sensible, (None, None)
        if asked is not act:
            request = self.request_of(act)
        assert request is not None, "an act is said only where it makes sense"
        return request

    def say(self, act: Act) -> Exchange:
        """Make the request of an act, and read its answer by the table; see ``Conversation``."""
        request = self.made(act)
        self.request = request
        possible = tuple(self.possible(request)) if self.tells else ()
        reply = self._session.request(dict(request))
        asked = self.asked(request)
        if error := refused(request, reply, asked, possible if self.errors_tell else ()):
            return error
        steps, words = self.seen(request, reply["ok"])
        told = f"{asked}: {words}" if words else asked
        measured = self._measured() if self.measures else NOTHING
        row = self._row(request)[0] if self.says is not None else None
        if row is not None and row.is_outcome and steps:
            first = len(row.tells)
            return Exchange(request, reply, told, steps[0] if first else None, steps[first:],
                            completions=possible, measured=measured)
        acts = row is not None and row.acts
        return Exchange(
            request, reply, told, steps[0] if steps else None, steps[1:],
            possible=() if acts else possible,
            completions=possible if acts or len(steps) > 1 else (), measured=measured)

    def _measured(self) -> Mapping[str, int]:
        """The measures that are known of, as they stand now."""
        return {name: found for name, variable in self.measures.items()
                if (found := getattr(self, variable)) is not None}

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        """The first act that makes a request: by any of its names, any pick, any value it
        carries."""
        do = request["do"]
        if do not in self.can:
            raise InputError(f"the target cannot do {excerpt(do)}")
        names = [do, *(act for act, asked in self._named.items() if asked == do)]
        made: dict[tuple[str, ...], None] = {}
        carried = self._carried(request)
        about = tuple((name, value) for name, found in carried or ()
                      for value in _each(found) if isinstance(value, str | int))
        for act in (Act(name, pick, told) for told in dict.fromkeys(((), about))
                    for name in names for pick in range(_PICKS_MAX)):
            found = self.request_of(act)
            if found == request:
                return act
            if found is not None:
                made[tuple(found)] = None
        if made and all(request.keys() != set(fields) for fields in made):
            told = ", or ".join(", ".join(fields) for fields in made)
            raise InputError(f"{do!r} has the fields {told}")
        if carried is None:
            raise InputError(f"{excerpt(dict(request))} is not a request that this suite sends")
        return None

    def _carried(self, request: Fields) -> list[tuple[str, Any]] | None:
        """The fields of an act that makes a request, where a program may set them itself; None if
        it lacks one of those that they follow from, or has another value there than is sent."""
        carries = self.carries.get(request["do"], ())
        if not isinstance(carries, Mapping):
            return [(name, request.get(name)) for name in carries]
        try:
            found = [(name, works(self, request)) for name, works in carries.items()]
        except (LookupError, TypeError, ValueError):
            return None
        return [(name, value) for name, value in found if isinstance(value, int)]
