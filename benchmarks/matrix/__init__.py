"""All targets that come with checkvalve and are not ours, each by a default run: docs/matrix.md."""
