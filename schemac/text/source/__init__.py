"""Text and trouble: source files, positions in them, and everything that is said about them.

Layer: text. Imports nothing of schemac.
"""
