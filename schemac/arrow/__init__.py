"""Arrow, the physical form of every schema: from meaning to layout (`lower`) and back (`lift`).

Layer: arrow.
"""
