"""The pages of `schemac explain` about ODF.

Layer: engines.
"""
