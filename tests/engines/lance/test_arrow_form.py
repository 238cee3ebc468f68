"""What Lance and the connector of Spark call the same things; neither engine sees the other."""

from schemac.arrow.metadata import forms
from schemac.engines.lance import attributes
from schemac.engines.lance.arrow_form import FORM
from schemac.engines.lance.attributes import ENCODING
from schemac.engines.spark import columns
from schemac.engines.spark.connector import blob_type
from schemac.language.attributes.registry import ATTRIBUTES, domain_of
from schemac.language.physical import pa


def test_spark_finds_what_lance_writes() -> None:
    assert columns.BLOB == attributes.BLOB_MARK
    assert columns.BLOB_EXTENSION == attributes.BLOB_EXTENSION
    assert columns.PRIMARY_KEY == attributes.PRIMARY_KEY_MARK
    assert columns.PRIMARY_KEY_POSITION == attributes.PRIMARY_KEY_POSITION
    blob = next(key for key in ATTRIBUTES if key == "lance.org/blob")
    assert blob_type() == FORM.to_arrow(blob, pa.binary(), {}, {})
    all_encodings = {f.alias or name for name, f in ENCODING.value_type.model_fields.items()}
    for encoding in columns.ENCODINGS:
        assert FORM.property_of(ENCODING.key, columns.ENCODING_PREFIX + encoding) in all_encodings


def test_attributes_that_decide_a_type_have_a_form() -> None:
    deciding = {domain_of(key) for key, attribute in ATTRIBUTES.items() if attribute.decides_type}
    assert deciding - {"arrow.apache.org"} <= set(forms())
