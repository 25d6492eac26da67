"""Processes: exit codes, signals and the words of shells."""
