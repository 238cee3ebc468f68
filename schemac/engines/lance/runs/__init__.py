"""Lance tables that runs of a pipeline write.

Layer: engines.
Shape: `sink` and `column_sink` are the capabilities; `recovery` lists the runs that happened, takes back and cleans up after
those that died. `transactions` has the stages of a commit.
"""
