"""The cache of a project: results of earlier runs under a digest of everything that they depend on.

Layer: project.
Shape: an entry is JSON under a key of 128 bits. A key holds the fingerprint of the compiler and every byte that the entry was
made of. So no entry is ever out of date: a changed input has another key. Entries do not depend on the machine, so that CI can keep
the folder between runs.
"""


class WrongEntryError(Exception):
    """An entry differs from what its input gives now: it was forged, or its key lacks a part of the compiler."""
