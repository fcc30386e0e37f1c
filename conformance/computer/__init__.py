"""This computer: what it has, how busy it is, and how files and streams are written on it.

``environment``, ``java`` and ``launchers`` find programs and packages, or say what to install;
``patience`` stretches limits of time on a busy machine, and ``collecting`` has Python look for
garbage less often; ``files`` and ``streams`` write all of a text, or raise an error.
"""
