"""What the author of a pipeline file declares: the grammar of the file, its limits, the options of its sources.

Layer: pipeline.
"""
