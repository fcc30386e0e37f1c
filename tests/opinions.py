"""The opinion of the certificate checker on a verdict."""

from __future__ import annotations

import json

from checkvalve.spec.certify.checker import Opinion, check_certificate
from checkvalve.spec.design.verdicts.certificates import certificate
from checkvalve.spec.design.why.findings import DesignReport


def opinion(report: DesignReport, name: str) -> Opinion:
    """The opinion on the certificate of a verdict, which goes through JSON as in a file."""
    document = certificate(report, report.finding(name))
    return check_certificate(json.loads(json.dumps(document)), report.design)
