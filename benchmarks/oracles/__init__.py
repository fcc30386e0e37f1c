"""Liveness decided three times: by the engines, by a plain algorithm, and by TLC.

Both engines find fair runs with the same code. So it has two oracles that share nothing with it:
``plain`` on the interpreter's states, and ``tlc`` on the exported module. ``expectations`` asks
all of them about what the chapters promise; ``make oracles`` prints it.
"""
