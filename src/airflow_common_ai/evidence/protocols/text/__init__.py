"""What is left: prose, read carefully, with negation and units."""
