"""What a schema means, free of engines, encodings and places in a text.

Layer: language.
"""
