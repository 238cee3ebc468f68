"""The pages of `schemac explain` about Spark.

Layer: engines.
"""
