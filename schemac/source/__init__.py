"""Text and trouble: source files, positions in them, and everything that is said about them.

Floor: 0 (source). Imports nothing of schemac.
"""
