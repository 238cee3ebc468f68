"""What a merge says to do is done word for word, and a Lance table still has its data afterwards."""

import re
import shlex
from pathlib import Path

import lance
import pyarrow as pa
import pytest

from tests.identity.test_merging import Repository, field, repository
from tests.identity.trees import ids

__all__ = ["repository"]

KEY = field("key")
VALUES = [10, 20, None]


def optional(name: str, *extra: str) -> str:
    return field(name, "{kind: Option, inner: Int64}", *extra)


def struct(name: str, *members: str) -> str:
    inside = "".join(f"        - {{name: {m}, type: {{kind: Option, inner: Int64}}}}\n" for m in members)
    return field(name, f"\n      kind: Struct\n      fields:\n{inside}".rstrip("\n"))


def write_table(repository: Repository) -> str:
    """Three rows of the newest version, as Lance writes them."""
    path = str(repository.folder / "trips.lance")
    repository.schemac("build", "--target", "arrow")
    schema = pa.ipc.read_schema(
        pa.py_buffer((repository.folder / "build/trips/arrow/schema.arrow").read_bytes())
    )
    columns = [
        pa.array([1, 2, 3], f.type)
        if f.name == "key"
        else pa.array([{inner.name: value for inner in f.type} for value in VALUES], f.type)
        if pa.types.is_struct(f.type)
        else pa.array(VALUES, f.type)
        for f in schema
    ]
    lance.write_dataset(pa.Table.from_arrays(columns, schema=schema), path)
    return path


def commands(said: str) -> list[list[str]]:
    return [shlex.split(command)[1:] for command in re.findall("`(schemac lock[^`]*--restore[^`]*)`", said)]


SIDES = {
    "called x": (KEY, optional("x", "    extra: {schemac.dev/renamedFrom: a}\n")),
    "called y": (KEY, optional("y", "    extra: {schemac.dev/renamedFrom: a}\n")),
    "cast": (KEY, field("a", "{kind: Option, inner: Int32}")),
    "dropped": (KEY,),
    "without a word called y": (KEY, optional("y")),
}
CASES = [
    ("called x", "called y"),
    ("called y", "called x"),
    ("dropped", "called y"),
    ("dropped", "cast"),
    ("called x", "dropped"),
]


@pytest.mark.parametrize(
    ("ours", "theirs", "kept", "how"),
    [
        *((*case, kept, "resolve") for case in CASES for kept in ("ours", "theirs")),
        ("dropped", "called y", "theirs", "driver"),
    ],
)
def test_keep_the_data_of_a_field_that_two_branches_changed(
    ours: str, theirs: str, kept: str, how: str, repository: Repository
) -> None:
    if how == "driver":
        repository.use_driver()
    repository.commit(KEY, optional("a"))
    path = write_table(repository)
    repository.git("reset", "-q", "--hard")
    (repository.folder / ".git/info/exclude").write_text("trips.lance\nbuild\n")
    repository.part(SIDES[ours], SIDES[theirs])
    repository.git("merge", "-q", "side", code=1)
    said = repository.schemac("lock", "--resolve") if how == "resolve" else _driven(repository)
    repository.write(*SIDES[ours if kept == "ours" else theirs])
    if kept == "theirs":
        for command in commands(said):
            repository.schemac(*command)
    repository.schemac("lock")
    repository.schemac("lock", "--check")
    repository.schemac("apply", "trips", "--table", path)
    repository.schemac("verify", "trips", "--table", path)
    now = lance.dataset(path).to_table().to_pydict()
    is_dropped = (ours if kept == "ours" else theirs) == "dropped"
    rest = [values for name, values in now.items() if name != "key"]
    assert rest == ([] if is_dropped else [VALUES])
    assert is_dropped or set(ids(repository.lock()).values()) == {1, 2}


def _driven(repository: Repository) -> str:
    """What the driver said; git prints it while it merges, and merges the same again on request."""
    repository.git("merge", "--abort")
    return repository.git("merge", "side", code=1)


def test_give_a_struct_back_with_what_is_in_it(repository: Repository) -> None:
    repository.commit(KEY, struct("s", "p", "q"))
    path = write_table(repository)
    (repository.folder / ".git/info/exclude").write_text("trips.lance\nbuild\n")
    renamed = struct("s", "q", "r").replace("name: r,", "name: r, extra: {schemac.dev/renamedFrom: p},")
    repository.part((KEY,), (KEY, renamed))
    repository.git("merge", "-q", "side", code=1)
    (command,) = commands(repository.schemac("lock", "--resolve"))
    assert command[-1] == "s.r=3"
    repository.write(KEY, renamed)
    repository.schemac(*command)
    assert ids(repository.lock()) == {"key": 1, "s": 2, "s.q": 4, "s.r": 3}
    repository.schemac("apply", "trips", "--table", path)
    assert lance.dataset(path).to_table().column("s").to_pylist() == [{"q": v, "r": v} for v in VALUES]


def test_give_an_id_back_after_another_was_given(repository: Repository) -> None:
    """The field came back by its name alone, and was new; the note said how to have the old one."""
    repository.commit(KEY, optional("a"))
    path = write_table(repository)
    repository.commit(KEY)
    repository.write(KEY, optional("a"))
    said = repository.schemac("lock")
    assert "note[SC418]: a is a new field" in said
    assert ids(repository.lock()) == {"key": 1, "a": 3}
    (command,) = commands(said)
    assert "SC4" not in repository.schemac(*command)
    assert ids(repository.lock()) == {"key": 1, "a": 2}
    repository.schemac("apply", "trips", "--table", path)
    assert lance.dataset(path).to_table().column("a").to_pylist() == VALUES
    # It says nothing any more where the field is what it was.
    assert "SC4" not in repository.schemac("lock")


def test_add_the_column_anew_to_a_table_that_dropped_it(repository: Repository) -> None:
    repository.commit(KEY, optional("a"))
    path = write_table(repository)
    repository.commit(KEY)
    repository.schemac("apply", "trips", "--table", path)
    lance.write_dataset(pa.table({"key": pa.array([4], pa.int64())}), path, mode="append")
    repository.write(KEY, optional("a"))
    repository.schemac("lock", "--restore", "a=2")
    repository.schemac("apply", "trips", "--table", path)
    repository.schemac("verify", "trips", "--table", path)
    now = lance.dataset(path).to_table().to_pydict()
    assert now["key"] == [1, 2, 3, 4]
    assert now["a"][3] is None
    lance.write_dataset(pa.table({"key": [5], "a": [50]}), path, mode="append")
    assert lance.dataset(path).to_table().to_pydict()["a"][3:] == [None, 50]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("b=9", "no field of trips ever had the id 9; the ids of dropped fields are a=2"),
        ("b=1", "b cannot have the id 1, because key has it"),
        ("c=2", "none of these datasets has a field c"),
    ],
)
def test_refuse_what_cannot_be_given_back(given: str, message: str, repository: Repository) -> None:
    repository.commit(KEY, optional("a"))
    repository.commit(KEY, optional("b"), drop="a")
    before = (repository.folder / "trips.lock").read_text()
    assert message in repository.schemac("lock", "--restore", given, code=1)
    assert (repository.folder / "trips.lock").read_text() == before


@pytest.mark.parametrize("given", ["a", "a=", "=1", "a=x", "a=-1"])
def test_refuse_what_is_no_field_and_id(given: str, repository: Repository) -> None:
    repository.commit(KEY)
    with pytest.raises(SystemExit) as exit:
        repository.schemac("lock", "--restore", given)
    assert exit.value.code == 2


def test_keep_the_data_beside_a_new_field_of_the_old_name(tmp_path: Path, repository: Repository) -> None:
    """The declaration counts more than the name, in the lock and in the table."""
    repository.commit(KEY, optional("a"))
    path = write_table(repository)
    repository.write(KEY, optional("a"), optional("b", "    extra: {schemac.dev/renamedFrom: a}\n"))
    repository.schemac("lock")
    repository.schemac("apply", "trips", "--table", path)
    now = lance.dataset(path).to_table().to_pydict()
    assert (now["b"], now["a"]) == (VALUES, [None] * 3)
