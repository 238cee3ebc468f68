"""Records into the columns of the table: validated, with all reasons, and what is wrong with it before Spark starts.

Layer: pipeline.
"""
