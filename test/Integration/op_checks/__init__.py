"""Checks of single ops: each module gives groups of checks."""
