"""HTML reports, in a headless Chromium: what they show, how fast, and what they must not do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import chromium
import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli import root
from checkvalve.conformance.designs import check_design
from checkvalve.conformance.gate.report import Report, Row
from checkvalve.conformance.report import write_sections
from checkvalve.conformance.report.designs import section
from checkvalve.conformance.report.page import Line, Section, page
from checkvalve.conformance.report.rows import gate_sections
from checkvalve.conformance.report.runs import MOST_STEPS, run_of
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.why.findings import DesignReport

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples" / "designs"

in_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium.program() is None, reason="needs Chromium")]

LOOP = """checkvalve: 2
name: loop
tasks:
  source: {{kind: source}}
  merge: {{kind: merge}}
  broadcast: {{kind: broadcast}}
  sink: {{kind: sink}}
links:
  - {{from: source, to: merge, capacity: 1}}
  - {{from: merge, to: broadcast, capacity: {size}}}
  - {{from: broadcast, to: merge, capacity: {size}, name: feedback}}
  - {{from: broadcast, to: sink, capacity: 1}}
"""
HOSTILE = "<img src=x onerror=document.title='broken'>"
ABOUT = "</script><script>document.title='broken'</script><!--<script>"
LINK = "'\"><svg onload=document.title='broken'>&amp;"


def report_on(text: str) -> DesignReport:
    """The report on a design."""
    return check_design(text)


def hostile() -> DesignReport:
    """The report on a design with markup as names. A file cannot have such names; its text about
    itself can."""
    design = load(LOOP.format(size=2))
    def named(tasks: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(HOSTILE if task == "merge" else task for task in tasks)
    links = [replace(link, name=LINK if link.name == "feedback" else link.name,
                     writers=named(link.writers), readers=named(link.readers))
             for link in design.links.values()]
    tasks = [replace(task, name=HOSTILE if task.name == "merge" else task.name)
             for task in design.tasks.values()]
    return check_design(replace(
        design, name=HOSTILE, about=ABOUT, file=HOSTILE,
        links={link.name: link for link in links}, tasks={task.name: task for task in tasks}))


def written(folder: Path, *reports: DesignReport) -> Path:
    """The page of these reports."""
    path = folder / "report.html"
    write_sections(path, "checkvalve check", [
        section(report, f"d{number}") for number, report in enumerate(reports)])
    return path


def violations(browser: chromium.Page) -> list[str]:
    """The violations of accessibility that axe-core finds in the page."""
    browser.value(chromium.AXE.read_text(encoding="utf-8") + "; 0")
    return list(browser.value("axe.run().then(found => found.violations.map("
                              "each => each.id + ': ' + each.nodes.map(n => n.html).join()))"))


def data_of(path: Path) -> Any:
    """The data in a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>',
                      path.read_text(encoding="utf-8"), re.S)
    assert found is not None
    return json.loads(found[1])


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Page]:
    """One browser for all tests here."""
    with chromium.opened() as opened:
        opened.shown_as()
        yield opened


# --- the data ------------------------------------------------------------------------------------

@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*-deadlocked.yaml")), ids=lambda p: p.stem)
def test_the_changes_of_each_example_add_up_to_what_was_found(path: Path) -> None:
    """So every step can be shown; the page shows no contents where they do not."""
    report = check_design(path)
    for finding in report.findings:
        if finding.outcome.value == "violated" and finding.length:
            run = run_of(report.design, finding, None)
            assert run["known"], finding.name
            assert len(run["steps"]) >= finding.length


def test_a_run_of_legs_is_written_step_by_step() -> None:
    """As many as the page has; the moves are few."""
    report = report_on(LOOP.format(size=8_334))
    run, = section(report, "d").runs
    assert len(run["steps"]) == run["length"] > 50_000
    assert len(run["moves"]) < 20 and run["known"]


def test_a_run_that_is_too_long_is_cut() -> None:
    """The page says so, and shows no end that it does not have."""
    report = report_on(LOOP.format(size=100_000))
    run, = section(report, "d").runs
    assert run["length"] > len(run["steps"]) == MOST_STEPS


def test_no_text_of_a_design_is_markup() -> None:
    """Neither in the data nor in the drawing."""
    text = page(HOSTILE, [section(hostile(), "d")])
    assert "<img" not in text and "<svg onload" not in text
    assert text.count("<script") == 2 and text.count("</script>") == 2


def test_a_text_that_looks_like_a_place_of_the_template_stays_a_text(tmp_path: Path) -> None:
    """Text that is filled in is not searched again."""
    path = tmp_path / "page.html"
    path.write_text(page("t", [Section("{{program}} {{data}}", lines=(Line("ok", "a", "b"),))]))
    assert data_of(path)["sections"][0]["title"] == "{{program}} {{data}}"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of all other commands, by command."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "loop.yaml").write_text(LOOP.format(size=2))
    (folder / "checkvalve.toml").write_text(
        '[[designs]]\nfiles = ["loop.yaml"]\n\n[[suites]]\nsuite = "queue"\n'
        'targets = ["zoo:silent-drop"]\ncases = 4\n')
    made = folder / "fixtures"
    runs = {
        "conform": ["zoo:silent-drop", "--cases", "8", "--fixtures", str(made)],
        "replay": [str(made / "queue-zoo-silent-drop-QUEUE-1.json"), "zoo:silent-drop"],
        "gate": [str(folder), "--json-file", str(folder / "gate.json"), "--junit",
                 str(folder / "gate.xml")],
        "verify": ["storm.queue"],
    }
    found = {}
    for command, arguments in runs.items():
        found[command] = folder / f"{command}.html"
        done = CliRunner().invoke(root, [command, *arguments, "--html", str(found[command])],
                                  standalone_mode=False)
        assert found[command].is_file(), done.output
    return found


def test_a_broken_rule_has_its_source_its_steps_and_what_was_allowed(
    pages: dict[str, Path]
) -> None:
    """With the command that replays it, in conform and in replay."""
    for command in ("conform", "replay"):
        part, = data_of(pages[command])["sections"]
        run, = part["runs"]
        assert run["rule"]["id"] == "QUEUE-1" and run["rule"]["source"]
        last = run["moves"][run["steps"][-1]]
        assert last["breaks"] and last["allowed"] == ["refused"]
        assert json.loads(last["request"])["do"] == "offer"
        assert json.loads(last["reply"])
        assert run["again"].startswith("checkvalve replay ")


def test_a_gate_and_the_rule_book_have_a_section_for_each_subject(
    pages: dict[str, Path]
) -> None:
    """Rows that are not as expected are marked so."""
    designs, suites = data_of(pages["gate"])["sections"]
    assert [line["mark"] for line in designs["lines"]] == ["fail", "ok", "ok"]
    assert suites["runs"][0]["rule"]["id"] == "QUEUE-1"
    run, = designs["runs"]
    assert run["kind"] == "design" and designs["drawings"] == [run["drawing"]]
    chapters = data_of(pages["verify"])["sections"]
    assert {line["mark"] for part in chapters for line in part["lines"]} == {"ok"}
    assert any(part["runs"] for part in chapters)


def test_a_page_names_what_is_accepted_as_such() -> None:
    """It is decided, as what a baseline lists or the revision had already."""
    row = Row("suites", "queue on x", "QUEUE-12", "no breach", "violated", "accepted", "as of HEAD")
    told, = gate_sections(Report("checkvalve.toml", (row,), 0.0))
    assert told.lines[0].mark == "accepted"
    assert 'accepted: "accepted"' in page("gate", [told])


# --- the page ------------------------------------------------------------------------------------

class TestInBrowser:
    """The title, as a browser has it."""

    pytestmark = in_browser

    @pytest.mark.parametrize(("size", "least"), [(2, 10), (167, 1_000), (8_334, 50_000)])
    def test_a_key_costs_no_more_in_a_longer_run(
        self, browser: chromium.Page, tmp_path: Path, size: int, least: int
    ) -> None:
        """In a run of ten, a thousand and fifty thousand steps, a key reads and changes as little,
        where states are kept and where they are not; and the file stays small."""
        path = written(tmp_path, report_on(LOOP.format(size=size)))
        assert path.stat().st_size < 5_000_000
        browser.open(path)
        length = browser.value("Player.active.run.length")
        assert length >= least
        assert browser.value("document.querySelectorAll('*').length") < 1_000
        browser.value(COUNTED)
        for place in (length // 2, length // 2 // 256 * 256, length):
            browser.value(f"Player.active.go({place})")
            for key in ("ArrowLeft", "ArrowLeft", "ArrowRight"):
                browser.value("work.read = work.changed = 0")
                browser.press(key, 1)
                work = browser.value("work")
                assert work["read"] < 1_000 and 0 < work["changed"] < 1_000, work
            assert browser.value("Player.active.step") == max(0, place - 2) + 1
        assert browser.problems == []

    def test_no_request_leaves_the_page(self, browser: chromium.Page, tmp_path: Path) -> None:
        """Not even one that a script in it makes: the policy forbids it."""
        path = written(tmp_path, report_on(LOOP.format(size=2)))
        browser.open(path)
        assert browser.requests == [path.as_uri()]
        assert browser.value("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')"
                             ) == "refused"
        browser.problems.clear()

    def test_names_are_shown_as_they_are(self, browser: chromium.Page, tmp_path: Path) -> None:
        """And run nothing."""
        browser.open(written(tmp_path, hostile()))
        assert browser.value("document.title") == "checkvalve check"
        shown = browser.value("document.body.textContent")
        assert HOSTILE in shown and LINK in shown and ABOUT in shown
        assert HOSTILE in browser.value("document.querySelector('svg.design').textContent")
        assert browser.value("document.querySelectorAll('img, [onload], [onerror]').length") == 0
        assert browser.problems == []

    def test_the_cycle_lights_up_when_it_is_closed(
        self, browser: chromium.Page, tmp_path: Path
    ) -> None:
        """And queues show what they hold at each step."""
        browser.open(written(tmp_path, report_on(LOOP.format(size=2))))
        lit = "document.querySelectorAll('.design .wait.lit').length"
        taken = "document.querySelectorAll('.design .taken').length"
        assert browser.value(lit) == browser.value(taken) == 0
        browser.value("Player.active.go(Player.active.run.length)")
        assert browser.value(lit) == 4  # each of two waits to its queue, and on to a task
        assert browser.value(taken) == 5  # both queues of the loop, and the one before it

    def test_the_keyboard_alone_is_enough(self, browser: chromium.Page, tmp_path: Path) -> None:
        """Tab comes to each control; the slider and the buttons take keys."""
        browser.open(written(tmp_path, report_on(LOOP.format(size=2))))
        reached = []
        for _ in range(12):
            browser.press("Tab")
            reached.append(browser.value(
                "document.activeElement.getAttribute('aria-label') || ''"))
        assert {"To the start", "One step on", "To the end"} <= {*reached}
        browser.value("document.querySelector('input[type=range]').focus()")
        browser.press("End")
        assert browser.value("Player.active.step === Player.active.run.length")
        browser.value("document.querySelector('[aria-label=\"To the start\"]').focus()")
        browser.press("Enter")
        assert browser.value("Player.active.step") == 0

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [390, 1200])
    def test_it_is_accessible_and_fits(
        self, browser: chromium.Page, tmp_path: Path, scheme: str, width: int
    ) -> None:
        """In both colour schemes, on a screen and on a phone, at the end of the run."""
        if not chromium.AXE.is_file():
            pytest.skip("needs axe-core: .venv/bin/python .ci/programs.py")
        browser.shown_as(scheme=scheme, width=width)
        browser.open(written(tmp_path, *(check_design(EXAMPLES / f"{name}.yaml") for name in (
            "akka-a1-deadlocked", "nested-pool-deadlocked", "overflow-reorders"))))
        browser.value("Player.active.go(Player.active.run.length)")
        assert browser.value("document.documentElement.scrollWidth") <= width
        found = violations(browser)
        browser.shown_as()
        assert found == []


    @pytest.mark.parametrize("command", ["conform", "replay", "gate", "verify"])
    def test_the_pages_of_all_commands_are_accessible_and_fit(
        self, browser: chromium.Page, pages: dict[str, Path], command: str
    ) -> None:
        """On a phone, at the end of the run that the arrow keys move."""
        if not chromium.AXE.is_file():
            pytest.skip("needs axe-core: .venv/bin/python .ci/programs.py")
        browser.shown_as(width=390)
        browser.open(pages[command])
        browser.press("ArrowRight", 2)
        assert browser.value("Player.active.step") == 2
        assert browser.value("document.documentElement.scrollWidth") <= 390
        found = violations(browser)
        browser.shown_as()
        assert found == [] and browser.problems == []
        assert browser.requests == [pages[command].as_uri()]


COUNTED = """window.work = {read: 0, changed: 0};
const counted_ = (list) => new Proxy(list, {get: (of, name) => { work.read++; return of[name]; }});
const run_ = Player.active.run;
run_.data.steps = counted_(run_.data.steps);
run_.kept = counted_(run_.kept);
for (const name of ["writes", "reads", "writers", "readers"]) run_[name] = run_[name].map(counted_);
new MutationObserver((records) => {
  for (const record of records) {
    work.changed++;
    for (const node of record.addedNodes) {
      work.changed += node.querySelectorAll ? node.querySelectorAll("*").length : 0;
    }
  }
}).observe(document, {subtree: true, childList: true, attributes: true, characterData: true}); 0"""
"""Counts the steps, states and messages of the run that are read, and the nodes of the page that
are changed."""
