"""The requests: when each comes, and how long each takes.

Intervals are exponential, and latencies log-normal, given by their median and their third
quartile. A request with a latency of at least the timeout expires. Times are whole ms: what is cut
off an interval is carried to the next, so the rate is exact in the long run; a latency is cut off,
which changes no outcome, for the timeout is whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from statistics import NormalDist

__all__ = ["CASES", "Case", "Settings", "Workload", "draw", "keys_of"]

Z75 = 0.6744898  # the third quartile of the standard normal distribution


@dataclass(frozen=True)
class Settings:
    """What all runs of a benchmark have in common. Times in ms, ``size`` in bytes."""

    timeout: int = 200
    tick: int = 1
    wheel_size: int = 20
    keys: int = 3
    key_space_size: int = 100
    size: int = 100
    purge_interval: int = 1000
    seed: int = 1


@dataclass(frozen=True)
class Case:
    """A distribution of latencies: half of them are below ``p50`` ms, 3/4 below ``p75`` ms."""

    name: str
    p50: float
    p75: float

    @property
    def mu(self) -> float:
        """The mean of a latency's logarithm."""
        return log(self.p50)

    @property
    def sigma(self) -> float:
        """The standard deviation of a latency's logarithm."""
        return (log(self.p75) - self.mu) / Z75

    def expired(self, timeout: float) -> float:
        """The fraction of requests that take ``timeout`` ms or more: 1 - Phi."""
        return 1 - NormalDist(self.mu, self.sigma).cdf(log(timeout))

    def pending_ms(self, timeout: float) -> float:
        """How long a request is pending on average: E[min(latency, timeout)] in ms.

        Times the rate it is the number of pending requests (Little's law).
        """
        z = (log(timeout) - self.mu) / self.sigma
        below = exp(self.mu + self.sigma**2 / 2) * NormalDist().cdf(z - self.sigma)
        return below + timeout * self.expired(timeout)


CASES = (Case("low", 20, 60), Case("high", 200, 400))
"""The two of the text, named by how many requests time out."""


@dataclass(frozen=True)
class Workload:
    """Requests in the order in which they come: arrivals and latencies, in ms.

    ``rate`` is in requests a second; infinite where each comes as soon as it can be taken, so
    that all arrivals are 0.
    """

    case: Case
    rate: float
    arrivals: list[int]
    latencies: list[int]

    def expired(self, timeout: int) -> int:
        """How many of the requests have to expire."""
        return sum(latency >= timeout for latency in self.latencies)


def draw(case: Case, rate: float, count: int, seed: int) -> Workload:
    """``count`` requests of ``case`` at ``rate`` a second; a pure function of its arguments."""
    import numpy as np

    # Two streams, so that the latencies are those of every rate.
    intervals, latencies = (np.random.default_rng([seed, stream]) for stream in (0, 1))
    times = np.cumsum(intervals.exponential(1000 / rate, count))
    taken = latencies.lognormal(case.mu, case.sigma, count)
    return Workload(case, rate, times.astype(np.int64).tolist(), taken.astype(np.int64).tolist())


def keys_of(settings: Settings) -> list[str]:
    """The keys that every request of a run watches, drawn once, some perhaps twice."""
    import numpy as np

    drawn = np.random.default_rng([settings.seed, 2]).integers(
        0, settings.key_space_size, settings.keys)
    return [f"key {number}" for number in sorted(set(drawn.tolist()))]
