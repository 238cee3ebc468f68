"""Lance tables that runs of a pipeline write and read.

Layer: engines.
Shape: `sink` and `source` are the capabilities; `writing` stages and commits, `recovery` lists the runs that happened,
takes back and cleans up after those that died.
"""
