"""Recorded HTTP: what lets a policy with a model be asked again without the model."""
