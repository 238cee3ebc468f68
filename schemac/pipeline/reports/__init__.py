"""What is told of a run: its progress, its numbers, its first offenders, as text, HTML, metrics and lineage.

Layer: pipeline.
"""
