"""What is raised where an entry is wrong.

Layer: cache.
"""


class MisrememberedError(Exception):
    """An entry that is not what its input gives today: somebody made it up, or a part of the compiler is unaccounted for."""
