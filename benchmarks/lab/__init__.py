"""Simulated cross-validations whose truth is known: what the coverage scripts share."""
