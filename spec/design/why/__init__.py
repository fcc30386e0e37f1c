"""Who waits on whom in a state: circles, waits, the words of findings."""
