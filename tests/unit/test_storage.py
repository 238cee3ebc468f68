"""The section `storage`: one place for the options of Lance, Hadoop and pyarrow, and secrets that are nowhere to be read."""

import json
import pickle
from typing import Any

import pytest
from pydantic import ValidationError

from schemac.engines.lance.dataset import options_for
from schemac.pipeline.declaration.job import Job
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.storage import Storage, hadoop_address, is_secret, table_address
from schemac.text.source.catalogue import STORAGE_SETTING

SECRET = "wJalrXUt-nobody-may-print"
TOLD: dict[str, dict[str, Any]] = {
    "s3://rides": {
        "endpoint": "http://127.0.0.1:9000",
        "region": "eu-central-1",
        "accessKeyId": "${RIDES_KEY}",
        "secretAccessKey": "${RIDES_SECRET}",
        "pathStyle": True,
        "options": {"timeout": "60s"},
    },
    "s3://rides/raw": {"region": "us-west-2"},
    "gs://": {"options": {"google_service_account": "/etc/gcs.json"}},
}


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIDES_KEY", "AKIA")
    monkeypatch.setenv("RIDES_SECRET", SECRET)


def job(storage: dict[str, Any]) -> Job:
    paths = {"source": {"path": "s3a://rides/in.json"}, "target": {"path": "s3a://rides/t.lance"}}
    return Job.model_validate({**paths, "storage": storage})


def test_give_each_library_its_own_names() -> None:
    storage = job(TOLD).storage_options
    assert (options_for("s3://rides/t.lance", storage) or {}) == {
        "aws_endpoint": "http://127.0.0.1:9000",
        "aws_region": "eu-central-1",
        "aws_access_key_id": "AKIA",
        "aws_secret_access_key": SECRET,
        "allow_http": "true",
        "aws_virtual_hosted_style_request": "false",
        "timeout": "60s",
        "client_max_retries": "10",
    }
    below = "fs.s3a.bucket.rides"
    assert storage.hadoop_options("s3a://rides/in.json") == {
        "fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        f"{below}.endpoint": "http://127.0.0.1:9000",
        f"{below}.endpoint.region": "eu-central-1",
        f"{below}.access.key": "AKIA",
        f"{below}.secret.key": SECRET,
        f"{below}.connection.ssl.enabled": "false",
        f"{below}.path.style.access": "true",
        f"{below}.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    }


@pytest.mark.parametrize(
    ("path", "region"),
    [
        ("s3://rides", "eu-central-1"),
        ("s3://rides/raw", "us-west-2"),
        ("s3a://rides/raw/x.json", "us-west-2"),
        ("s3://rides/rawer", "eu-central-1"),
        ("s3://rides2/raw", None),
        ("rides/raw", None),
    ],
)
def test_the_longest_address_counts(path: str, region: str | None) -> None:
    assert (options_for(path, job(TOLD).storage_options) or {}).get("aws_region") == region


def test_a_scheme_alone_is_an_address_too() -> None:
    options = options_for("gs://any/t.lance", job(TOLD).storage_options) or {}
    assert options == {"google_service_account": "/etc/gcs.json", "client_max_retries": "10"}


def test_s3_has_one_name_for_tables_and_another_for_hadoop() -> None:
    assert job({}).target.path == table_address("s3n://rides/t.lance") == "s3://rides/t.lance"
    assert hadoop_address("s3://rides/in.json") == "s3a://rides/in.json"
    assert hadoop_address("/data/in.json") == "/data/in.json"


def test_what_is_passed_on_has_references() -> None:
    storage = job(TOLD).storage_options
    told = storage.to_json()
    assert SECRET not in told
    assert json.loads(told)["s3://rides"]["secretAccessKey"] == "${RIDES_SECRET}"
    assert Storage.from_json(told) == storage


def test_no_value_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    found: Storage = pickle.loads(pickle.dumps(job(TOLD).storage_options.resolved()))
    assert SECRET not in f"{found!r} {found} {found.buckets!r} {[*found.buckets.values()]!r}"
    monkeypatch.delenv("RIDES_SECRET")
    # On another machine the variable is not needed any more.
    assert (options_for("s3://rides/t", found) or {})["aws_secret_access_key"] == SECRET
    with pytest.raises(AssertionError):
        found.to_json()


def test_a_value_that_looks_like_a_reference_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIDES_SECRET", "${HOME}")
    found = job(TOLD).storage_options.resolved()
    assert (options_for("s3://rides/t", found) or {})["aws_secret_access_key"] == "${HOME}"


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RIDES_SECRET")
    with pytest.raises(PipelineError) as caught:
        (options_for("s3://rides/t", job(TOLD).storage_options) or {})
    assert caught.value.code is STORAGE_SETTING
    assert caught.value.place == ("storage", "s3://rides", "secretAccessKey")
    assert "RIDES_SECRET" in caught.value.message


@pytest.mark.parametrize(
    "wrong",
    [
        {"secretAccessKey": SECRET},
        {"accessKeyId": "AKIA"},
        {"sessionToken": f"x${{RIDES_SECRET}}{SECRET}"},
        {"options": {"aws_secret_access_key": SECRET}},
        {"options": {"azure_storage_account_key": SECRET}},
        {"hadoop": {"fs.s3a.secret.key": SECRET}},
        {"hadoop": {"fs.azure.sas.fixed.token": SECRET}},
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        job({"s3://rides": wrong})
    assert "environment variable" in caught.value.errors(include_input=False)[0]["msg"]
    assert SECRET not in caught.value.errors(include_input=False)[0]["msg"]


def test_a_place_that_is_no_address_is_refused() -> None:
    with pytest.raises(ValidationError):
        job({"rides": {"region": "x"}})


def test_names_of_secrets_are_known() -> None:
    """The names of object_store and of hadoop-aws under which secrets are given."""
    secret = (
        *("aws_access_key_id", "aws_secret_access_key", "aws_session_token", "google_service_account_key"),
        *(
            "azure_storage_account_key",
            "azure_storage_client_secret",
            "azure_storage_sas_key",
            "azure_storage_token",
        ),
        *(
            "fs.s3a.access.key",
            "fs.s3a.secret.key",
            "fs.s3a.session.token",
            "fs.azure.account.key.x.dfs.core.windows.net",
        ),
        *(
            "access_key_id",
            "secret_access_key",
            "account_key",
            "bearer_token",
            "client_secret",
            "fs.gs.auth.client.secret",
        ),
    )
    plain = ("aws_region", "aws_endpoint", "allow_http", "timeout", "fs.s3a.endpoint", "client_max_retries")
    assert [name for name in secret if not is_secret(name)] == []
    assert [name for name in plain if is_secret(name)] == []
