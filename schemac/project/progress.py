"""What a command is doing, for whoever waits for it.

Layer: project.
"""

_STEPS = ("parse", "emit")
"""The stages that take the longest; each is a step of a manifest."""


class Progress:
    """The stage that is under way, and how much there is of what it is about."""

    __slots__ = ("done", "manifest", "stage", "total")

    def __init__(self) -> None:
        self.stage = ""
        self.manifest = ""
        """The name of the one that is worked on."""
        self.done = 0
        """Steps that this process has begun."""
        self.total = 0
        """Steps that it will begin; 0 if nobody knows."""

    def expect(self, steps: int) -> None:
        """Say how many steps more there will be."""
        self.total += steps

    def begin(self, stage: str, manifest: str) -> None:
        """Enter a stage of a manifest."""
        self.stage, self.manifest = stage, manifest
        self.done += stage in _STEPS


PROGRESS = Progress()
"""Of this process; a process that is forked from it has its own."""
