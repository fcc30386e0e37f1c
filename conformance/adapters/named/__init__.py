"""Classes of the user's under test by their names alone: ``thread:queue:Queue``.

``place`` reads such a name, ``surface`` reads off a class how its operations are called, ``stage``
runs what threads call one thread at a time, and ``adapter`` leads to what a system makes of it all.
"""
