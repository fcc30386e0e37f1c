"""The purgatory benchmark: requests that time out or are completed, most of them early.

``make bench-purgatory`` measures the new purgatory (timing wheels), the old one (a delay queue of
requests) and asyncio's own timers with one workload, in virtual time and in real time.

Source: "Apache Kafka, Purgatory, and Hierarchical Timing Wheels", 'Benchmark', and Kafka's program
TestPurgatoryPerformance of 0.9.0.0.
"""
