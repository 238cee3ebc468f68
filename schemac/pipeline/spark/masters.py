"""Asks a standalone master whether it is there, before Spark does so for minutes and gives another reason.

Layer: pipeline.
Errors: SC672 unreachable-master, with the cause for each of the addresses.
"""

import re
import socket

from schemac.pipeline.codes import UNREACHABLE_MASTER
from schemac.pipeline.errors import PipelineError

ADDRESS = re.compile(r"(?P<host>\[[^\]]+\]|[^:,]+):(?P<port>\d+)")
ANSWERS_WITHIN_SECONDS = 5.0
STANDALONE = "spark://"


def check_master(master: str) -> None:
    """Raise where no address of a `spark://` master takes a connection; other masters are asked by Spark alone."""
    if not master.startswith(STANDALONE):
        return
    causes = []
    for match in ADDRESS.finditer(master.removeprefix(STANDALONE)):
        try:
            socket.create_connection(
                (match["host"].strip("[]"), int(match["port"])), ANSWERS_WITHIN_SECONDS
            ).close()
        except OSError as error:
            causes.append(f"{match[0]}: {error.strerror or error}")
        else:
            return
    reason = "; ".join(causes) or "it has no address such as spark://host:7077"
    raise PipelineError(
        UNREACHABLE_MASTER,
        f"the Spark master `{master}` cannot be reached: {reason}",
        "start it, or name another one as `spark: {master: ...}`; `local[*]` needs none",
    )
