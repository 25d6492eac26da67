"""A run on disk: a header and one line a case, written as it goes, read back and joined."""
