"""Runs a data pipeline on Spark: read, conform, quarantine what does not fit, write a Lance table, verify it."""
