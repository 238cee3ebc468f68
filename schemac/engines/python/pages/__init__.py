"""The pages of `schemac explain` about modules of Python.

Layer: engines.
"""
