"""From a model to machine code."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
import llvmlite.ir as ir

from ...notation.expr import Expr
from ...notation.model import LoweredRule, Model
from .layout import Layout
from .search import (
    Parts, emit_edges, emit_levels, emit_predecessor, emit_predicates, emit_work,
)
from .successors import Checks, emit_inspect, emit_successors
from .table import (
    emit_add, emit_insert_indexed, emit_insert_inline, emit_lookup, emit_migrate,
    emit_restore, emit_seed,
)

__all__ = ["Native", "compile_model"]

_SIGNATURES: dict[str, int] = {
    "work": 2, "levels": 2, "migrate": 6, "restore": 4, "seed": 3, "predecessor": 6,
    "edges": 8, "predicates": 3, "inspect": 3,
}


class Native:
    """The compiled search of one model; its functions take addresses and numbers.

    ``seconds`` is what emitting and compiling took. The functions release the GIL.
    """

    def __init__(
        self, layout: Layout, checks: Checks, module: ir.Module, inline: bool, started: float
    ) -> None:
        self.layout = layout
        self.checks = checks
        self.inline = inline
        self._engines: list[Any] = []
        self._functions: dict[str, Callable[..., int]] = {}
        self._add(module)
        self.seconds = time.perf_counter() - started

    def _add(self, module: ir.Module) -> None:
        """Compile a module and keep its functions."""
        engine = _compiled(str(module))
        self._engines.append(engine)  # the code lives as long as its engine
        for name in (f.name for f in module.functions if not f.is_declaration):
            if name in _SIGNATURES:
                kind = ctypes.CFUNCTYPE(
                    ctypes.c_int64, *[ctypes.c_uint64] * _SIGNATURES[name])
                self._functions[name] = kind(engine.get_function_address(name))

    @cached_property
    def inspect(self) -> Callable[..., int]:
        """``inspect(states, count, found)``, compiled when it is first needed."""
        started = time.perf_counter()
        module = ir.Module(name="inspect")
        emit_inspect(module, self.layout, self.checks)
        self._add(module)
        self.seconds += time.perf_counter() - started
        return self._functions["inspect"]

    def __getattr__(self, name: str) -> Callable[..., int]:
        try:
            return self.__dict__["_functions"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(name) from None


def _machine() -> Any:
    """A target machine for this processor; a compiler takes it over, so one for each."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:
        features = ""  # not known on every processor; the baseline runs everywhere
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features,
        opt=2, codemodel="jitdefault", jit=True)


def _compiled(text: str) -> Any:
    machine = _machine()
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
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
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
    insert = (emit_insert_inline(module, atomic) if inline
              else emit_insert_indexed(module, words, atomic))
    parts = Parts(module, words, inline, atomic, successors, insert)
    emit_levels(parts, emit_work(parts))
    add = emit_add(module, "add", atomic)
    emit_migrate(module, inline, atomic)
    emit_restore(module, inline, add)
    emit_seed(module, words, inline, add)
    emit_predecessor(parts)
    if predicates is not None:
        emit_edges(parts, emit_lookup(module, words))
        emit_predicates(parts, layout, predicates)
    return Native(layout, checks, module, inline, started)
