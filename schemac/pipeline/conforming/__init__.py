"""Records into the columns of the table: one projection with all reasons, and what is wrong with it before Spark starts.

Layer: pipeline.
"""
