"""One value: where a record has it, and its exact text or typed column turned into the type of its field.

Layer: pipeline. SQL text in, SQL text of the value and of the rules that it breaks out.
"""
