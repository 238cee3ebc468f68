"""Texts with half of a surrogate pair, which Python can have and no file."""

import pytest

import schemac

OF_TEXTS = sorted(
    name
    for name in dir(schemac)
    if name.startswith("from_") and name not in ("from_arrow", "from_spark", "from_iceberg")
)


@pytest.mark.parametrize("name", [*OF_TEXTS, "compile_text", "check_text", "build_text"])
@pytest.mark.parametrize(
    "text",
    [
        "\ud800",
        "a\ud800\nb",
        "a: \ud800\n",
        "CREATE TABLE t (`\ud800` INT)",
        '{"a": "\ud800"}\n',
        "c \ud800 INT",
    ],
)
def test_refuse_half_a_character(name: str, text: str) -> None:
    """The error can be printed, and written into a log."""
    message = ""
    try:
        getattr(schemac, name)(text)
    except schemac.SchemaError as error:
        message = str(error)
    message.encode()
