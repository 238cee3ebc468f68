"""The project around the manifests: its configuration, and where its manifests are.

Layer: project.
"""
