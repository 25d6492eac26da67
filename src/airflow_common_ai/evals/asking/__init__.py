"""Ask any retry policy about a recorded failure, and see who in it decided."""
