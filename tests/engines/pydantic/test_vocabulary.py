"""Every name of pydantic and of annotated_types at a field is kept, or named as a loss; a union keeps its null."""

from pathlib import Path

import annotated_types
import pydantic
import pydantic.networks
import pydantic.types
import pytest

import schemac
from tests.engines.pydantic.test_reader import imported

_NO_TYPES = frozenset(
    ["Strict", "AllowInfNan", "EncoderProtocol", "EncodedBytes", "EncodedStr", "Base64Encoder", "GetPydanticSchema", "StringConstraints",
     "Tag", "Discriminator", "FailFast", "UrlConstraints", "validate_email", "OnErrorOmit", "Secret"]
)  # fmt: skip
"""What stands in `Annotated`, or has parameters."""
TYPES = sorted(
    name
    for module in (pydantic.types, pydantic.networks)
    for name in module.__all__
    if name not in _NO_TYPES and not name.startswith("con")
)
KINDS = {
    "string": ("String", "Binary", "Date", "Timestamp"),
    "integer": ("Int64",),
    "number": ("Float64",),
    "boolean": ("Bool",),
}


@pytest.mark.parametrize("name", TYPES)
def test_read_every_type_of_pydantic(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is of the kind that pydantic's own JSON has, and not any value of JSON; what is narrower says so."""
    text = imported(tmp_path, f"from pydantic import *\nclass M(BaseModel):\n    f: {name}\n", capsys)
    (dataset,) = schemac.compile_text(text)
    try:
        schema = pydantic.TypeAdapter(getattr(pydantic, name)).json_schema(mode="serialization")
    except (ImportError, pydantic.errors.PydanticUserError):
        schema = {"type": "string"}  # EmailStr needs a package of its own
    kind = str(dataset.schema.fields[0].type.kind)
    if "type" not in schema:
        assert "lance.org/json" in text
        return
    assert "lance.org/json" not in text
    assert kind in KINDS[schema["type"]], schema
    is_exact = set(schema) <= {"type"} or name in ("AwareDatetime", "NaiveDatetime", "StrictBytes")
    assert is_exact or "not kept: that it is a" in text or "schemac.dev" in text


ANNOTATED = {
    "Gt(1)": "exclusiveMinimum: 1",
    "Ge(1)": "minimum: 1",
    "Lt(1)": "exclusiveMaximum: 1",
    "Le(1)": "maximum: 1",
    "MultipleOf(2)": "multipleOf: 2",
    "Interval(gt=1, le=5)": "maximum: 5",
    "MinLen(1)": "not kept: minLength",
    "MaxLen(1)": "not kept: maxLength",
    "Len(1, 5)": "not kept: maxLength",
    **{
        text: f"not kept: {text}"
        for text in ("Timezone(None)", "Predicate(str.islower)", "doc('a')", "DocInfo('a')", "BaseMetadata()", "GroupedMetadata()",
                     "AfterValidator(f)", "BeforeValidator(f)", "PlainValidator(f)", "WrapValidator(f)", "'a word'", "Strict()", "5",
                     "AllowInfNan(False)", "GetPydanticSchema(f)", "WithJsonSchema({})", "UrlConstraints(max_length=5)", "Tag('a')")
    },
}  # fmt: skip


@pytest.mark.parametrize("text", ANNOTATED)
@pytest.mark.parametrize("prefix", ["", "annotated_types."])
def test_keep_or_name_what_is_annotated(
    text: str, prefix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{prefix}{text}" if text[0].isupper() else text
    models = f"from pydantic import *\nRULE = {text}\nclass M(BaseModel):\n    f: Annotated[int, {text}]\n    g: list[Annotated[int, RULE]]\n"
    found = imported(tmp_path, models, capsys)
    wanted = ANNOTATED[text.removeprefix(prefix) if text[0].isupper() or prefix else text]
    wanted = f"not kept: {text}" if wanted.startswith("not kept: ") and "Length" not in wanted else wanted
    assert found.count(wanted) == 2, found


def test_know_every_class_of_annotated_types() -> None:
    """Aliases, such as `LowerCase`, stand in the place of a type, which is named then."""
    classes = {name for name in annotated_types.__all__ if isinstance(getattr(annotated_types, name), type)}
    asked = {text.partition("(")[0] for text in ANNOTATED}
    assert classes <= asked, classes - asked


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class M(BaseModel, extra='forbid'):\n    f: int", "extra='forbid' of the model M"),
        ("class M(BaseModel):\n    model_config = ConfigDict(extra='forbid')\n    f: int", "extra='forbid' of the model M"),
        ("class M(BaseModel):\n    model_config = {'extra': 'allow'}\n    f: int", "extra='allow' of the model M"),
        ("class M(BaseModel):\n    f: int\n    class Config:\n        extra = 'forbid'", "extra='forbid' of the model M"),
        ("class B(BaseModel):\n    model_config = ConfigDict(str_max_length=5)\nclass M(B):\n    f: int", "str_max_length=5 of the model B"),
        *(
            (f"class M(BaseModel):\n    f: int\n    @{word}('f')\n    def g(cls, v): return v", f"the {word} g")
            for word in ("field_validator", "validator", "field_serializer")
        ),
        ("class M(BaseModel):\n    f: int\n    @model_validator(mode='after')\n    def g(self): return self", "the model_validator g"),
        ("class M(BaseModel):\n    f: int\n    @root_validator\n    def g(self): return self", "the root_validator g"),
        ("class M(BaseModel):\n    f: int\n    @computed_field\n    @property\n    def g(self) -> int: return 1", "the computed_field g"),
        ("class M(BaseModel):\n    f: int | str | None", "Option, inner: String"),
        ("class M(BaseModel):\n    f: Optional[Union[int, str]]", "Option, inner: String"),
        ("class M(BaseModel):\n    f: Union[int, str, float, None]", "Option, inner: String"),
    ],
)  # fmt: skip
def test_name_what_a_model_says(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = imported(tmp_path, f"from pydantic import *\n{text}\n", capsys)
    assert said in found
    schemac.compile_text(found)
