"""The parts of a score: one question each, answered from the rows of a run."""
