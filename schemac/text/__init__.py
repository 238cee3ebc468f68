"""Source text: positions in it, findings and fixes, and YAML as documents.

Layer: text.
"""
