"""Iceberg: table schemas of format 2 and 3.

Layer: engines.
Source: the Iceberg table specification (iceberg.apache.org/spec), and pyiceberg 0.12 for what it does with it.
"""
