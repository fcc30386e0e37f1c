"""A coordination service in ZooKeeper's terms: the port, and an implementation in memory."""
