"""YAML in, plain values out; the positions of them when someone asks.

Floor: 1 (syntax). Knows no word of the schema language.
"""
