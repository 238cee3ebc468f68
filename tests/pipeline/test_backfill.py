"""Backfills on Spark: the values are those of plain Python, everything else stays, and a run that died goes on where it was."""

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from schemac.engines.lance.runs.column_sink import LanceColumnSink
from schemac.pipeline.backfill.frame import BackfillFrames
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.runner import RunReport
from schemac.pipeline.stream import run_or_stream
from schemac.rows.runs import staging
from schemac.rows.runs.identity import Replay, RunRequest
from schemac.rows.runs.tables import runs_of
from schemac.text.source.catalogue import (
    BACKFILL_SETTING,
    CONFLICTING_ORIGIN,
    INPUT_NOT_FOUND,
    INVALID_CONSTANT,
    INVALID_EXPRESSION,
    JOIN,
    PYTHON_FUNCTION,
    REPLAY,
    SCHEMA_MISMATCH,
    UNFIT_VALUES,
    UNKNOWN_FIELD,
    UNKNOWN_SOURCE_COLUMN,
)
from schemac.text.source.diagnostics import Code

pytestmark = pytest.mark.spark

HAD = pa.schema(
    [
        pa.field("id", pa.int64(), False),
        pa.field("fare", pa.decimal128(8, 2), False),
        pa.field("tip", pa.decimal128(8, 2)),
        pa.field("city_id", pa.int32()),
        pa.field("text", pa.string()),
        pa.field("at", pa.timestamp("ns", "UTC")),
        pa.field("vector", pa.list_(pa.float32(), 2)),
    ]
)
ADDED = [
    pa.field("tip_share", pa.float32()),
    pa.field("words", pa.int16(), False),
    pa.field("city", pa.string()),
    pa.field("place", pa.struct([pa.field("country", pa.string()), pa.field("code", pa.int32())])),
    pa.field("mean", pa.list_(pa.float32(), 2)),
    pa.field("currency", pa.dictionary(pa.int32(), pa.string())),
]
SCHEMA = pa.schema([*HAD, *ADDED])
CITIES = {0: ("Aachen", "DE"), 1: ("Bern", "CH"), 2: (None, "AT")}
FEATURES = """
import os, signal
import pyarrow as pa

def words(batch):
    assert batch.schema.names == ["text"]
    return pa.array([len((text or "").split()) for text in batch["text"].to_pylist()])

def mean(batch):
    return pa.array([[sum(v) / 2, 1.0] if v is not None else None for v in batch["vector"].to_pylist()],
                    pa.list_(pa.float32(), 2))

def kills(batch):
    if 250 in batch["id"].to_pylist() and os.path.exists(os.path.join(os.path.dirname(__file__), "flag")):
        os.kill(os.getpid(), signal.SIGKILL)
    return pa.array(batch["id"].to_pylist(), pa.int16())

def short(batch):
    return pa.array([1])

def listed(batch):
    return [1] * len(batch)

def fails(batch):
    return batch["none"]

def large(batch):
    return pa.array([40_000] * len(batch))
"""
FIELDS: dict[str, Any] = {
    "tip_share": {"expr": "try_divide(tip, fare)"},
    "words": {"python": "features.py:words", "columns": ["text"]},
    "city": "cities.name",
    "place": {"expr": "if(cities is null, null, named_struct('country', cities.country, 'code', city_id))"},
    "mean": {"python": "features.py:mean"},
    "currency": {"value": "EUR"},
}


def row(i: int) -> dict[str, Any]:
    return {
        "id": i, "fare": i % 7, "tip": i % 3 or None, "city_id": i % 4 if i % 5 else None,
        "text": None if i % 11 == 0 else "a " * (i % 4), "at": i * 1000, "vector": None if i % 6 == 0 else [i, i + 1.0],
    }  # fmt: skip


def expected(i: int) -> dict[str, Any]:
    """What the oracle says of a row."""
    had = row(i)
    share = had["tip"] / had["fare"] if had["tip"] and had["fare"] else None
    found = CITIES.get(had["city_id"])
    return {
        "tip_share": None if share is None else pa.scalar(share, pa.float32()).as_py(),
        "words": len((had["text"] or "").split()),
        "city": None if found is None else found[0],
        "place": None if found is None else {"country": found[1], "code": had["city_id"]},
        "mean": None if had["vector"] is None else [sum(had["vector"]) / 2, 1.0],
        "currency": "EUR",
    }


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Three fragments, each with deleted rows."""
    path = str(tmp_path / "rides.lance")
    rows = pa.Table.from_pylist([row(i) for i in range(300)], HAD)
    lance.write_dataset(
        rows, path, max_rows_per_file=100, data_storage_version="2.2", enable_stable_row_ids=True
    )
    lance.dataset(path).create_scalar_index("id", "BTREE")
    lance.dataset(path).delete("id % 10 = 3")
    names, countries = zip(*CITIES.values(), strict=True)
    cities = {"id": pa.array([*CITIES], pa.int64()), "name": names, "country": countries}
    pq.write_table(pa.table(cities), tmp_path / "cities.parquet")
    (tmp_path / "features.py").write_text(FEATURES)
    return path


Backfill = Callable[..., RunReport]


@pytest.fixture
def backfill(spark: SparkSession, table: str, tmp_path: Path) -> Backfill:
    """Runs a backfill of some fields of the table."""

    def runner(
        fields: dict[str, Any] | None = None,
        *,
        request: RunRequest | None = None,
        **told: Any,
    ) -> RunReport:
        fields = {
            label: {**origin, "python": str(tmp_path / origin["python"])}
            if isinstance(origin, dict) and "python" in origin
            else origin
            for label, origin in (fields or FIELDS).items()
        }
        has = "cities" in json.dumps([fields, told.get("where")])
        cities = {"path": str(tmp_path / "cities.parquet"), "on": {"city_id": "id"}}
        settings: dict[str, Any] = {
            "target": {"path": table, "mode": "backfill"}, "joins": {"cities": cities} if has else {}, **told,
        }  # fmt: skip
        schema = told.pop("form", None) or pa.schema([*HAD, *(f for f in ADDED if f.name in fields)])
        settings.pop("form", None)
        job = Job.model_validate({**settings, "fields": fields})
        return run_or_stream(job, schema, request=request, spark=spark)

    return runner


def test_fill_as_a_dictionary_does(backfill: Backfill, table: str) -> None:
    """New columns of every kind at once; then rows that came since, and nothing else."""
    before = lance.dataset(table)
    had = before.to_table(columns=[field.name for field in HAD], with_row_id=True)
    report = backfill()
    after = lance.dataset(table)
    assert (report.table_version, after.version) == (before.version + 1,) * 2
    assert report.rows_written == len(had) == 270
    assert report.differences == ()
    assert after.to_table(columns=[field.name for field in HAD], with_row_id=True).equals(had)
    found = after.to_table(columns=["id", *(field.name for field in ADDED)]).to_pylist()
    assert [{k: v for k, v in one.items() if k != "id"} for one in found] == [
        expected(one["id"]) for one in found
    ]
    assert report.unmatched == {"cities": sum(row(one["id"])["city_id"] not in CITIES for one in found)}
    assert "words: int16 not null" in str(after.schema)
    assert not staging.table_area(table).folders()
    (run,) = runs_of(table)
    assert (run.rows, run.identity.mode, run.properties["schemac.run.columns"]) == (
        270,
        "backfill",
        ",".join(FIELDS),
    )
    assert backfill().is_repeat
    assert lance.dataset(table).version == after.version


def test_fill_only_what_has_no_value(backfill: Backfill, table: str) -> None:
    """Rows that came since the first run; fragments in which all rows have a value are not written again."""
    fields = {"city": "cities.name", "tip_share": {"expr": "1 / (id - 7)"}}
    where = "tip_share is null and id <> 7"
    assert backfill(fields, where=where).rows_written == 269
    files = {f.fragment_id: f.data_files() for f in lance.dataset(table).get_fragments()}
    more = pa.Table.from_pylist([row(i) for i in range(300, 320)], HAD)
    lance.write_dataset(more, table, mode="append")
    assert backfill(fields, where=where).rows_written == 20
    after = lance.dataset(table)
    now = {f.fragment_id: f.data_files() for f in after.get_fragments()}
    assert {id: str(now[id]) for id in files} == {id: str(files[id]) for id in files}
    for one in after.to_table(columns=["id", "city", "tip_share"]).to_pylist():
        assert one["city"] == (expected(one["id"])["city"] if one["id"] != 7 else None)
        share = None if one["id"] == 7 else pa.scalar(1 / (one["id"] - 7), pa.float32()).as_py()
        assert one["tip_share"] == share
    version = after.version
    assert backfill(fields, where=where).is_repeat
    assert backfill(fields, where=where, request=RunRequest(again=True)).rows_written == 0
    assert lance.dataset(table).version == version


def test_update_a_column_that_is_there(backfill: Backfill, table: str) -> None:
    """Rows that `where` leaves out keep their value, and an index of the column tells the truth."""
    before = lance.dataset(table).to_table(columns=["id", "city_id"]).to_pylist()
    lance.dataset(table).create_scalar_index("city_id", "BTREE")
    backfill({"city_id": {"expr": "city_id + 10"}}, where="id % 2 = 0", form=HAD)
    after = lance.dataset(table)
    found = after.to_table(columns=["id", "city_id"]).to_pylist()
    assert found == [
        {
            **one,
            "city_id": one["city_id"] + 10
            if one["city_id"] is not None and one["id"] % 2 == 0
            else one["city_id"],
        }
        for one in before
    ]
    for wanted in (2, 12):
        ids = [one["id"] for one in found if one["city_id"] == wanted]
        assert after.to_table(filter=f"city_id = {wanted}", columns=["id"])["id"].to_pylist() == ids
        assert bool(ids) == (wanted == 12)


def test_go_on_after_a_worker_was_killed(
    backfill: Backfill, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"words": {"python": "features.py:kills", "columns": ["id"]}}
    version = lance.dataset(table).version
    (tmp_path / "flag").touch()
    with pytest.raises(PipelineError):
        backfill(fields)
    assert lance.dataset(table).version == version
    (tmp_path / "flag").unlink()
    # Counted when the next run begins: other tasks of the failed job may end after it.
    kept: list[int] = []
    computed: list[int] = []
    of = BackfillFrames.of

    def counted(self: BackfillFrames, version: int, parts: tuple[int, ...]) -> Any:
        kept.append(len(list(Path(table).glob("_staging-*/filled/*.json"))))
        computed.extend(parts)
        return of(self, version, parts)

    monkeypatch.setattr(BackfillFrames, "of", counted)
    report = backfill(fields)
    assert (len(computed), report.rows_written) == (3 - kept[0], 270)
    assert 2 in computed
    found = lance.dataset(table).to_table(columns=["id", "words"]).to_pylist()
    assert all(one["words"] == one["id"] for one in found)
    assert not staging.table_area(table).folders()


def test_compute_nothing_twice_after_a_death_at_the_commit(
    backfill: Backfill, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LanceColumnSink, "commit", stop)
    fields = {"tip_share": {"expr": "id / 2"}}
    with pytest.raises(KeyboardInterrupt):
        backfill(fields)
    monkeypatch.undo()
    monkeypatch.setattr(BackfillFrames, "of", stop)
    assert backfill(fields).rows_written == 270
    found = lance.dataset(table).to_table(columns=["id", "tip_share"]).to_pylist()
    assert all(one["tip_share"] == one["id"] / 2 for one in found)


def test_take_rows_that_come_meanwhile(
    backfill: Backfill, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, others = LanceColumnSink.commit, [1]

    def late(*arguments: Any) -> Any:
        if others:
            others.pop()
            more = pa.Table.from_pylist([row(i) for i in range(300, 310)], HAD)
            lance.write_dataset(more, table, mode="append")
        return commit(*arguments)

    monkeypatch.setattr(LanceColumnSink, "commit", late)
    assert backfill({"tip_share": {"expr": "id / 2"}}).rows_written == 280
    found = lance.dataset(table).to_table(columns=["id", "tip_share"]).to_pylist()
    assert len(found) == 280
    assert all(one["tip_share"] == one["id"] / 2 for one in found)


def test_refuse_values_that_do_not_fit(backfill: Backfill, table: str) -> None:
    """All of them are counted, over all fragments, and nothing is written."""
    version, files = lance.dataset(table).version, sorted(os.listdir(Path(table, "data")))
    fields = {"words": {"expr": "if(id < 5, null, id * 200)"}, "tip_share": {"expr": "id / (id - 9)"}}
    with pytest.raises(PipelineError) as caught:
        backfill(fields)
    assert caught.value.code is UNFIT_VALUES
    ids = [i for i in range(300) if i % 10 != 3]
    reasons = Counter(
        {"`words` range": sum(i * 200 > 32767 for i in ids), "`words` required": sum(i < 5 for i in ids)}
    )
    for reason, count in reasons.items():
        assert f"{reason} {count:,}" in caught.value.message
    assert "`tip_share` expression 1" in caught.value.message
    assert f"{sum(reasons.values()) + 1:,} of 270" in caught.value.message
    assert lance.dataset(table).version == version
    assert sorted(os.listdir(Path(table, "data"))) == files
    assert not staging.table_area(table).folders()


EXPR = {"tip_share": {"expr": "id / 2"}}
WRONG: dict[str, tuple[Code, str, dict[str, Any]]] = {
    "field": (UNKNOWN_FIELD, "`tips`", {"fields": {"tips": {"expr": "1"}}}),
    "expression": (INVALID_EXPRESSION, "no_function", {"fields": {"tip_share": {"expr": "no_function(id)"}}}),
    "column": (INVALID_EXPRESSION, "`fares`", {"fields": {"tip_share": {"expr": "fares / 2"}}}),
    "path": (UNKNOWN_SOURCE_COLUMN, "`fares`", {"fields": {"tip_share": "fares"}}),
    "constant": (INVALID_CONSTANT, "`words`", {"fields": {"words": {"value": "many"}}}),
    "where": (INVALID_EXPRESSION, "`fares`", {"fields": EXPR, "where": "fares > 1"}),
    "two origins": (CONFLICTING_ORIGIN, "python", {"fields": {"words": {"expr": "1", "python": "features.py:words"}}}),
    "no file": (PYTHON_FUNCTION, "none.py", {"fields": {"words": {"python": "none.py:words"}}}),
    "no function": (PYTHON_FUNCTION, "`word`", {"fields": {"words": {"python": "features.py:word"}}}),
    "length": (PYTHON_FUNCTION, "1 value for", {"fields": {"words": {"python": "features.py:short"}}}),
    "a list": (PYTHON_FUNCTION, "a list", {"fields": {"words": {"python": "features.py:listed"}}}),
    "exception": (PYTHON_FUNCTION, "KeyError", {"fields": {"words": {"python": "features.py:fails"}}}),
    "columns": (UNKNOWN_SOURCE_COLUMN, "`texts`",
                {"fields": {"words": {"python": "features.py:words", "columns": ["texts"]}}}),
    "values of a function": (UNFIT_VALUES, "`words` range 270", {"fields": {"words": {"python": "features.py:large"}}}),
    "no join": (INPUT_NOT_FOUND, "none.parquet",
                {"fields": {"city": "c.name"}, "joins": {"c": {"path": "none.parquet", "on": ["city_id"]}}}),
    "key of the table": (JOIN, "`city`", {"fields": {"city": "c.name"}, "joins": {"c": {"path": "@", "on": {"city": "id"}}}}),
    "key of the table beside JSON": (JOIN, "names `town`",
                                     {"fields": {"city": "c.name"}, "joins": {"c": {"path": "@json", "format": "json", "on": {"town": "id"}}}}),
    "key of the join": (INVALID_EXPRESSION, "`key`",
                        {"fields": {"city": "c.name"}, "joins": {"c": {"path": "@", "on": {"city_id": "key"}}}}),
    "type of the key": (JOIN, "try_cast(name as int)",
                        {"fields": {"city": "c.name"}, "joins": {"c": {"path": "@", "on": {"city_id": "name"}}}}),
    "keys twice": (JOIN, "one key: 1", {"fields": {"city": "c.name"}, "joins": {"c": {"path": "@", "on": {"city_id": "1"}}}}),
    "required without a match": (UNFIT_VALUES, "`words` required", {"fields": {"words": {"expr": "length(cities.country)"}}}),
    "required and left out": (UNFIT_VALUES, "`words` is required", {"fields": {"words": {"expr": "1"}}, "where": "id < 9"}),
    "another table": (SCHEMA_MISMATCH, "`extra` is missing",
                      {"fields": EXPR, "form": pa.schema([*HAD, pa.field("extra", pa.int8()), ADDED[0]])}),
    "replay": (REPLAY, "no quarantine", {"fields": EXPR, "request": RunRequest(replay=Replay())}),
    "no table": (SCHEMA_MISMATCH, "no Lance table", {"fields": EXPR, "target": {"path": "none.lance", "mode": "backfill"}}),
    "a format of Spark": (BACKFILL_SETTING, "parquet",
                          {"fields": EXPR, "target": {"path": "p", "mode": "backfill", "format": "parquet"}}),
}  # fmt: skip


def test_refuse_wrong_input(backfill: Backfill, table: str, tmp_path: Path) -> None:
    """Each with its code and the name of what is wrong, before anything is written; one session looks at all."""
    (tmp_path / "cities.json").write_text('{"id": 1, "name": "Ulm"}\n')
    before = (lance.dataset(table).version, sorted(os.listdir(table)))
    told = {}
    for name, (_, what, settings) in WRONG.items():
        text = json.dumps({k: v for k, v in settings.items() if k not in ("form", "request")})
        text = text.replace('"@"', json.dumps(str(tmp_path / "cities.parquet")))
        text = text.replace('"@json"', json.dumps(str(tmp_path / "cities.json")))
        given = {**settings, **json.loads(text)}
        try:
            backfill(given.pop("fields"), **given)
        except PipelineError as error:
            told[name] = (error.code, what if what in f"{error.message} {error.help}" else str(error))
        assert (lance.dataset(table).version, sorted(os.listdir(table))) == before, name
    assert told == {name: (code, what) for name, (code, what, _) in WRONG.items()}


def test_join_sources_of_text(backfill: Backfill, table: str, tmp_path: Path) -> None:
    """By a key of two parts, one of them a text, from CSV and from JSON; a key that is null meets nothing."""
    texts = {"a ": "one", "a a ": "two", "": "none"}
    lines = [f'"{text}",{i},{word}' for text, word in texts.items() for i in range(0, 300, 2)]
    (tmp_path / "words.csv").write_text("\n".join(["text,id,word", *lines]))
    records = [{"key": {"id": i}, "code": f"c{i}"} for i in range(100)]
    (tmp_path / "codes.json").write_text("\n".join(map(json.dumps, records)))
    joins = {
        "w": {"path": str(tmp_path / "words.csv"), "format": "csv", "on": {"text": "text", "id": "try_cast(id as bigint)"}},
        "c": {"path": str(tmp_path / "codes.json"), "format": "json", "on": {"id": "key:id::bigint"}},
    }  # fmt: skip
    report = backfill(
        {"city": "w.word", "place": {"expr": "named_struct('country', c:code::string, 'code', null)"}},
        joins=joins,
    )
    found = lance.dataset(table).to_table(columns=["id", "text", "city", "place"]).to_pylist()
    for one in found:
        word = texts.get(one["text"]) if one["id"] % 2 == 0 else None
        assert one["city"] == (word or None)
        assert one["place"] == {"country": f"c{one['id']}" if one["id"] < 100 else None, "code": None}
    assert report.unmatched["c"] == sum(one["id"] >= 100 for one in found)
    assert any(one["city"] for one in found)


SETTINGS: dict[str, Any] = {
    "maxQuarantined": 0.1, "quarantine": {"path": "q.lance"}, "rules": {"unexpected": "warn"}, "trigger": "available-now",
    "keys": "check", "unexpected": "reject", "checkpoint": "c",
}  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS)
def test_refuse_settings_of_other_runs(backfill: Backfill, setting: str) -> None:
    with pytest.raises(PipelineError) as caught:
        backfill(EXPR, **{setting: SETTINGS[setting]})
    assert (caught.value.code, caught.value.place) == (BACKFILL_SETTING, (setting,))


@pytest.mark.parametrize("setting", [{"joins": {"c": {"path": "c", "on": ["id"]}}}, {"where": "id > 1"}])
def test_refuse_settings_of_backfills_elsewhere(
    spark: SparkSession, tmp_path: Path, setting: dict[str, Any]
) -> None:
    (tmp_path / "in.json").write_text('{"id": 1}')
    told = {
        "source": {"path": str(tmp_path / "in.json")},
        "target": {"path": str(tmp_path / "t.lance")},
        **setting,
    }
    with pytest.raises(PipelineError) as caught:
        run_or_stream(Job.model_validate(told), pa.schema([("id", pa.int64())]), spark=spark)
    assert (caught.value.code, caught.value.place) == (BACKFILL_SETTING, tuple(setting))
