"""The command line: its options, its commands, and how it reports errors."""
