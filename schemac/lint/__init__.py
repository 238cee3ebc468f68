"""What may be better in a sound schema: rules that a project chooses.

Layer: lint.
Shape: `rule` says what a rule is, a file for each theme has them, `registry` finds all; `settings` says which of them a project wants,
`ignores` where an author does not want one.
"""
