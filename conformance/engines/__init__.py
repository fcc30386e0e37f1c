"""Engines that run the cases of a suite: here (local.py) or on a Spark cluster (spark.py).

Both give the same rows, because a row is a pure function of suite, target, case and
settings. Nothing here imports pyspark or pyarrow until a function that needs it is called.
"""
