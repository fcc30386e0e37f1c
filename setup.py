"""Names the packages; everything else about the build is in pyproject.toml.

The three folders become ``checkvalve.spec``, ``checkvalve.reference`` and
``checkvalve.conformance``. A list of their subpackages kept by hand goes stale without
anybody noticing until an installed wheel misses a module, so it is computed here, which
is the one thing that pyproject.toml cannot say.
"""

from setuptools import find_packages, setup

FOLDERS = ("spec", "reference", "conformance")


def packages() -> list[str]:
    """Every package below the three folders, by its import name."""
    names = []
    for folder in FOLDERS:
        names.append(f"checkvalve.{folder}")
        names += [f"checkvalve.{folder}.{inner}" for inner in find_packages(folder)]
    return names


setup(packages=packages())
