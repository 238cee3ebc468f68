"""The command line: arguments in, exit code out; everything between is done on lower floors.

Layer: cli.
"""
