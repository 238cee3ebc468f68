"""Fields of every kind, and tokens of every kind of JSON: boundaries, spellings, digits, exponents, escapes."""

import json
from collections.abc import Iterator
from functools import cache
from itertools import product

import pyarrow as pa

import schemac
from schemac.rows.judging.arrays import extension_name, is_scalar, storage_type
from schemac.rows.samples.wrong_records import TOKENS
from tests.conformance.boundaries import all_types
from tests.conformance.manifest_types import TYPES, member
from tests.pipeline.test_batch_records import CELLS
from tests.pipeline.test_spellings import CLOCKS, DATES, OFFSETS, ONLY_TEXT, spelled_numbers

OWN_KINDS = {"uint64_dictionary": pa.dictionary(pa.int32(), pa.uint64()), "null": pa.null()}
OTHERS = ("tensor", "List view", "large List view")
"""What no pipeline writes."""


@cache
def fields_of_all_kinds() -> dict[str, pa.Field]:
    """One field of each Arrow type that kinds and encodings come to, by a name of its own."""
    manifests = {**TYPES, **{text: bounded.manifest for text, bounded in all_types().items()}}
    found = {
        "null": pa.field("null", pa.null()),
        "uint64_dictionary": pa.field("d", OWN_KINDS["uint64_dictionary"]),
    }
    known = set()
    for label, manifest in manifests.items():
        if label == "Null" or label in OTHERS:
            continue
        (dataset,) = schemac.compile_text(json.dumps({"name": "t", "fields": [member("f", manifest)]}))
        field = dataset.to_arrow().field("f")
        data_type = field.type
        if pa.types.is_dictionary(data_type):
            # Which integers count the words of a dictionary is nothing to a judge.
            data_type = pa.dictionary(pa.int32(), data_type.value_type)
            field = field.with_type(data_type)
        key = (str(data_type), str(storage_type(data_type)), extension_name(field))
        if key not in known:
            known.add(key)
            found[label] = field
    return {
        label: field.with_name(f"f{i}").with_nullable(True) for i, (label, field) in enumerate(found.items())
    }


def scalars() -> list[pa.Field]:
    return [field for field in fields_of_all_kinds().values() if is_scalar(field)]


def readers() -> list[pa.Field]:
    """One field for each way in which values are read."""
    types = [pa.bool_(), pa.int8(), pa.int64(), pa.uint8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.decimal128(12, 2), pa.decimal128(38, 10),
             pa.decimal128(5, -3), pa.decimal256(50, 5), pa.string(), pa.binary(), pa.binary(16), pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.timestamp("us", "UTC"),
             pa.timestamp("ns", "UTC"), pa.timestamp("ms"), pa.timestamp("us", "+05:30"), pa.duration("ms"), pa.uuid(), pa.json_(), pa.null()]  # fmt: skip
    others = [pa.field("brain", pa.binary(2), metadata={b"ARROW:extension:name": b"lance.bfloat16"})]
    return [pa.field(f"r{i}", held) for i, held in enumerate(types)] + [
        field.with_name(f"r{len(types)}") for field in others
    ]


def placed(field: pa.Field) -> Iterator[pa.Field]:
    """The field in each place."""
    label, item = field.name, field.with_name("item")
    yield field
    yield pa.field(f"{label}_list", pa.list_(item))
    yield pa.field(f"{label}_pair", pa.list_(item, 2))
    yield pa.field(f"{label}_map", pa.map_(pa.string(), item))
    yield pa.field(f"{label}_struct", pa.struct([field.with_name("m"), pa.field("o", pa.int8())]))
    yield pa.field(
        f"{label}_list_of_struct", pa.list_(pa.struct([field.with_name("m"), pa.field("o", pa.int8())]))
    )
    yield pa.field(f"{label}_list_of_list", pa.list_(pa.list_(item)))
    if not pa.types.is_null(field.type):
        yield field.with_name(f"{label}_required").with_nullable(False)
        yield pa.field(f"{label}_list_required", pa.list_(item.with_nullable(False)))


PLACES = {"": "{}", "_required": "{}", "_list": "[{}]", "_list_required": "[{}, {}]", "_pair": "[{}, null]", "_map": '{{"k": {}}}', "_struct": '{{"m": {}}}',
          "_list_of_struct": '[{{"m": {}}}, {{"m": null, "o": 1}}]', "_list_of_list": "[[], [{}]]"}  # fmt: skip


def record_with(fields: list[pa.Field], token: str) -> str:
    """A record that has the token in each field, at the place of the field."""
    members = []
    for field in fields:
        _, underscore, place = field.name.partition("_")
        members.append(f'"{field.name}": {PLACES[underscore + place].format(*[token] * 2)}')
    return "{" + ", ".join(members) + "}"


LIMITS = [
    sign * 2**bits + delta
    for bits in (7, 8, 15, 16, 31, 32, 53, 63, 64)
    for sign in (1, -1)
    for delta in (-1, 0, 1)
]
NUMBERS = [*map(str, LIMITS), "0", "-0", "0.0", "-0.0", "-0e0", "-0.0e-5", "5.0", "5.00", "5.50", "0.1", "-0.10", "1.10", "1e2", "1E2", "1e+2", "1e-2", "15e-1",
           "100e-2", "1e0", "1.5e1", "1e18", "1e19", "1e22", "2e23", "1e23", "1e38", "1e39", "1e40", "1e100", "1e101", "1e308", "1e309", "-1e309", "1e400", "1e-400",
           "1e-323", "4.9e-324", "2e-323", "1e99999999999", "1e-99999999999", "1.55e-99999999999", "0e99999999999", "1e2147483647", "1e-2147483648", "1e2147483648",
           "9" * 18, "9" * 19, "9" * 37, "9" * 38, "9" * 39, "9" * 40, "-" + "9" * 38, "1" + "0" * 37, "1" + "0" * 38, "1" + "0" * 39, "1" + "0" * 308, "1" + "0" * 309,
           "0." + "1" * 37, "0." + "1" * 38, "0." + "1" * 39, "0." + "0" * 36 + "1", "0." + "0" * 37 + "1", "0." + "0" * 38 + "1", "-0." + "0" * 40, "1." + "0" * 37,
           "1." + "0" * 38, "1." + "0" * 50, "12345678901234567890.123456789012345678", "12345678901234567890.1234567890123456789", "123.45000", "3.4028234663852886e38",
           "3.4028235677973366e38", "3.4028235677973365e38", "3.4028235677973362e38", "3.40282356779733661637539395458142568448e38", "340282346638528859811704183484516925440",
           "340282356779733661637539395458142568447", "340282356779733661637539395458142568448", "65504", "65519", "65519.99", "65519.996", "65519.999", "65520", "-65520",
           "1.401298464324817e-45", "7.006492321624085e-46", "7.006492321624086e-46", "7e-46", "1e-45", "1.17549435e-38", "5.877471754111438e-39", "3.3895313892515355e38",
           "3.39e38", "3.396e38", "3.3961775292304601e38", "16777217", "16777219", "16777217.0", "16777217.00000000000000000001", "16777216.99999999999999999999", "1.00000017881393432617187499",
           "1.00000017881393432617187500", "1.00000017881393432617187501", "1.000000178813934326171874999e0", "1.000000178813934326171875e0", "1.0000001788139343261718750001e0",
           "1.00000005960464477539062501", "1.00000005960464477539062500", "1.000000059604644775390625e0", "1.0000000596046448", "9007199254740993", "9007199254740993.0",
           "9007199254740993e0", "0.1e0", "123456789.123456789", "1234567890123456789e-10", "1.2345678901234567e-05", "2.0e-3", "1e-3", "9.99e-4", "1e7", "9999999.5e0", "12345678e0",
           "1700000000", "1700000000.5", "1700000000123", "1700000000123456789", "1.7e9", "1.7E+12", "-62135596800", "-62135596801", "253402300799", "253402300800", "-719162",
           "-719163", "2932896", "2932897", "86400", "43200", "1.0000000001", "0.0000000005", "0.0000000015", "99999999999999999999999999999", "999999999999999999999999999999"]  # fmt: skip
TEXTS = ["", " ", "a", "é", "日本", "𝄞", 'a"b', "a\\b", "\\N", "NULL", "null", "\b\f\n\r\t", "\x00", "\x01\x1f\x7f\x80", "\u2028", "\ue000", "\uffff", "/", "'", "\\u0041", "true", "TRUE",
         "False", "fal\u017fe", "t", "yes", "NaN", "nan", "Infinity", "-Infinity", "+Infinity", "inf", "-inf", "+inf", "1", "-1", "1.5", "1e5", "5e3", "0x10", "[1]", "{}", '{"a": 1}', "{} x", "1,2",
         "AAE=", "AA==", "AB==", "AAB=", "A===", "====", "AAAA", "AAA", "AA=A", "AAECAwQFBgcICQoLDA0ODw==", "AAECAw==", "AA-_", " AAAA", "00112233-4455-6677-8899-aabbccddeeff",
         "00112233-4455-6677-8899-AABBCCDDEEFF", "00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeef", "x" * 999, "x" * 1000, "x" * 1001, "𝄞" * 1001,
         "10:00", "10:00:00", "10:00:00.5", "10:00:00.", "10:00:00.123", "10:00:00.1230", "10:00:00.1234", "10:00:00.123456", "10:00:00.1234567", "10:00:00.123456789", "10:00:00.1234567890",
         "10:00:00,5", "24:00:00", "23:59:60", "9:00:00", "2024-01-31", "1969-12-31", "1582-10-10", "9999-12-31", "2024-1-1", "0000-02-29", "0000-02-30", "+2024-01-01", "2024-01-01\n"]  # fmt: skip
MOMENTS = [
    f"{day}T{clock}{offset}"
    for day, clock, offset in product(
        DATES, ["00:00", "02:30", "23:59:59.999999", "12:00:00.123456789", "24:00"], ["", "Z", "-05:00"]
    )
]
MOMENTS += [f"2024-02-29{gap}{clock}{offset}" for gap, clock, offset in product("Tt ", CLOCKS, OFFSETS)]
MOMENTS += ["0001-01-01T00:00:00+00:01", "0001-01-01T00:00:00+14:00", "0001-01-02T00:00:00+14:00", "9999-12-31T23:59:59.999999-00:01", "9999-12-31T23:59:59.9999999Z", "9999-12-30T23:59:59Z",
            "2024-01-01T00:00:00+18:00", "2024-01-01T00:00:00+18:01", "2024-01-01T00:00:00-18:00", "2024-01-01T00:00:00+02:60", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00.", "2024-01-01T00:00:00-00:00",
            "1677-09-21T00:12:43.145224192Z", "1677-09-21T00:12:43.145224191Z", "2262-04-11T23:47:16.854775807Z", "2262-04-11T23:47:16.854775808Z", "1677-09-21T00:12:43.145224193Z",
            "0000-01-01T00:00:00.1234567891", "1969-12-31T23:59:59.9999995Z", "2024-01-01T00:00:00.1000000000Z", "2024-01-01T00:00:00.10000000001Z", "2024-01-01T00:00:00.5ZZ"]  # fmt: skip
ESCAPED = [
    r'"\u0041\u00e9"',
    r'"\ud83d\ude00"',
    r'"\ud83d"',
    r'"\ude00x"',
    r'"\/"',
    r'"\u0000"',
    r'"\u001f"',
    r'"a\u2028b"',
]
COMPOSED = [
    '{"a": 1e999, "b": -1e999}',
    "[]",
    "{}",
    "[1]",
    '{"a": 1}',
    '{"m": 1}',
    '[{"m": 1}]',
    '{"b": 1, "a": [1e5, 2.50, "x\\n", null, true, -0.0]}',
    '{"k": {"z": 1, "a": 2}}',
    "[[1]]",
    '{"é": 1, "\ue000": 2, "𝄞": 3}',
    "[1, 2]",
]
WORDS = ["null", "true", "false"]


def all_tokens() -> list[str]:
    """Tokens of every kind, also those of wrong samples; each once."""
    texts = [*TEXTS, *MOMENTS, *ONLY_TEXT, *(text for cells in CELLS.values() for text in cells)]
    tokens = [
        *WORDS,
        *NUMBERS,
        *spelled_numbers(),
        *(json.dumps(text, ensure_ascii=False) for text in texts),
        *ESCAPED,
        *COMPOSED,
        *TOKENS,
    ]
    return list(dict.fromkeys(tokens))


def cell_texts() -> list[str]:
    """Texts of cells: all of the above, and tokens as they stand."""
    texts = [
        *TEXTS,
        *MOMENTS,
        *ONLY_TEXT,
        *(text for cells in CELLS.values() for text in cells),
        *NUMBERS,
        *spelled_numbers(),
        *COMPOSED,
        *(json.loads(token) if token.startswith('"') else token for token in TOKENS),
    ]
    return [text for text in dict.fromkeys(texts) if not {"\n", "\r", "\x00"} & {*text}]


def cell_with(field: pa.Field, token: str) -> str:
    """The token at the place of the field, as a cell."""
    _, underscore, place = field.name.partition("_")
    text = PLACES[underscore + place].format(*[token] * 2)
    return text.translate({ord(character): None for character in "\n\r\x00"})
