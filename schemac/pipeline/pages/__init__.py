"""The pages of `schemac explain` about Java and Spark.

Layer: pipeline.
"""
