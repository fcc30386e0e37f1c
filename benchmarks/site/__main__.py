"""``python -m benchmarks.site`` (``make docs``): the site, below build/site/html.

The pages of docs/ and those that are made of the tree are put below build/site/source, and Sphinx
builds them, each warning an error: a link that leads nowhere, a page that no menu has.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from .staging import stage

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> int:
    """Build the site; return Sphinx's exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", metavar="FOLDER")
    parser.add_argument("--keep", action="store_true",
                        help="read again only what has changed since the last build")
    options = parser.parse_args()
    source, html = options.out / "source", options.out / "html"
    if not options.keep:
        shutil.rmtree(options.out, ignore_errors=True)
    stage(ROOT, source)
    from sphinx.cmd.build import main as build
    return int(build(["-b", "html", "-q", "-W", "--keep-going", "-d", str(options.out / "doctrees"),
                      str(source), str(html)]))


if __name__ == "__main__":
    sys.exit(main())
