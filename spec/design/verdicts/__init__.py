"""One module for each question that is asked of a design, and its certificate."""
