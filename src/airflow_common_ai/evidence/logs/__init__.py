"""Failures that come as text: task logs, Python and Java tracebacks, the trace of a trigger."""
