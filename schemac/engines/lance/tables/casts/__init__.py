"""Values of one plain type as values of another, exactly.

Layer: engines. `cast.py` is the way in; numbers, texts and timestamps each have a file of their own.
"""
