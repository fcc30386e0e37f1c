"""Who waits on whom in a state: cycles, waits, the words of findings."""
