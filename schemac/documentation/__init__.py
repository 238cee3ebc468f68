"""What a project's datasets are, for people who look: pages of a site, and Markdown.

Layer: documentation.
"""
