"""The policy of a queue: an experiment on a target, and its result.

The chapter ``queues.policies`` is all that is known of policies here. Kinds (a policy with a
capacity) are ruled out by what the target shows; ``distinguish`` says what to ask next. Small
capacities are tried first, since few kinds are quickly distinguished. In the end the shortest
questions that distinguish the kind that was found from all others are asked of fresh instances: if
these answer otherwise, nothing is identified.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from ....spec.engines.candidates import CandidateSets, LostTrack
from ....spec.engines.distinguish import Belief, Experiment, Kind
from ....spec.engines.monitor import STATES_MAX
from ....spec.notation import bind
from ....spec.notation.errors import TargetError
from ....spec.queues.dropping import Policy
from ....spec.queues.policies import BIRTH, QUESTIONS, UnknownQueue
from ....spec.verdicts.deadline import Deadline, OutOfMemory, OutOfTime
from ...ports.base import SettingsRefused, Target
from ...suites.identity import Asked, Clue, Identity
from .port import PORT
from .questions import Interview

__all__ = ["NAMES", "identify"]

NAMES: Final = {
    Policy.BLOCK: "block", Policy.REJECT: "reject", Policy.DROP_NEWEST: "drop-newest",
    Policy.DROP_OLDEST: "drop-oldest", Policy.DROP_YOUNGEST: "drop-youngest-queued",
    Policy.CLEAR: "clear", Policy.CONFLATE: "conflate", Policy.MERGE: "merge",
    Policy.SPILL: "spill", Policy.DISCONNECT: "disconnect", Policy.UNBOUNDED: "unbounded",
    Policy.DROP_AND_TELL: "drop-newest",
}
"""The names of policies."""

_TAKES: Final = {Policy.BLOCK: "put", Policy.SPILL: "resident"}
"""The operations without which a policy cannot be seen."""

_BLOCKS: Final = "wait"
"""The port's name for a queue that blocks."""

_FEWER: Final = "or look for smaller capacities: --limit."


def identify(
    target: Target, capacity: int, limit: int = 32, seconds: float = 60.0,
    states: int = STATES_MAX,
) -> Identity:
    """Find out the policy of a target that is asked for ``capacity`` places.

    Capacities up to ``limit`` are considered, for so many ``seconds``, while each kind of queue
    could be in ``states`` at most, and within the memory of this process.
    """
    found = Identity(target.name, capacity, limit)
    search = _Search(target, found, seconds, states)
    try:
        search.run()
    except SettingsRefused as refusal:
        found.why, found.advice = refusal.what, "Ask for another --capacity."
    except OutOfTime:
        found.why = f"the {seconds:g} s were over before that could be decided"
        found.advice = f"Give it more: --max-seconds; {_FEWER}"
    except OutOfMemory:
        found.why = "the memory was spent before that could be decided"
        found.advice = f"Give it more: --max-memory; {_FEWER}"
    except LostTrack as lost:
        found.why = f"{lost}, so that it could not be decided"
        found.advice = f"Give it more: --max-states; {_FEWER}"
    except TargetError as error:
        place = f"{error.where}: " if error.where else ""
        found.failed, found.why, found.advice = True, f"{place}{error.what}", error.next_step
    return found


class _Search:
    """One identification under way."""

    def __init__(self, target: Target, found: Identity, seconds: float, states: int) -> None:
        self._target = target
        self._found = found
        self._states = states
        self._watch = Deadline(seconds).watch("asking what distinguishes the kinds")
        self._kinds: tuple[Kind, ...] = ()
        self._transcripts: list[list[Asked]] = []
        self._can: frozenset[str] = frozenset()

    def run(self) -> None:
        """Ask until no question is left that distinguishes the kinds."""
        found = self._found
        self._meet()
        if not ({"offer", "put"} & self._can and "poll" in self._can):
            found.why = "the target offers too little: it takes offer or put, and poll"
            found.advice = "Let the adapter offer more; docs/identify.md."
            return
        for size in self._sizes():
            experiment = self._experiment(size)
            self._kinds = self._explained(experiment)
            while (left := self._one_run(experiment, self._kinds)) != self._kinds:
                self._kinds = left
        found.kinds = _named(self._kinds)
        self._conclude(experiment)

    def _meet(self) -> None:
        with Interview(self._target, self._found.capacity, 1) as talk:
            self._found.says = says = talk.greeting["policy"]
            self._can = frozenset(talk.greeting["can"])
        self._found.unseen = {
            NAMES[policy]: takes for policy, takes in _TAKES.items() if takes not in self._can}
        promised = NAMES[Policy.BLOCK] if says == _BLOCKS else says
        self._found.promised = "" if promised in self._found.unseen else promised

    def _sizes(self) -> Iterator[int]:
        """The limits of the capacities that are considered, one after the other.

        If one kind of known capacity is left, the last is next.
        """
        size = self._found.capacity + 2
        while size < self._found.limit:
            yield size
            if len(self._kinds) == 1 and self._kinds[0][1]:
                break
            size *= 2
        yield self._found.limit

    def _experiment(self, size: int) -> Experiment:
        bound = bind(
            UnknownQueue, N=size, K=size + 2, E=min(2, self._found.capacity),
            P=int("put" in self._can), S=int("resident" in self._can))
        questions = {name: steps for name, steps in QUESTIONS.items() if name in self._can}
        return Experiment(
            CandidateSets(bound, self._states, kept=None), BIRTH, questions, watch=self._watch)

    # --- asking ----------------------------------------------------------------------------

    def _explained(self, experiment: Experiment) -> tuple[Kind, ...]:
        """The kinds that explain all runs so far."""
        kinds = tuple(experiment.fresh())
        for transcript in self._transcripts:
            belief = experiment.fresh(kinds)
            for asked in transcript:
                belief = _after(experiment, belief, asked)
            kinds = tuple(belief)
        return kinds

    def _one_run(self, experiment: Experiment, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
        """Ask a fresh instance while a question may distinguish the kinds; return those left."""
        belief = experiment.fresh(kinds)
        questions = experiment.next_questions(belief)
        if not questions:
            return kinds
        transcript: list[Asked] = []
        self._transcripts.append(transcript)
        with self._interview(experiment) as talk:
            while questions:
                asked = self._ask(talk, questions[0])
                transcript.append(asked)
                before, belief = belief, _after(experiment, belief, asked)
                same = len(before) == len(belief)
                questions = (questions[1:] if same and len(questions) > 1
                             else experiment.next_questions(belief))
        return tuple(belief)

    def _interview(self, experiment: Experiment) -> Interview:
        self._found.runs += 1
        return Interview(self._target, self._found.capacity,
                         experiment.sets.bound.constants["K"])

    def _ask(self, talk: Interview, question: str) -> Asked:
        self._watch()
        self._found.asked += 1
        return talk.ask(question)

    # --- concluding ------------------------------------------------------------------------

    def _conclude(self, experiment: Experiment) -> None:
        """Say what is left after all questions, with the run that shows it."""
        found = self._found
        if not found.kinds:
            self._unexplained(experiment)
        elif len(found.policies) > 1:
            found.why = "all that was seen fits several"
            found.advice = _TELL_APART if found.capacity > 1 else _MORE_PLACES
            self._show_last(experiment)
        else:
            block = found.policies[0] == NAMES[Policy.BLOCK]
            found.meaning = PORT.policies[_BLOCKS if block else found.policies[0]]
            if len(self._kinds) == 1:
                self._confirm(experiment, self._kinds[0])
            else:
                self._show_last(experiment)

    def _unexplained(self, experiment: Experiment) -> None:
        """Show the run that no kind explains, up to the answer that rules out the last."""
        self._found.why = "no policy of the book explains what it did"
        self._found.advice = _SUITE.format(self._found.target)
        kinds = tuple(experiment.fresh())
        for transcript in self._transcripts:
            belief = experiment.fresh(kinds)
            clues = []
            for asked in transcript:
                before, belief = belief, _after(experiment, belief, asked)
                clues.append(_clue(asked, before, belief))
                if not belief:
                    break
            self._found.evidence.append(tuple(clues))
            kinds = tuple(belief)

    def _show_last(self, experiment: Experiment) -> None:
        """Show the last run, and what it rules out by itself."""
        belief = experiment.fresh()
        clues = []
        for asked in self._transcripts[-1]:
            before, belief = belief, _after(experiment, belief, asked)
            clues.append(_clue(asked, before, belief))
        self._found.evidence.append(tuple(clues))

    def _confirm(self, experiment: Experiment, kind: Kind) -> None:
        """Ask fresh instances the questions that distinguish the kind from all others."""
        kinds = tuple(experiment.fresh())
        before: tuple[Kind, ...] = ()
        while kinds not in ((kind,), before):
            before = kinds
            for questions in islice(experiment.telling_questions(kind, kinds), 1):
                kinds = self._confirmed(experiment, kind, kinds, questions)
            if kind not in kinds:
                self._found.why = (
                    f"one queue did as one that is {NAMES[Policy(kind[0])]}, and a fresh one, "
                    f"asked again and emptied, did not")
                self._found.advice = _SUITE.format(self._found.target)
                self._found.kinds = ()
                return

    def _confirmed(
        self, experiment: Experiment, kind: Kind, kinds: tuple[Kind, ...],
        questions: tuple[str, ...],
    ) -> tuple[Kind, ...]:
        """Ask a fresh instance some questions, as long as any other kind is left; those left.

        A target that may answer in several ways takes more questions than were planned. At last all
        is taken out, which has to be what the kind says; that is shown only if it is not.
        """
        belief = experiment.fresh(kinds)
        clues = []
        with self._interview(experiment) as talk:
            while questions and kind in belief and experiment.next_questions(belief):
                asked = self._ask(talk, questions[0])
                before, belief = belief, _after(experiment, belief, asked)
                clues.append(_clue(asked, before, belief))
                questions = questions[1:] or experiment.next_questions(belief)
            drained, belief = self._drained(experiment, talk, belief)
        self._found.evidence.append((*clues, *(drained if kind not in belief else ())))
        return tuple(belief)

    def _drained(
        self, experiment: Experiment, talk: Interview, belief: Belief
    ) -> tuple[list[Clue], Belief]:
        """Take out all items, as long as any kind explains the answers."""
        clues: list[Clue] = []
        over = False
        while belief and not over:
            asked = self._ask(talk, "poll")
            before, belief = belief, _after(experiment, belief, asked)
            clues.append(_clue(asked, before, belief))
            over = asked.steps[0][0] in ("poll_empty", "poll_cut_off")
        return clues, belief


_TELL_APART: Final = "Let the adapter offer more operations; docs/identify.md says which."
_SUITE: Final = (
    "Run the suite on it: checkvalve conform {} --suite queue; or look for greater capacities: "
    "--limit.")
_MORE_PLACES: Final = (
    "Ask for two places or more, as with --capacity 3: with one, these are the same.")


def _after(experiment: Experiment, belief: Belief, asked: Asked) -> Belief:
    for step in asked.steps:
        belief = experiment.after(belief, step)
    return belief


def _clue(asked: Asked, before: Belief, after: Belief) -> Clue:
    return Clue(asked, _named(kind for kind in before if kind not in after))


def _named(kinds: Iterable[Kind]) -> tuple[tuple[str, int], ...]:
    """Each kind once, as a reader knows it: with the name of its policy."""
    return tuple(dict.fromkeys((NAMES[Policy(kind[0])], kind[1]) for kind in kinds))
