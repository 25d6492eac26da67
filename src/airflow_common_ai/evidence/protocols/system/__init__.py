"""The operating system: errno, name resolution, TLS."""
