"""What the readers of binary forms say of bytes that are not what they should be.

Layer: engines.
"""


class MalformedError(Exception):
    """The bytes are not what they should be; the message completes "it is no …: "."""
