"""From a model to machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import llvmlite.ir as ir

from ...notation.expr import Expr
from ...notation.model import LoweredRule, Model
from ...notation.renaming import Renaming
from ...verdicts.deadline import Deadline
from ...verdicts.native_refusal import NotNative
from .code import UNROLLED_WORDS
from .commuting import NOTHING, Commuting
from .control import block_states, pending_states
from .growth import emit_migrate, emit_restore
from .kept import key_of, read, written
from .layout import Layout
from .rows import RowCode
from .smallest import emit_smallest
from .search import (
    Parts, emit_edges, emit_levels, emit_predecessor, emit_predicates, emit_work,
)
from .successors import Checks, emit_inspect, emit_successors, emit_successors_by_rows
from .table import (
    emit_add, emit_insert_indexed, emit_insert_inline, emit_lookup, emit_seed,
)

__all__ = ["Native", "compile_model", "compiled", "compiled_once"]

COMPILING = "compiling the search"
ROWS_FROM = 256  # actions; with more, compiling each of them would take longer than it saves
SECONDS_PER_CHARACTER = 6e-7  # of the text that LLVM compiles quickly, on a slow machine
SLOWLY = 3  # times as long it takes to make code that runs fast

_SIGNATURES: dict[str, int] = {
    "work": 2, "levels": 2, "migrate": 7, "restore": 4, "seed": 3, "predecessor": 6,
    "edges": 9, "predicates": 4, "inspect": 3,
}


class Native:
    """The compiled search of one model; its functions take addresses and numbers.

    It is compiled quickly, to code that takes half as long again, since most searches are over
    sooner than LLVM could do better; ``hasten`` makes better code of the same functions, between
    two calls of them. ``seconds`` is what emitting and compiling took, but for ``inspect``, which
    is compiled when it is first needed. The functions release the GIL.
    """

    def __init__(
        self, layout: Layout, checks: Checks, block: int, commuting: Commuting
    ) -> None:
        self.layout = layout
        self.checks = checks
        self.block = block
        self.commuting = commuting
        self.seconds = 0.0
        self._is_fast = False
        self._text: tuple[str, list[str]] | None = None
        """The text of the search, and its functions' names."""
        self._kept: list[Any] = []  # the code lives as long as its engine and its rows
        self._functions: dict[str, Callable[..., int]] = {}

    def add(self, module: ir.Module, deadline: Deadline, rows: Sequence[Any]) -> None:
        """Compile a module and keep its functions, and the rows that they read.

        A compiler cannot be stopped, so it is not begun where it would take too long: raises
        NotNative then, and OutOfTime where there is no time at all.
        """
        began = deadline.spent()
        text = str(module)
        deadline.check(COMPILING)
        fast = self._is_fast
        if self._seconds_for(text, fast) > deadline.left():
            raise NotNative(
                f"the actions of {self.layout.model.name} would take longer to compile than "
                "the time that is left")
        names = [f.name for f in module.functions
                 if not f.is_declaration and f.name in _SIGNATURES]
        self._take(text, names, fast)
        self._kept += rows
        self._text = self._text or (text, names)
        self.seconds += deadline.spent() - began

    def hasten(self, deadline: Deadline) -> None:
        """Compile the search again, to code that runs fast, unless that is done or would take
        longer than the time that is left.
        """
        if self._is_fast or self._text is None:
            return
        text, names = self._text
        if self._seconds_for(text, fast=True) < deadline.left():
            began = deadline.spent()
            self._take(text, names, fast=True)
            self._is_fast = True
            self.seconds += deadline.spent() - began

    def _take(self, text: str, names: list[str], fast: bool) -> None:
        """Compile a text, and take the functions of these names from it."""
        engine = compiled(text, fast)
        self._kept.append(engine)
        for name in names:
            kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_uint64] * _SIGNATURES[name])
            self._functions[name] = kind(engine.get_function_address(name))

    @staticmethod
    def _seconds_for(text: str, fast: bool) -> float:
        return len(text) * SECONDS_PER_CHARACTER * (SLOWLY if fast else 1)

    def inspector(self, deadline: Deadline) -> Callable[..., int]:
        """``inspect(states, count, found)``, compiled when it is first needed."""
        if "inspect" not in self._functions:
            module = ir.Module(name="inspect")
            code = RowCode(module, self.layout, deadline.watch(
                "compiling what finds out which rule is broken"))
            emit_inspect(code, self.checks)
            self.add(module, deadline, code.kept)
        return self._functions["inspect"]

    def __getattr__(self, name: str) -> Callable[..., int]:
        try:
            return self.__dict__["_functions"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(name) from None


def _machine(fast: bool) -> Any:
    """A target machine for this processor; a compiler takes it over, so one for each."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    name, _, features = _processor().partition(" ")
    return target.create_target_machine(
        cpu=name, features=features,
        opt=2 if fast else 0, codemodel="jitdefault", jit=True)


def compiled(text: str, fast: bool = True) -> Any:
    """The engine that holds the functions of a module, given as text.

    Code that is not ``fast`` is made in a third of the time, and takes half as long again.
    """
    machine = _machine(fast)
    engine = llvm.create_mcjit_compiler(_optimised(text, machine, fast), machine)
    engine.finalize_object()
    return engine


def compiled_once(text: str) -> Any:
    """The engine that holds the functions of a module, given as text without any address: its code
    is kept for later runs (``kept``)."""
    machine = _machine(fast=True)
    key = key_of((
        text, llvmlite.__version__, str(llvm.llvm_version_info), machine.triple, _processor()))
    code = read(key)
    if code is None:
        code = machine.emit_object(_optimised(text, machine, fast=True))
        written(key, code)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _processor() -> str:
    """The processor that code is made for, and what it can do."""
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:
        features = ""  # not known on every processor; the baseline runs everywhere
    return f"{llvm.get_host_cpu_name()} {features}"


def _optimised(text: str, machine: Any, fast: bool) -> Any:
    """The module of a text, as it is to be translated."""
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    builder = llvm.create_pass_builder(
        machine, llvm.create_pipeline_tuning_options(speed_level=2))
    # The emitter has shared common subexpressions already. The standard pipeline costs
    # three times as much on large machines and makes the search no faster.
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_sroa_pass()
    if fast:
        passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    return module


def compile_model(
    model: Model, rules: Sequence[LoweredRule], threads: int,
    predicates: Sequence[Expr] | None = None, deadline: Deadline | None = None,
    renamings: Sequence[Renaming] = (),
) -> Native:
    """Emit and compile the search of a model.

    With ``predicates`` (if only an empty list) it can also make the graph of the states; with
    ``renamings`` it keeps one state of those that they map to each other.
    Raises TooWide where the state, or a number on the way, does not fit; NotNative where the
    time that is left is too short; OutOfTime where it ends.
    """
    deadline = deadline or Deadline()
    began = deadline.spent()
    watch = deadline.watch(COMPILING)
    layout = Layout(model)
    checks = Checks.of(model, rules, watch)
    module = ir.Module(name="explorer")
    words, atomic = layout.words, threads > 1
    inline = words == 1 and predicates is None
    code = RowCode(module, layout, watch)
    by_rows = len(model.actions) > ROWS_FROM or words > UNROLLED_WORDS
    # Whatever is left out, its other way has to lead to the same state, and not to a renamed one.
    plain = not by_rows and predicates is None and not renamings
    commuting = Commuting.of(model, watch) if plain else NOTHING
    successors = (emit_successors_by_rows(code, checks) if by_rows
                  else emit_successors(module, layout, checks, commuting.skippable, watch))
    insert = (emit_insert_inline(module, atomic) if inline
              else emit_insert_indexed(module, words, atomic))
    block = block_states(len(model.actions), words)
    parts = Parts(module, words, inline, atomic, successors, insert, block,
                  pending_states(len(model.actions), words), commuting.words,
                  emit_smallest(module, layout, renamings) if renamings else None)
    emit_levels(parts, emit_work(parts))
    add = emit_add(module, "add", atomic)
    emit_migrate(module, inline)
    emit_restore(module, inline, add)
    emit_seed(module, words, inline, add)
    emit_predecessor(parts)
    if predicates is not None:
        emit_edges(parts, emit_lookup(module, words))
        emit_predicates(parts, code, predicates)
    native = Native(layout, checks, block, commuting)
    native.add(module, deadline, code.kept)
    native.seconds = deadline.spent() - began
    return native
