"""What every engine answers, and in what time: verdicts, budgets and deadlines."""
