"""A rule about the vocabularies of a project.

Layer: lint.
Shape: it is chosen as rules are, but looks at all texts of a project at once; a domain is used where its name is in one of them.
"""

from collections.abc import Collection, Iterator

from schemac.lint.codes import UNUSED_VOCABULARY
from schemac.lint.rule import Rule

CATEGORY = "structure"
RULES = (Rule(UNUSED_VOCABULARY, CATEGORY, lambda _subject, _reporter: None, is_default=True),)


def unused_domains(domains: Collection[str], texts: Collection[bytes]) -> Iterator[str]:
    """Yield the domains that none of these texts has an attribute of."""
    for domain in domains:
        needle = f"{domain}/".encode()
        if not any(needle in text for text in texts):
            yield domain
