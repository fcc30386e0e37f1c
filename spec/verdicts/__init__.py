"""The answers of every engine, and the time for them: verdicts, budgets and deadlines."""
