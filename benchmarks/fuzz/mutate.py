"""Mutations of real examples: of their trees, their Python, and their bytes."""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

__all__ = [
    "broken_bytes", "broken_python", "broken_tree", "broken_words", "json_text", "toml_text",
]

DEEP, DIGITS = "@deep@", "@digits@"
"""What stands for a list of lists of lists …, and for a number of 5,000 digits."""

ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 63, 2**31, 2**53 + 1, 2**64, -2**64, 0.5, 1e308, -0.0, "", " ",
    "x" * 300, "\x00", "\u202e", "\U0001f9ea", "-1", "1e9", "null", "*", "**", "..", "/", "a:b",
    "{capacity}", "{0.__class__}", "%s", [], {}, [[]], [None], {"": None}, {"do": "hello"}, DEEP,
    DIGITS, "1..3", "1..9999", "2..1", "n // 0", "9 ** 9 ** 9", "n*(n - 1) > 2", "min(1)", "copy",
    "x[copy % n + 1]",
)

Path = tuple[Any, ...]


# ---- trees ---------------------------------------------------------------------------------


def broken_tree(random: Random, tree: Any) -> Any:
    """A copy of a tree of dicts, lists and scalars with one to four changes."""
    tree = copy.deepcopy(tree)
    if random.random() < 0.5:
        return _nearly_right(random, tree)
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        places = list(_places(tree, ()))
        if not places:
            return random.choice(ODD)
        *way, last = random.choice(places)
        _change(random, tree, _at(tree, way), last)
    return tree


def _nearly_right(random: Random, tree: Any) -> Any:
    """One to three scalars changed for others that stand under the same key, or near them."""
    for _ in range(random.choice((1, 2, 3))):
        leaves = [(way, key, old) for *way, key in _places(tree, ())
                  for old in [_at(tree, (*way, key))] if not isinstance(old, dict | list)]
        if not leaves:
            return tree
        way, key, old = random.choice(leaves)
        alike = [other for *_, name, other in leaves if name == key or isinstance(name, int)]
        if isinstance(old, int) and not isinstance(old, bool):
            alike = [max(0, old + step) for step in (-2, -1, 1, 2, 3)]
        _at(tree, way)[key] = random.choice(alike)
    return tree


def _at(tree: Any, path: Any) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def _places(tree: Any, path: Path) -> Iterator[Path]:
    if isinstance(tree, dict | list):
        for key in (tree if isinstance(tree, dict) else range(len(tree))):
            yield (*path, key)
            yield from _places(tree[key], (*path, key))


def _change(random: Random, tree: Any, holder: Any, key: Any) -> None:
    """Change what ``holder`` has at ``key``."""
    old = holder[key]
    kind = random.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(old))
    elif kind == 1:
        holder[random.choice(("name", "kind", "do", f"{key}x", ""))] = holder.pop(key)
    elif kind == 2 and isinstance(old, int):
        holder[key] = old + random.choice((-1, 1, 7, 2**40))
    elif kind == 3:
        # A value from elsewhere in the same document often has the right shape, and no sense.
        holder[key] = copy.deepcopy(_at(tree, random.choice(list(_places(tree, ())))))
    else:
        holder[key] = copy.deepcopy(random.choice(ODD))


def json_text(tree: Any) -> str:
    """A tree as JSON, which is YAML as well."""
    return _spelt_out(json.dumps(tree, indent=1))


def toml_text(tree: dict[str, Any]) -> str:
    """A tree as TOML: arrays of tables under headers, the rest inline."""
    lines, tables = [], []
    for name, value in tree.items():
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            for table in value:
                tables.append(f"[[{_key(name)}]]")
                tables += [f"{_key(key)} = {_inline(inner)}" for key, inner in table.items()]
        else:
            lines.append(f"{_key(name)} = {_inline(value)}")
    return _spelt_out("\n".join([*lines, *tables]) + "\n")


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return "nan" if value is None else json.dumps(value)


def _key(name: object) -> str:
    return json.dumps(str(name))


def _spelt_out(text: str) -> str:
    return text.replace(f'"{DEEP}"', "[" * 3000 + "]" * 3000).replace(f'"{DIGITS}"', "7" * 5000)


# ---- bytes ---------------------------------------------------------------------------------

_TOKENS = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\n", b"\r", b"\t", b"{", b"}", b"[" * 2000, b"]", b'"',
    b"'''", b'"""', b"&a *a", b"!!python/object:os.system", b"---\n", b"#", b":", b"\\u0000",
    b"9" * 5000, b"1e999", b"NaN", b"a." * 2000, b"=", b"x" * 70_000, b"\xef\xbb\xbf", b"\x1b[2J",
)


def broken_bytes(random: Random, data: bytes) -> bytes:
    """``data`` with one to eight parts of it lost, repeated, moved or overwritten."""
    for _ in range(random.randint(1, 8)):
        at = random.randrange(len(data) + 1)
        end = min(len(data), at + random.choice((1, 1, 4, 30, 300)))
        part = data[at:end]
        data = random.choice((
            data[:at] + data[end:],
            data[:at] + part * random.choice((2, 3, 20)) + data[end:],
            data[:at] + random.choice(_TOKENS) + data[at:],
            data[:at] + random.randbytes(random.choice((1, 2, 9))) + data[end:],
            data[end:] + part + data[:at],
            data[:at] or data,
        ))
    return data[:400_000]


# ---- words ---------------------------------------------------------------------------------

_ODD_WORDS = ("", "0", "-1", "2", "7", "1000001", "9" * 30, "1.5", "x", "&lol;", "<", "]]>", "\"",
              "{", "true", "\u202e", "@", "none")


def broken_words(random: Random, text: str) -> str:
    """``text`` with one to three of its words, numbers or lines changed for others."""
    import re

    for _ in range(random.randint(1, 3)):
        words = list(re.finditer(r"[\w.]+", text))
        lines = text.splitlines(keepends=True)
        if not words or random.random() < 0.2:
            if lines:
                line = lines.pop(random.randrange(len(lines)))
                if random.random() < 0.5:
                    lines.insert(random.randrange(len(lines) + 1), line)
            text = "".join(lines)
            continue
        word = random.choice(words)
        other = random.choice(words)[0] if random.random() < 0.7 else random.choice(_ODD_WORDS)
        text = text[:word.start()] + other + text[word.end():]
    return text


# ---- Python --------------------------------------------------------------------------------

_WORDS = (
    "integer", "boolean", "choice", "fifo", "record", "array", "subset", "upto", "one_of", "const",
    "table", "each", "require", "action", "always", "step", "leads_to", "never_stuck", "self",
    "len", "sum", "min", "range", "any", "Machine", "expect", "prove", "MUST", "x", "int", "max",
)
_EXPRESSIONS = (
    "None", "-1", "0", "2**64", "10**4000", "'x'", "()", "(1, (2,))", "[]", "{}", "self", "1/0",
    "1//0", "x", "lambda s: s", "not 1", "1 if self else 2", "(i for i in range(3))", "len",
    "upto(-2)", "range(10**6)", "f'{1}'", "True", "1.5", "...", "upto(2**40)", "self.self", "b'x'",
    "int('9'*5000)", "const(1)", "integer(0, 1)", "super()", "{1: 2}", "-self", "[1, 2][0]",
    "(yield)", "await_",
)
_STATEMENTS = (
    "pass", "return", "raise ValueError('x' * 9999)", "assert False", "import os", "del self",
    "x = 1", "while True: pass", "for i in range(10**9): pass", "self.x = self",
    "def f(): return f()", "x: int", "class Y(Machine): pass", "require(0)", "global x",
    "with self: pass", "try: pass\nexcept: pass", "raise SystemExit(0)", "self.x += 1",
    "print('out')", "EXPECTATIONS = 3", "match 1:\n case _: pass",
)


def broken_python(random: Random, text: str) -> str:
    """The text of a program with one to three changes in its syntax tree."""
    tree = ast.parse(text)
    for _ in range(random.choice((1, 1, 2, 3))):
        random.choice(_PYTHON)(random, tree)
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except (ValueError, TypeError, AttributeError):   # a tree that is no program
        return text


def _new_expression(random: Random, tree: ast.Module) -> None:
    """Put an odd expression, or another one of the file, in the place of one."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    other: ast.expr = ast.parse(random.choice(_EXPRESSIONS), mode="eval").body
    if random.random() < 0.4:
        other = copy.deepcopy(random.choice(nodes))
    places = [(parent, name, at) for parent in ast.walk(tree)
              for name, value in ast.iter_fields(parent)
              for at, child in (enumerate(value) if isinstance(value, list) else [(None, value)])
              if isinstance(child, ast.expr)]
    parent, name, at = random.choice(places)
    if at is None:
        setattr(parent, name, other)
    else:
        getattr(parent, name)[at] = other


def _new_statement(random: Random, tree: ast.Module) -> None:
    """Lose a statement, do it twice, or put an odd one before it."""
    body = random.choice(_bodies(tree))
    at = random.randrange(len(body))
    kind = random.randrange(3)
    if kind == 0 and len(body) > 1:
        del body[at]
    elif kind == 1:
        body.insert(at, copy.deepcopy(body[at]))
    else:
        body[at:at] = ast.parse(random.choice(_STATEMENTS)).body


def _bodies(tree: ast.Module) -> list[list[ast.stmt]]:
    return [node.body for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.If | ast.For)]


def _new_name(random: Random, tree: ast.Module) -> None:
    """Call a thing by the name of another."""
    kinds = ast.Name | ast.Attribute | ast.arg | ast.keyword | ast.FunctionDef
    named: list[Any] = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    node = random.choice(named)
    field = next(name for name in ("id", "attr", "arg", "name") if hasattr(node, name))
    names = [getattr(other, "id", None) or getattr(other, "attr", None) for other in named]
    word = random.choice([*_WORDS, *filter(None, names)])
    setattr(node, field, word)


def _new_arguments(random: Random, tree: ast.Module) -> None:
    """Lose an argument of a call, or give one too many."""
    call = random.choice([node for node in ast.walk(tree) if isinstance(node, ast.Call)])
    listed: list[Any] = random.choice((call.args, call.keywords))
    if listed and random.random() < 0.6:
        del listed[random.randrange(len(listed))]
    else:
        call.args.append(ast.parse(random.choice(_EXPRESSIONS), mode="eval").body)


def _near_number(random: Random, tree: ast.Module) -> None:
    """Change a number a little, the sense of a comparison, or an operator."""
    nodes = [node for node in ast.walk(tree)
             if isinstance(node, ast.Compare | ast.BinOp | ast.AugAssign)
             or (isinstance(node, ast.Constant) and type(node.value) is int)]
    node = random.choice(nodes)
    if isinstance(node, ast.Constant):
        node.value += random.choice((-1, 1, 2))  # type: ignore[operator]
    elif isinstance(node, ast.Compare):
        node.ops[0] = random.choice((ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In))()
    else:
        node.op = random.choice((ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod))()


_PYTHON: tuple[Callable[[Random, ast.Module], None], ...] = (
    _near_number, _near_number, _near_number, _new_expression, _new_expression, _new_statement,
    _new_name, _new_arguments,
)
