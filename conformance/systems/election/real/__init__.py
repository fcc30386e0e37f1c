"""Elections by real systems, on loopback and in real time, behind the port ``election``."""
