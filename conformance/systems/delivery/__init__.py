"""A broker with acknowledgements: what is given and not acknowledged comes again."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="delivery",
    folder=__name__,
    subject="links and flow control",
    about="a broker whose consumers acknowledge what they are given",
    page="delivery-port.md",
    shipped=(
        Shipped("reference.delivery", "adapter:ReferenceBroker",
                "the reference of a broker whose queue refuses when it is full"),
        Shipped("reference.delivery.drop-head", "adapter:DroppingHead",
                "the same, which drops its oldest ready message"),
        Shipped("reference.delivery.drop-tail", "adapter:DroppingTail",
                "the same, which drops what comes"),
        Shipped("reference.delivery.unbounded", "adapter:Unbounded",
                "the same, which is never full"),
        Shipped("reference.delivery.any-order", "adapter:InAnyOrder",
                "the same, which is never full, and puts what comes back behind all others"),
        Shipped("redis.streams", "redis_streams:RedisStreams",
                "a consumer group of a stream in a real Redis, with an append-only file",
                rehearsal="reference.delivery.unbounded"),
        Shipped("beanstalkd", "beanstalkd:BeanstalkdTube",
                "a tube of a real beanstalkd, with its log",
                rehearsal="reference.delivery.unbounded"),
        Shipped("postgresql.skip-locked", "skip_locked:SkipLocked",
                "a table of a real PostgreSQL, whose consumers use FOR UPDATE SKIP LOCKED",
                rehearsal="reference.delivery.unbounded"),
        Shipped("nats.jetstream", "jetstream:JetStream",
                "a pull consumer of a stream of files in a real NATS server",
                rehearsal="reference.delivery.any-order"),
    ),
)
