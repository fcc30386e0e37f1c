"""The explorer beside other programs that search the same states."""
