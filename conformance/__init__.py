"""The harness: runs the rules against implementations and designs; the command line."""
