"""From meaning to layout: attributes become encodings, logical slots become Arrow fields.

Floor: 6 (lowering).
"""
