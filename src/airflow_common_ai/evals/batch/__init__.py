"""Whole runs through a batch API of a model's provider, asked by the Common AI provider's ``LLMBatchOperator``."""
