"""Python code of the user's: imported, called, and tested by the names of its classes alone.

``guard`` makes an error of the target of whatever it raises, and ``loading`` imports an adapter.
For a class that is none (``thread:queue:Queue``), ``place`` reads its name, ``surface`` what its
operations are called, ``stage`` and ``calls`` run threads that call it one at a time, ``clock`` is
that of the loop of tasks, and ``target`` hands it to what a system makes of it. ``factories``
decides which of both it is.
"""
