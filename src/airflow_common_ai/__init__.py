"""Retries for Apache Airflow that know why a task failed. Importing this package costs nothing."""

__version__ = "0.1.0"
