"""Random designs and nets, and plain algorithms by which the verdicts on them are checked."""
