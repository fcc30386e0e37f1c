"""Inputs about designs: in our language, in other formats, and certificates of verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, Final

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import EXPECTED, VIOLATED
from checkvalve.spec.notation.errors import InternalError

from .examples import certified, designs, formats, grids
from .mutate import broken_bytes, broken_tree, broken_words, json_text

__all__ = [
    "called", "check_document", "feed_certificate", "feed_design", "feed_format",
    "make_certificate", "make_design", "make_format",
]

_LITTLE: Final = ("--max-states", "150", "--max-seconds", "1")
_SCHEMAS: Final = Path(__file__).resolve().parents[2] / "docs" / "schemas"
_HEADER: Final = b"fuzz of "
"""Begins the first line of a file, which says what the rest is about."""
_LARGEST: Final = 20_000
"""Characters of a certificate that is mutated: of a larger one most changes would be alike."""


def called(arguments: list[str]) -> object:
    """What a command of checkvalve returns; where it prints JSON, that fits its schema."""
    said = StringIO()
    as_json = "--json" in arguments
    with root.make_context("checkvalve", arguments) as context, (
            redirect_stdout(said) if as_json else nullcontext()):
        code = root.invoke(context)
    if as_json:
        check_document(arguments[0], json.loads(said.getvalue()))
    return code


def check_document(command: str, document: object) -> None:
    """Raise InternalError where what a command printed does not fit its schema."""
    wrong = next(_validator(command).iter_errors(document), None)
    if wrong is not None:
        where = "/".join(map(str, wrong.absolute_path))
        raise InternalError(f"the JSON of {command} is not of its schema: {wrong.message[:200]}",
                            where)


@cache
def _validator(command: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads((_SCHEMAS / f"{command}.json").read_text("utf-8")))


# ---- designs -------------------------------------------------------------------------------


def make_design(random: Random) -> bytes:
    """A design in our language, some with parameters."""
    import yaml

    text = random.choice(grids() if random.random() < 0.25 else designs())
    if random.random() < 0.3:
        return broken_bytes(random, text.encode())
    tree = broken_tree(random, yaml.safe_load(text))
    if random.random() < 0.5:
        return json_text(tree).encode()
    return yaml.safe_dump(tree, allow_unicode=True).encode("utf-8", "surrogatepass")


def feed_design(path: Path, index: int) -> object:
    """Check it; now and then repair and draw it, certify what is found, or look for a law."""
    arguments = ["check", str(path), *_LITTLE]
    if index % 25 == 0:
        return called([*arguments, "--svg", str(path.parent / "drawings")])
    if index % 25 == 8:
        return _check_and_certify(path, [*arguments, "--no-repair", "--json"])
    if index % 100 == 17:
        return called(["law", str(path), *_over(path), "--max-seconds", "0.05"])
    return called([*arguments, "--no-repair", "--json"])


def _check_and_certify(path: Path, arguments: list[str]) -> object:
    """Check a design; the checker must not refute what was found."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        code = called([*arguments, "--certificates", folder])
        for written in sorted(Path(folder).iterdir()):
            if called(["certify", str(written), str(path)]) == VIOLATED:
                raise InternalError(f"its certificate {written.name} is refuted", "fuzz")
    return code


def _over(path: Path) -> list[str]:
    """What a law of a file without parameters might be over: one of its links, if that is read."""
    import yaml

    try:
        tree = yaml.safe_load(path.read_bytes())
        if "parameters" in tree:
            return []
        return ["--over", f"{next(link['name'] for link in tree['links'] if 'name' in link)}=1..3"]
    except (yaml.YAMLError, ValueError, TypeError, KeyError, StopIteration, RecursionError):
        return []


# ---- other formats -------------------------------------------------------------------------


def make_format(random: Random) -> bytes:
    """A design in another format. The first line is the suffix that the file is to have."""
    import yaml

    suffix, text = random.choice(formats())
    how = random.random()
    if how < 0.25:
        data = broken_bytes(random, text.encode())
    elif how < 0.6 and suffix in (".json", ".yaml"):
        data = json_text(broken_tree(random, yaml.safe_load(text))).encode("utf-8", "replace")
    else:
        data = broken_words(random, text).encode()
    return _HEADER + suffix.encode() + b"\n" + data


def feed_format(path: Path, _index: int) -> object:
    """Check it, under the name that its first line asks for."""
    about, data = _split(path)
    named = path.with_name(f"named{about}")
    named.write_bytes(data)
    return called(["check", str(named), *_LITTLE, "--no-repair", "--json"])


def _split(path: Path) -> tuple[str, bytes]:
    header, _, data = path.read_bytes().partition(b"\n")
    return header.removeprefix(_HEADER).decode(), data


# ---- certificates --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Certified:
    """A design with what is true of it, by property, and the certificates of that."""

    text: str
    verdicts: Mapping[str, str]
    documents: tuple[dict[str, Any], ...]


@cache
def _certificates() -> tuple[_Certified, ...]:
    from tempfile import TemporaryDirectory

    found = []
    for text in certified():
        with TemporaryDirectory() as folder, redirect_stdout(StringIO()):
            file = Path(folder, "design.yaml")
            file.write_text(text)
            called(["check", str(file), "--no-repair", "--certificates", f"{folder}/made"])
            texts = [each.read_text() for each in sorted(Path(folder, "made").iterdir())]
        every = [json.loads(each) for each in texts]
        small = [one for one, each in zip(every, texts, strict=True) if len(each) <= _LARGEST]
        found.append(_Certified(
            text, {one["property"]: one["verdict"] for one in every}, tuple(small)))
    return tuple(found)


def make_certificate(random: Random) -> bytes:
    """A certificate, some with another verdict or another's evidence. The first line has the
    number of its design."""
    number = random.randrange(len(_certificates()))
    document = dict(random.choice(_certificates()[number].documents))
    if random.random() < 0.25:
        other = random.choice(random.choice(_certificates()).documents)
        document["evidence"] = other["evidence"]
    if random.random() < 0.25:
        document["verdict"] = "holds" if document["verdict"] == "violated" else "violated"
    if random.random() < 0.15:
        data = broken_bytes(random, json.dumps(document).encode())
    else:
        data = json_text(broken_tree(random, document)).encode()
    return _HEADER + str(number).encode() + b"\n" + data


def feed_certificate(path: Path, _index: int) -> object:
    """Let the checker judge it, which must not confirm what is known to be false."""
    number, data = _split(path)
    about = _certificates()[int(number)]
    design, claim = path.with_name("certified.yaml"), path.with_name("certificate.json")
    design.write_text(about.text)
    claim.write_bytes(data)
    code = called(["certify", str(claim), str(design)])
    if code == EXPECTED:
        said = json.loads(data)
        if about.verdicts.get(said["property"], said["verdict"]) != said["verdict"]:
            raise InternalError("a false certificate is confirmed", "fuzz")
    return code
