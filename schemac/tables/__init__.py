"""Real tables: what they are like, what it takes to change them, and doing it.

Floor: 11 (tables). Loads the engines' libraries, each only where it is needed.
"""
