"""No message counts `1 rows`: commands with one of everything, and every sentence of the code that has a number before a plural."""

import ast
import re
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.pipeline.reports.run_report import run_text
from tests.pipeline.test_what_is_told import job

NOUNS = (
    "rows", "records", "files", "fields", "columns", "datasets", "manifests", "changes", "steps", "versions", "values", "losses", "errors", "warnings",
    "items", "members", "locks", "times", "seconds", "runs", "renames", "renamings",
)  # fmt: skip
WRONG = re.compile(rf"(?<![\d.,/])1 (?:[a-z]+ )?(?:{'|'.join(NOUNS)})\b")
MANIFEST = "fields:\n  - {name: a, type: Int8}\n"
COMMANDS = (
    ("check",),
    ("fmt",),
    ("build",),
    ("build", "--check"),
    ("build", "--losses"),
    ("lock",),
    ("lock", "--check"),
    ("list",),
    ("docs", "--out-folder", "site"),
    ("sample", "one.yaml", "--rows", "1", "--output", "one.json"),
    ("sample", "one.yaml", "--wrong", "--output", "wrong.json"),
    ("import", "one.json", "--out", "imported.yaml"),
    ("import", "one.csv", "--out", "other.yaml"),
    ("run", "p.yaml", "--dry-run"),
    ("plan", "one.yaml", "--table", "one.lance"),
    ("diff", "one.yaml"),
    ("breaking", "one.yaml", "--against", "lock:1"),
    ("clean",),
)


def test_commands_with_one_of_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("schemac.toml").write_text('manifests = ["one.yaml"]\n')
    Path("one.yaml").write_text(MANIFEST)
    Path("one.csv").write_text("a\n1\n")
    Path("p.yaml").write_text("source: {path: one.json}\nschema: one.yaml\ntarget: {path: t.lance}\n")
    output = []
    for command in COMMANDS:
        if command[0] == "plan":
            (dataset,) = schemac.compile_file("one.yaml")
            lance.write_dataset(pa.table({"a": pa.array([1], pa.int8())}, dataset.to_arrow()), "one.lance")
            Path("one.yaml").write_text(MANIFEST.replace("Int8", "Int16"))
        main([*command])
        captured = capsys.readouterr()
        output += [f"{command}: {line}" for line in (captured.out + captured.err).splitlines()]
    assert any("1 row of one" in line for line in output)
    assert [line for line in output if WRONG.search(line)] == []


@pytest.mark.usefixtures("spark")
def test_report_of_a_run_of_one_row(tmp_path: Path) -> None:
    from schemac.pipeline.runner import run

    (schema,) = schemac.compile_text("fields:\n  - {name: id, type: {kind: Option, inner: Int64}}\n")
    report = run(job(tmp_path, 2), schema.to_arrow())
    text = run_text(report.facts if hasattr(report, "facts") else report)
    assert re.search(r"^ +2 rows in\n +1 row written +\S+ \(version 1\)\n +1 row quarantined +", text)
    assert not WRONG.search(text)


NEVER_ONE = {
    "schemac/cli/table_commands.py": "{SPREAD_FROM} rows",
    "schemac/cli/compile_commands.py": "{files} manifests",
    "schemac/cli/import_commands.py": "{len(imported.others) + 1} datasets",
    "schemac/engines/api.py": "{len(imported.others) + 1} datasets",
    "schemac/engines/lance/runs/merge.py": "{len(refused)} rows, {len(rows)} records",
    "schemac/language/lint/constraints.py": "{len(enum.values)} values",
    "schemac/language/lint/naming.py": "{len(fields)} fields",
    "schemac/language/lint/structure.py": "{count} fields, {len(subject.key)} fields",
    "schemac/language/manifest/expansion.py": "{MAX_VALUES} values",
    "schemac/pipeline/conforming/load.py": "{len(names)} datasets",
    "schemac/pipeline/library.py": "{len(datasets)} datasets",
    "schemac/pipeline/writing/sink_options.py": "{count} records",
    "schemac/rows/samples/values.py": "{parts} items",
    "schemac/text/syntax/compose.py": "{MAX_UNFOLDED} values",
}
OF_ALL = {
    "schemac/pipeline/runner.py": "{total.rows} values",
    "schemac/pipeline/conformed.py": "{self.rows_in} rows",
    "schemac/pipeline/errors.py": "{self.searched} records",
    "schemac/pipeline/writing/format_sink.py": "{rows} rows",
    "schemac/rows/samples/sampler.py": "{self.count} rows",
    "schemac/rows/validation/result.py": "{self.rows} rows",
}
"""`1 of 1 rows`."""


def numbers_before_plurals(path: Path) -> list[str]:
    """Return the f-strings with a number, by its format `:,` or `len(…)`, right before a plural."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        for value, text in (
            zip(node.values, node.values[1:], strict=False) if isinstance(node, ast.JoinedStr) else ()
        ):
            if not (isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant)):
                continue
            noun = re.match(rf" (?:{'|'.join(NOUNS)})\b", str(text.value))
            if noun is None:
                continue
            code = ast.unparse(value.value)
            spec = "" if value.format_spec is None else ast.unparse(value.format_spec)
            is_number = (
                "," in spec
                or code.startswith(("len(", "len "))
                or re.search(r"\bcount\b|rows\b|files\b", code)
            )
            if is_number:
                found.append(f"{{{code}}}{noun[0]}")
    return found


def test_no_number_stands_before_a_fixed_plural() -> None:
    """`counted` of `schemac.text.source.phrases` writes both."""
    found = {
        str(path): ", ".join(numbers_before_plurals(path)) for path in sorted(Path("schemac").rglob("*.py"))
    }
    assert {path: texts for path, texts in found.items() if texts} == NEVER_ONE | OF_ALL
