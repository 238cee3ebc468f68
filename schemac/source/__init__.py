"""Text and trouble: source files, positions in them, and everything that is said about them.

Layer: source. Imports nothing of schemac.
"""
