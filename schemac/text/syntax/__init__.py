"""YAML in, plain values out; the positions of them when someone asks.

Layer: text. Knows no word of the schema language.
"""
