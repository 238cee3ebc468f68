"""Groups change nothing but the text: a schema with groups is the schema that it expands to, and the one without groups.

Shape: fields of a manifest are put into groups, some with parameters, in each other and in files that import each other; what comes
of it is held against the manifest as it was, and against the output of `schemac expand`.
"""

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import schemac
from schemac.cli.manifest_commands import expand_files
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.text.source.diagnostics import Diagnostic, Report
from tests.effort import law
from tests.identity.commands import schemac as run
from tests.laws.strategies import manifests, text

Tree = dict[str, Any]
FILES = ("t.yaml", "outer.yaml", "shared/inner.yaml")
"""The manifest, and two files with groups; each may use groups of those after it."""
IMPORTS: tuple[list[str], ...] = ([FILES[1], FILES[2]], [FILES[2]], [])
QUICK = law(40)
LONG = settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))


@dataclass
class Factored:
    """A manifest, with some of its fields in groups."""

    draw: st.DrawFn
    groups: tuple[Tree, ...] = field(default_factory=lambda: ({}, {}, {}))
    """By file and name."""

    def fields(self, fields: list[Tree], file: int, depth: int = 0) -> list[Tree]:
        """Return a list of fields in which some stand in groups."""
        found: list[Tree] = []
        left = list(fields)
        while left:
            if depth < 3 and self.draw(st.integers(0, 2)) == 0:
                count = self.draw(st.integers(1, len(left)))
                found.append(self._use(left[:count], file, depth))
                left = left[count:]
            else:
                found.append({**left[0], "type": self._type(left[0]["type"], file, depth)})
                left = left[1:]
        return found

    def _type(self, type_: Any, file: int, depth: int) -> Any:
        if not isinstance(type_, dict):
            return type_
        return {
            key: self.fields(value, file, depth + 1)
            if key == "fields"
            else self._type(value, file, depth)
            if key in ("inner", "itemType", "keyType", "valueType")
            else value
            for key, value in type_.items()
        }

    def _use(self, fields: list[Tree], file: int, depth: int) -> Tree:
        place = self.draw(st.integers(file, len(FILES) - 1))
        name = f"g{sum(map(len, self.groups))}"
        self.groups[place][name] = {}
        inside = self.fields(fields, place, depth + 1)
        plain = [one for one in inside if "use" not in one]
        if not plain or self.draw(st.booleans()):
            self.groups[place][name] = {"fields": inside}
            return {"use": name}
        original = {one["name"]: one for one in fields}
        inside = _escaped(inside)
        parameters: Tree = {}
        arguments: Tree = {}
        for before, one in zip(plain, (one for one in inside if "use" not in one), strict=True):
            of = f"p{len(parameters)}"
            key = self.draw(st.sampled_from(("name", "type", "extra")))
            if key == "extra":
                # A parameter in a longer text, beside a text that only looks like one.
                original[before["name"]]["extra"] = {**before.get("extra", {}), "acme.com/of": "$(x$(of)"}
                one["extra"] = {**one.get("extra", {}), "acme.com/of": f"$({of})x$$(of)"}
                value: Any = "$("
            elif "use" in str(before[key]):
                continue
            else:
                value, one[key] = before[key], f"$({of})"
            as_default = self.draw(st.booleans())
            parameters[of] = {"default": value} if as_default else {"description": "of a field"}
            arguments |= {} if as_default else {of: value}
        if not parameters:
            self.groups[place][name] = {"fields": _plain(inside)}
            return {"use": name}
        self.groups[place][name] = {"parameters": parameters, "fields": inside}
        return {"use": name, **({"with": arguments} if arguments else {})}


def _escaped(value: Any) -> Any:
    """Return a value for a group with parameters, in which `$$(` stands for `$(`."""
    return _replaced(value, "$(", "$$(")


def _plain(value: Any) -> Any:
    return _replaced(value, "$$(", "$(")


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {key: _replaced(item, old, new) for key, item in value.items()}
    return [_replaced(item, old, new) for item in value] if isinstance(value, list) else value


@st.composite
def factored(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A manifest without groups, and files in which it has some."""
    tree = draw(manifests())
    made = Factored(draw)
    fields = made.fields(tree["fields"], 0)
    documents: list[Tree] = [{"groups": groups} if groups else {} for groups in made.groups]
    documents[0] |= {**tree, "fields": fields}
    as_yaml = draw(st.booleans())
    files: dict[str, str] = {}
    for name, document, imports in zip(FILES, documents, IMPORTS, strict=True):
        used = [path for path in imports if _is_used(document, made.groups[FILES.index(path)])]
        if name.startswith("shared/"):
            used = [path.removeprefix("shared/") for path in used]
        files[name] = text(
            {**({"imports": used} if used else {}), **document} or {"groups": {}}, as_yaml=as_yaml
        )
    return text(tree, as_yaml=as_yaml), files


def _is_used(value: Any, groups: Tree) -> bool:
    if isinstance(value, dict):
        return (
            value.get("use") in groups
            if isinstance(value.get("use"), str)
            else any(_is_used(item, groups) for item in value.values())
        )
    return isinstance(value, list) and any(_is_used(item, groups) for item in value)


def said(findings: tuple[Diagnostic, ...]) -> set[tuple[str, str, str]]:
    """What findings say, wherever they stand."""
    return {(found.code, found.message, found.path) for found in findings}


def lay_out(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "schemac.toml").write_text("")


def artifacts(folder: Path) -> dict[str, bytes]:
    return {
        f"{one.name}/{path}": content
        for one in schemac.compile_file(folder / "t.yaml")
        for target in ("arrow", "lance", "spark", "odf")
        for path, content in _files(one, target).items()
    }


def _files(dataset: schemac.Dataset, target: str) -> dict[str, bytes]:
    try:
        return dataset.artifacts(target)
    except schemac.SchemaError as error:
        return {f"{target}: {d.code} {d.message} {d.path}": b"" for d in error.diagnostics}


def check_law(plain: str, files: dict[str, str]) -> None:
    with TemporaryDirectory() as name:
        folders = {sort: Path(name).resolve() / sort for sort in ("plain", "groups", "expanded")}
        for folder in folders.values():
            folder.mkdir()
        lay_out(folders["plain"], {"t.yaml": plain})
        lay_out(folders["groups"], files)
        report = Report()
        manifest = ManifestFile(folders["groups"] / "t.yaml", "t.yaml", is_named=True)
        lay_out(folders["expanded"], {"t.yaml": expand_files([manifest], Project(folders["groups"]), report)})
        assert not report.has_errors, report.diagnostics
        made = {sort: artifacts(folder) for sort, folder in folders.items()}
        assert made["groups"] == made["plain"]
        assert made["expanded"] == made["plain"]
        found = {
            sort: said(schemac.compile_file(folder / "t.yaml")[0].warnings)
            for sort, folder in folders.items()
        }
        assert found["groups"] == found["plain"] == found["expanded"]
        locks = {}
        for sort, folder in folders.items():
            assert run(folder, "lock", "t.yaml", "--no-cache").returncode == 0
            locks[sort] = (folder / "t.lock").read_text(encoding="utf-8")
        assert locks["groups"] == locks["plain"]
        assert locks["expanded"] == locks["plain"]


@given(factored())
@QUICK
def test_mean_the_same_with_groups_and_without(case: tuple[str, dict[str, str]]) -> None:
    check_law(*case)


@pytest.mark.long
@given(factored())
@LONG
def test_mean_the_same_with_groups_and_without_very_often(case: tuple[str, dict[str, str]]) -> None:
    check_law(*case)
