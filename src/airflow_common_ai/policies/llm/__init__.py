"""Asking a language model about a failure: the question, the way to the model, the answer, the trust in it."""
