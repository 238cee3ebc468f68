"""What a manifest may say: kinds, attributes, constraints, the grammar, and the checks of one schema.

Layer: language.
"""
