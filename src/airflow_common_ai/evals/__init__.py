"""Scores retry policies on recorded failures, offline. What it needs beside the package is in the extra ``[evals]``."""
