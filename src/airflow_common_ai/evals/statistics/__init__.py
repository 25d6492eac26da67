"""Figures with their intervals: how sure a corpus of this size lets one be."""
