"""Random programs: any faults at any time, and courses of events that a rule's bugs need.

A violation may need several events in one order: a follower that is out of sync, a leader that
crashes at the moment at which it commits, another broker that comes back just then. Chance alone
finds that in one of a thousand programs. So for such rules most programs follow a *course*: these
faults in this order, at random times; and sometimes another fault among them. Each case that looks
for such a rule begins with all its courses, one after the other. For a rule without a course of its
own, half of the programs follow one of another rule's.

Long programs write one record after the other for a thousand requests, with one fault after the
other; a violation that begins with the 300th request shows in no short program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from random import Random
from typing import Final

from ....spec.kafka.observed_failover import (
    ALONE, CARRIED_OUT, CLEAN, ELIGIBLE, FENCED, HELD, KEPT, LED, LET_GO, LISTED, PREFERRED,
    REJOINED, REPLACED, REPLACED_FIRST, STAYS_OUT,
)
from ....spec.kafka.observed_failover_liveness import (
    DELETED, EMPTY, FEW_WAIT, NOT_WHILE_MOVING, STAYS_DEAD,
)
from ....spec.notation.rules import Rule
from ...suites.suite import Act, Long, Program

__all__ = ["LONG", "draw", "draw_long", "easier"]

Course = Callable[[Random], Iterator[Act]]

_KINDS: Final = (
    "crash", "crash", "pause", "pause", "expire", "isolate", "cut", "cut", "delay", "lose",
    "drift", "stop_service", "upon", "upon", "upon", "upon", "upon")

_PAIRS: Final = (
    ("stands", "lose_reply"), ("stands", "pause"),
    ("controls", "crash"), ("controls", "pause"), ("controls", "isolate"),
    ("changing", "expire"), ("changing", "lose_reply"), ("changing", "lose_request"),
    ("changing", "crash"), ("changing", "pause"), ("wrote", "crash"), ("wrote", "pause"),
    ("wrote", "isolate"), ("committed", "crash"), ("committed", "pause"), ("took", "crash"),
    ("took", "pause"), ("took", "lose_reply"), ("cut", "crash"), ("registered", "lose_reply"),
    ("registered", "crash"), ("state", "crash"), ("state", "pause"), ("state", "lose_reply"))
"""Moments, and the faults at them."""


def draw(random: Random, can: Collection[str], focus: Rule, number: int) -> Program:
    """Draw a cluster, its writes, and its faults."""
    courses = _COURSES.get(focus.id, ())
    if number < len(courses) or random.random() < (0.9 if courses else 0.5):
        course = courses[number] if number < len(courses) else random.choice(courses or _ANY)
        brokers, partitions = 4 if course is _join_while_hw_lags else 3, 1
        acts = list(course(random))
        if random.random() < 0.2:
            acts.insert(random.randrange(1, len(acts) + 1), _fault(random, brokers))
    else:
        brokers, partitions = random.choice((2, 3, 3, 3, 3)), random.choice((1, 1, 1, 2))
        acts = list(_anything(random, brokers, partitions))
    deployed = _act("deploy", brokers=brokers, partitions=partitions, seed=random.getrandbits(32))
    if not courses and random.random() < 0.4:
        acts.insert(random.randrange(1, len(acts) + 1), _operation(random, brokers, partitions))
    return (deployed, *(act for act in acts if act.do in can), _act("quiet"))


def _act(do: str, **about: int | str) -> Act:
    return Act(do, about=tuple(about.items()))


def _anything(random: Random, brokers: int, partitions: int) -> Iterator[Act]:
    yield _write(random, partitions, 0)
    if random.random() < 0.5:
        yield _write(random, partitions, random.randrange(80))
    for _ in range(random.randrange(1, 6)):
        yield _fault(random, brokers)
        if random.random() < 0.5:
            yield _write(random, partitions, random.randrange(120))


def _write(random: Random, partitions: int, after: int) -> Act:
    return _act("produce", after=after, partition=random.randrange(partitions),
                acks_all=random.choice((1, 1, 1, 0)), records=random.randrange(1, 6))


def _fault(random: Random, brokers: int, after: int = -1) -> Act:
    """Something goes wrong, ``after`` so many ms; below 0: chance says when."""
    kind = random.choice(_KINDS)
    at, lasts = random.choice((0, 40, 150)) + random.randrange(60), random.randrange(20, 300)
    after = at if after < 0 else after
    broker = random.randrange(brokers)
    other = (broker + random.randrange(1, brokers)) % brokers
    if kind == "upon":
        moment, deed = random.choice(_PAIRS)
        return _act("upon", after=after, moment=moment, deed=deed, lasts=lasts)
    if kind == "expire":
        return _act(kind, after=after, broker=broker)
    if kind == "stop_service":
        return _act(kind, after=after, lasts=lasts)
    if kind in ("crash", "pause", "isolate"):
        return _act(kind, after=after, broker=broker, lasts=lasts)
    if kind == "drift":
        return _act(kind, after=after, broker=broker, rate=random.choice((50, 80, 120, 200)),
                    lasts=lasts)
    more = {"delay": {"extra": random.randrange(10, 120)},
            "lose": {"percent": random.randrange(10, 80)}}.get(kind, {})
    return _act(kind, after=after, broker=broker, other=other, **more, lasts=lasts)


def _operation(random: Random, brokers: int, partitions: int) -> Act:
    kind = random.choice(("shut_down", "shut_down", "prefer", "reassign", "reassign",
                          "permit_unclean", "make_topic", "delete_topic"))
    after, partition = random.randrange(250), random.randrange(partitions)
    if kind == "shut_down":
        return _act(kind, after=after, broker=random.randrange(brokers),
                    lasts=random.randrange(20, 300))
    if kind == "reassign":
        return _act(kind, after=after, partition=partition, to=_replicas(random, brokers))
    if kind == "prefer":
        return _act(kind, after=after, partition=partition)
    if kind == "delete_topic":
        return _act(kind, after=after, topic=0)
    return _act(kind, after=after)


def _replicas(random: Random, brokers: int) -> str:
    """Some of the brokers, in any order."""
    return ",".join(map(str, random.sample(range(brokers), random.randrange(2, brokers + 1))))


# ---- courses --------------------------------------------------------------------------------


_UP: Final = 220
"""After so many ms the cluster is up, and the first records are committed."""


def _written(after: int, acks_all: int, records: int) -> Act:
    return _act("produce", after=after, partition=0, acks_all=acks_all, records=records)


def _join_while_hw_lags(random: Random) -> Iterator[Act]:
    """A replica is out of sync and comes back, while the leader crashes as it commits a record that
    the replica lacks: the next leader's high watermark lags, and it may let the replica join too
    early.
    """
    yield _written(0, 1, 3)
    yield _act("crash", after=_UP, broker=3, lasts=random.randrange(100, 220))
    yield _act("delay", after=0, broker=1, other=2, extra=random.randrange(60, 150), lasts=600)
    yield _act("upon", after=90, moment="committed", deed="crash", lasts=300)
    yield _written(random.randrange(5, 40), 1, 1)
    yield _act("elapse", after=300)


def _join_while_writing(random: Random) -> Iterator[Act]:
    """A replica comes back over slow links during many writes: it joins, and lacks the last record.
    """
    broker = random.choice((1, 2))
    yield _written(0, 1, 2)
    yield _act("pause", after=_UP, broker=broker, lasts=random.randrange(120, 160))
    yield _act("delay", after=0, broker=broker, other=0, extra=random.randrange(15, 60), lasts=600)
    yield _written(random.randrange(60, 120), 1, 16)
    yield _written(0, 0, 16)
    yield _act("elapse", after=400)


def _leader_again(random: Random) -> Iterator[Act]:
    """A leader in between is paused with a record that no other replica has."""
    yield _written(0, 1, 2)
    yield _act("pause", after=_UP, broker=0, lasts=random.randrange(150, 200))
    yield _written(320, 1, 1)
    yield _act("upon", after=60, moment="wrote", deed=random.choice((*("pause",) * 4, "isolate")),
               lasts=random.randrange(250, 400))
    yield _written(0, random.randrange(2), 1)
    yield _written(random.randrange(200), 1, 4)
    yield _act("elapse", after=400)


def _one_after_the_other(random: Random) -> Iterator[Act]:
    """All brokers fail one after the other, and the last to fail is the last to come back."""
    first, second, last = random.sample(range(3), 3)
    yield _written(0, random.randrange(2), 2)
    yield _act("crash", after=_UP, broker=first, lasts=random.randrange(300, 400))
    yield _act("crash", after=random.randrange(30), broker=second, lasts=random.randrange(300, 400))
    yield _written(random.randrange(120, 160), 0, 2)
    yield _act("crash", after=random.randrange(30, 80), broker=last, lasts=800)
    yield _act("elapse", after=500)


def _restart_at_once(random: Random) -> Iterator[Act]:
    """Followers restart, one after the other, while epochs change."""
    yield _written(0, 1, 2)
    yield _act("upon", after=_UP, moment="committed", deed="crash", lasts=20)
    yield _written(0, 1, 2)
    yield _act("crash", after=random.randrange(10, 120), broker=random.randrange(3), lasts=20)
    yield _act("crash", after=random.randrange(120), broker=random.randrange(3), lasts=200)
    yield _act("elapse", after=200)


def _late_requests(random: Random) -> Iterator[Act]:
    """Requests to one broker overtake each other, while faults of others change epochs."""
    yield _written(0, 1, 1)
    victim, other, third = random.sample(range(3), 3)
    extra = random.randrange(150, 500)
    yield _act("delay", after=_UP, broker=victim, other=other, extra=extra, lasts=1_200)
    yield _act("delay", after=0, broker=victim, other=third, extra=extra, lasts=1_200)
    troubled = random.choice(((other,), (other, third), (other, victim)))
    for _ in range(random.randrange(3, 6)):
        yield _act("expire", after=random.randrange(30, 130), broker=random.choice(troubled))
    yield _act("elapse", after=500)


def _replaced_as_it_tells(random: Random) -> Iterator[Act]:
    """A controller's session expires as it writes; its requests are late, its successor's are not.
    """
    yield _written(0, 1, 1)
    victim, other, third = random.sample(range(3), 3)
    for one in (other, third):
        yield _act("delay", after=_UP if one == other else 0, broker=victim, other=one,
                   extra=random.randrange(100, 300), lasts=1_200)
    for _ in range(2):
        yield _act("upon", after=random.randrange(150), moment="state", deed="expire", lasts=1)
        yield _act("expire", after=0, broker=random.choice((other, third)))
    yield _act("elapse", after=500)


def _replaced_at_work(random: Random) -> Iterator[Act]:
    """A controller is paused as it writes, and continues when there is another one."""
    broker = random.randrange(3)
    yield _written(0, 1, 1)
    yield _act("upon", after=_UP, moment="state", deed="pause", lasts=random.randrange(250, 500))
    yield _act("crash", after=0, broker=broker, lasts=random.randrange(60, 200))
    yield _act("elapse", after=400)


def _reply_of_a_change(random: Random) -> Iterator[Act]:
    """A leader asks for another ISR, and does not get the answer."""
    one, other = random.sample(range(3), 2)
    yield _written(0, 1, 1)
    yield _act("upon", after=_UP, moment="changing", lasts=random.randrange(50, 200),
               deed=random.choice(("lose_reply", "lose_reply", "lose_request", "expire")))
    yield _act("cut", after=0, broker=one, other=other, lasts=random.randrange(200, 300))
    yield _act("cut", after=0, broker=one, other=3 - one - other, lasts=random.randrange(200, 300))
    yield _written(0, 0, 3)
    yield _act("elapse", after=300)


def _deaf(random: Random) -> Iterator[Act]:
    """Most messages get lost while leaders change."""
    yield _written(0, 1, 1)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        yield _act("lose", after=_UP if (one, other) == (0, 1) else 0, broker=one, other=other,
                   percent=random.randrange(50, 90), lasts=500)
    yield _act("crash", after=20, broker=random.randrange(3), lasts=random.randrange(100, 300))
    yield _written(0, 1, 2)
    yield _act("elapse", after=450)


def _stands_unheard(random: Random) -> Iterator[Act]:
    """A broker becomes the controller, and does not get the reply: at the beginning, or after an
    earlier controller.
    """
    at_first = random.random() < 0.7
    yield _act("upon", after=0 if at_first else _UP, moment="stands", deed="lose_reply", lasts=1)
    if not at_first:
        for broker in random.sample(range(3), 2):
            yield _act("expire", after=random.randrange(20), broker=broker)
    yield _written(random.randrange(60), 1, 2)
    yield _act("elapse", after=200)


def _goes_slowly(random: Random) -> Iterator[Act]:
    """Broker 2 controls, and broker 0 leads, and asks to shut down.

    Another one leads then, but broker 0 learns late that it may stop.
    """
    yield _written(0, 1, 2)
    yield _act("expire", after=_UP, broker=0)
    yield _act("expire", after=0, broker=1)
    yield _act("prefer", after=250, partition=0)
    yield _act("delay", after=120, broker=0, other=2, extra=random.randrange(30, 90), lasts=500)
    yield _act("shut_down", after=random.randrange(20), broker=0, lasts=random.randrange(50, 200))
    yield _act("elapse", after=300)


def _let_go(random: Random) -> Iterator[Act]:
    """Brokers shut down in order one after the other; followers may lag meanwhile."""
    one, other = random.sample(range(3), 2)
    yield _written(0, 1, 2)
    if random.random() < 0.5:
        yield _act("crash", after=_UP, broker=other, lasts=random.randrange(150, 300))
        yield _act("crash", after=0, broker=3 - one - other, lasts=random.randrange(150, 300))
        yield _act("elapse", after=130)
    yield _act("shut_down", after=random.randrange(40, 80), broker=one,
               lasts=random.randrange(50, 200))
    yield _written(random.randrange(60), 1, 2)
    yield _act("shut_down", after=random.randrange(200), broker=other,
               lasts=random.randrange(50, 200))
    yield _act("elapse", after=300)


def _led_by_another(random: Random) -> Iterator[Act]:
    """The first replica is down for long enough; then an operator requests that it leads."""
    yield _written(0, 1, 1)
    yield _act("crash", after=_UP, broker=0, lasts=random.randrange(150, 250))
    yield _act("prefer", after=random.choice((0, 200, 350)), partition=0)
    if random.random() < 0.5:
        yield _act("upon", after=0, moment="controls", deed="crash", lasts=60)
        yield _act("expire", after=20, broker=random.randrange(1, 3))
    yield _act("elapse", after=200)


def _other_replicas(random: Random) -> Iterator[Act]:
    """A replica is removed and comes back during writes; controllers change meanwhile."""
    yield _written(0, 1, 2)
    yield _act("reassign", after=_UP, partition=0, to=",".join(
        map(str, random.sample(range(3), 2))))
    yield _written(random.randrange(40), 1, 4)
    if random.random() < 0.4:
        yield _act("upon", after=0, moment="state", deed=random.choice(("crash", "expire")),
                   lasts=100)
    if random.random() < 0.4:
        one, other = random.sample(range(3), 2)
        yield _act("delay", after=0, broker=one, other=other, extra=random.randrange(20, 80),
                   lasts=400)
    yield _act("reassign", after=random.randrange(200), partition=0, to=_replicas(random, 3))
    yield _act("elapse", after=300)


def _unclean(random: Random) -> Iterator[Act]:
    """All brokers fail one after the other, and the last one stays down; one that comes back leads.
    """
    yield _act("permit_unclean", after=0)
    yield from _one_after_the_other(random)


def _leads_with_what_it_cut(random: Random) -> Iterator[Act]:
    """Two brokers write records that the other one never gets, each while the other is down; then
    one cuts its own, and leads when a third comes back that has them.
    """
    yield _act("permit_unclean", after=0)
    yield _written(0, 1, 2)
    for broker in (1, 2):
        yield _act("crash", after=_UP if broker == 1 else 0, broker=broker,
                   lasts=random.randrange(300, 400))
    yield _written(random.randrange(120, 160), 0, 1)
    yield _act("crash", after=60, broker=0, lasts=random.randrange(500, 600))
    yield _written(300, 0, 1)
    yield _act("crash", after=random.randrange(90, 160), broker=1, lasts=random.randrange(400, 500))
    yield _act("crash", after=0, broker=2, lasts=random.randrange(1_000, 1_200))
    yield _written(random.randrange(300, 400), 0, 1)
    yield _act("crash", after=random.randrange(250, 350), broker=0, lasts=600)
    yield _written(200, 0, 1)
    yield _act("elapse", after=500)


def _topic_goes(random: Random) -> Iterator[Act]:
    """A topic is created, written to, and deleted; a broker or the controller may fail meanwhile.
    """
    topic = random.randrange(2)
    yield _written(0, 1, 2)
    yield _act("make_topic", after=_UP)
    yield _act("produce", after=random.randrange(40), partition=1, acks_all=1, records=2)
    if random.random() < 0.7:
        yield _act("crash", after=random.randrange(60, 120), broker=random.randrange(3),
                   lasts=random.randrange(200, 500))
    if random.random() < 0.5:
        yield _act("upon", after=0, moment="state", deed=random.choice(("crash", "expire")),
                   lasts=100)
    yield _act("delete_topic", after=random.randrange(60, 200), topic=topic)
    if random.random() < 0.5:
        yield _act("expire", after=random.randrange(100), broker=random.randrange(3))
    yield _act("elapse", after=random.randrange(300))


def _topic_moves_and_goes(random: Random) -> Iterator[Act]:
    """A partition gets back a replica, which fetches slowly, and then its topic is to be deleted.
    """
    away, other, third = random.sample(range(3), 3)
    yield _written(0, 1, 8)
    yield _act("reassign", after=_UP, partition=0, to=f"{other},{third}")
    yield _written(100, 1, 8)
    for one in (other, third):
        yield _act("delay", after=0, broker=away, other=one, extra=random.randrange(40, 120),
                   lasts=600)
    yield _act("reassign", after=random.randrange(60, 120), partition=0,
               to=f"{away},{other},{third}")
    yield _act("delete_topic", after=random.randrange(20, 60), topic=0)
    yield _act("elapse", after=300)


def _topic_goes_as_one_bounces(random: Random) -> Iterator[Act]:
    """A broker's session expires when it is to delete its replica: it does so in the next one."""
    yield _written(0, 1, 2)
    for _ in range(2):
        yield _act("make_topic", after=_UP // 2)
    topics = random.sample(range(3), 3)
    for topic in topics:
        yield _act("delete_topic", after=100 if topic == topics[0] else 60, topic=topic)
        yield _act("expire", after=random.randrange(15, 45), broker=random.randrange(3))
    yield _act("elapse", after=300)


def _topic_goes_without_one(random: Random) -> Iterator[Act]:
    """A broker is down while a topic is deleted, and controllers are replaced before it is back."""
    broker = random.randrange(3)
    yield _written(0, 1, 2)
    yield _act("crash", after=_UP, broker=broker, lasts=random.randrange(500, 800))
    yield _act("delete_topic", after=random.randrange(120, 200), topic=0)
    for other in random.sample([each for each in range(3) if each != broker], 2):
        yield _act("expire", after=random.randrange(60, 120), broker=other)
    yield _act("elapse", after=500)


def _topics_go_at_once(random: Random) -> Iterator[Act]:
    """All topics are to go, and no wish waits for the one before it to be carried out."""
    yield _written(0, 1, 2)
    for after in (_UP // 2, 0):
        yield _act("make_topic", after=after)
    topics = random.sample(range(3), 3)
    for topic in topics:
        yield _act("delete_topic", after=100 if topic == topics[0] else 0, topic=topic)
    yield _act("elapse", after=300)


def _topics_go_past_controllers(random: Random) -> Iterator[Act]:
    """While topics go, the session of every broker expires: so that of the controller does, which
    lives on, and has to hear that another one carries on with what it has begun."""
    yield _written(0, 1, 2)
    yield _act("make_topic", after=_UP // 2)
    yield _act("elapse", after=100)
    for topic in random.sample(range(2), 2):
        yield _act("delete_topic", after=60, topic=topic)
        for broker in random.sample(range(3), 3):
            yield _act("expire", after=random.randrange(30), broker=broker)
    yield _act("elapse", after=300)


def _topic_goes_unheard(random: Random) -> Iterator[Act]:
    """Broker 2 controls. A topic is to go when no broker reaches the coordination service, and
    other sessions have just ended there: when the controller is back, its session is not over, and
    it has to hear what it has missed."""
    yield _written(0, 1, 1)
    for broker in (0, 1):
        yield _act("expire", after=_UP if broker == 0 else 0, broker=broker)
    lasts = random.randrange(62, 85)        # its connection breaks, and its session goes on
    for broker in range(3):
        yield _act("isolate", after=200 if broker == 0 else 0, broker=broker, lasts=lasts)
    for broker in (0, 1):
        yield _act("expire", after=5 if broker == 0 else 0, broker=broker)
    yield _act("delete_topic", after=3, topic=0)
    yield _act("elapse", after=300)


def _made_unheard(random: Random) -> Iterator[Act]:
    """Broker 0 controls, and leads. As topics are made, replies to it get lost: it has to find out
    that what it meant to write is there, and that no other broker has written it."""
    yield _written(0, 1, 1)
    for broker in (1, 2):
        yield _act("expire", after=_UP if broker == 1 else 0, broker=broker)
    yield _act("prefer", after=150, partition=0)
    yield _act("elapse", after=150)
    for _ in range(5):
        yield _act("make_topic", after=random.randrange(20, 40))
        yield _act("upon", after=random.randrange(4, 14), moment="wrote", deed="lose_reply",
                   lasts=1)
        yield _written(0, 0, 1)
    yield _act("elapse", after=300)


def _one_is_deaf(random: Random) -> Iterator[Act]:
    """A broker stays registered, but gets no messages of the others, while the controller decides.
    """
    deaf, other, third = random.sample(range(3), 3)
    yield _written(0, 1, 1)
    for one in (other, third):
        yield _act("cut", after=_UP if one == other else 0, broker=deaf, other=one, lasts=1_500)
    for _ in range(random.randrange(3, 6)):
        yield _act("expire", after=random.randrange(80, 160), broker=random.choice((other, third)))
    yield _act("elapse", after=200)


_COURSES: Final[Mapping[str, tuple[Course, ...]]] = {
    KEPT.id: (_restart_at_once,),
    HELD.id: (_reply_of_a_change, _join_while_writing),
    ELIGIBLE.id: (_join_while_hw_lags, _leader_again, *(_leads_with_what_it_cut,) * 3),
    FENCED.id: (_late_requests, _replaced_as_it_tells, _deaf),
    REPLACED.id: (_replaced_at_work,),
    CLEAN.id: (_one_after_the_other,),
    LED.id: (_deaf, _stands_unheard, _topic_goes, *(_made_unheard,) * 2),
    REJOINED.id: (_reply_of_a_change,),
    LET_GO.id: (_let_go,),
    PREFERRED.id: (_led_by_another,),
    LISTED.id: (_other_replicas,),
    ALONE.id: (_unclean, *(_leads_with_what_it_cut,) * 2),
    REPLACED_FIRST.id: (_other_replicas,),
    CARRIED_OUT.id: (_other_replicas, _led_by_another),
    STAYS_OUT.id: (_goes_slowly,),
    FEW_WAIT.id: (_one_is_deaf,),
    DELETED.id: (_topics_go_at_once, _topics_go_past_controllers, _topic_goes_unheard,
                 *(_topic_goes_as_one_bounces,) * 2, _topic_goes),
    NOT_WHILE_MOVING.id: (_topic_moves_and_goes,),
    EMPTY.id: (_topic_goes, _topic_goes_without_one),
    STAYS_DEAD.id: (_topic_goes_without_one,),
}
_ANY: Final = tuple(course for courses in _COURSES.values() for course in courses)


# ---- long programs --------------------------------------------------------------------------


LONG: Final = Long(requests=1_000)
"""They have no sizes of their own; what fills is a log, which nothing empties."""

_WRITES, _WAITS = 0.55, 0.3
"""How often a request of a long program writes, and how often it lets time pass; else one thing
fails."""


def draw_long(random: Random, can: Collection[str]) -> tuple[Program, Program]:
    """A cluster in which one thing after the other fails, while it is written all the time; and
    how it ends."""
    brokers, partitions = 3, random.choice((1, 2))
    acts = [_act("deploy", brokers=brokers, partitions=partitions, seed=random.getrandbits(32))]
    while len(acts) < LONG.requests:
        chance = random.random()
        if chance < _WRITES:
            acts.append(_act("produce", after=random.randrange(30),
                             partition=random.randrange(partitions),
                             acks_all=random.choice((1, 1, 1, 0)), records=1))
        elif chance < _WRITES + _WAITS:
            acts.append(_act("elapse", after=random.randrange(5, 60)))
        else:
            acts.append(_fault(random, brokers, random.randrange(40)))
    return tuple(act for act in acts if act.do in can), (_act("quiet"),)


# ---- shrinking ------------------------------------------------------------------------------


_EASIER: Final[Mapping[str, int]] = {
    "brokers": 2, "partitions": 1, "records": 1, "after": 0, "extra": 1, "percent": 1}
"""Fields that make a run easier to follow the closer they are to these numbers."""


def easier(act: Act) -> Iterator[Act]:
    """Acts with one smaller number: the least, or half way to it."""
    fields = dict(act.about)
    for name, least in _EASIER.items():
        number = int(fields.get(name, least))
        for value in sorted({least, (number + least) // 2}):
            if value < number:
                yield act._replace(about=tuple({**fields, name: value}.items()))
