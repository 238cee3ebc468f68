"""The codes of rules, and of comments that ignore findings.

Layer: lint.
"""

from schemac.lint.registry import own_rules

CODES = tuple(rule.code for rule in own_rules())
