"""The cache of a project: results of earlier runs under a digest of everything that they depend on.

Layer: project.
Shape: an entry is JSON under a key of 128 bits. A key holds the fingerprint of the compiler and every byte that the entry was
made of. So no entry is ever out of date: a changed input has another key. Entries do not depend on the machine, so that CI can keep
the folder between runs.
"""


class WrongEntryError(Exception):
    """An entry is not what its input gives today: somebody made it up, or a part of the compiler is unaccounted for."""
