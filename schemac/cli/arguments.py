"""The arguments that commands share, such as `--format`, `--deny losses` and the manifests that a command is about.

Layer: cli.
"""

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from schemac.artifacts.targets import target_names
from schemac.language.logical.names import VARIANTS
from schemac.registry.engine import Capability, VersionSetting, engines, named_versions, version_settings

if TYPE_CHECKING:
    from schemac.project.configuration import Project

CI_FORMATS = ("github", "sarif", "junit", "gitlab")
"""Forms of findings for CI servers."""


def add_flag(parser: argparse._ActionsContainer, name: str, help: str) -> None:
    """Add an option that is on or off."""
    parser.add_argument(name, action="store_true", help=help)


def add_repeatable(
    parser: argparse._ActionsContainer, name: str, metavar: str, help: str, **settings: Any
) -> None:
    """Add an option that may be repeated; its value is a list, which is empty without it."""
    parser.add_argument(name, action="append", default=[], metavar=metavar, help=help, **settings)


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--format`, `--max-findings`, `--fail-on`, and what `add_common` adds."""
    help = "output format of the findings (default: text)"
    parser.add_argument("--format", choices=("text", "json", *CI_FORMATS), help=help)
    help = "print at most N findings in text format (default: 100)"
    parser.add_argument("--max-findings", type=parse_count, metavar="N", help=help)
    help = "lowest severity that leads to exit code 1"
    parser.add_argument("--fail-on", choices=("error", "warning"), help=help)
    add_common(parser)


def parse_number(text: str, allowed: range, otherwise: str) -> int:
    """Return a number of a range; argparse reports any other text, `{}` in `otherwise`."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
    if number not in allowed:
        raise argparse.ArgumentTypeError(otherwise.format(text))
    return number


parse_count = partial(parse_number, allowed=range(2**63), otherwise="has to be zero or more")
"""Returns a number that is not negative."""


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add `--output-file`, `-q` and `-v`."""
    parser.add_argument(
        "--output-file", metavar="FILE", help="write the output to this file, whole or not at all"
    )
    verbosity = parser.add_mutually_exclusive_group()
    help = "print only the findings, without a summary"
    verbosity.add_argument("-q", "--quiet", action="store_true", help=help)
    help = "also list the files that are read, and those that are skipped"
    verbosity.add_argument("-v", "--verbose", action="store_true", help=help)


def add_text_or_json(parser: argparse.ArgumentParser) -> None:
    """Add `--format` for commands whose findings are no reports for CI, and what `add_common` adds."""
    parser.add_argument("--format", choices=("text", "json"), help="output format (default: text)")
    add_common(parser)


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the manifests that a command is about."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="manifests, or folders of them (default: the project's)"
    )
    _add_project(parser, "configuration file (default: schemac.toml or pyproject.toml)")


def add_dataset(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the dataset that a command is about, and the options for its project."""
    parser.add_argument("dataset", metavar="DATASET", help="name of the dataset, or its manifest")
    _add_project(parser, argparse.SUPPRESS)


def _add_project(parser: argparse.ArgumentParser, help: str) -> None:
    """Add the options for the project, and for a run that neither uses nor keeps what other runs found out."""
    parser.add_argument("--config", metavar="FILE", help=help)
    add_flag(parser, "--no-cache", "do not use or change the cache")


def add_overlay(parser: argparse.ArgumentParser) -> None:
    """Add `--overlay`."""
    help = "overlay with the names, options and encodings of an environment"
    parser.add_argument("--overlay", metavar="FILE", help=help)


def add_compile_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `check`, `build` and `lock` have in common."""
    add_paths(parser)
    add_flag(parser, "--strict", "accept only what is in the ODF standard")
    add_overlay(parser)
    help = "insert missing system columns of the standard, with the types of RFC-016 or of kamu"
    parser.add_argument("--system-columns", choices=tuple(VARIANTS), help=help)
    add_no_project_rules(parser)
    add_output_arguments(parser)


def add_no_project_rules(parser: argparse.ArgumentParser) -> None:
    """Add `--no-project-rules`."""
    help = "do not run the project's own lint rules, which are Python code; use this for a checkout that you do not trust"
    add_flag(parser, "--no-project-rules", help)


def add_watchable(parser: argparse.ArgumentParser) -> None:
    """Add what `check` and `build` have in common besides: `--deny`, `--stdin-filename` and `--watch`."""
    help = "treat losses of these engines, or of all engines that are built, as errors"
    parser.add_argument("--deny", action="append", type=_parse_denied, metavar="losses[=NAME,…]", help=help)
    help = "with `-` as PATH: the file name to use for standard input"
    parser.add_argument("--stdin-filename", metavar="FILE", help=help)
    add_flag(parser, "--watch", "run again whenever a file changes, until Ctrl-C")


def _parse_denied(text: str) -> tuple[str, ...]:
    """Return the engines that `--deny` names; none stands for all."""
    what, _, names = text.partition("=")
    engines = tuple(name.strip() for name in names.split(",") if name.strip())
    if what != "losses" or ("=" in text and not engines):
        raise argparse.ArgumentTypeError("write `losses`, or `losses=` and names of engines")
    unknown = next((name for name in engines if name not in target_names()), None)
    if unknown is not None:
        raise argparse.ArgumentTypeError(
            f"no engine is called '{unknown}'; choose from {', '.join(target_names())}"
        )
    return engines


def add_engines(
    parser: argparse.ArgumentParser, option: str, capability: Capability[Any], lacks: str, help: str
) -> None:
    """Add an option that names engines with a capability; the error for any other engine says what it `lacks`."""
    able = capability.names(engines())
    others = {engine.name: engine.title for engine in engines() if engine.name not in able}

    def check(name: str) -> str:
        if name in others:
            raise argparse.ArgumentTypeError(f"{others[name]} {lacks}; choose from {', '.join(able)}")
        return name

    parser.add_argument(
        option, action="append", type=check, choices=able, metavar="NAME", help=help.format(", ".join(able))
    )


def add_versions(parser: argparse.ArgumentParser) -> None:
    """Add an option for each engine whose verdicts and plans depend on a version, such as `--lance-spark`."""
    for setting in version_settings().values():
        option = f"--{setting.key.replace('_', '-')}"
        help = f"{setting.help} (default: the project's, or the newest known)"
        parser.add_argument(option, type=partial(_parse_version, setting), metavar="VERSION", help=help)


def _parse_version(setting: VersionSetting, text: str) -> str:
    """Return the version of an engine if its setting permits the text; argparse reports any other."""
    try:
        return setting.checked(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def versions_of(options: argparse.Namespace, project: "Project") -> dict[str, str]:
    """Return the versions that the command line names, and else the project, by engine."""
    return {**project.configuration.versions, **named_versions(options)}
