"""Microsoft Azure: what azure-core and the service libraries keep of an error, by its code."""
