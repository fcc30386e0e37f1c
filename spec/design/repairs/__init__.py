"""Changes that make the wanted verdicts of a design hold: found, checked, made small, and
described.
"""
