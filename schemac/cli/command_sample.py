"""`schemac sample`: rows of a dataset, good ones or wrong ones.

Layer: cli.
"""

import argparse
import json
import os
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from schemac.artifacts.dataset import ROW_WRITER
from schemac.cli.output import add_no_cache, print_status, show_all
from schemac.cli.project import find_dataset, open_project
from schemac.cli.terminal import notify, put_source
from schemac.project.manifests import read_manifests
from schemac.project.options import CompileOptions
from schemac.registry.installed import engines
from schemac.text.source.catalogue import SAMPLE_OUTPUT, UNHELD_RECORDS, WRITE_FAILED
from schemac.text.source.diagnostic import SchemaError
from schemac.text.source.phrases import counted
from schemac.text.source.report import Report
from schemac.text.source.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    # For start-up time: `--help` needs no Arrow.
    from schemac.artifacts.dataset import CheckedDataset
    from schemac.rows.samples.files import SampleFormat
    from schemac.rows.samples.sampler import Datasets

_ROWS, _SEEDS = range(1, 2**63), range(2**63)
_MOST_PATHS = 8
"""So many fields are named for each rule that a form cannot break."""
NDJSON_HELP = "write them with `--format ndjson`, or to a file such as wrong.ndjson"
RULES_SUFFIX = ".rules.ndjson"
"""What the name of the file ends with that says what each wrong record breaks."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("dataset", metavar="DATASET", help="name of the dataset, or its manifest")
    parser.add_argument(
        "-n",
        "--rows",
        type=partial(_number, _ROWS),
        default=1000,
        metavar="N",
        help="how many rows (default: 1000)",
    )
    parser.add_argument(
        "--seed",
        type=partial(_number, _SEEDS),
        default=0,
        metavar="N",
        help="the same number gives the same rows (default: 0)",
    )
    parser.add_argument(
        "--format",
        dest="rows_format",
        metavar="FORMAT",
        help=f"ndjson, csv, parquet, arrow, {', '.join(ROW_WRITER.names(engines()))} (default: by the name of the output, or ndjson)",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="write to this file or table instead of the terminal"
    )
    parser.add_argument(
        "--wrong",
        action="store_true",
        help="make records that each break one rule instead, and a file next to the output that lists the rules",
    )
    parser.add_argument("--config", metavar="FILE", help=argparse.SUPPRESS)
    add_no_cache(parser)
    parser.set_defaults(format="text", max_findings=100, fail_on="error")


def _number(allowed: range, text: str) -> int:
    """Return a whole number of a range; argparse reports any other text, in words for rows or for the seed."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
    if number not in allowed:
        raise argparse.ArgumentTypeError(
            f"'{text}' rows cannot be made; specify at least 1"
            if allowed is _ROWS
            else f"'{text}' is not a valid seed; use a number from 0 to {_SEEDS[-1]}"
        )
    return number


def run(options: argparse.Namespace) -> int:
    """Make the rows; nothing is written where there are errors."""
    report = Report()
    form = _format(options, report)
    loaded = _load_dataset(options, report) if form is not None else None
    if form is not None and loaded is not None:
        from schemac.rows.samples.files import TextFormat  # for start-up time, as above
        from schemac.rows.samples.sampler import Sampler

        dataset, others = loaded
        try:
            if options.wrong:
                _write_wrong(options, form, dataset, others, report)
            elif options.output is None:
                assert isinstance(form, TextFormat)
                for text in form.texts(Sampler(dataset, options.rows, options.seed, others)):
                    put_source(text)
            else:
                form.write(options.output, Sampler(dataset, options.rows, options.seed, others))
                rows = counted(options.rows, "row")
                print_status(f"wrote {rows} of {dataset.name} to {options.output}", options)
        except SchemaError as error:
            report.extend(error.diagnostics)
        except OSError as error:
            message = f"cannot write {options.output}: {reason_of(error)}"
            report.add(WRITE_FAILED, message, file=options.output or "")
    return show_all(report, options)


def _format(options: argparse.Namespace, report: Report) -> "SampleFormat | None":
    """Return the form of the output; None after reporting why it cannot be written."""
    from schemac.rows.samples.files import NDJSON, format_of, sample_formats  # for start-up time, as above
    from schemac.text.source.phrases import closest

    known = {one.name: one for one in sample_formats()}
    named = options.rows_format
    if named is not None and named not in known:
        near = closest(named, known)
        help = f"did you mean `--format {near}`?" if near else f"the formats are {', '.join(known)}"
        report.add(SAMPLE_OUTPUT, f"there is no format '{named}' for rows", help=help)
        return None
    by_name = format_of(options.output) if options.output is not None else None
    form = known[named] if named is not None else by_name or NDJSON
    if options.output is None and not form.is_text:
        message = f"{form.name} cannot be printed"
        report.add(SAMPLE_OUTPUT, message, help=f"name a file with `--output rows{form.suffixes[0]}`")
        return None
    outputs = [options.output] if options.output is not None else []
    if outputs and options.wrong:
        outputs.append(_rules_file(options.output))
    for path in outputs:
        if os.path.lexists(path):
            report.add(
                SAMPLE_OUTPUT, f"{path} already exists", file=path, help="remove it, or name another file"
            )
            return None
    return form


def _rules_file(output: str) -> str:
    return os.path.splitext(output)[0] + RULES_SUFFIX


def _load_dataset(options: argparse.Namespace, report: Report) -> "tuple[CheckedDataset, Datasets] | None":
    """Return the dataset, and all datasets of the project by name."""
    from schemac.artifacts.dataset import CheckedDataset  # for start-up time, as above

    opened = find_dataset(options, report)
    if opened is None:
        return None
    project, file, dataset = opened
    options.paths = []
    files = open_project(options, Report())[1]
    others = {
        one.name: one for manifest in read_manifests(files, project, Report()) for one in manifest.datasets
    }
    others |= {one.name: one for one in file.datasets}
    made = {
        name: CheckedDataset(one, None, (), CompileOptions.of(project).arrow_options, project.versions)
        for name, one in others.items()
    }
    return made[dataset.name], made


def _write_wrong(
    options: argparse.Namespace,
    form: "SampleFormat",
    dataset: "CheckedDataset",
    others: "Datasets",
    report: Report,
) -> None:
    from schemac.rows.samples.files import NDJSON, new_file  # for start-up time, as above
    from schemac.rows.samples.wrong_records import wrong_rows

    generated = wrong_rows(dataset, options.seed, others)
    wrong_form = form.wrong(dataset, generated)
    rules = [
        {("line" if form is NDJSON else "row"): i, "_path": one.path, "_rule": one.rule}
        for i, one in enumerate(wrong_form.rows, 1)
    ]
    if options.output is None:
        for one, rule in zip(wrong_form.rows, rules, strict=True):
            put_source(f"{json.dumps({**rule, 'record': one.text}, ensure_ascii=False)}\n")
    elif wrong_form.rows:
        try:
            with new_file(_rules_file(options.output)) as stream:
                stream.writelines([f"{json.dumps(rule, ensure_ascii=False)}\n".encode() for rule in rules])
                stream.flush()
                form.write_wrong(options.output, dataset, wrong_form)
        except OSError:
            # Records without the file that says what they break are no use, and would be in the way of the next run.
            shutil.rmtree(options.output, ignore_errors=True)
            Path(options.output).unlink(missing_ok=True)
            raise
        print_status(
            f"wrote {counted(len(wrong_form.rows), 'record')} to {options.output}, and the rule that each one breaks to {_rules_file(options.output)}",
            options,
        )
    else:
        message = f"{form.name} cannot hold any of the wrong records of {dataset.name}"
        report.add(SAMPLE_OUTPUT, message, file=options.output, help=NDJSON_HELP)
    for path, missing in generated.missing:
        notify(f"no record was found that breaks {missing.partition(':')[0]} of {path} and nothing else")
    if wrong_form.left_out and wrong_form.rows:
        message = f"{form.name} cannot hold the records that break {_listed(wrong_form.left_out)}"
        if options.output is None:
            notify(f"{message}; {NDJSON_HELP}")
        else:
            report.add(UNHELD_RECORDS, message, file=options.output, help=NDJSON_HELP)


def _listed(rules: "Sequence[tuple[str, str]]") -> str:
    """Name rules with the fields that they are of, some for each rule."""
    by_rule: dict[str, list[str]] = {}
    for path, rule in rules:
        by_rule.setdefault(rule.partition(":")[0], []).append(path)
    return "; ".join(f"{rule} of {_some(paths)}" if any(paths) else rule for rule, paths in by_rule.items())


def _some(paths: "Sequence[str]") -> str:
    """Return the first paths of a list, and how many more there are."""
    more = f" and {len(paths) - _MOST_PATHS:,} more" if len(paths) > _MOST_PATHS else ""
    return f"{', '.join(paths[:_MOST_PATHS])}{more}"
