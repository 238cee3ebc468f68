"""What the Lance target leans on: its words for types, and its limits.

Floor: 9 (targets).
"""
