"""Fuzzing: random and malformed inputs through everything that is public.

``python -m tools.fuzz --cases 100000 --seed 0 --jobs 2`` runs it, from the root of the repository.
A case is made from a list of integers (`source.Source`), so a violation is one line that
``--replay`` runs again.
"""
