"""The pages of `schemac explain` about models of pydantic.

Layer: engines.
"""
