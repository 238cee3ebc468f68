"""schemac as a part of tools that make packages.

Layer: packaging.
"""
