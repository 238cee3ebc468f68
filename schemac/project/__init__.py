"""The project around the manifests: its configuration, and where its manifests are.

Floor: 12 (project).
"""
