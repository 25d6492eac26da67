"""Google Cloud: reasons and login failures of the client libraries."""
