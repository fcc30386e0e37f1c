"""For which values of its parameters a design keeps a property: found, proved, and solved."""
