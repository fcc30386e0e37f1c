"""Designs read from what people already have: verdicts, assumptions, and refusals with a place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli import root
from checkvalve.conformance.designs import check_file, load_designs
from checkvalve.spec.design.formats import files
from checkvalve.spec.design.formats.files import FORMATS, format_of, load_any
from checkvalve.spec.design.repairs.change import Scope
from checkvalve.spec.notation.errors import InputError

EXAMPLES = Path(__file__).parent.parent / "examples" / "formats"

VERDICTS = {
    "feedback.dot": {
        "deadlock-free": "violated", "no-local-deadlock": "holds", "bounded": "holds"},
    "pools.graphml": {
        "deadlock-free": "violated", "no-local-deadlock": "holds", "bounded": "holds"},
    "purchases.kafka.txt": {
        "deadlock-free": "holds", "no-local-deadlock": "holds", "bounded": "violated"},
    "readers-writer.pnml": {
        "deadlock-free": "holds", "no-local-deadlock": "holds", "bounded": "holds"},
    "retries.flux.yaml": {
        "deadlock-free": "violated", "no-local-deadlock": "holds", "bounded": "holds"},
    "socket-window.flink.json": {
        "deadlock-free": "holds", "no-local-deadlock": "holds", "bounded": "holds"},
    "word-count.flux.yaml": {
        "deadlock-free": "holds", "no-local-deadlock": "holds", "bounded": "holds"},
}


@pytest.mark.parametrize("name", VERDICTS)
def test_each_example_has_its_verdict_and_says_what_was_assumed(name: str) -> None:
    """One file of each format; what such a file leaves open is part of the report."""
    report = check_file(EXAMPLES / name)
    assert {each.name: each.outcome.value for each in report.findings} == VERDICTS[name]
    assert report.to_json()["assumed"] == list(report.design.assumed) != []


def test_every_example_has_a_verdict_here_and_every_format_an_example() -> None:
    """So that no file of examples/formats/ is shown that nobody tried."""
    files = sorted(EXAMPLES.iterdir())
    assert [path.name for path in files] == sorted(VERDICTS)
    found = {format_of(path.read_text(), path.name) for path in files}
    assert found == set(FORMATS)


def test_the_format_is_found_by_content_where_the_suffix_says_nothing() -> None:
    """A plan is often kept as text, and a topology as plain YAML."""
    for path in EXAMPLES.iterdir():
        text = path.read_text()
        assert format_of(text, "unnamed") is format_of(text, path.name)
    for path in (EXAMPLES.parent / "designs").iterdir():
        assert format_of(path.read_text(), path.name) is None


RETRIES = """\
Topologies:
   Sub-topology: 0
    Source: in (topics: [clicks, clicks-retry, café])
      --> branch
    Processor: branch (stores: [])
      --> again, out
      <-- in
    Sink: again (topic: clicks-retry)
      <-- branch
    Sink: out (topic: done)
      <-- branch
"""


def test_what_stands_in_one_line_of_a_file_is_not_copies_of_one_task() -> None:
    """So a repair changes each by itself. Each topic has the column where it stands."""
    design = load_any(RETRIES.replace("é", "e"), "retries.txt")[0]
    told = [family.told for kind in (Scope(design, (), ()).tasks, Scope(design, (), ()).links)
            for family in kind]
    assert len(told) == len(design.tasks) + len(design.links)
    assert not any("copies" in name for name in told)
    assert str(design.tasks["writers of clicks"].spot) == "3:26"


def test_names_lose_accents_and_what_is_written_for_html() -> None:
    """Flink's web interface shows descriptions of a plan, so they are escaped for HTML."""
    plan = json.loads((EXAMPLES / "socket-window.flink.json").read_text())
    plan["nodes"][0]["contents"] = "Source: caf\u00e9 &lt;t&gt; -&gt; Map<br/>"
    design = load_any(json.dumps(plan), "plan.json")[0]
    assert next(iter(design.tasks)) == "Source cafe t Map"


def test_assumptions_are_printed_with_the_verdict(tmp_path: Path) -> None:
    """Storm's default room is 32,768; the file does not say so."""
    text = (EXAMPLES / "word-count.flux.yaml").read_text()
    path = tmp_path / "t.yaml"
    path.write_text(text.replace("  topology.executor.receive.buffer.size: 1024\n", ""))
    done = CliRunner().invoke(root, ["check", str(path)], standalone_mode=False)
    assert "taken for granted: topology.executor.receive.buffer.size" in done.output
    assert "32768" in done.output


def test_a_graph_is_the_design_that_its_yaml_is() -> None:
    """The same attributes, under the same names."""
    design = """
checkvalve: 2
name: loop
pools: {threads: {threads: 2}}
tasks:
  client:
    kind: script
    steps: [{write: ask, count: 3}, {acquire: threads}, {read: reply, count: 3}, {release: threads}]
  server: {kind: map, hand: 1}
links:
  - {from: client, to: server, capacity: 2, name: ask, flow: credit, batch: 2}
  - {from: server, to: client, capacity: 1, name: reply, initial: 1}
expect: {deadlock-free: violated}
"""
    graph = """digraph loop { pools="threads: 2"; expect_deadlock_free=violated
  client [kind=script,
          steps="write ask * 3; acquire threads; read reply * 3; release threads"]
  server [kind=map, hand=1]
  client -> server [capacity=2, name=ask, flow=credit, batch=2];
  server -> client [capacity=1, name=reply, initial=1] }"""
    one, other = load_any(design)[0], load_any(graph, "x.dot")[0]
    assert _without_spots(one) == _without_spots(other)


def _without_spots(design: object) -> str:
    return re.sub(r"spot=Spot\([^)]*\)|file='[^']*'", "", repr(design))


NET = """<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
<place id="p"><initialMarking><text>1</text></initialMarking></place>
<transition id="t"/>
<arc id="a" source="p" target="t"/>
</page></net></pnml>"""
GRAPH = """<graphml><key id="c" for="edge" attr.name="capacity"/>
<graph edgedefault="directed"><node id="a"/><node id="b"/>
<edge source="a" target="b"><data key="c">1</data></edge></graph></graphml>"""
DOT = "digraph d {\n a -> b [capacity=2]\n}"
FLUX = """name: t
config: {topology.max.spout.pending: 5}
spouts: [{id: s, className: org.example.S}]
bolts:
  - {id: b, className: org.example.B}
streams:
  - {from: s, to: b, grouping: {type: SHUFFLE}}
"""
KAFKA = """Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> out
    Sink: out (topic: bills)
      <-- in
"""
FLINK = """{"nodes": [{"id": 1, "contents": "Source", "parallelism": 1},
{"id": 2, "contents": "Sink", "parallelism": 1,
 "predecessors": [{"id": 1, "ship_strategy": "FORWARD"}]}]}"""

BOMB = ('<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "]>")


def changed(text: str, old: str, new: str) -> str:
    """The text with one change."""
    assert old in text
    return text.replace(old, new, 1)


def test_what_a_reader_nests_too_deep_for_python_is_an_error_of_the_file(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the format, where its own reader did not see it coming."""
    def read(*_given: object) -> None:
        raise RecursionError

    monkeypatch.setattr(files, "format_of", lambda *_: SimpleNamespace(name="X", read=read))
    with pytest.raises(InputError, match="this X file is nested too deep"):
        load_any("{}", "x.json")


REFUSED = [
    ("entities that grow without end", "n.pnml", BOMB + NET, "1:1", "DTD"),
    ("entities in a graph", "n.graphml", "<!-- x -->\n" + BOMB + GRAPH, "2:1", "DTD"),
    ("an external entity", "n.pnml", '<!DOCTYPE pnml SYSTEM "file:///etc/passwd">' + NET, "1:1",
     "read other files"),
    ("an entity that nobody declared", "n.pnml", changed(NET, ">1<", ">&lol;<"), "2:37",
     "undefined entity"),
    ("XML nested too deep", "n.pnml", "<pnml>" + "<page>" * 100_000, "1:241", "nested"),
    ("a tag that is not closed", "n.pnml", changed(NET, "</page>", ""), "5:3", "mismatched tag"),
    ("a timed net", "n.pnml", changed(NET, "ptnet", "timednet"), "1:7", "timednet"),
    ("an arc of another type", "n.pnml", changed(
        NET, 'target="t"/>', 'target="t"><type value="transport"/></arc>'), "4:1", "transport"),
    ("an arc to nowhere", "n.pnml", changed(NET, 'target="t"', 'target="u"'), "4:1",
     "nothing with the id 'u'"),
    ("an arc between places", "n.pnml", changed(NET, 'target="t"', 'target="p"'), "4:1", "leads"),
    ("a marking that is no number", "n.pnml", changed(NET, ">1<", ">-1<"), "2:15", "no number"),
    ("a page that refers to itself", "n.pnml", changed(
        changed(NET, "<trans", '<referencePlace id="r" ref="r"/><trans'), 'source="p"',
        'source="r"'), "4:1", "back to itself"),
    ("two nets", "n.pnml", changed(NET, "</net>", "</net><net/>"), "5:14", "one net"),
    ("an undirected graph", "n.graphml", changed(GRAPH, '"directed"', '"undirected"'), "2:1",
     "undirected"),
    ("a misspelt attribute", "n.graphml", changed(GRAPH, '"capacity"', '"capcity"'), "3:29",
     "'capacity'"),
    ("an edge to nowhere", "n.graphml", changed(GRAPH, 'target="b"', 'target="c"'), "3:1", "'c'"),
    ("a hyperedge", "n.graphml", changed(GRAPH, "<edge ", "<hyperedge/><edge "), "3:1",
     "hyperedge"),
    ("an edge without a capacity", "n.dot", changed(DOT, "[capacity=2]", ""), "2:2", "capacity"),
    ("a capacity that is no number", "n.dot", changed(DOT, "2]", "two]"), "2:10", "whole number"),
    ("a node of an open kind", "n.dot", changed(DOT, "a ->", "{a c} -> m [capacity=1]; m ->"),
     "2:11", "merge"),
    ("an undirected edge", "n.dot", changed(DOT, "->", "--"), "2:4", "--"),
    ("a graph that is not closed", "n.dot", DOT[:-1], "3:1", "the file ends"),
    ("a quote that is not closed", "n.dot", changed(DOT, "a ->", '"a ->'), "2:2", "quotes"),
    ("subgraphs nested too deep", "n.dot", "digraph d {" + "{" * 100_000, "1:28", "nested"),
    ("subgraphs with too many edges", "n.dot", "digraph d { {" + " ".join(
        f"a{n}" for n in range(9000)) + "} -> {" + " ".join(f"b{n}" for n in range(9000)) + "} }",
     "1:13", "edges"),
    ("a topology that Java builds", "t.yaml", "topologySource:\n  className: org.example.T\n",
     "1:1", "Java class"),
    ("a grouping of one's own", "t.yaml", changed(FLUX, "{type: SHUFFLE}", "{type: CUSTOM, "
     "customClass: {className: org.example.G}}"), "7:39", "SHUFFLE"),
    ("a grouping that is none", "t.yaml", changed(FLUX, "SHUFFLE", "SHUFLE"), "7:39", "SHUFFLE"),
    ("a bolt that is not there", "t.yaml", changed(FLUX, "to: b", "to: c"), "7:19", "'c'"),
    ("a bolt that nobody feeds", "t.yaml", changed(FLUX, "streams", "  - {id: c}\nstreams"), "6:5",
     "reads no stream"),
    ("a property of another file", "t.yaml", changed(FLUX, "id: b", "id: b, parallelism: '${p}'"),
     "5:26", "another file"),
    ("a limit and a loop", "t.yaml", FLUX + "  - {from: b, to: b, grouping: {type: SHUFFLE}}\n",
     "2:38", "loop (b -> b)"),
    ("an anchor that contains itself", "t.yaml", changed(FLUX, "streams:", "streams: &a [*a]\nx:"),
     "6:10", "anchors"),
    ("YAML nested too deep", "t.yaml", FLUX + "x: " + "[" * 5000, "8:19", "nested"),
    ("a topic of a pattern", "k.txt", changed(KAFKA, "[orders]", "order.*"), "3:5", "pattern"),
    ("a topic that a class chooses", "k.txt", changed(KAFKA, "topic: bills",
                                                      "extractor class: org.X"), "5:5", "class"),
    ("a node that is not there", "k.txt", changed(KAFKA, "--> out", "--> ut"), "4:7", "'out'"),
    ("a line of something else", "k.txt", KAFKA + "INFO started\n", "7:1", "no line"),
    ("an iteration", "f.json", changed(FLINK, '"id": 2,', '"id": 2, "pact": "IterativeDataStream",'
     ' "step_function": [],'), "2:1", "iteration"),
    ("a stored exchange", "f.json", changed(FLINK, '"ship_strategy": "FORWARD"',
                                            '"exchange": "blocking"'), "3:41", "stored"),
    ("a node that the plan lacks", "f.json", changed(FLINK, '{"id": 1, "ship', '{"id": 7, "ship'),
     "3:19", "'7'"),
    ("JSON nested too deep", "f.json", '{"nodes": [' + "[" * 100_000, "1:26", "nested"),
]


@pytest.mark.parametrize(("name", "text", "spot", "word"), [row[1:] for row in REFUSED],
                         ids=[row[0] for row in REFUSED])
def test_what_cannot_be_read_is_refused_with_its_place_and_the_next_step(
    name: str, text: str, spot: str, word: str
) -> None:
    """One message, with file, line and column; never a guess."""
    with pytest.raises(InputError) as caught:
        load_any(text, name)
    assert caught.value.where == f"{name}:{spot}"
    assert word in f"{caught.value.what} {caught.value.next_step}"
    assert caught.value.next_step


@pytest.mark.parametrize(("name", "text"), [
    ("n.pnml", NET), ("n.graphml", GRAPH), ("n.dot", DOT), ("t.yaml", FLUX), ("k.txt", KAFKA),
    ("f.json", FLINK), ("f.json", FLINK.replace(" ", "\t")), ("n.pnml", "\ufeff" + NET),
    ("f.json", json.dumps({"jid": "a", "plan": json.loads(FLINK)})),
])
def test_what_the_refusals_were_made_of_is_read(name: str, text: str) -> None:
    """Else they would be refused for something else."""
    assert len(load_any(text, name)) == 1


@pytest.mark.parametrize("text", [
    "<!-- -->" * 4000 + "<other/>", "/* */" * 4000 + "x", " " * 100_000 + "x",
    "<!DOCTYPE " * 4000, "digraph " * 20_000, "<?x" * 20_000, '{"nodes":' * 5000,
])
def test_no_text_takes_long_to_be_told_apart(text: str) -> None:
    """A form that can match in many ways would be tried in all of them, for years."""
    with pytest.raises(InputError):
        load_any(text, "x.yaml")


@pytest.mark.parametrize("suffix", ["pnml", "graphml", "dot", "yaml", "txt", "json"])
def test_a_file_of_another_encoding_or_size_is_refused(tmp_path: Path, suffix: str) -> None:
    """UTF-16, and 100 MB, of which no more than the allowed part is read."""
    path = tmp_path / f"file.{suffix}"
    path.write_bytes(NET.encode("utf-16"))
    with pytest.raises(InputError, match="UTF-16"):
        load_designs(path)
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(InputError, match="more than"):
        load_designs(path)


@pytest.mark.parametrize(("name", "words"), [
    ("belt.py", "A class in it is tested by `checkvalve conform thread:"),
    ("checkvalve.toml", "`checkvalve gate` runs what it lists."),
])
def test_a_file_for_another_command_is_told_which(name: str, words: str) -> None:
    """Before it is called bad YAML."""
    with pytest.raises(InputError, match="and no design") as caught:
        load_any("import queue\n", name)
    assert caught.value.where == name and words in caught.value.next_step
