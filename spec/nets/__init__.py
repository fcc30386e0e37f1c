"""Place/transition nets as they are: read, reduced and decided without links or tasks."""
