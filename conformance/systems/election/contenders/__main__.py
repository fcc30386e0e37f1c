"""``python -m …contenders KIND JSON``: one candidate, asked by JSON lines on stdin."""

import sys

from .program import main

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
