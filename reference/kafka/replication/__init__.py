"""One replica of a partition: its log, its leader, its ISR, and its truncation."""
