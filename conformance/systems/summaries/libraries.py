"""Clients of metrics, which roll up measured values until they are read."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, ClassVar

from ...adapters.base import missing
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from .port import PORT

__all__ = ["DatadogCount", "OpenTelemetrySum"]


class OpenTelemetrySum(PortAdapter):
    """A counter, and an in-memory reader of differences: a credit is a reading."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "rolls up"
    name = "opentelemetry.sdk.metrics.Counter"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        try:
            from opentelemetry.sdk.metrics import Counter, MeterProvider
            from opentelemetry.sdk.metrics.export import (
                AggregationTemporality, InMemoryMetricReader,
            )
        except ImportError:
            raise missing("opentelemetry-sdk") from None
        self.version = version("opentelemetry-sdk")  # type: ignore[misc]
        self._reader = InMemoryMetricReader(
            preferred_temporality={Counter: AggregationTemporality.DELTA})
        provider = MeterProvider(metric_readers=[self._reader], shutdown_on_exit=False)
        self._counter = provider.get_meter("checkvalve").create_counter("values")

    def offer(self, value: int) -> bool:
        self._counter.add(value)
        return True

    def take(self) -> list[Any] | None:
        read: Any = self._reader.get_metrics_data()
        points = [point for resource in (read.resource_metrics if read else ())
                  for scope in resource.scope_metrics
                  for metric in scope.metrics for point in metric.data.data_points]
        return [point.value for point in points] or None


class DatadogCount(PortAdapter):
    """The part of ``DogStatsd`` that aggregates; a credit is a flush, which sends what is there."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "rolls up"
    name = "datadog.dogstatsd.aggregator.Aggregator"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        try:
            from datadog.dogstatsd.aggregator import Aggregator
        except ImportError:
            raise missing("datadog") from None
        self.version = version("datadog")  # type: ignore[misc]
        self._aggregator = Aggregator()

    def offer(self, value: int) -> bool:
        self._aggregator.count("values", value, None, 1)
        return True

    def take(self) -> list[Any] | None:
        return [each.value for each in self._aggregator.flush_aggregated_metrics()] or None
