"""A limit on a rate: a token bucket from which callers take permits."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="rate",
    folder=__name__,
    subject="links and flow control",
    about="a limit on a rate, with a depth: a token bucket, or what claims to be one",
    page="rate-port.md",
    by_name="named",
    shipped=(
        Shipped("reference.rate", "adapter:ReferenceRate", "the reference of a token bucket"),
        Shipped("reference.rate.log", "adapter:ReferenceLog", "the reference of a sliding log"),
        Shipped("aiolimiter", "libraries:AiolimiterRate",
                "aiolimiter's AsyncLimiter, a leaky bucket for asyncio"),
        Shipped("limits.fixed_window", "libraries:FixedWindowRate",
                "limits' FixedWindowRateLimiter: a count that begins anew"),
        Shipped("limits.moving_window", "libraries:MovingWindowRate",
                "limits' MovingWindowRateLimiter: a log of the last period"),
        Shipped("token_bucket", "libraries:TokenBucketRate",
                "token_bucket's Limiter with its storage in memory"),
    ),
)
