"""From a model to machine code."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import llvmlite.ir as ir

from ...notation.expr import Expr
from ...notation.model import LoweredRule, Model
from .layout import Layout
from .search import (
    Parts, emit_edges, emit_levels, emit_predecessor, emit_predicates, emit_work,
)
from .successors import Checks, emit_inspect, emit_note, emit_successors
from .table import (
    emit_add, emit_insert_indexed, emit_insert_inline, emit_lookup, emit_migrate, emit_seed,
)

__all__ = ["Native", "compile_model"]

_SIGNATURES: dict[str, int] = {
    "work": 2, "levels": 2, "migrate": 5, "seed": 3, "predecessor": 6, "edges": 8, "predicates": 3,
}


class Native:
    """The compiled search of one model; its functions take addresses and numbers.

    ``seconds`` is what emitting and compiling took. The functions release the GIL.
    """

    def __init__(self, layout: Layout, module: ir.Module, inline: bool, started: float) -> None:
        self.layout = layout
        self.inline = inline
        self._engine = _compiled(str(module))
        names = {f.name for f in module.functions if not f.is_declaration}
        self._functions = {
            name: self._function(name, arity)
            for name, arity in _SIGNATURES.items() if name in names}
        self.seconds = time.perf_counter() - started

    def _function(self, name: str, arity: int) -> Callable[..., int]:
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_uint64] * arity)
        return kind(self._engine.get_function_address(name))

    def __getattr__(self, name: str) -> Callable[..., int]:
        try:
            return self._functions[name]
        except KeyError:
            raise AttributeError(name) from None


def _machine() -> Any:
    """A target machine for this processor; a compiler takes it over, so one for each."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(),
        opt=2, codemodel="jitdefault", jit=True)


def _compiled(text: str) -> Any:
    machine = _machine()
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_unrolling = False
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


def compile_model(
    model: Model, rules: Sequence[LoweredRule], threads: int,
    predicates: Sequence[Expr] | None = None,
) -> Native:
    """Emit and compile the search of a model.

    With ``predicates`` (if only an empty list) it can also make the graph of the states.
    Raises TooWide where the state, or a number on the way, does not fit.
    """
    started = time.perf_counter()
    layout = Layout(model)
    checks = Checks.of(model, rules)
    module = ir.Module(name="explorer")
    words, atomic = layout.words, threads > 1
    inline = words == 1 and predicates is None
    successors = emit_successors(module, layout, checks)
    inspect = emit_inspect(module, layout, checks, emit_note(module, words))
    insert = (emit_insert_inline(module, atomic) if inline
              else emit_insert_indexed(module, words, atomic))
    parts = Parts(module, words, inline, atomic, successors, inspect, insert)
    emit_levels(parts, emit_work(parts))
    add = emit_add(module, atomic)
    emit_migrate(module, inline, add)
    emit_seed(module, words, inline, add)
    emit_predecessor(parts)
    if predicates is not None:
        emit_edges(parts, emit_lookup(module, words))
        emit_predicates(parts, layout, predicates)
    return Native(layout, module, inline, started)
