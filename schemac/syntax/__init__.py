"""YAML in, plain values out; the positions of them when someone asks.

Layer: syntax. Knows no word of the schema language.
"""
