"""Amazon Web Services: what botocore keeps of an error, by its code."""
