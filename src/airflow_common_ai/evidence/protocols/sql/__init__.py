"""SQL databases: SQLSTATE, drivers' error numbers and classes, servers' words."""
