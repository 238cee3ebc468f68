"""What fixes write, text by text: the law of fixes sees that a finding is gone, and these that its help was followed."""

import pytest

from tests.fixing import Text, errors, fixed

TEXTS = {
    "a control character in a name": (
        'fields:\n  - {name: "a\\x07b", type: Int8}\n',
        'fields:\n  - {name: "ab", type: Int8}\n',
    ),
    "a number in a list of texts": (
        "fields:\n  - {name: a, type: String, extra: {schemac.dev/enum: [a, 1, a]}}\n",
        'fields:\n  - {name: a, type: String, extra: {schemac.dev/enum: [a, "1"]}}\n',
    ),
    "a group that is not closed": (
        "fields:\n  - {name: a, type: String, extra: {schemac.dev/pattern: '(a|b'}}\n",
        "fields:\n  - {name: a, type: String, extra: {schemac.dev/pattern: '\\(a|b'}}\n",
    ),
    "a double sign in a class": (
        'fields:\n  - {name: a, type: String, extra: {schemac.dev/pattern: "[a&&b]"}}\n',
        'fields:\n  - {name: a, type: String, extra: {schemac.dev/pattern: "[a\\\\&\\\\&b]"}}\n',
    ),
    "a day that there is not": (
        "fields:\n  - {name: a, type: Date, extra: {schemac.dev/minimum: '2023-02-30'}}\n",
        "fields:\n  - {name: a, type: Date, extra: {schemac.dev/minimum: '2023-02-28'}}\n",
    ),
    "digits that a decimal does not keep": (
        "fields:\n  - {name: a, type: {kind: Decimal, precision: 5, scale: 2}, extra: {schemac.dev/enum: [0.5, 0.12345678901234567891]}}\n",
        'fields:\n  - {name: a, type: {kind: Decimal, precision: 5, scale: 2}, extra: {schemac.dev/enum: [0.5, "0.12"]}}\n',
    ),
    "a hint that is for the items": (
        "fields:\n  - {name: a, type: {kind: List, itemType: Date}, extra: {arrow.apache.org/dateEncoding: {unit: Millisecond}}}\n",
        "fields:\n  - {name: a, type: {kind: List, itemType: {kind: Date, extra: {arrow.apache.org/dateEncoding: {unit: Millisecond}}}}}\n",
    ),
    "a key inside of an optional struct": (
        "fields:\n  - name: s\n    type: {kind: Option, inner: {kind: Struct, fields: [{name: k, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}]}}\n",
        "fields:\n  - name: s\n    type: {kind: Struct, fields: [{name: k, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}]}\n",
    ),
    "attributes inside of the type": (
        "fields:\n  - name: a\n    type: {kind: Date, extra: {x/y: 1}}\n",
        "fields:\n  - name: a\n    type: {kind: Date}\n    extra: {x/y: 1}\n",
    ),
    "a type and what it says besides": (
        "fields:\n  - {name: a, type: large_string}\n",
        "fields:\n  - {name: a, type: String, extra: {arrow.apache.org/bufferEncoding: {kind: Contiguous, offsetBitWidth: 64}}}\n",
    ),
    "a choice between a type and null": (
        'fields:\n  - {name: a, type: ["null", Int32]}\n',
        "fields:\n  - {name: a, type: {kind: Option, inner: Int32}}\n",
    ),
    "an extension type with an attribute of its own": (
        "fields:\n  - name: a\n    type: String\n    extra: {arrow.apache.org/extensionType: {name: lance.json}}\n",
        "fields:\n  - name: a\n    type: String\n    extra: {lance.org/json: true}\n",
    ),
    "an attribute of the struct around": (
        "fields:\n  - name: p\n    extra: {lance.org/encoding: {packed: true}}\n    type:\n      kind: Struct\n      fields:\n        - {name: a, type: {kind: Option, inner: Int32}}\n",
        "fields:\n  - name: p\n    type:\n      kind: Struct\n      fields:\n        - {name: a, type: {kind: Option, inner: Int32}}\n",
    ),
    "blanks in an option": (
        'extra:\n  schemac.dev/targets: [paimon]\n  paimon.apache.org/options: {bucket: "4", bucket-key: "id, a"}\nfields:\n  - {name: id, type: Int64}\n  - {name: a, type: Int64}\n',
        'extra:\n  schemac.dev/targets: [paimon]\n  paimon.apache.org/options: {bucket: "4", bucket-key: "id,a"}\nfields:\n  - {name: id, type: Int64}\n  - {name: a, type: Int64}\n',
    ),
    "a name twice in an option": (
        "extra:\n  schemac.dev/targets: [paimon]\n  paimon.apache.org/options:\n    primary-key: id,id\n    bucket: '4'\nfields:\n  - {name: id, type: Int64}\n",
        "extra:\n  schemac.dev/targets: [paimon]\n  paimon.apache.org/options:\n    primary-key: id\n    bucket: '4'\nfields:\n  - {name: id, type: Int64}\n",
    ),
    "two options that are missing": (
        "extra:\n  schemac.dev/targets: [paimon]\nfields:\n  - {name: id, type: Int64}\n  - {name: b, type: Binary, extra: {lance.org/blob: {}}}\n  - {name: c, type: Binary, extra: {paimon.apache.org/type: BLOB}}\n",
        'extra:\n  schemac.dev/targets: [paimon]\n  paimon.apache.org/options: {row-tracking.enabled: "true", data-evolution.enabled: "true"}\nfields:\n  - {name: id, type: Int64}\n  - {name: b, type: Binary, extra: {lance.org/blob: {}}}\n  - {name: c, type: Binary, extra: {paimon.apache.org/type: BLOB}}\n',
    ),
    "a column in the name of an option": (
        "extra:\n  schemac.dev/targets: [paimon]\n  paimon.apache.org/primaryKeys: [id]\n  paimon.apache.org/options:\n    merge-engine: aggregation\n    fields.totl.aggregate-function: sum\nfields:\n  - {name: id, type: Int64}\n  - {name: total, type: Int64}\n",
        "extra:\n  schemac.dev/targets: [paimon]\n  paimon.apache.org/primaryKeys: [id]\n  paimon.apache.org/options:\n    merge-engine: aggregation\n    fields.total.aggregate-function: sum\nfields:\n  - {name: id, type: Int64}\n  - {name: total, type: Int64}\n",
    ),
    "a length of items that are no numbers": (
        "fields:\n  - name: a\n    type: {kind: List, itemType: String, fixedLength: 3}\nextra: {schemac.dev/targets: [lance]}\n",
        "fields:\n  - name: a\n    type: {kind: List, itemType: String}\nextra: {schemac.dev/targets: [lance]}\n",
    ),
    "tabs": (
        "fields:\n\t- {name: a, type: Int8}\n",
        "fields:\n  - {name: a, type: Int8}\n",
    ),
    "a sign that begins no text": (
        "fields:\n  - name: a\n    description: @home # where\n    type: Int8\n",
        'fields:\n  - name: a\n    description: "@home" # where\n    type: Int8\n',
    ),
    "a colon in a text": (
        "fields:\n  - name: a\n    description: paid: in euros # z\n    type: Int8\n",
        'fields:\n  - name: a\n    description: "paid: in euros" # z\n    type: Int8\n',
    ),
    "a backslash in double quotes": (
        'fields:\n  - {name: "a\\d", type: Int8}\n',
        'fields:\n  - {name: "a\\\\d", type: Int8}\n',
    ),
    "a use in a circle": (
        "groups:\n  a:\n    fields:\n      - {name: x, type: Int8}\n      - use: a\nfields:\n  - use: a\n",
        "groups:\n  a:\n    fields:\n      - {name: x, type: Int8}\nfields:\n  - use: a\n",
    ),
    "an Option that is said to be required": (
        "fields:\n  - {name: a, type: {kind: Option, inner: Int8}, required: true}\n",
        "fields:\n  - {name: a, type: {kind: Option, inner: Int8}}\n",
    ),
}
"""Each wrong text, and what its guesses make of it."""


@pytest.mark.parametrize("name", TEXTS)
def test_write_what_the_help_says(name: str) -> None:
    before, after = TEXTS[name]
    found = fixed(Text(name, before.encode()), is_unsafe=True)
    assert found.content.decode() == after
    assert errors(found.before)
    assert not errors(found.after)
