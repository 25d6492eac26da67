"""Servers on 127.0.0.1 that cases fail against, one a file."""
