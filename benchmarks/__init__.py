"""What only this project's developers run: benchmarks, fuzzers, mutants, the finders of witnesses,
comparisons on random designs, and what writes tables and pages. `make lab` lists the programs.

It is no part of the wheel: run it from the root of a clone, as ``python -m benchmarks.NAME``.
"""
