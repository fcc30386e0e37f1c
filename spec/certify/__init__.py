"""A second opinion: certificates of verdicts on designs, checked without the engines.

Nothing here imports what translates, searches or proves designs. Only the reading of files, and the
data types that it fills, are shared (``checkvalve.spec.design.reading.language``).
"""
