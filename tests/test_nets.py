"""Nets as nets: every verdict against a plain token game, and budgets on nets of any size."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.nets.contest import CONTEST
from benchmarks.nets.families import FAMILIES, pnml
from checkvalve.conformance.cli import root
from checkvalve.spec.design.check import Settings, check
from checkvalve.spec.design.formats.files import load_any
from checkvalve.spec.nets import bounds
from checkvalve.spec.nets.answer import Answer, Limits
from checkvalve.spec.nets.bounds import bounding_sums, holds_exactly
from checkvalve.spec.nets.deadlock import decide_deadlock, stages
from checkvalve.spec.nets.growth import decide_bounded, grows
from checkvalve.spec.nets.home import all_fire, every_run_ends, leads_home
from checkvalve.spec.nets.local import ENDS, HOME, decide_local, stops_all
from checkvalve.spec.nets.net import Net, net_of
from checkvalve.spec.nets.reduce import reduce
from checkvalve.spec.nets.search import visit
from checkvalve.spec.nets.siphons import has_asymmetric_choice, marked_traps, takes_ones
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.deadline import Deadline, OutOfMemory, OutOfTime
from checkvalve.spec.verdicts.verdict import Budget, Outcome

MOST = 300
"""Markings of the nets that the plain token game plays to the end."""

Tokens = tuple[int, ...]


class Played:
    """A net played to its end, without any method of ours: its markings and the steps from each;
    not ``whole`` where there are more than MOST."""

    def __init__(self, net: Net) -> None:
        takes = [dict(each) for each in net.takes]
        gives = [dict(each) for each in net.gives]
        self.after: dict[Tokens, dict[int, Tokens]] = {}
        todo = [net.initial]
        while todo and len(self.after) <= MOST:
            marking = todo.pop()
            if marking in self.after:
                continue
            self.after[marking] = {
                t: tuple(n - takes[t].get(p, 0) + gives[t].get(p, 0)
                         for p, n in enumerate(marking))
                for t in range(len(takes)) if all(marking[p] >= n for p, n in takes[t].items())}
            todo += self.after[marking].values()
        self.whole = not todo

    @property
    def deadlocks(self) -> bool:
        """True if a marking has no step."""
        return not all(self.after.values())

    @property
    def is_locked_in_part(self) -> bool:
        """True if from some marking a transition is dead and a run is endless."""
        ahead = {each: {each} for each in self.after}
        changed = True
        while changed:
            changed = False
            for each, steps in self.after.items():
                more = set().union(*(ahead[other] for other in steps.values())) - ahead[each]
                if more:
                    ahead[each] |= more
                    changed = True
        every = {t for steps in self.after.values() for t in steps}
        every |= set(range(self.transitions))
        endless = {each for each in self.after if any(
            other in ahead[after] for other in ahead[each]
            for after in self.after[other].values())}
        return any(every - {t for other in ahead[each] for t in self.after[other]}
                   for each in endless)

    transitions = 0


@st.composite
def nets(draw: st.DrawFn, weights: int = 3) -> Net:
    """Small nets; one transition in ten takes nothing."""
    places = draw(st.integers(1, 6))
    weight = st.sampled_from([1, 1, 1, *range(1, weights + 1)])
    side = st.dictionaries(st.integers(0, places - 1).map("p{}".format), weight, max_size=3)
    moves = {}
    for number in range(draw(st.integers(1, 7))):
        takes, gives = draw(side), draw(side)
        if not takes and draw(st.integers(0, 9)):
            takes = {"p0": 1}
        moves[f"t{number}"] = takes, gives
    tokens = {f"p{at}": draw(st.sampled_from([0, 0, 1, 1, 2, 3])) for at in range(places)}
    return net_of("random", tokens, moves)


def each_stage(net: Net) -> list[tuple[str, Answer]]:
    """The answers of all engines of deadlock, the long walks left out."""
    found = []
    for name, ask in stages(net, Limits(Deadline(20), MOST * 4)):
        try:
            found.append((name, ask()))
        except OutOfTime:
            continue
        if name == "stubborn sets":
            break
    return found


@settings(max_examples=60)
@given(nets())
def test_each_engine_says_what_the_token_game_says_of_deadlock(net: Net) -> None:
    """None is wrong, and each run ends in a marking in which nothing is enabled."""
    played = Played(net)
    for name, answer in each_stage(net):
        if played.whole and answer.outcome is not Outcome.UNKNOWN:
            assert (answer.outcome is Outcome.VIOLATED) == played.deadlocks, name
        if answer.outcome is Outcome.VIOLATED:
            assert net.dead(net.replay(answer.run)), name
    if played.whole:
        assert decide_deadlock(net, Limits()).outcome is not Outcome.UNKNOWN


@settings(max_examples=60)
@given(nets(weights=1))
def test_a_reduced_net_deadlocks_iff_the_net_does(net: Net) -> None:
    """Both are played to the end."""
    played, reduced = Played(net), Played(reduce(net).net)
    if played.whole and reduced.whole:
        assert played.deadlocks == reduced.deadlocks


@settings(max_examples=60)
@given(nets())
def test_a_net_is_bounded_iff_its_markings_end(net: Net) -> None:
    """A run of growth repeats and grows, and no net with endless markings is called bounded."""
    played = Played(net)
    answer = decide_bounded(net, Limits(markings=MOST * 4))
    if answer.outcome is Outcome.VIOLATED:
        assert not played.whole
        assert answer.loop is not None and grows(net, list(answer.run), answer.loop)
    if played.whole:
        assert answer.outcome is Outcome.HOLDS
        assert all(marking[place] <= most for marking in played.after
                   for place, most in answer.bounds)
    sums = bounding_sums(net, Deadline())
    assert not sums or holds_exactly(net, sums)


@settings(max_examples=60)
@given(nets(weights=2))
def test_local_deadlock_is_what_the_token_game_says(net: Net) -> None:
    """By components, and by the argument that all stops where one transition does."""
    played = Played(net)
    if not played.whole:
        return
    played.transitions = len(net.transitions)
    answer = decide_local(net, Limits(), Answer(Outcome.UNKNOWN, ""), Answer(Outcome.UNKNOWN, ""))
    assert (answer.outcome is Outcome.VIOLATED) == played.is_locked_in_part
    if not played.deadlocks and stops_all(net, Limits()):
        assert answer.outcome is Outcome.HOLDS


@settings(max_examples=60)
@given(nets(weights=1))
def test_a_net_that_siphons_show_to_be_live_has_neither_deadlock(net: Net) -> None:
    """Nor can a transition be dead forever in any marking that the token game reaches."""
    if not takes_ones(net) or marked_traps(net, Deadline(20)) is None:
        return
    played = Played(net)
    played.transitions = len(net.transitions)
    if played.whole:
        assert not played.deadlocks
        if has_asymmetric_choice(net, Deadline(20)):
            assert not played.is_locked_in_part


@settings(max_examples=25)
@given(nets(weights=1))
def test_what_is_said_of_runs_that_end_or_lead_back_is_what_the_token_game_says(net: Net) -> None:
    """Where weights show that runs end, none is endless; where they lead home, none is locked."""
    played = Played(net)
    played.transitions = len(net.transitions)
    if not played.whole:
        assert not every_run_ends(net, Deadline(20))
    elif every_run_ends(net, Deadline(20)):
        assert played.deadlocks and not played.is_locked_in_part
    elif all_fire(net, Deadline(20)) and leads_home(net, Deadline(20)):
        assert not played.is_locked_in_part


@pytest.mark.parametrize(("name", "size", "said"), [
    ("philosophers", 40, HOME), ("memory", 8, HOME), ("grid", 5, HOME),
    ("barrier", 20, HOME), ("MAPK", 1_000_000, HOME), ("queens", 8, ENDS),
])
def test_local_deadlock_is_excluded_in_families_without_a_search(
    name: str, size: int, said: str
) -> None:
    """Of some of them siphons say nothing, and one of them deadlocks as a whole."""
    net = (FAMILIES | CONTEST)[name].make(size)
    answer = decide_local(net, Limits(Deadline(60), markings=10), Answer(Outcome.UNKNOWN, ""),
                          Answer(Outcome.UNKNOWN, ""))
    assert answer.outcome is Outcome.HOLDS and answer.method == said


@pytest.mark.parametrize("name", ["token ring", "exclusion", "one turned", "fork", "bus"])
def test_large_nets_of_asymmetric_choice_have_no_local_deadlock(name: str) -> None:
    """Siphons and traps decide in linear time what no search of markings could."""
    net = FAMILIES[name].make(60)
    answer = decide_local(net, Limits(Deadline(60), markings=10), Answer(Outcome.UNKNOWN, ""),
                          Answer(Outcome.UNKNOWN, ""))
    assert answer.outcome is Outcome.HOLDS and "siphon" in answer.method


def shapes() -> list[tuple[str, int]]:
    """The families at growing sizes; those with nets that are squares of their size are smaller."""
    return [(name, min(size, 30) if name in ("grid", "memory") else size)
            for name in FAMILIES for size in (10, 100, 1000)]


@pytest.mark.parametrize(("name", "size"), dict.fromkeys(shapes()))
def test_no_family_is_decided_wrongly_at_any_size(name: str, size: int) -> None:
    """Each is decided rightly, or unknown, in its budget of processor time."""
    family, began = FAMILIES[name], time.process_time()
    net = family.make(size)
    budget = Limits(Deadline(1.5, time.process_time))
    answer = decide_deadlock(net, budget)
    if answer.outcome is not Outcome.UNKNOWN:
        assert (answer.outcome is Outcome.VIOLATED) == family.deadlocks(size)
    if answer.outcome is Outcome.VIOLATED:
        assert net.dead(net.replay(answer.run))
    assert time.process_time() - began < 3


class Stepping:
    """A clock that moves on by itself, a little each time it is read."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.mark.parametrize("decide", [
    decide_deadlock, decide_bounded,
    lambda net, limits: decide_local(net, limits, Answer(Outcome.UNKNOWN, ""),
                                     Answer(Outcome.UNKNOWN, "")),
], ids=["deadlock", "bounded", "local"])
@pytest.mark.parametrize("name", ["crossing", "relay", "bus"])
def test_each_question_ends_soon_after_its_deadline(
    decide: Callable[[Net, Limits], Answer], name: str
) -> None:
    """A clock that moves as it is read shows how often it is read after the end."""
    clock = Stepping(1.0)
    decide(FAMILIES[name].make(100), Limits(Deadline(60, clock)))
    assert clock.now < 100


def test_a_search_keeps_no_more_markings_than_it_may() -> None:
    """Even where one marking has thousands after it."""
    net = FAMILIES["philosophers"].make(2_000)
    assert len(visit(net, Limits(), 50).markings) <= 51


def test_the_reader_of_nets_looks_at_the_clock() -> None:
    """So a large file takes no longer than it may; nothing was decided, and that is said."""
    text = pnml(FAMILIES["token ring"].make(400))
    ticks = iter(range(10**9))
    with pytest.raises(OutOfTime, match=r"reading net\.pnml"):
        load_any(text, "net.pnml", deadline=Deadline(5.0, lambda: float(next(ticks))))


def test_a_linear_program_asks_for_its_memory_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More for a larger net; where there is too little, nothing is imported."""
    asked: list[float] = []

    def refuse(size: float, phase: str) -> None:
        asked.append(size)
        raise OutOfMemory(phase)

    monkeypatch.setattr(bounds, "ask", refuse)
    for size in (10, 100):
        with pytest.raises(OutOfMemory):
            bounding_sums(FAMILIES["token ring"].make(size), Deadline())
    assert 10_000_000 < asked[0] < asked[1]


def test_a_rule_of_reduction_leads_runs_back() -> None:
    """A run of the reduced philosophers is a run of the philosophers, to the end."""
    net = FAMILIES["philosophers"].make(50)
    assert len(reduce(net).net.places) < len(net.places)
    answer = decide_deadlock(net, Limits())
    assert net.dead(net.replay(answer.run)) and len(answer.run) >= 50


def written(folder: Path, net: Net) -> str:
    """The path of the net's PNML."""
    path = folder / "net.pnml"
    path.write_text(pnml(net), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("name", "size", "code"), [
    ("relay", 60, 0), ("fork", 130, 0), ("philosophers", 100, 1)])
def test_a_net_too_large_for_a_design_is_checked_all_the_same(
    tmp_path: Path, name: str, size: int, code: int
) -> None:
    """Its verdicts are those of the family, as JSON and as a page."""
    file, page = written(tmp_path, FAMILIES[name].make(size)), tmp_path / "page.html"
    ran = CliRunner().invoke(root, [
        "check", file, "--json", "--html", str(page), "--certificates", str(tmp_path / "c")])
    found = json.loads(ran.stdout)
    verdicts = {each["property"]: each for each in found["results"]}
    assert found["exit_code"] == code and page.stat().st_size > 1000
    assert verdicts["bounded"]["verdict"] == "holds"
    assert verdicts["deadlock-free"]["verdict"] == ("violated" if code else "holds")
    if code:
        assert len(verdicts["deadlock-free"]["trace"]) >= size
        assert verdicts["deadlock-free"]["cycle"]


def test_large_weights_and_markings_are_read_and_decided() -> None:
    """Tokens up to 2 ** 63, weights of a million: no link would have room for these."""
    net = net_of("large", {"a": 2**63, "b": 0}, {
        "go": ({"a": 10**6}, {"b": 10**6}), "back": ({"b": 10**6}, {"a": 10**6})})
    (design,) = load_any(pnml(net), "net.pnml")
    report = check(design, Settings(budget=Budget(max_seconds=20)))
    assert [finding.outcome.value for finding in report.findings] == ["holds", "holds", "holds"]
    with pytest.raises(InputError, match="no number of tokens"):
        load_any(pnml(net).replace(str(2**63), str(2**63 + 1)), "net.pnml")


def test_a_file_of_many_elements_is_read_in_linear_time() -> None:
    """Three times the net takes about three times the processor time, beyond 50,000 elements."""
    def seconds(size: int) -> float:
        text = pnml(FAMILIES["token ring"].make(size)).replace(
            "</place>", "<toolspecific tool='x' version='1'><a/><b/></toolspecific></place>")
        began = time.process_time()
        (design,) = load_any(text, "net.pnml")
        assert design.net is not None and len(design.net.places) == 3 * size
        return time.process_time() - began

    seconds(300)
    assert seconds(2400) < 6 * seconds(800) + 0.5


def test_pages_in_pages_and_references_are_one_net() -> None:
    """An arc to a reference is one to its place, on whatever page, in whatever namespace."""
    place = '<m:place id="p{0}"><m:initialMarking><m:text>1</m:text></m:initialMarking></m:place>'
    text = (
        '<m:pnml xmlns:m="http://www.pnml.org/version-2009/grammar/pnml">'
        '<m:net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><m:page id="a">'
        + "".join(place.format(number) for number in range(300))
        + '<m:page id="b"><m:page id="c"><m:referencePlace id="r" ref="p0"/>'
        '<m:transition id="t t"><m:name><m:text>ä b/c</m:text></m:name></m:transition>'
        '<m:arc id="x" source="r" target="t t"/><m:arc id="y" source="t t" target="p1"/>'
        "</m:page></m:page></m:page></m:net></m:pnml>")
    (design,) = load_any(text, "net.pnml")
    assert design.net is not None and design.net_alone
    assert design.net.transitions == ("ä b/c",)
    assert (design.net.takes, design.net.gives) == ((((0, 1),),), (((1, 1),),))


@pytest.mark.parametrize("seed", range(20))
def test_capacities_mean_the_same_in_a_net_as_in_a_design(seed: int) -> None:
    """The room beside a place is what a transition waits for."""
    random = Random(f"capacities {seed}")
    lines = ['<pnml><net id="n" type="ptnet">']
    for at in range(3):
        lines.append(f'<place id="p{at}"><initialMarking><text>{random.randint(0, 2)}</text>'
                     "</initialMarking><capacity><text>3</text></capacity></place>")
    for at in range(4):
        one, two = random.sample(range(3), 2)
        lines.append(f'<transition id="t{at}"/><arc id="a{at}" source="p{one}" target="t{at}"/>'
                     f'<arc id="b{at}" source="t{at}" target="p{two}"><inscription><text>'
                     f"{random.randint(1, 3)}</text></inscription></arc>")
    (design,) = load_any("".join([*lines, "</net></pnml>"]), "net.pnml")
    assert design.net is not None
    report = check(design, Settings(engine="explorer"))
    net = decide_deadlock(design.net, Limits())
    connected = len({end for row in design.tasks for end in row}) > 0
    assert connected and report.finding("deadlock-free").outcome is net.outcome


CORE = ('<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/pnmlcoremodel">'
        '<page id="g"><place id="a"><initialMarking><text>1</text></initialMarking>{}</place>'
        '<place id="b"/><transition id="t"/>'
        '<arc id="x" source="a" target="t"/><arc id="y" source="t" target="b"/>'
        "</page></net></pnml>")


def test_a_net_of_the_core_type_is_read_unless_it_has_colours() -> None:
    """As programs for process mining write place/transition nets; its deadlock is at its end."""
    said = check(load_any(CORE.format(""), "n.pnml")[0], Settings(budget=Budget(threads=1)))
    assert said.findings[0].outcome is Outcome.VIOLATED and said.findings[0].length == 1
    with pytest.raises(InputError, match="only place/transition nets and symmetric nets are read"):
        load_any(CORE.format("<hlinitialMarking/>"), "n.pnml")


TAPAAL = (
    '<pnml><net id="n" type="P/T net"><place id="a" name="full" initialMarking="2" '
    'invariant="&lt; inf"/><place id="b" initialMarking="0"/><transition id="t"/>{}'
    '<outputArc source="t" target="b" inscription="1"/></net></pnml>')


def test_arcs_and_tokens_are_read_where_a_tool_writes_attributes() -> None:
    """As TAPAAL's engine does; its tests have nets with 3,000,000,000 tokens in this form."""
    design, = load_any(TAPAAL.format(
        '<inputArc source="a" target="t" inscription="[0,inf)" weight="2"/>'
        '<inhibitorArc source="b" target="t" weight="1" inscription="[0,inf)"/>'), "n.pnml")
    assert design.net is not None and design.net.places[0] == "full"
    found, = (each for each in check(design, Settings(budget=Budget(threads=1))).findings
              if each.name == "deadlock-free")
    assert found.outcome is Outcome.VIOLATED and found.length == 1


@pytest.mark.parametrize(("arc", "said"), [
    ('<inputArc source="a" target="t" inscription="[2,5]"/>', r"the time '\[2,5\]'.*timed nets"),
    ('<transportArc source="a" target="t"/>', "<transportArc> joins two nodes, and only these"),
    ('<inputArc source="a" target="t" weight="[0]"/><arc source="a" target="t" inscription="x"/>',
     "<inscription> is 'x', which is no number of tokens"),
])
def test_what_joins_two_nodes_is_read_or_refused_by_name(arc: str, said: str) -> None:
    """It was passed over before, and the net was another one."""
    with pytest.raises(InputError, match=said):
        load_any(TAPAAL.format(arc), "n.pnml")


def test_a_net_without_a_type_is_read_and_a_transition_without_arcs_is_left_out() -> None:
    """As SNAKES writes nets; such a transition can always fire, and it changes nothing."""
    text = CORE.format("").replace("http://www.pnml.org/version-2009/grammar/pnmlcoremodel", "")
    design, = load_any(text.replace("<transition", '<transition id="alone"/><transition'), "n.pnml")
    assert design.net is not None and design.net.transitions == ("t",)
    assert any("'alone' has no arc" in each for each in design.assumed)
