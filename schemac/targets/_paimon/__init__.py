"""What the Paimon target and its reader share: types, table schemas, field ids, and limits.

Floor: 9 (targets).
"""
