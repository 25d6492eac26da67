"""What a run came to, for people and for CI: HTML, Markdown, JUnit XML and JSON."""
