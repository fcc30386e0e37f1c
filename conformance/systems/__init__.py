"""One folder for each kind of component: its port, suite, adapters and twins."""
