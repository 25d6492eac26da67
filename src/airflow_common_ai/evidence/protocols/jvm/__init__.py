"""Java and Scala: exception classes and messages that reach a task as text."""
