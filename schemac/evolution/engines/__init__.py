"""One file an engine: what each change means for the data that it holds.

Floor: 10 (evolution).
"""
