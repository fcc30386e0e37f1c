"""The engines: interpreter, explorer, prover, monitor, and the TLA+ export."""
