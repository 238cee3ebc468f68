"""The Python surface gives what the command line would say beside errors."""

from pathlib import Path
from zoneinfo import ZoneInfoNotFoundError

import pyarrow as pa
import pytest

import schemac

ODD = "name: odd\nfields:\n  - {name: id, type: Int8}\n  - {name: ID, type: Int8}\n"
PLAIN = "name: plain\nfields:\n  - {name: a, type: {kind: Timestamp, timezone: Europe/Berln}}\n"
SOUND = "name: sound\nfields: [{name: a, type: Int8}]\n"


def test_give_the_warnings_of_each_dataset() -> None:
    odd, plain, sound = schemac.compile_text(f"{ODD}---\n{PLAIN}---\n{SOUND}")
    assert [w.code for w in odd.warnings] == ["SC303"]
    assert [w.code for w in plain.warnings] == ["SC316"]
    assert sound.warnings == ()
    assert odd.warnings[0].line == 4


@pytest.mark.parametrize("text", [ODD, PLAIN, SOUND, f"{ODD}---\n{PLAIN}", f"{SOUND}---\n{ODD}"])
def test_lose_no_warning(text: str) -> None:
    found = {w for dataset in schemac.compile_text(text) for w in dataset.warnings}
    assert found == set(schemac.check_text(text))


def test_give_the_warnings_of_a_file_and_of_a_source(tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text(ODD)
    (odd,) = schemac.compile_file(tmp_path / "odd.yaml")
    assert [w.code for w in odd.warnings] == ["SC303"]
    schema = pa.schema([("id", pa.int8()), ("ID", pa.int8())])
    assert [w.code for w in schemac.from_arrow(schema).warnings] == ["SC303"]


OFFSETS = [
    "+25:99",
    "+24:00",
    "+23:59",
    "+14:00",
    "-00:30",
    "+05:60",
    "+0530",
    "+05",
    "-5:30",
    "+05:30:00",
    "+1",
]


@pytest.mark.parametrize("offset", OFFSETS)
def test_refuse_the_offsets_that_arrow_refuses(offset: str) -> None:
    text = f"fields:\n  - {{name: a, type: {{kind: Timestamp, timezone: '{offset}'}}}}\n"
    refused = {d.code for d in schemac.check_text(text) if d.severity == "error"}
    try:
        pa.lib.string_to_tzinfo(offset)
    except (pa.ArrowInvalid, ZoneInfoNotFoundError):
        # Older releases of pyarrow let Python say it.
        assert refused == {"SC205"}
    else:
        assert refused == set()
