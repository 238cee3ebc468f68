"""What may be better in a sound schema: rules that a project chooses.

Layer: language.
Shape: `rule` defines a rule, a file for each theme has them, `registry` finds all; `settings` has those that a project enables, `ignores` where an
author suppresses one.
"""
