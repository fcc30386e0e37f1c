"""``python -m checkvalve.conformance.cli``, for where the script is not on the PATH."""

from . import main

main()
