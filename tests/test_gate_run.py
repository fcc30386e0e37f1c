"""A whole gate: what it runs, what it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run

DEADLOCK = """\
