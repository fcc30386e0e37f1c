"""A cluster of Storm workers, judged by its history."""
