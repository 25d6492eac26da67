"""Codes that stand only in words: printed by a remote job, a command or a wrapper."""
