"""The language server: what editors ask while a manifest is written.

Layer: lsp, directly below the command line.
"""
