"""A project with what pages have to show: references, versions, attributes, and texts that mean harm."""

from pathlib import Path

import pytest

from schemac.cli.main import main

HARM = "</script><script>window.harm=1</script><img src=x onerror=window.harm=1>\"' \u202e{{ 7*7 }}"
CUSTOMERS = """\
name: customers
description: Who ordered
extra: {schemac.dev/owner: crm, schemac.dev/tags: [core]}
fields:
  - {name: id, type: Int64, description: Never reused, extra: {lance.org/primaryKey: {position: 1}}}
  - name: address
    type: {kind: Struct, fields: [{name: city, type: String, extra: {schemac.dev/classification: personal}}]}
  - {name: fax, type: String, extra: {schemac.dev/deprecated: {removeAfter: 2027-03-31, successor: id}}}
"""
ORDERS = """\
name: orders
extra: {schemac.dev/references: [{fields: [customer], dataset: customers, to: [id]}, {fields: [id], dataset: elsewhere}]}
fields:
  - {name: id, type: Int64}
  - {name: codes, type: {kind: List, itemType: {kind: String, extra: {schemac.dev/maxLength: 9}}}}
  - {name: vector, type: {kind: List, itemType: Float32, fixedLength: 3}}
  - {name: customer, type: Int64, extra: {schemac.dev/minimum: 1}}
  - {name: total, type: {kind: Decimal, precision: 8, scale: 2}}
"""


def hostile() -> str:
    """Return a manifest all of whose texts mean harm, wherever a text may stand."""
    text = HARM.replace("\\", "\\\\").replace('"', '\\"')
    return f"""\
name: reviews
description: "{text}"
extra:
  schemac.dev/owner: "{text}"
  schemac.dev/tags: ["{text}"]
  schemac.dev/deprecated: {{note: "{text}"}}
  schemac.dev/references: [{{fields: [id], dataset: "{text}"}}]
  example.org/x: "{text}"
fields:
  - {{name: id, type: Int8}}
  - name: "{text}"
    description: "{text}"
    type: {{kind: Map, keyType: String, valueType: {{kind: String, extra: {{example.org/y: "{text}"}}}}}}
    extra: {{schemac.dev/tags: ["{text}"], example.org/z: ["{text}"]}}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Customers, orders with three versions and a change since, and reviews that mean harm."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tables").mkdir()
    (tmp_path / "schemac.toml").write_text('manifests = ["tables"]\n')
    texts = {"customers": CUSTOMERS, "orders": ORDERS, "reviews": hostile()}
    for name, text in texts.items():
        (tmp_path / f"tables/{name}.yaml").write_text(text, encoding="utf-8")
    orders = tmp_path / "tables/orders.yaml"
    for old, new in (("precision: 8", "precision: 9"), ("Int64}\n", "Int64, description: Ours}\n"), ("", "")):
        assert main(["lock", "-q", "--max-findings", "0"]) == 0
        orders.write_text(orders.read_text().replace(old, new, 1))
    orders.write_text(orders.read_text() + "  - {name: note, type: {kind: Option, inner: String}}\n")
    return tmp_path
