"""Python itself: built-in classes, JSON, damaged files."""
