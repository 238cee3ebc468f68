"""`--deny losses` of `schemac check` and `schemac build`.

Layer: cli.
"""

import argparse

from schemac.artifacts.emission import target_names
from schemac.project.configuration import Project
from schemac.source.json_object import Json

_LOSSES = "losses"


def add_deny(parser: argparse.ArgumentParser) -> None:
    """Add the option that makes losses errors."""
    parser.add_argument(
        "--deny",
        action="append",
        type=_engines,
        metavar="losses[=NAME,…]",
        help="treat what engines cannot keep as errors, of these engines or of all that are built",
    )


def _engines(text: str) -> tuple[str, ...]:
    """Return the engines that are named; none stands for all."""
    what, _, names = text.partition("=")
    found = tuple(name.strip() for name in names.split(",") if name.strip())
    if what != _LOSSES or ("=" in text and not found):
        raise argparse.ArgumentTypeError("write `losses`, or `losses=` and names of engines")
    unknown = next((name for name in found if name not in target_names()), None)
    if unknown is not None:
        raise argparse.ArgumentTypeError(
            f"no engine is called '{unknown}'; choose from {', '.join(target_names())}"
        )
    return found


def denied_engines(options: argparse.Namespace, targets: tuple[str, ...]) -> frozenset[str]:
    """Return the engines whose losses are errors, of those that are built."""
    named = options.deny or ()
    return frozenset(name for names in named for name in (names or targets))


def denied(options: argparse.Namespace, project: Project) -> Json:
    """Return the options of a check that has to know losses: it makes what a build would write, and keeps nothing of it."""
    configuration = project.configuration
    engines = denied_engines(options, configuration.targets)
    if not engines:
        return {"targets": ()}
    wanted = {*configuration.targets, *engines}
    return {
        "targets": tuple(name for name in target_names() if name in wanted),
        "asked_for": frozenset(
            {*engines, *configuration.targets}
            if configuration.are_targets_named
            else {name for names in options.deny for name in names}
        ),
        "versions": project.versions,
        "encodings": configuration.encodings,
        "has_metadata": configuration.metadata,
        "denied": engines,
    }
