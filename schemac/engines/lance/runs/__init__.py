"""Lance tables that runs of a pipeline write and read.

Layer: engines.
Shape: `sink` and `source` are the capabilities; `writing` stages and commits, `undo` takes back, `recover` cleans up after
runs that died, `history` lists the runs that happened.
"""
