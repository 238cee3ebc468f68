"""Object stores and local paths: how both are reached.

Where tables lie: a folder of this machine, or an address of an object store.

Layer: rows.
Shape: settings by the address that they are for; of several that a path is below, the longest counts. Our own names are those of S3;
      `options` takes the names of the engine of the table, `hadoop` those of Hadoop, for stores of every kind.
Rule: a secret is written as `${NAME}`, the name of an environment variable. What is passed on, logged or stored has the reference; the
      value is looked up in the process that opens the store, and shown by no `repr`.
Source: the options of hadoop-aws (`fs.s3a.*`) and of pyarrow's `S3FileSystem`; an engine translates our names into its own.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from schemac.rows.runs.errors import PipelineError
from schemac.text.source.catalogue import STORAGE_SETTING
from schemac.text.source.json_object import Json

REFERENCE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
S3_SCHEMES = ("s3", "s3a", "s3n")

# Our name, and Hadoop's below `fs.s3a.bucket.<bucket>.`
NAMES = {
    "endpoint": "endpoint",
    "region": "endpoint.region",
    "accessKeyId": "access.key",
    "secretAccessKey": "secret.key",
    "sessionToken": "session.token",
}
SECRETS = ("accessKeyId", "secretAccessKey", "sessionToken")
LOOKS_SECRET = re.compile(
    r"secret|token|password|credential|access[._-]?key|account[._-]?key|sas|signature", re.IGNORECASE
)
TEMPORARY = "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider"
WITH_KEYS = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"


@dataclass(frozen=True)
class Bucket:
    """How one address of an object store is reached; values may be references to environment variables."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """By our own names."""
    path_style: bool | None = None
    """Whether the bucket is in the path of a request, not in the name of its host."""
    options: Mapping[str, str] = field(default_factory=dict)
    hadoop: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "Bucket(…)"

    @classmethod
    def parse(cls, settings: Mapping[str, Any]) -> "Bucket":
        """Read the settings as they are in a pipeline file."""
        texts = {name: str(settings[name]) for name in NAMES if settings.get(name) is not None}
        options, hadoop = (dict(settings.get(name) or {}) for name in ("options", "hadoop"))
        return cls(texts, settings.get("pathStyle"), options, hadoop)

    def to_json(self) -> Json:
        """Write the settings as `parse` reads them."""
        style = {} if self.path_style is None else {"pathStyle": self.path_style}
        others = {"options": dict(self.options), "hadoop": dict(self.hadoop)}
        return {**self.texts, **style, **{name: texts for name, texts in others.items() if texts}}

    def resolved(self, address: str) -> "Bucket":
        """Replace references by values. Raises PipelineError for variables that are not set."""

        def value(name: str, text: str, match: re.Match[str]) -> str:
            known = os.environ.get(match["name"])
            if not known:
                variable = match["name"]
                message = f"`{name}` of `{address}` is `{text}`, and the environment has no `{variable}`"
                help = f"set it where the pipeline is started: export {variable}=…"
                raise PipelineError(STORAGE_SETTING, message, help, place=("storage", address, name))
            return known

        def all_of(texts: Mapping[str, str]) -> dict[str, str]:
            return {name: REFERENCE.sub(partial(value, name, text), text) for name, text in texts.items()}

        return Bucket(all_of(self.texts), self.path_style, all_of(self.options), all_of(self.hadoop))

    @property
    def is_encrypted(self) -> bool:
        """Whether requests go over TLS."""
        return not self.texts.get("endpoint", "").startswith("http://")


@dataclass(frozen=True)
class Storage:
    """How object stores are reached, by address."""

    buckets: Mapping[str, Bucket] = field(default_factory=dict)
    is_resolved: bool = False

    def __repr__(self) -> str:
        return f"Storage({', '.join(self.buckets)})"

    @classmethod
    def parse(cls, settings: Mapping[str, Mapping[str, Any]]) -> "Storage":
        """Read the section `storage`."""
        return cls({address.rstrip("/"): Bucket.parse(one) for address, one in settings.items()})

    @classmethod
    def from_json(cls, text: str) -> "Storage":
        """Read what `to_json` has written."""
        return cls.parse(json.loads(text))

    def to_json(self) -> str:
        """Write the settings, with references where a value is secret."""
        assert not self.is_resolved, "a value that was looked up is not written down"
        return json.dumps({address: bucket.to_json() for address, bucket in self.buckets.items()})

    def resolved(self) -> "Storage":
        """Look all references up, so that other machines can do without the variables."""
        if self.is_resolved:
            return self
        buckets = {address: bucket.resolved(address) for address, bucket in self.buckets.items()}
        return Storage(buckets, is_resolved=True)

    def bucket_of(self, path: str) -> Bucket | None:
        """Return the resolved settings for a path; None if there are none."""
        inside = f"{table_address(path)}/"
        below = [address for address in self.buckets if inside.startswith(f"{table_address(address)}/")]
        if not below:
            return None
        address = max(below, key=len)
        bucket = self.buckets[address]
        return bucket if self.is_resolved else bucket.resolved(address)

    def hadoop_options(self, path: str) -> dict[str, str]:
        """Return the options by which Hadoop reaches a path, as readers of Spark take them."""
        bucket = self.bucket_of(path)
        if not is_s3(path):
            return {} if bucket is None else dict(bucket.hadoop)
        options = {"fs.s3.impl": S3A}
        if bucket is None:
            return options
        below = f"fs.s3a.bucket.{urlsplit(path).netloc.rpartition('@')[2]}"
        options |= {f"{below}.{NAMES[name]}": text for name, text in bucket.texts.items()}
        if not bucket.is_encrypted:
            options[f"{below}.connection.ssl.enabled"] = "false"
        if bucket.path_style is not None:
            options[f"{below}.path.style.access"] = str(bucket.path_style).lower()
        if "secretAccessKey" in bucket.texts:
            provider = TEMPORARY if "sessionToken" in bucket.texts else WITH_KEYS
            options[f"{below}.aws.credentials.provider"] = provider
        return {**options, **bucket.hadoop}

    def open_arrow(self, path: str) -> tuple[Any, str]:
        """Return pyarrow's file system of a path, and the path inside of it."""
        from pyarrow import fs

        bucket = self.bucket_of(path)
        if bucket is None or not is_s3(path):
            system_and_path: tuple[Any, str] = fs.FileSystem.from_uri(table_address(path))
            return system_and_path
        scheme, _, host = bucket.texts.get("endpoint", "").rpartition("://")
        texts = bucket.texts
        opened = fs.S3FileSystem(
            access_key=texts.get("accessKeyId"),
            secret_key=texts.get("secretAccessKey"),
            session_token=texts.get("sessionToken"),
            region=texts.get("region"),
            endpoint_override=host.rstrip("/") or None,
            scheme=scheme or "https",
            force_virtual_addressing=bucket.path_style is False,
        )
        return opened, table_address(path).removeprefix("s3://")


NO_STORAGE = Storage()
_IN_USE = ContextVar("storage", default=NO_STORAGE)


@contextmanager
def storage_in_use(storage: Storage) -> Iterator[None]:
    """Make these the settings by which this thread opens files."""
    before = _IN_USE.set(storage)
    try:
        yield
    finally:
        _IN_USE.reset(before)


def current_storage() -> Storage:
    """Return the settings by which this thread opens files."""
    return _IN_USE.get()


def is_s3(path: str) -> bool:
    """Whether a path is an address of S3, by whichever of Hadoop's names for it."""
    return path.partition("://")[0] in S3_SCHEMES and "://" in path


def table_address(path: str) -> str:
    """Write an address as engines and pyarrow take it: with the one name of S3 for the older ones, which mean the same."""
    return f"s3://{path.partition('://')[2]}" if is_s3(path) else path


def hadoop_address(path: str) -> str:
    """Write an address as Hadoop takes it, which knows S3 as `s3a`."""
    return f"s3a://{path.partition('://')[2]}" if is_s3(path) else path


def is_secret(name: str) -> bool:
    """Whether a setting holds what must not be written down.

    >>> [is_secret(name) for name in ("secretAccessKey", "fs.s3a.access.key", "azure_storage_sas_key", "region")]
    [True, True, True, False]
    """
    return name in SECRETS or LOOKS_SECRET.search(name) is not None


def written_secrets(settings: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the settings of one address that hold a literal secret in place of a reference."""
    secrets: list[tuple[str, ...]] = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            secrets += [(name, *place) for place in written_secrets(value)]
        elif is_secret(name) and REFERENCE.fullmatch(str(value)) is None:
            secrets.append((name,))
    return secrets


def is_local(path: str) -> bool:
    """Whether the table is in a file system of this machine."""
    return "://" not in path or path.startswith("file://")


def local_path(path: str) -> str:
    """Return a path without `file://`."""
    return path.removeprefix("file://")


def absolute(path: str) -> str:
    """Return a local path from the root; an address stays, without a slash at its end."""
    return os.path.abspath(local_path(path)) if is_local(path) else path.rstrip("/")


def path_from_quarantine(quarantine: str, table: str) -> str:
    """Return the path of a table relative to a quarantine, so that both can be moved together; an address stays."""
    if "://" in table or "://" in quarantine:
        return table
    return os.path.relpath(os.path.abspath(table), os.path.abspath(quarantine))
