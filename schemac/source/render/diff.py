"""A change of a text, as a unified diff.

Layer: source.
"""

from difflib import unified_diff

_NO_END = "\\ No newline at end of file\n"


def render_diff(name: str, before: str, after: str) -> str:
    """Return what changed in a file; nothing where it is the same."""
    lines = unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), name, name)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in lines)
