"""Every field gets another name in the editor: it is refused, or what was sound before is sound afterwards."""

import shutil
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.workspace import PositionCodec

from schemac.cli.main import main
from schemac.language.logical.model import preorder
from schemac.lsp.grammar import GrammarContext
from schemac.lsp.navigation import Navigator
from schemac.lsp.projects import ProjectFolder
from schemac.lsp.renaming import RefusedRenameError, RenameEdits, renamable, rename_edits
from schemac.lsp.texts import TextLines, split_with_ends
from schemac.project.occurrences import place_of_name
from schemac.project.project_texts import key_of
from schemac.text.source.diagnostics import Region
from tests.lsp.test_projects import of_check

EXAMPLES = Path(__file__).parents[2] / "examples"
NEW = "an other name"
CUSTOMERS = (
    "name: customers\nfields:\n  - {name: id, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}\n"
)
REFERENCES = {
    "of one line": "extra: {schemac.dev/references: [{fields: [id], dataset: customers}]}\n",
    "with its own names": "extra: {schemac.dev/references: [{fields: [buyer], dataset: customers, to: [id]}]}\n",
    "of lines": "extra:\n  schemac.dev/references:\n    - fields: [id]  # the buyer\n      dataset: customers # who\n\n",
    "of more lines": "extra:\n  schemac.dev/references:\n  - dataset: customers\n    fields:\n      - id\n",
    "to itself": "extra: {schemac.dev/unique: [[id], [buyer]], schemac.dev/references: [{fields: [id], dataset: orders, to: [buyer]},"
    " {fields: [buyer], dataset: orders}]}\n",
    "twice": "extra: {schemac.dev/references: [{fields: [id], dataset: customers}, {fields: [buyer], dataset: customers, to: [id]}]}\n",
    "by an alias": "extra: {schemac.dev/references: [&one {fields: [id], dataset: customers}, *one]}\n",
    "in a struct": "extra: {schemac.dev/unique: [[s.id]], schemac.dev/references: [{fields: [s.id], dataset: customers, to: [id]}]}\n",
}
FIELDS = "fields:\n  - {name: id, type: Int64}\n  - {name: buyer, type: Int64}\n  - name: s\n    type: {kind: Struct, fields: [{name: id, type: Int64}]}\n"
GROUP = "imports: [key.yaml]\nextra: {schemac.dev/unique: [[id]], schemac.dev/references: [{fields: [id], dataset: %s}]}\nfields: [{use: key}]\n"
PROJECTS = {
    **{
        how: {"orders.yaml": f"name: orders\n{extra}{FIELDS}", "customers.yaml": CUSTOMERS}
        for how, extra in REFERENCES.items()
    },
    "with line ends of Windows": {
        "orders.yaml": f"name: orders\n{REFERENCES['of more lines']}{FIELDS}".replace("\n", "\r\n"),
        "customers.yaml": CUSTOMERS,
    },
    "in one file": {"both.yaml": f"{CUSTOMERS}---\nname: orders\n{REFERENCES['of lines']}{FIELDS}"},
    "of one group": {
        "key.yaml": "groups:\n  key: {fields: [{name: id, type: Int64}]}\n",
        "a.yaml": "name: a\n" + GROUP % "b",
        "b.yaml": "name: b\n" + GROUP % "a",
        "c.yaml": "name: c\nextra: {schemac.dev/references: [{fields: [id], dataset: a}]}\nfields: [{name: id, type: Int64}]\n",
    },
}
SOUND = [path.name for path in sorted(EXAMPLES.iterdir()) if any(path.glob("*.yaml"))]
REFUSED = {
    "by an alias": {"id"},
    "in a struct": {"s.id"},
    "shared-fields": {"net_amount", "net_currency"},
}
"""Fields whose names stand in texts that mean something else too; they are left to their authors."""


def _lines(path: str) -> TextLines:
    return TextLines(Path(path).read_bytes().decode(), PositionCodec())


def _edited(lines: TextLines, edits: Sequence[types.TextEdit]) -> str:
    text = lines.text
    starts = [0, *accumulate(len(line) for line in split_with_ends(text))]

    def offset(position: types.Position) -> int:
        line, column = lines.place(position)
        return min(starts[line] + column, len(text)) if line < len(starts) else len(text)

    spans = [(offset(one.range.start), offset(one.range.end), one.new_text) for one in edits]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


class _Renaming:
    """An editor that renames what it is asked to in a folder, and puts all back."""

    def __init__(self, folder: Path) -> None:
        self.checked = ProjectFolder(folder, is_project=True).check({})
        self.navigator = Navigator(self.checked)

    def fields(self) -> Iterator[tuple[str, str, str, Region]]:
        """Yield dataset, path, text and place of each name that is written in this project, each place once."""
        found: dict[tuple[str, Region], tuple[str, str]] = {}
        for file in self.checked.files:
            for dataset in file.datasets if file.named else ():
                for field in preorder(dataset.columns):
                    if field.is_member:
                        place = place_of_name(dataset, field)
                        at = (self.checked.path(place.source.name), place.source.region(place.span))
                        found.setdefault(at, (dataset.name, field.path_text))
        yield from ((*field, *place) for place, field in found.items())

    def edits(self, path: str, region: Region) -> RenameEdits:
        lines = _lines(path)
        context = GrammarContext(lines.lines, (region.line - 1, region.column - 1))
        wanted = renamable(path, context, self.navigator)
        if wanted is None:
            raise RefusedRenameError
        return rename_edits(wanted, NEW, _lines)


def _new_errors(folder: Path, before: int, edits: RenameEdits) -> list[str]:
    """What is wrong with a folder after edits, which are taken back."""
    old = {path: Path(path).read_bytes() for path in edits.texts}
    for path, own in edits.texts.items():
        Path(path).write_bytes(_edited(_lines(path), own).encode())
    try:
        found = of_check(folder)
    finally:
        for path, content in old.items():
            Path(path).write_bytes(content)
    return [str(one) for one in found] if len(found) > before else []


@pytest.mark.parametrize("how", [*SOUND, *PROJECTS])
def test_rename_every_field_and_stay_sound(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if how in SOUND:
        shutil.copytree(EXAMPLES / how, tmp_path, dirs_exist_ok=True)
    for name, text in PROJECTS.get(how, {}).items():
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "schemac.toml").touch()
    before = of_check(tmp_path)
    assert [str(one) for one in before if one.severity == "error"] == []
    editor = _Renaming(tmp_path)
    refused, renamed = set(), 0
    for _, path_text, path, region in editor.fields():
        try:
            edits = editor.edits(path, region)
        except RefusedRenameError:
            refused.add(path_text)
            continue
        renamed += 1
        assert key_of(path) in edits.texts
        assert _new_errors(tmp_path, len(before), edits) == [], path_text
    assert refused == REFUSED.get(how, set())
    assert renamed > 0


@pytest.mark.parametrize("how", PROJECTS)
def test_rename_as_the_command_does(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").touch()
    before = PROJECTS[how]
    for name, text in before.items():
        (tmp_path / name).write_bytes(text.encode())
    editor = _Renaming(tmp_path)
    for dataset, path_text, path, region in editor.fields():
        try:
            edits = editor.edits(path, region).texts
        except RefusedRenameError:
            edits = {}
        by_editor = {Path(path).name: _edited(_lines(path), own) for path, own in edits.items()}
        assert main(["rename", dataset, path_text, NEW]) == (0 if edits else 1)
        after = {name: (tmp_path / name).read_bytes().decode() for name in before}
        assert {name: text for name, text in after.items() if text != before[name]} == by_editor
        for name, text in before.items():
            (tmp_path / name).write_bytes(text.encode())


def test_add_the_former_name_where_references_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From both ends: the dataset that refers, and the one that is referred to."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").touch()
    customers, orders = tmp_path / "customers.yaml", tmp_path / "orders.yaml"
    for how, from_orders, from_customers in (
        (
            "of one line",
            f"{{fields: [{NEW}], dataset: customers, to: [id]}}",
            f"{{fields: [id], dataset: customers, to: [{NEW}]}}",
        ),
        (
            "of lines",
            f'- fields: ["{NEW}"]  # the buyer\n      dataset: customers # who\n      to: [id]\n\n',
            f"- fields: [id]  # the buyer\n      dataset: customers # who\n      to: [{NEW}]\n\n",
        ),
    ):
        orders.write_text(PROJECTS[how]["orders.yaml"])
        customers.write_text(CUSTOMERS)
        editor = _Renaming(tmp_path)
        places = {Path(path).name: region for _, name, path, region in editor.fields() if name == "id"}
        for file, wanted in ((orders, from_orders), (customers, from_customers)):
            edits = editor.edits(str(file), places[file.name])
            after = _edited(_lines(str(orders)), edits.texts[str(orders)])
            assert wanted.replace('"', "") in after.replace('"', "")
