"""Small helpers over llvmlite's builder: loops, words in memory, calls of intrinsics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.ir as ir

__all__ = [
    "I1", "I8", "I32", "I64", "POINTER", "UNROLLED_WORDS", "V8", "any_of", "copy_words",
    "count_trailing_zeros", "function", "helper", "i64", "less_words", "like", "local", "loop",
    "prefetch", "same_words", "splat", "word_at", "word_load", "word_store",
]

UNROLLED_WORDS = 16  # states of more words are compared, hashed and copied in loops

I1, I8, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))
POINTER = ir.PointerType()
V8 = ir.VectorType(I64, 8)  # one cache line of table entries


def i64(value: int) -> Any:
    """A 64-bit constant; values above 2^63 are taken modulo 2^64."""
    return ir.Constant(I64, value)


def like(value: Any, number: int) -> Any:
    """A constant of the type of a value: a word, or a vector with the number in each place."""
    if isinstance(value.type, ir.VectorType):
        return ir.Constant(value.type, [number] * value.type.count)
    return ir.Constant(value.type, number)


def function(module: ir.Module, name: str, result: Any, *arguments: Any) -> ir.Function:
    """Declare a function of the module."""
    return ir.Function(module, ir.FunctionType(result, arguments), name)


def local(b: ir.IRBuilder, value: Any) -> Any:
    """A variable on the stack (the optimiser makes a register of it), initialised."""
    with b.goto_entry_block():
        place = b.alloca(value.type)
    b.store(value, place)
    return place


@contextmanager
def loop(b: ir.IRBuilder, start: Any, end: Any) -> Iterator[Any]:
    """``for index in range(start, end)`` around the code built inside."""
    before = b.block
    head, body, after = (b.append_basic_block(name) for name in ("head", "body", "after"))
    b.branch(head)
    b.position_at_end(head)
    index = b.phi(I64)
    index.add_incoming(start, before)
    b.cbranch(b.icmp_unsigned("<", index, end), body, after)
    b.position_at_end(body)
    yield index
    index.add_incoming(b.add(index, i64(1)), b.block)
    b.branch(head)
    b.position_at_end(after)


def word_at(b: ir.IRBuilder, base: Any, index: Any) -> Any:
    """The address of the 64-bit word ``base[index]``."""
    position = i64(index) if isinstance(index, int) else index
    return b.gep(base, [position], source_etype=I64)


def word_load(b: ir.IRBuilder, base: Any, index: Any) -> Any:
    """The 64-bit word ``base[index]``."""
    return b.load(word_at(b, base, index), typ=I64)


def word_store(b: ir.IRBuilder, value: Any, base: Any, index: Any) -> None:
    """Write the 64-bit word ``base[index]``."""
    b.store(value, word_at(b, base, index))


def copy_words(b: ir.IRBuilder, source: Any, target: Any, count: int) -> None:
    """Copy a known number of words between places that do not overlap."""
    intrinsic = b.module.declare_intrinsic(
        "llvm.memcpy.p0.p0.i64", fnty=ir.FunctionType(ir.VoidType(), [POINTER, POINTER, I64, I1]))
    b.call(intrinsic, [target, source, i64(8 * count), ir.Constant(I1, 0)])


def helper(
    b: ir.IRBuilder, name: str, result: Any, build: Callable[[ir.IRBuilder], None],
    *arguments: Any,
) -> ir.Function:
    """A function of the module that is being built, made when it is first wanted."""
    if name in b.module.globals:
        return b.module.globals[name]
    f = function(b.module, name, result, *arguments)
    f.linkage = "internal"
    build(ir.IRBuilder(f.append_basic_block("entry")))
    return f


def same_words(b: ir.IRBuilder, one: Any, other: Any, count: int) -> Any:
    """True if two states are equal."""
    if count <= UNROLLED_WORDS:
        same = ir.Constant(I1, 1)
        for index in range(count):
            same = b.and_(same, b.icmp_unsigned(
                "==", word_load(b, one, index), word_load(b, other, index)))
        return same

    def build(b: ir.IRBuilder) -> None:
        x, y = b.function.args
        with loop(b, i64(0), i64(count)) as index:
            differ = b.icmp_unsigned("!=", word_load(b, x, index), word_load(b, y, index))
            with b.if_then(differ):
                b.ret(ir.Constant(I1, 0))
        b.ret(ir.Constant(I1, 1))

    return b.call(helper(b, "same_words", I1, build, POINTER, POINTER), [one, other])


def less_words(b: ir.IRBuilder, one: Any, other: Any, count: int) -> Any:
    """True if a state comes before another; the first word counts most."""
    if count <= UNROLLED_WORDS:
        less = ir.Constant(I1, 0)
        for index in reversed(range(count)):
            x, y = word_load(b, one, index), word_load(b, other, index)
            less = b.select(b.icmp_unsigned("==", x, y), less, b.icmp_unsigned("<", x, y))
        return less

    def build(b: ir.IRBuilder) -> None:
        x, y = b.function.args
        with loop(b, i64(0), i64(count)) as index:
            left, right = word_load(b, x, index), word_load(b, y, index)
            with b.if_then(b.icmp_unsigned("!=", left, right)):
                b.ret(b.icmp_unsigned("<", left, right))
        b.ret(ir.Constant(I1, 0))

    return b.call(helper(b, "less_words", I1, build, POINTER, POINTER), [one, other])


def splat(b: ir.IRBuilder, value: Any) -> Any:
    """A vector of eight copies of a word."""
    empty = ir.Constant(V8, ir.Undefined)
    single = b.insert_element(empty, value, ir.Constant(I32, 0))
    return b.shuffle_vector(single, empty, ir.Constant(ir.VectorType(I32, 8), [0] * 8))


def prefetch(b: ir.IRBuilder, address: Any) -> None:
    """Ask for a cache line that will be read."""
    intrinsic = b.module.declare_intrinsic(
        "llvm.prefetch.p0", fnty=ir.FunctionType(ir.VoidType(), [POINTER, I32, I32, I32]))
    b.call(intrinsic, [address, *(ir.Constant(I32, flag) for flag in (0, 3, 1))])


def count_trailing_zeros(b: ir.IRBuilder, mask: Any) -> Any:
    """The place of the lowest set bit of an 8-bit mask that is not zero, as a word."""
    wide = b.zext(mask, I32)
    return b.zext(b.cttz(wide, ir.Constant(I1, 1)), I64)


def any_of(b: ir.IRBuilder, parts: list[Any]) -> Any:
    """True if any of the truth values holds."""
    result = ir.Constant(I1, 0)
    for part in parts:
        result = b.or_(result, part)
    return result
