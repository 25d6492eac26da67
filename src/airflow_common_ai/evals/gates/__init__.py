"""Bounds that a run must keep, and the file in which a team writes them down."""
