"""`--deny losses` of `schemac check` and `schemac build`.

Layer: cli.
"""

import argparse
from dataclasses import replace

from schemac.artifacts.emission import target_names
from schemac.project.options import CompileOptions

_LOSSES = "losses"


def add_deny(parser: argparse.ArgumentParser) -> None:
    """Add the option that makes losses errors."""
    parser.add_argument(
        "--deny",
        action="append",
        type=_engines,
        metavar="losses[=NAME,…]",
        help="treat losses of these engines, or of all engines that are built, as errors",
    )


def _engines(text: str) -> tuple[str, ...]:
    """Return the engines that are named; none stands for all."""
    what, _, names = text.partition("=")
    engines = tuple(name.strip() for name in names.split(",") if name.strip())
    if what != _LOSSES or ("=" in text and not engines):
        raise argparse.ArgumentTypeError("write `losses`, or `losses=` and names of engines")
    unknown = next((name for name in engines if name not in target_names()), None)
    if unknown is not None:
        raise argparse.ArgumentTypeError(
            f"no engine is called '{unknown}'; choose from {', '.join(target_names())}"
        )
    return engines


def denied_engines(options: argparse.Namespace, targets: tuple[str, ...]) -> frozenset[str]:
    """Return the engines whose losses are errors, of those that are built."""
    named = options.deny or ()
    return frozenset(name for names in named for name in (names or targets))


def with_denied(compile_options: CompileOptions, options: argparse.Namespace) -> CompileOptions:
    """Return the options of a check whose losses are errors, also of engines that nothing is built for otherwise."""
    engines = denied_engines(options, compile_options.targets)
    named = {name for names in options.deny or () for name in names}
    return replace(
        compile_options,
        targets=tuple(name for name in target_names() if name in {*compile_options.targets, *engines}),
        asked_for=compile_options.asked_for | named,
        denied=engines,
    )
