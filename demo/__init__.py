"""The demo: a throw-away Airflow runs a Dag of tasks that fail in different ways, and shows what was decided."""
