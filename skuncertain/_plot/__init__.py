"""Displays: plots of posteriors, intervals and comparisons; matplotlib is imported when needed."""
