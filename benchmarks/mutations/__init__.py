"""Damaged input: what the command-line tools make of randomly mutated files."""
