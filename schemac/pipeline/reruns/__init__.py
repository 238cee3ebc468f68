"""What a run has to know of earlier ones: whether it was committed, which files they took, which rows they refused.

Layer: pipeline.
"""
