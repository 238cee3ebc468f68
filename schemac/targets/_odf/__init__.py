"""How the standard writes a schema: as YAML, and in its binary form.

Floor: 9 (targets).
"""
