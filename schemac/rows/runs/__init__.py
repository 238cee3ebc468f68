"""What a run is, whatever runs it and whichever engine has its tables.

Layer: rows.
Shape: `identity` says who a run is, `staging` where its files wait, `history` which runs a table has the commits of, and
`tables` what an engine does for runs: the capabilities `sink` and `source`. Nothing here knows Spark or an engine.
"""
