"""What is mutated, in groups as the report has them; and the tests that are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from checkvalve.conformance.systems.catalogue import SYSTEMS

from .tree import Project

__all__ = ["ELSEWHERE", "GROUPS", "Group", "TARGETS", "group_of", "modules_of", "files_asked"]


@dataclass(frozen=True)
class Group:
    """Modules and packages by prefix, and globs of test files that concern them.

    Modules of the reference are first shown to the suites, as a user would. ``most`` mutants of
    a module are taken, where the usual share would be too many.
    """

    prefixes: tuple[str, ...]
    tests: tuple[str, ...]
    suites: bool = False
    most: int | None = None


_VERDICTS = ("test_search*", "test_two_readings", "test_native_*", "test_show_evaluate",
             "test_liveness*", "test_monitor*", "test_traces_in_words", "test_own_chapter",
             "test_alike", "test_wide_arrays")
_SUITES = ("test_suite_parts", "test_suite_runs", "test_suite_chapters", "test_suite_zoo",
           "test_fixture_format", "test_storm_histories", "test_judge*", "test_shrink*",
           "test_replay*", "test_steadiness", "test_suite_explanations", "test_storm_cluster_port")

GROUPS: Final[Mapping[str, Group]] = {
    "reference": Group(
        ("reference",),
        ("test_reference_*", "test_kafka_callbacks*", "test_coordination_memory",
         "test_kafka_controller*", "test_kafka_failover_suite", "test_kafka_failover_clients",
         "test_kafka_failover_topics", "test_kafka_failover_waits",
         "test_*_reference", "test_awaits_suites", "test_bookkeeper_*", "test_coroutine_*",
         "test_giving_way", "test_job_server_example", "test_kafka_hosted_parts",
         "test_kafka_operators", "test_marks",
         "test_rate_limits",
         "test_reactive_targets", "test_scheduled_conditions", "test_scheduling_threads",
         "test_storm_cluster_*", "test_storm_input_status", "test_summaries", "test_virtual_loop"),
        suites=True),
    "search": Group(
        ("spec.engines.search", "spec.engines.graph", "spec.engines.compiled",
         "spec.notation.interpreter", "spec.engines.report"), _VERDICTS),
    "liveness": Group(("spec.engines.liveness",), _VERDICTS),
    "replay": Group(
        ("spec.engines.replay", "conformance.campaigns.replay", "conformance.suites.run",
         "conformance.campaigns.case"),
        ("test_search", *_SUITES)),
    "monitor": Group(
        ("spec.engines.monitor", "spec.engines.candidates", "spec.engines.effects"),
        ("test_candidates", "test_search", "test_monitor*", *_SUITES)),
    "judge": Group(
        ("conformance.suites.judge", "conformance.suites.breach", "conformance.suites.plain",
         "conformance.suites.history",
         "conformance.suites.standing", "conformance.suites.exchange", "conformance.suites.needs",
         "conformance.suites.asking", "conformance.campaigns.enough"),
        (*_SUITES, "test_says", "test_standing", "test_suite_enough", "test_suite_needs")),
    "shrinker": Group(("conformance.suites.shrink",), _SUITES),
    "prover": Group(("spec.engines.prove",), ("test_prove_*", "test_alike")),
    "lowering": Group(
        ("spec.notation.lower", "spec.notation.execute", "spec.notation.translate",
         "spec.notation.symbolic", "spec.notation.layout", "spec.notation.expr",
         "spec.notation.ranges", "spec.notation.evaluate", "spec.notation.builtins_"),
        ("test_notation_refusals", "test_lower*", *_VERDICTS, "test_prove_*", "test_tla_export")),
    "code generation": Group(
        ("spec.engines.native", "spec.engines.tla"),
        ("test_native_*", "test_two_readings", "test_tla_*", "test_search", "test_alike",
         "test_logs_things")),
    "refinement": Group(
        ("spec.engines.refine", "spec.engines.follow", "spec.engines.distinguish",
         "spec.engines.components", "spec.engines.alike"),
        ("test_refine", "test_components", "test_alike", "test_identify", "test_standing",
         "test_inner_steps*")),
    "designs": Group(
        ("spec.design",),
        ("test_design_*", "test_exact_conditions", "test_identify", "test_nets",
         "test_coloured_nets", "test_budget_phases"), most=1),
    "certifier": Group(
        ("spec.certify",),
        ("test_design_certificates*", "test_design_confluence", "test_design_kinds",
         "test_design_live", "test_design_pursuit"), most=1),
}

TARGETS: Final[Mapping[str, str]] = {
    each.name: suite for suite, system in SYSTEMS.items() for each in system.references}
"""Each reference that can be a target, and its suite."""


ELSEWHERE: Final[Mapping[str, str]] = {
    "reference.drivers.tcp": "tests/test_storm_cluster_tcp.py",
    "reference.drivers.tcp_faults": "tests/test_storm_cluster_tcp.py",
}
"""Modules that run in processes of their own, where the survey sees nothing: each is shown to
all tests of a file."""


UNASKED: Final = (
    "reference.drivers.zookeeper", "reference.drivers.zookeeper_cluster",
    "reference.drivers.paced",
)
"""Modules that are not mutated: only a real server would notice, and no killer starts one."""


def modules_of(project: Project, group: Group) -> list[str]:
    """The modules of a group that have any code and are asked about, in order."""
    found = []
    for prefix in group.prefixes:
        file = project.file(prefix)
        files = [file] if file.is_file() else sorted(file.with_suffix("").rglob("*.py"))
        found += [".".join(each.relative_to(project.root).with_suffix("").parts)
                  for each in files if each.name != "__init__.py"]
    return [module for module in found if module not in UNASKED]


def group_of(module: str, groups: Mapping[str, Group] = GROUPS) -> str:
    """The name of the group that a module is in."""
    return next(name for name, group in groups.items()
                if any(f"{module}.".startswith(f"{prefix}.") for prefix in group.prefixes))


def files_asked(project: Project, group: Group) -> list[Path]:
    """The test files that concern a group."""
    tests = project.root / "tests"
    return sorted({file for glob in group.tests for file in tests.glob(f"{glob}.py")})
