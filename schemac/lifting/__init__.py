"""From layout back to meaning: Arrow fields become manifest values. The inverse of `schemac.lowering`.

Floor: 7 (lifting).
"""
