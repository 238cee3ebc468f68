"""What the Spark target, its reader and its plans share: keys, statements, and the table that lance-spark makes.

Floor: 9 (targets).
"""
