"""Reports of a run: progress, counts and the first offending records, as text, HTML, metrics and lineage.

Layer: pipeline.
"""
