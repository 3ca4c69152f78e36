"""The version, where modules of all layers can read it."""

__version__ = "0.1.0.dev0"
