"""One replica of a partition: its log, whom it follows, whom it waits for, where it cuts."""
