"""What is known of Spark itself: SQL text, data sources of ours, executors, Java, masters, and why it fails.

Layer: pipeline. Starting a session is not here: `pipeline.session` registers the tables of `writing` in it.
"""
