"""Clients of brokers, search engines, key-value stores, directories and remote shells."""
