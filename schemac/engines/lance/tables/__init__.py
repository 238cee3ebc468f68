"""Lance tables: what they are like, what it takes to change them, and doing it.

Layer: engines. Loads pylance, only where it is needed.
"""
