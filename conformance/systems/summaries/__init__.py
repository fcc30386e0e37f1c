"""A stage that rolls up values that cannot go, or batches them."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="summaries",
    folder=__name__,
    subject="metrics",
    about="a stage that rolls up values that cannot go, or batches them",
    page="summaries-port.md",
    shipped=(
        Shipped("reference.summaries", "adapter:ReferenceSummaries",
                "the reference of a stage that rolls up"),
        Shipped("reference.batches", "adapter:ReferenceBatches",
                "the reference of a stage that batches"),
        Shipped("opentelemetry.sum", "libraries:OpenTelemetrySum",
                "OpenTelemetry's counter, read as differences: rolls up"),
        Shipped("datadog.count", "libraries:DatadogCount",
                "the aggregation in Datadog's StatsD client: rolls up"),
    ),
)
