"""Checks of arguments, warnings that survive threads, files, versions. Knows nothing of metrics."""
