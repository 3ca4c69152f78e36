"""Scores of rows as arrays: rankings, losses, curves and recalibration."""
