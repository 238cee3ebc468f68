"""Lance's options of object stores, out of the section `storage` of a pipeline.

Layer: engines.
Source: the options of the crate object_store, which Lance passes on.
"""

from schemac.rows.runs.storage import NO_STORAGE, Storage

NAMES = {
    "endpoint": "aws_endpoint",
    "region": "aws_region",
    "accessKeyId": "aws_access_key_id",
    "secretAccessKey": "aws_secret_access_key",
    "sessionToken": "aws_session_token",
}
PATIENT = {"client_max_retries": "10"}
"""Lance's own three attempts, within a second, are too few for a store that asks to slow down."""


def options_for(path: str, storage: Storage | None) -> dict[str, str] | None:
    """Give the options for a path; None where Lance's own have to do."""
    bucket = (storage or NO_STORAGE).bucket_of(path)
    if bucket is None:
        return None
    options = {NAMES[name]: text for name, text in bucket.texts.items()}
    if not bucket.is_encrypted:
        options["allow_http"] = "true"
    if bucket.path_style is not None:
        options["aws_virtual_hosted_style_request"] = str(not bucket.path_style).lower()
    return {**PATIENT, **options, **bucket.options}
