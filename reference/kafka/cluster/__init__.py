"""A cluster of brokers, with a controller in each, clients, and faults, in virtual time."""
