"""Workers before a bounded queue of tasks: an executor, or thread pool."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="executor",
    folder=__name__,
    subject="links and flow control",
    about="workers before a bounded queue of tasks, as a thread pool has them",
    page="executor-port.md",
    shipped=(
        Shipped("reference.executor", "adapter:ReferenceExecutor",
                "the reference executor, which refuses what has no place"),
        Shipped("reference.executor.caller-runs", "adapter:CallerRuns",
                "the same, with callers that run what has no place"),
        Shipped("reference.executor.drop-newest", "adapter:DropNewest",
                "the same, which drops what has no place, and reports it"),
        Shipped("reference.executor.drop-oldest", "adapter:DropOldest",
                "the same, which drops what has waited longest, and reports it"),
        Shipped("reference.executor.unbounded", "adapter:Unbounded",
                "the same, in which any number waits"),
        Shipped("reference.executor.asyncio", "event_loop:ReferenceAsyncExecutor",
                "the reference executor through its asyncio driver"),
        Shipped("concurrent.futures.ThreadPoolExecutor", "threads:ThreadPool",
                "the standard library's pool of threads"),
        Shipped("concurrent.futures.ProcessPoolExecutor", "processes:ProcessPool",
                "the standard library's pool of processes",
                rehearsal="reference.executor.unbounded"),
        Shipped("concurrent.futures.ProcessPoolExecutor.one-task", "processes:RenewedProcessPool",
                "the same with max_tasks_per_child=1",
                rehearsal="reference.executor.unbounded"),
        Shipped("anyio.to_thread", "limiters:AnyioThreads",
                "anyio's threads on asyncio, behind a CapacityLimiter"),
        Shipped("trio.to_thread", "limiters:TrioThreads",
                "trio's threads, behind a CapacityLimiter"),
        *(Shipped(f"jdk.ThreadPoolExecutor.{name}", f"JdkExecutor.java {arguments}",
                  f"the JDK's ThreadPoolExecutor with {about} (needs Java)")
          for name, arguments, about in (
              ("abort", "refuse", "AbortPolicy"),
              ("caller-runs", "caller-runs", "CallerRunsPolicy"),
              ("discard", "drop-newest", "DiscardPolicy, which drops in silence"),
              ("discard-oldest", "drop-oldest", "DiscardOldestPolicy, which drops in silence"),
              ("cancel", "refuse cancel",
               "AbortPolicy; tasks are cancelled by their futures alone"))),
        Shipped("jdk.ForkJoinPool", "JdkExecutor.java fork-join",
                "the JDK's ForkJoinPool, which takes tasks in their order (needs Java)"),
    ),
)
