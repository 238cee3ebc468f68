"""Names of groups, parameters, datasets and attributes of vocabularies: another one, in every file that has it."""

import json
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import Editor, applied, path_of
from tests.lsp.test_session import schemac, session

pytestmark = pytest.mark.slow

FILES = {
    "schemac.toml": 'manifests = ["tables"]\nvocabularies = {"acme.com" = "acme.json"}\n',
    "acme.json": '{"properties": {"steward": {"type": "string"}, "cost": {}}, "required": ["steward"],'
    ' "additionalProperties": false}\n',
    "groups/audit.yaml": "groups:\n  audit:\n    parameters:\n      prefix: {description: what the names begin with}\n"
    "    fields:\n      - {name: $(prefix)_at, type: Timestamp, extra: {acme.com/steward: ann}}\n"
    "      - {name: by_$(prefix), type: String, description: who $(prefix) it}\n"
    "  more:\n    fields:\n      - {use: audit, with: {prefix: seen}}\n",
    "tables/orders.yaml": "name: orders 🚕\nimports: [../groups/audit.yaml]\nextra:\n"
    "  schemac.dev/references:\n    - {fields: [customer], dataset: 'customers'}\nfields:\n"
    '  - {name: customer, type: Int64, extra: {"acme.com/steward": bob, acme.com/cost: {audit: audit}}}\n'
    "  - {use: audit, with: {prefix: made}}\n  - use: more\n",
    "tables/customers.yaml": "name: customers\nextra: {schemac.dev/unique: [[customer]]}\nfields:\n"
    "  - {name: customer, type: Int64, description: customers by audit and prefix}\n---\n"
    "name: other\ngroups:\n  own: {fields: [{name: audit, type: String}]}\nfields:\n  - use: own\n",
    "prod.yaml": "datasets:\n  customers:\n    name: customers_prod\n",
    "pipeline.yaml": "source: {path: in.json}\nschema: tables/customers.yaml\ndataset: customers\n"
    "references:\n  customers: {path: c.lance}\ntarget: {path: out.lance}\n",
}
"""The same words also stand where they mean something else."""


def _project(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text.replace("orders 🚕", "orders"))


async def _renamed(e: Editor, uri: str, word: str, behind: int, old: str, new: str, nth: int = 0) -> set[str]:
    """Rename what stands at a word, as an editor does; the files that changed."""
    here = e.at(uri, word, behind, nth=nth)
    prepared = await e.client.text_document_prepare_rename_async(types.PrepareRenameParams(**here))
    assert isinstance(prepared, types.PrepareRenamePlaceholder)
    assert prepared.placeholder == old
    edit = await e.client.text_document_rename_async(types.RenameParams(new_name=new, **here))
    assert edit is not None
    changed = set()
    for change in edit.document_changes or ():
        assert isinstance(change, types.TextDocumentEdit)
        path = path_of(change.text_document.uri)
        path.write_text(applied(path.read_text(), list(change.edits)))
        changed.add(path.name)
    e.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
    e.close(uri)
    return changed


def test_rename_what_several_files_name(tmp_path: Path) -> None:
    _project(tmp_path)
    schemac(tmp_path, "lock", "-q")
    before = schemac(tmp_path, "check", "--format", "json")
    expanded = schemac(tmp_path, "expand", "tables")
    groups, orders = tmp_path / "groups/audit.yaml", tmp_path / "tables/orders.yaml"

    async def act(e: Editor) -> None:
        changed = await _renamed(e, e.open(groups), "  audit:", 3, "audit", "trail-cols")
        assert changed == {"audit.yaml", "orders.yaml"}
        assert "{use: trail-cols, with: {prefix: seen}}" in groups.read_text()
        # From a use, of a group in another file; and a parameter from where it stands in a text.
        changed = await _renamed(e, e.open(orders), "use: more", 6, "more", "further")
        assert changed == {"audit.yaml", "orders.yaml"}
        changed = await _renamed(e, e.open(groups), "$(prefix)_at", 4, "prefix", "verb")
        assert changed == {"audit.yaml", "orders.yaml"}
        assert "name: by_$(verb), type: String, description: who $(verb) it" in groups.read_text()
        changed = await _renamed(e, e.open(orders), '"acme.com/steward"', 12, "acme.com/steward", "owner")
        assert changed == {"acme.json", "audit.yaml", "orders.yaml"}
        assert json.loads((tmp_path / "acme.json").read_text())["required"] == ["owner"]
        # From a reference; the dataset keeps the ids of its lock.
        changed = await _renamed(e, e.open(orders), "'customers'", 3, "customers", "clients")
        assert changed == {
            *("customers.yaml", "orders.yaml", "prod.yaml"),
            *("pipeline.yaml", "customers.lock"),
        }
        assert "dataset: 'clients'" in orders.read_text()
        pipeline = (tmp_path / "pipeline.yaml").read_text()
        assert "schema: tables/customers.yaml\ndataset: clients\nreferences:\n  clients:" in pipeline

    session(tmp_path, act)
    schemac(tmp_path, "lock", "--check", "tables/customers.yaml")
    # The attribute that has another name is a change of orders.
    schemac(tmp_path, "lock", "-q")
    assert schemac(tmp_path, "check", "--format", "json").replace("clients", "customers") == before
    after = schemac(tmp_path, "expand", "tables").replace("clients", "customers").replace("owner", "steward")
    assert after == expanded


def test_refuse_names_that_would_not_mean_the_same(tmp_path: Path) -> None:
    _project(tmp_path)
    (tmp_path / "tables" / "plain.yaml").write_text(
        "fields:\n  - {name: a, type: Int64}\nextra:\n  schemac.dev/references: [{fields: [a], dataset: plain}]\n"
    )

    async def act(e: Editor) -> None:
        orders, groups = e.open(tmp_path / "tables/orders.yaml"), e.open(tmp_path / "groups/audit.yaml")
        plain = e.open(tmp_path / "tables/plain.yaml")
        told = []
        for uri, word, behind, new, reason in (
            (groups, "  audit:", 3, "more", "is given twice"),
            (groups, "$(prefix)_at", 4, "a)b", "cannot be written as"),
            (orders, "'customers'", 3, "orders", "already used"),
            (orders, "'customers'", 3, "a\nb", "line breaks"),
            (orders, "acme.com/cost", 3, "steward", "is given twice"),
            (orders, "acme.com/cost", 3, "other.org/cost", "another domain"),
            (plain, "dataset: plain", 11, "fancy", "Write `name: plain` in its manifest"),
        ):
            with pytest.raises(JsonRpcException) as refused:
                await e.client.text_document_rename_async(
                    types.RenameParams(new_name=new, **e.at(uri, word, behind))
                )
            told.append((reason, str(refused.value)))
        assert [(reason, text) for reason, text in told if reason not in text] == []

    session(tmp_path, act)
    assert (tmp_path / "tables/customers.yaml").read_text() == FILES["tables/customers.yaml"]


def test_rename_a_field_where_other_files_name_it(tmp_path: Path) -> None:
    _project(tmp_path)
    orders, customers = tmp_path / "tables/orders.yaml", tmp_path / "tables/customers.yaml"
    orders.write_text(
        orders.read_text().replace("dataset: 'customers'", "dataset: customers, to: [customer]")
    )
    (tmp_path / "prod.yaml").write_text(
        "datasets:\n  customers:\n    fields:\n      customer: {extra: {lance.org/encoding: {compression: zstd}}}\n"
    )
    pipeline = tmp_path / "pipeline.yaml"
    pipeline.write_text(pipeline.read_text() + "fields:\n  customer: who.id\n")
    before = schemac(tmp_path, "check", "--overlay", "prod.yaml")

    async def act(e: Editor) -> None:
        changed = await _renamed(e, e.open(customers), "name: customer,", 8, "customer", "client")
        assert changed == {"customers.yaml", "orders.yaml", "prod.yaml", "pipeline.yaml"}

    session(tmp_path, act)
    assert "dataset: customers, to: [client]" in orders.read_text()
    assert "name: customer, type: Int64" in orders.read_text()
    assert "client: who.id" in pipeline.read_text()
    assert schemac(tmp_path, "check", "--overlay", "prod.yaml") == before
