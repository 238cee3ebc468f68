"""The facts that changes of Paimon's attributes are.

Layer: engines. Values only.
"""

from schemac.logical.facts import AnyFact


class PaimonFact(AnyFact):
    """Keys, options, types and default values of Paimon tables."""

    PRIMARY_KEYS_CHANGED = "paimon-primary-keys-changed"
    PARTITION_KEYS_CHANGED = "paimon-partition-keys-changed"
    OPTION_SET = "paimon-option-set"
    OPTION_REMOVED = "paimon-option-removed"
    COMMENT_CHANGED = "paimon-comment-changed"
    TYPE_CHANGED = "paimon-type-changed"
    DEFAULT_VALUE_CHANGED = "default-value-changed"
