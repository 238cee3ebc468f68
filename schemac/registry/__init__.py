"""The installed engines and their capabilities.

Layer: registry.
"""
