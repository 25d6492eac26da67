"""A corpus of one's own: failures that were collected from logs, and what somebody judged about them."""
