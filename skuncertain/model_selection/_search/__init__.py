"""Finished searches: reading them, who is best, what the best is worth, rules for ``refit``."""
