"""An etcd server of one member, asked over its JSON gateway."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Sequence
from typing import ClassVar, Final

from .programs import ETCD
from .server import HOST, Server, free_port

__all__ = ["Etcd"]

_ANSWER_SECONDS: Final = 2.0


class Etcd(Server):
    """One member. Its leases last a second at least."""

    what: ClassVar[str] = "the etcd server"

    def argv(self) -> Sequence[str]:
        client, peer = f"http://{HOST}:{self.port}", f"http://{HOST}:{free_port()}"
        return (
            ETCD.find(), "--name", "only",
            "--data-dir", str(self.folder / "data"),
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"only={peer}",
            # The shortest lease is one and a half times the election timeout, in whole seconds.
            "--heartbeat-interval", "50", "--election-timeout", "500",
            "--log-level", "error")

    def serves(self) -> bool:
        """True if it says that it is healthy: it has elected itself."""
        address = f"http://{HOST}:{self.port}/health"
        with urllib.request.urlopen(address, timeout=_ANSWER_SECONDS) as answer:
            return bool(json.loads(answer.read()).get("health") == "true")
