"""`schemac rename`: the manifest changes at the one place, the lock follows, or nothing changes at all."""

from pathlib import Path

import pytest

from schemac import compile_file
from schemac.cli.main import main
from schemac.project.writing import NewFile
from schemac.text.source.diagnostics import Report
from schemac.versions.identity.freeze import identify
from schemac.versions.identity.lock import LockedDataset
from schemac.versions.identity.lockfile import read_lock
from tests.identity.commands import TRIPS, locked_folder, schemac
from tests.identity.trees import ids, lance

RIDES = """\
# The rides of a city.
name: rides
extra:
  paimon.apache.org/primaryKeys: [id, "day"]   # both
  paimon.apache.org/partitionKeys:
    - day
  paimon.apache.org/options:
    bucket-key: id
    sequence.field: 'id, fare'
    fields.fare.aggregate-function: sum
    fields.seq,id.sequence-group: fare , tip
    comment: fare is no column here
fields:
  # The key.
  - name: id        # from the meter
    type: Int64
  - {name: day, type: Date}

  - name: fare
    description: >
      What was paid,
      in all.
    type: Float64   # euros
  - name: tip
    type: Float64
  - name: seq
    type: Int64
  - name: "pickup"
    type:
      kind: Struct
      fields:
      # Degrees east.
      - name: lon
        type: Float64
        # below lon
      - name: lat
        type: Float64
  - name: price
    type:
      kind: Struct
      fields:
        - name: tax
          type: Float64
  - name: stops
    type:
      kind: List
      itemType:
        kind: Struct
        fields: [{name: "name", type: String}, {name: 'at', type: Timestamp}]
"""


def lock_of(folder: Path, name: str = "rides") -> LockedDataset:
    text = (folder / f"{name}.lock").read_text()
    lock = read_lock(text, f"{name}.lock", Report())
    assert lock is not None
    return lock.dataset(name)


@pytest.fixture
def rides(tmp_path: Path) -> Path:
    return locked_folder(tmp_path, RIDES, "rides.yaml")


def renamed(folder: Path, old: str, new: str, name: str = "rides") -> str:
    """The manifest after a renaming that went well."""
    done = schemac(folder, "rename", name, old, new)
    assert done.returncode == 0, done.stdout + done.stderr
    assert schemac(folder, "lock", "--check", f"{name}.yaml").returncode == 0
    return (folder / f"{name}.yaml").read_bytes().decode()


def refused(folder: Path, *arguments: str, code: str, name: str = "rides", exit_code: int = 1) -> str:
    """What was said; both files are as they were."""
    files = [path for path in (folder / f"{name}.yaml", folder / f"{name}.lock") if path.exists()]
    before = [path.read_bytes() for path in files]
    done = schemac(folder, "rename", *arguments)
    assert done.returncode == exit_code, done.stdout + done.stderr
    assert f"[{code}]" in done.stdout, done.stdout + done.stderr
    assert [path.read_bytes() for path in files] == before
    return done.stdout


def test_rename_a_column_and_nothing_else(rides: Path) -> None:
    before = lock_of(rides)
    text = renamed(rides, "tip", "tip_amount")
    expected = RIDES.replace("- name: tip\n", "- name: tip_amount\n").replace(
        "fare , tip", "fare , tip_amount"
    )
    # Spaces beside the comma need quotes no more than before, but a name with one gets them.
    assert text.replace('"fare , tip_amount"', "fare , tip_amount") == expected
    after = lock_of(rides)
    assert ids(after)["tip_amount"] == ids(before)["tip"]
    assert lance(after)["tip_amount"] == lance(before)["tip"]
    assert after.newest is not None
    assert after.newest.number == 2


def test_rename_a_column_that_keys_and_options_name(rides: Path) -> None:
    text = renamed(rides, "day", "date of ride")
    assert 'primaryKeys: [id, "date of ride"]   # both\n' in text
    assert '    - "date of ride"\n' in text
    assert '  - {name: "date of ride", type: Date}\n' in text
    text = renamed(rides, "fare", "paid")
    assert "sequence.field: 'id, paid'\n" in text
    assert "    fields.paid.aggregate-function: sum\n" in text
    assert "comment: fare is no column here\n" in text
    text = renamed(rides, "id", "ride_id")
    assert "bucket-key: ride_id\n" in text
    assert '"fields.seq,ride_id.sequence-group": "paid , tip"\n' in text
    assert "  - name: ride_id        # from the meter\n" in text


def test_keep_the_quotes_of_a_name(rides: Path) -> None:
    assert '- name: "start"\n' in renamed(rides, "pickup", "start")
    text = renamed(rides, "stops.item.at", "it's")
    assert "{name: 'it''s', type: Timestamp}" in text
    assert '{name: "title", type: String}' in renamed(rides, "stops.item.name", "title")


@pytest.mark.parametrize(
    "name",
    [
        "no",
        "null",
        "12",
        "a: b",
        "# x",
        "x #y",
        '"q"',
        "a\\b",
        "line\nend",
        "a\u2028b",
        "Ünï",
        "{",
        "🚲",
    ],
)
def test_write_any_name_so_that_it_is_read_again(rides: Path, name: str) -> None:
    renamed(rides, "tip", name)
    assert name in {str(state.shape.segment) for state in lock_of(rides).states}
    renamed(rides, "stops.item.name", name)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_keep_line_ends_and_marks(tmp_path: Path, mark: str) -> None:
    text = mark + RIDES.replace("\n", "\r\n")
    (tmp_path / "rides.yaml").write_bytes(text.encode())
    assert schemac(tmp_path, "lock").returncode == 0
    assert renamed(tmp_path, "seq", "turn") == text.replace("name: seq", "name: turn").replace(
        "fields.seq,id.sequence-group", '"fields.turn,id.sequence-group"'
    )
    moved = renamed(tmp_path, "turn", "price.turn")
    assert "\n" not in moved.replace("\r\n", "")
    assert moved.startswith(f"{mark}# The rides")


def test_rename_in_a_lock_with_the_line_ends_of_windows(rides: Path) -> None:
    lock = rides / "rides.lock"
    lock.write_bytes(lock.read_bytes().replace(b"\n", b"\r\n"))
    assert "unchanged" in schemac(rides, "lock").stderr
    renamed(rides, "tip", "gift")
    assert ids(lock_of(rides))["gift"] == 4


def test_only_edit_where_there_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "rides.yaml").write_text(RIDES)
    done = schemac(tmp_path, "rename", "rides", "pickup.lon", "east")
    assert done.returncode == 0
    assert "rides.yaml: pickup.lon is now pickup.east; there is no lock yet" in done.stderr
    assert not (tmp_path / "rides.lock").exists()
    assert "- name: east\n" in (tmp_path / "rides.yaml").read_text()


def test_edit_a_dataset_that_its_lock_does_not_know(rides: Path) -> None:
    more = RIDES + "---\nname: stops\nfields:\n  - {name: x, type: Int8}\n"
    (rides / "rides.yaml").write_text(more)
    done = schemac(rides, "rename", "stops", "x", "z")
    assert done.returncode == 0, done.stdout
    assert "there is no lock yet" in done.stderr
    assert (rides / "rides.yaml").read_text() == more.replace("name: x", "name: z")


def test_refuse_what_is_not_there_or_taken(rides: Path) -> None:
    assert "did you mean fare?" in refused(rides, "rides", "faer", "x", code="SC319")
    refused(rides, "rides", "fare", "tip", code="SC301")
    refused(rides, "rides", "fare", " ", code="SC302")
    refused(rides, "rides", "fare", "", code="SC319")
    refused(rides, "rides", "fare", "a..b", code="SC319")
    refused(rides, "rides", "stops.item", "x", code="SC319")
    assert "did you mean rides?" in refused(rides, "ride", "fare", "x", code="SC602", exit_code=2)


def test_refuse_while_other_changes_wait(rides: Path) -> None:
    (rides / "rides.yaml").write_text(
        RIDES.replace("- name: tip\n    type: Float64", "- name: tip\n    type: Float32")
    )
    assert "schemac lock rides.yaml" in refused(rides, "rides", "fare", "x", code="SC401", exit_code=4)


def test_refuse_an_edit_of_a_text_that_says_more(tmp_path: Path) -> None:
    text = """\
name: rides
fields:
  - name: start
    type: &point {kind: Struct, fields: [{name: lon, type: Float64}, {name: lat, type: Float64}]}
  - name: end
    type: *point
  - &whole
    name: &called fare
    type: Float64
  - name: s
    type: {kind: Struct, fields: [*whole, {name: t, type: Int8}]}
"""
    locked_folder(tmp_path, text, "rides.yaml")
    for old in ("start.lon", "end.lon", "fare", "s.fare"):
        said = refused(tmp_path, "rides", old, "x", code="SC409")
        assert "schemac.dev/renamedFrom" in said
    assert renamed(tmp_path, "end", "stop") == text.replace("name: end", "name: stop")


def test_rename_an_alias_by_writing_the_name_out(tmp_path: Path) -> None:
    text = "name: rides\nextra: {example.com/x: &n fare}\nfields:\n  - {name: *n , type: Int8}\n"
    locked_folder(tmp_path, text, "rides.yaml")
    assert renamed(tmp_path, "fare", "x") == text.replace("*n ", "x ")


def test_refuse_a_block_scalar_that_would_lose_its_line(tmp_path: Path) -> None:
    locked_folder(tmp_path, "name: rides\nfields:\n  - name: >-\n      fare\n    type: Int8\n", "rides.yaml")
    refused(tmp_path, "rides", "fare", "x", code="SC409")


def test_rename_and_move_where_the_project_adds_columns(rides: Path) -> None:
    """The standard's system columns are in the dataset, and in no text."""
    (rides / "schemac.toml").write_text('systemColumns = "kamu"\n')
    assert schemac(rides, "lock").returncode == 0
    renamed(rides, "fare", "price_paid")
    renamed(rides, "price_paid", "price.paid")
    renamed(rides, "price.paid", "paid")  # its name alone takes it out to the columns
    assert schemac(rides, "lock", "--check").returncode == 0


def test_leave_other_datasets_of_the_manifest_alone(tmp_path: Path) -> None:
    text = "name: rides\nfields:\n  - {name: x, type: Int8}\n---\nname: stops\nfields:\n  - {name: x, type: Int8}\n"
    locked_folder(tmp_path, text, "rides.yaml")
    before = read_lock((tmp_path / "rides.lock").read_text(), "", Report())
    done = schemac(tmp_path, "rename", "stops", "x", "z")
    assert done.returncode == 0
    assert (tmp_path / "rides.yaml").read_text() == "name: z".join(text.rsplit("name: x", 1))
    after = read_lock((tmp_path / "rides.lock").read_text(), "", Report())
    assert before is not None
    assert after is not None
    assert after.dataset("rides") == before.dataset("rides")
    assert ids(after.dataset("stops")) == {"z": 1}


def test_leave_a_manifest_that_was_changed_meanwhile(rides: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(rides)

    def slowly(*arguments: object, **named: object) -> object:
        (rides / "rides.yaml").write_text(RIDES + "# saved by an editor\n")
        return identify(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("schemac.project.renaming.identify", slowly)
    before = (rides / "rides.lock").read_bytes()
    assert main(["rename", "rides", "tip", "x"]) == 1
    assert (rides / "rides.lock").read_bytes() == before
    assert (rides / "rides.yaml").read_text() == RIDES + "# saved by an editor\n"


def test_put_the_lock_back_where_the_manifest_cannot_be_written(
    rides: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(rides)

    put = NewFile.put

    def fail(file: NewFile) -> None:
        if file._path.suffix == ".yaml":
            raise OSError(28, "No space left on device")
        put(file)

    monkeypatch.setattr(NewFile, "put", fail)
    before = (rides / "rides.lock").read_bytes()
    assert main(["rename", "rides", "tip", "x"]) == 1
    assert "SC542" in capsys.readouterr().out
    assert (rides / "rides.lock").read_bytes() == before
    assert (rides / "rides.yaml").read_text() == RIDES


# Moves.


def test_move_a_column_into_a_struct(rides: Path) -> None:
    before = lock_of(rides)
    text = renamed(rides, "seq", "price.seq")
    assert text == RIDES.replace("  - name: seq\n    type: Int64\n", "").replace(
        "        - name: tax\n          type: Float64\n",
        "        - name: tax\n          type: Float64\n        - name: seq\n          type: Int64\n",
    )
    after = lock_of(rides)
    assert ids(after)["price.seq"] == ids(before)["seq"]
    # To the engines it is another one, for they do not move columns.
    assert lance(after)["price.seq"] != lance(before)["seq"]


def test_move_a_field_out_with_its_comments(rides: Path) -> None:
    before = lock_of(rides)
    text = renamed(rides, "pickup.lon", "lon")
    lines = "      # Degrees east.\n      - name: lon\n        type: Float64\n        # below lon\n"
    put = "  # Degrees east.\n  - name: lon\n    type: Float64\n    # below lon\n"
    assert text == RIDES.replace(lines, "") + put
    assert ids(lock_of(rides))["lon"] == ids(before)["pickup.lon"]
    back = renamed(rides, "lon", "pickup.longitude")
    assert back == RIDES.replace(lines, "").replace(
        "      - name: lat\n        type: Float64\n",
        "      - name: lat\n        type: Float64\n" + lines.replace("name: lon", "name: longitude"),
    )
    assert ids(lock_of(rides))["pickup.longitude"] == ids(before)["pickup.lon"]


def test_move_a_field_whose_text_has_many_lines(rides: Path) -> None:
    text = RIDES.replace("    sequence.field: 'id, fare'\n", "").replace("fare , tip", "tip")
    text = text.replace("    fields.fare.aggregate-function: sum\n", "")
    (rides / "rides.yaml").write_text(text)
    assert schemac(rides, "lock").returncode == 0
    moved = renamed(rides, "fare", "price.total")
    assert (
        "        - name: total\n          description: >\n            What was paid,\n            in all.\n"
        "          type: Float64   # euros\n" in moved
    )
    # A struct goes with what is in it, and keeps it.
    before = ids(lock_of(rides))
    renamed(rides, "price", "pickup.price")
    after = ids(lock_of(rides))
    assert after["pickup.price.total"] == before["price.total"]


def test_move_the_last_field_of_a_file_without_a_last_line_end(tmp_path: Path) -> None:
    text = """\
name: rides
fields:
- name: s
  type:
    kind: Struct
    fields:
    - {name: x, type: Int8}
- {name: y, type: Int8}"""
    locked_folder(tmp_path, text, "rides.yaml")
    moved = renamed(tmp_path, "y", "s.y")
    assert moved == text.replace("\n- {name: y, type: Int8}", "\n    - {name: y, type: Int8}\n")
    assert (
        renamed(tmp_path, "s.x", "x")
        == """\
name: rides
fields:
- name: s
  type:
    kind: Struct
    fields:
    - {name: y, type: Int8}
- {name: x, type: Int8}
"""
    )


def test_refuse_a_move_that_lines_cannot_make(rides: Path) -> None:
    said = refused(rides, "rides", "tip", "stops.item.tip", code="SC409")
    assert "the fields of stops.item are not on lines of their own" in said
    assert "schemac.dev/renamedFrom: tip" in said
    refused(rides, "rides", "stops.item.at", "at", code="SC409")
    assert "the struct it is in would have no fields left" in refused(
        rides, "rides", "price.tax", "tax", code="SC409"
    )
    assert "into itself" in refused(rides, "rides", "price", "price.price", code="SC409")
    assert "has no struct prices" in refused(rides, "rides", "tip", "prices.tip", code="SC319")
    refused(rides, "rides", "tip", "fare.tip", code="SC319")
    refused(rides, "rides", "tip", "price.tax", code="SC301")
    # A key cannot name what is no column any more.
    refused(rides, "rides", "id", "price.id", code="SC319")


def test_move_what_has_a_dot_in_its_name(tmp_path: Path) -> None:
    text = """\
name: rides
fields:
- name: a.b
  type:
    kind: Struct
    fields:
    - {name: x.y, type: Int8}
    - {name: "t`k", type: Int8}
- {name: z, type: Int8}
"""
    locked_folder(tmp_path, text, "rides.yaml")
    renamed(tmp_path, "z", "`a.b`.`z.z`")
    renamed(tmp_path, "`a.b`.`x.y`", "`x.x`")
    assert set(ids(lock_of(tmp_path))) == {"`a.b`", "`a.b`.`x.x`", "`a.b`.`t``k`", "`a.b`.`z.z`"}


@pytest.mark.parametrize(
    ("mapping", "after", "hint"),
    [
        (
            "fields: {fare: properties.fare}\n",
            "fields: {paid: properties.fare}\n",
            "fare is now paid here too",
        ),
        ("", "", "its records still have fare; write `paid: fare`"),
    ],
)
def test_rename_in_pipelines_or_point_at_them(tmp_path: Path, mapping: str, after: str, hint: str) -> None:
    locked_folder(tmp_path)
    text = "source: {{path: a.json}}\nschema: trips.yaml\n{}target: {{path: t.lance}}\n"
    (tmp_path / "pipeline.yaml").write_text(text.format(mapping))
    done = schemac(tmp_path, "rename", "trips.yaml", "fare", "paid")
    assert done.returncode == 0, done.stdout
    assert f"pipeline.yaml: {hint}" in done.stderr
    assert (tmp_path / "pipeline.yaml").read_text() == text.format(after)


# What is declared in the manifest instead.


def edited(folder: Path, old: str, new: str, code: int = 0) -> str:
    """The manifest of trips edited and locked; what was said."""
    path = folder / "trips.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    done = schemac(folder, "lock")
    assert done.returncode == code, done.stdout
    return done.stdout + done.stderr


def test_rename_by_declaration_once(tmp_path: Path) -> None:
    locked_folder(tmp_path)
    declared = "- name: paid\n    extra: {schemac.dev/renamedFrom: fare}\n"
    said = edited(tmp_path, "- name: fare\n", declared)
    assert "version 2 of trips: 1 field renamed" in said
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "paid": 2}
    # It stays where it is, and is not spoken of again.
    said = edited(tmp_path, "type: Float64", "type: Float32")
    assert "SC4" not in said
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "paid": 2}


def test_swap_names_once(tmp_path: Path) -> None:
    locked_folder(tmp_path, TRIPS.replace("type: Int64", "type: Float64"))
    path = tmp_path / "trips.yaml"
    path.write_text(
        "name: trips\nfields:\n"
        "  - {name: fare, type: Float64, extra: {schemac.dev/renamedFrom: id}}\n"
        "  - {name: id, type: Float64, extra: {schemac.dev/renamedFrom: fare}}\n"
    )
    assert schemac(tmp_path, "lock").returncode == 0
    assert ids(lock_of(tmp_path, "trips")) == {"fare": 1, "id": 2}
    assert schemac(tmp_path, "lock", "--check").returncode == 0
    edited(tmp_path, "name: trips\n", "name: trips\ndescription: All\n")
    assert ids(lock_of(tmp_path, "trips")) == {"fare": 1, "id": 2}


def test_say_that_no_field_had_the_old_name(tmp_path: Path) -> None:
    locked_folder(tmp_path)
    said = edited(tmp_path, "- name: fare\n", "- name: paid\n    extra: {schemac.dev/renamedFrom: faer}\n", 1)
    assert (
        "warning[SC404]: there is no field 'faer' in the previous version, so paid counts as a new field"
        in said
    )
    assert "did you mean 'fare'?" in said


def test_let_nobody_take_the_name_of_a_field_that_stays(tmp_path: Path) -> None:
    """Its own declaration was carried out long ago: it does not go away by it."""
    locked_folder(tmp_path)
    edited(tmp_path, "- name: fare\n", "- name: paid\n    extra: {schemac.dev/renamedFrom: fare}\n")
    more = "  - {name: new, type: Float64, extra: {schemac.dev/renamedFrom: paid}}\n"
    (tmp_path / "trips.yaml").write_text((tmp_path / "trips.yaml").read_text() + more)
    said = schemac(tmp_path, "lock")
    assert (
        said.returncode,
        "error[SC420]: new is declared as renamed from 'paid', but 'paid' still exists" in said.stdout,
    ) == (1, True)
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "paid": 2}
    # Without the declaration of the past it is a new field of an old name.
    edited(tmp_path, "    extra: {schemac.dev/renamedFrom: fare}\n", "")
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "new": 2, "paid": 3}


def test_let_a_declaration_count_more_than_a_name(tmp_path: Path) -> None:
    locked_folder(tmp_path)
    declared = "- name: paid\n    extra: {schemac.dev/renamedFrom: fare}\n"
    said = edited(tmp_path, "- name: fare\n", f"- {{name: fare, type: Float64}}\n  {declared}")
    assert "SC4" not in said
    assert "version 2 of trips: 1 field added, 1 field renamed" in said
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "paid": 2, "fare": 3}
    # It was carried out, and is no order any more.
    edited(tmp_path, "name: trips\n", "name: trips\ndescription: All\n")
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "paid": 2, "fare": 3}
    # By the old declaration one might take the new field for it.
    path = tmp_path / "trips.yaml"
    path.write_text(path.read_text().replace("name: paid", "name: price"))
    said_then = schemac(tmp_path, "lock")
    assert said_then.returncode == 1
    assert (
        "error[SC420]: price is declared as renamed from 'fare', but paid once had that name too"
        in said_then.stdout
    )
    assert "write the last name that it had: `schemac.dev/renamedFrom: paid`" in said_then.stdout
    edited(tmp_path, "renamedFrom: fare", "renamedFrom: paid")
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "price": 2, "fare": 3}


def test_refuse_two_fields_that_were_one(tmp_path: Path) -> None:
    locked_folder(tmp_path)
    path = tmp_path / "trips.yaml"
    one = "  - {name: NAME, type: Float64, extra: {schemac.dev/renamedFrom: fare}}\n"
    path.write_text("name: trips\nfields:\n" + one.replace("NAME", "a") + one.replace("NAME", "b"))
    said = schemac(tmp_path, "lock")
    assert said.returncode == 1
    assert "error[SC420]: b is declared as renamed from 'fare', but so is a" in said.stdout
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "fare": 2}


def test_know_the_names_that_a_field_had_before(tmp_path: Path) -> None:
    """Another branch has renamed it since: the one name leads to the other."""
    locked_folder(tmp_path)
    edited(tmp_path, "- name: fare\n", "- name: paid\n    extra: {schemac.dev/renamedFrom: fare}\n")
    said = edited(tmp_path, "- name: paid\n", "- name: price\n")
    assert "SC4" not in said
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "price": 2}


def test_ask_about_a_rename_where_shapes_are_the_same(tmp_path: Path) -> None:
    locked_folder(tmp_path)
    said = edited(tmp_path, "- name: fare", "- name: paid", code=1)
    assert "error[SC405]: fare was removed and paid was added, both of type Float64" in said
    assert "`schemac.dev/renamedFrom: fare`" in said
    assert "`schemac lock trips.yaml --drop fare`" in said
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "fare": 2}
    said = schemac(tmp_path, "lock", "trips.yaml", "--drop", "fare").stderr
    assert "1 field added, 1 field dropped" in said
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "paid": 3}
    # Another type is another field.
    assert "SC405" not in edited(tmp_path, "- name: paid\n    type: Float64", "- name: x\n    type: Int8")


def test_name_the_nearest_of_several_first(tmp_path: Path) -> None:
    locked_folder(tmp_path)
    said = edited(tmp_path, "- name: fare\n", "- {name: other, type: Float64}\n  - name: fares\n", code=1)
    assert "fare was removed, and fares and other were added, whose types hold all its values" in said
    assert "of the one that is the same field" in said
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "fare": 2}


@pytest.mark.parametrize("given", ["fares", "id", "paid"])
def test_refuse_to_drop_what_is_not_dropped(given: str, tmp_path: Path) -> None:
    locked_folder(tmp_path)
    path = tmp_path / "trips.yaml"
    path.write_text(path.read_text().replace("name: fare", "name: paid"))
    said = schemac(tmp_path, "lock", "--drop", "fare", "--drop", given)
    assert said.returncode == 1
    assert f"{given} was not removed from trips since the last version" in said.stdout
    assert ids(lock_of(tmp_path, "trips")) == {"id": 1, "fare": 2}


@pytest.mark.parametrize("mode", [["--check"], ["--show", "1"], ["--resolve"]])
def test_drop_nothing_where_nothing_is_locked(mode: list[str], tmp_path: Path) -> None:
    locked_folder(tmp_path)
    said = schemac(tmp_path, "lock", "--drop", "fare", *mode)
    assert (said.returncode, said.stderr[:13]) == (2, "schemac lock:")


# Locks for programs and for reading.


def test_check_without_writing(tmp_path: Path) -> None:
    (tmp_path / "trips.yaml").write_text(TRIPS)
    unlocked = schemac(tmp_path, "lock", "--check")
    assert (unlocked.returncode, "SC401" in unlocked.stdout) == (4, True)
    assert not (tmp_path / "trips.lock").exists()
    locked_folder(tmp_path)
    assert schemac(tmp_path, "lock", "--check").returncode == 0
    (tmp_path / "trips.yaml").write_text(TRIPS.replace("Float64", "Float32"))
    before = (tmp_path / "trips.lock").read_bytes()
    changed = schemac(tmp_path, "lock", "--check")
    assert (changed.returncode, "1 field changed" in changed.stdout) == (4, True)
    assert (tmp_path / "trips.lock").read_bytes() == before


def test_build_only_what_is_locked(tmp_path: Path) -> None:
    (tmp_path / "trips.yaml").write_text(TRIPS)
    assert schemac(tmp_path, "build").returncode == 0
    assert schemac(tmp_path, "build", "--locked").returncode == 4
    locked_folder(tmp_path)
    assert schemac(tmp_path, "build", "--locked").returncode == 0
    (tmp_path / "trips.yaml").write_text(TRIPS + "  - {name: tip, type: Float64}\n")
    warned = schemac(tmp_path, "build")
    assert (warned.returncode, "warning[SC401]" in warned.stdout) == (0, True)
    built = (tmp_path / "build/trips/lance/schema.binpb").read_bytes()
    refused = schemac(tmp_path, "build", "--locked")
    assert (refused.returncode, "error[SC401]" in refused.stdout) == (4, True)
    assert (tmp_path / "build/trips/lance/schema.binpb").read_bytes() == built
    (tmp_path / "trips.lock").write_text((tmp_path / "trips.lock").read_text().replace("fare", "fear"))
    damaged = schemac(tmp_path, "build")
    assert damaged.returncode == 1
    assert "trips.lock:7" in damaged.stdout


def test_show_any_version_as_a_manifest(tmp_path: Path) -> None:
    locked_folder(tmp_path)
    edited(tmp_path, "type: Float64", "type: Float32")
    edited(tmp_path, "  - name: id        # from the meter\n    type: Int64\n", "")
    first = schemac(tmp_path, "lock", "--show", "1")
    assert first.stdout == (
        "name: trips\nfields:\n  - {name: id, type: Int64}\n  - {name: fare, type: Float64}\n"
    )
    assert "id" not in schemac(tmp_path, "lock", "--show", "3").stdout
    missing = schemac(tmp_path, "lock", "--show", "4")
    assert (missing.returncode, "the newest is 3" in missing.stdout) == (2, True)
    # What was shown is the manifest of that version.
    (tmp_path / "trips.yaml").write_text(first.stdout)
    assert schemac(tmp_path, "lock", "--check").returncode == 4


def test_number_by_the_lock_what_is_built(tmp_path: Path) -> None:
    locked_folder(tmp_path)
    edited(tmp_path, "  - name: id        # from the meter\n    type: Int64\n", "")
    edited(tmp_path, "fields:\n", "fields:\n  - {name: id, type: Int64}\n")
    (tmp_path / "schemac.toml").write_text('files = ["lance/schema.txtpb"]\n')
    assert schemac(tmp_path, "build", "--locked").returncode == 0
    text = (tmp_path / "build/trips/lance/schema.txtpb").read_text()
    assert [line.strip() for line in text.splitlines() if line.startswith("  id:")] == ["id: 2", "id: 1"]


def test_rename_in_table_properties_of_iceberg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Properties that have a column's full name at their end, or in their list; also for what is inside the column."""
    monkeypatch.chdir(tmp_path)
    text = """\
name: rides
extra:
  iceberg.apache.org/tableProperties:
    write.metadata.metrics.column.at: full   # exact
    write.parquet.bloom-filter-enabled.column.place.lat: "true"
    write.orc.bloom.filter.columns: at, place.lat
    comment: at place.lat
fields:
  - {name: at, type: Int64}
  - {name: place, type: {kind: Struct, fields: [{name: lat, type: Float64}]}}
"""
    Path("rides.yaml").write_text(text)
    assert main(["rename", "rides.yaml", "at", "day"]) == 0
    assert main(["rename", "rides.yaml", "place", "spot"]) == 0
    (dataset,) = compile_file("rides.yaml")
    assert dataset.schema.extra["iceberg.apache.org/tableProperties"] == {
        "write.metadata.metrics.column.day": "full",
        "write.parquet.bloom-filter-enabled.column.spot.lat": "true",
        "write.orc.bloom.filter.columns": "day, spot.lat",
        "comment": "at place.lat",
    }
