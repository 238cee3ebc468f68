"""What earlier runs found out, kept in the project under a digest of all that it depends on.

Layer: project.
Shape: an entry is JSON under a key of 128 bits. A key holds the fingerprint of the compiler and every byte that the entry was
made of, so that nothing is ever out of date: what changes has another key. The entries say nothing of the machine, so that CI can
carry the folder from run to run.
"""


class WrongEntryError(Exception):
    """An entry is not what its input gives today: somebody made it up, or a part of the compiler is unaccounted for."""
