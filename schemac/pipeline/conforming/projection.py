"""Compiles a schema into one projection: typed columns, and the reasons why a record does not fit.

Layer: pipeline.
Shape: records (see `source`) in; the fields of the schema out, in order, then `_errors`, `_raw`, `_source`. `_errors` is
       null for a record that fits, else array<struct<path, rule, value>> with every reason. Steps: each step is one
       projection that keeps what the next one uses twice, so that no conversion is written, or run, more than once.
Errors: PipelineError for a mapping that names what the source does not have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame, Window, functions

from schemac.arrow.constrained import constraints_of
from schemac.pipeline.batch_reading.batch_reader import PROVEN, Levels, batch_reader
from schemac.pipeline.conforming.row_constraints import rows_checked
from schemac.pipeline.declaration.job import FieldSource, Job, Unexpected
from schemac.pipeline.reading.source import RECORD, Records
from schemac.pipeline.spark.columns import ERRORS, RAW, SOURCE, WARNINGS
from schemac.pipeline.spark.packed import PACKED
from schemac.pipeline.spark.sqltext import any_of, first_of, literal, name, parsed, struct, variant_of, when
from schemac.pipeline.values import inputs, nested, shapes
from schemac.pipeline.values.clocks import with_zones
from schemac.pipeline.values.constraints import condition_sql, conditions, reasons
from schemac.pipeline.values.exact_numbers import (
    MAY_BE_LONG,
    exact_token,
    has_exact,
    is_unsure,
    with_numbers_marked,
)
from schemac.pipeline.values.inputs import NUMBER_MARK, Counted, Input, Json, Text, Typed
from schemac.pipeline.values.native import native_reading
from schemac.pipeline.values.nested import NO_REASONS, Path, Rules, reason, required
from schemac.pipeline.values.scalars import Scalar, scalar_of
from schemac.pipeline.values.timestamps import is_outside
from schemac.pipeline.values.typed_values import integer_limits, typed_value

UNEXPECTED, DUPLICATE = "unexpected", "duplicate"


@dataclass
class Steps:
    """The projections of one compilation, each a list of named expressions over the one before."""

    levels: Levels = field(default_factory=lambda: [[] for _ in range(6)])
    guarded: Levels = field(default_factory=lambda: [[] for _ in range(6)])
    wrong: list[str] = field(default_factory=list)
    wrong_unless_proven: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    count: int = 0
    is_guarded: bool = False

    def keep(self, level: int, expression: str) -> str:
        """Keep an expression from its level on, and return its name there."""
        label = f"__{self.count}"
        self.count += 1
        if self.is_guarded:
            self.guarded[level].append((label, expression))
            return f"__level{level}.{label}"
        self.levels[level].append((label, expression))
        return label

    @property
    def projections(self) -> Levels:
        """The levels; what a proven record leaves out is one column, for columns cost time even where they are null."""
        return [
            [*level, (f"__level{number}", when(PROVEN, "null", struct(guarded)))] if guarded else level
            for number, (level, guarded) in enumerate(zip(self.levels, self.guarded, strict=True))
        ]

    def object_to(self, is_wrong: str, reasons: str) -> None:
        """Add reasons (an array) that hold where the condition does."""
        (self.wrong_unless_proven if self.is_guarded else self.wrong).append(is_wrong)
        self.reasons.append(self._guarded(reasons))

    def _guarded(self, expression: str) -> str:
        return when(PROVEN, "null", expression) if self.is_guarded else expression

    @property
    def any_wrong(self) -> str:
        """Whether a record has a reason."""
        unless_proven = any_of(self.wrong_unless_proven)
        return any_of(
            [*self.wrong, *([f"(not {PROVEN} and {unless_proven})"] if self.wrong_unless_proven else [])]
        )


def conform(records: Records, schema: pa.Schema, job: Job) -> DataFrame:
    """Turn the records into typed columns with their reasons."""
    if UNEXPECTED in job.warned:
        job = job.model_copy(update={"unexpected": Unexpected.REJECT})
    compiler = _Compiler(records, schema, job)
    steps, final = compiler.compile()
    frame, batch = records.frame, compiler.batch
    if batch is not None:
        frame = projected(batch.read(frame), batch.levels)
    held = [PACKED] if records.is_packed else []
    return projected(frame, [compiler.parsing, *steps.projections]).selectExpr(*final, *held)


def settled(records: Records, found: DataFrame, schema: pa.Schema, job: Job, *, raw: str = RAW) -> DataFrame:
    """Give what `conform` gives of records that were `found` to be good or not where they are read; `raw` is left to Spark."""
    # What is wrong with the mapping is found by compiling it.
    _Compiler(records, schema, job).compile()
    nothing = [f"cast(null as {shapes.spark_type(member)}) as {name(member.name)}" for member in schema]
    return found.selectExpr(*nothing, ERRORS, f"{raw} as {RAW}", SOURCE, PACKED)


def projected(frame: DataFrame, levels: Levels) -> DataFrame:
    """Add, or replace, the columns of each level, which stand on those before."""
    kept = [name(column) for column in frame.columns]
    for level in levels:
        if level:
            labels = [label for label, _ in level]
            kept = [label for label in kept if label not in labels and label[1:-1] not in labels]
            frame = frame.selectExpr(*kept, *(f"{text} as {label}" for label, text in level))
            kept += labels
    return frame


@dataclass(frozen=True)
class FieldSteps:
    """What is computed for one field, as SQL text."""

    reader: str
    steps: tuple[tuple[str, str], ...]
    value: str
    checks: tuple[str, ...]
    reasons: tuple[str, ...]


def field_steps(records: Records, schema: pa.Schema, job: Job) -> FieldSteps:
    """Compile a schema of one field, and show what `conform` would run for it."""
    compiler = _Compiler(records, schema, job)
    found, final = compiler.compile()
    # The last level puts the reasons of all fields together.
    batch = compiler.batch
    levels = [*(batch.levels if batch else []), compiler.parsing, *found.projections[:-1]]
    is_read_in_batches = batch is not None and schema.names[0] in batch.values
    readers = {
        True: "batches of records by Arrow where that is proven exact, item by item for other records",
        False: "item by item",
    }
    return FieldSteps(
        readers[is_read_in_batches],
        tuple(step for level in levels for step in level),
        final[0].rpartition(" as ")[0],
        (*found.wrong, *found.wrong_unless_proven),
        tuple(found.reasons),
    )


class _Compiler:
    def __init__(self, records: Records, schema: pa.Schema, job: Job) -> None:
        self.records = records
        self.schema = with_zones(schema, job)
        self.job = job
        self.steps = Steps()
        self.rules = Rules(job.coerce, job.unexpected, job.null_values)
        self.batch = batch_reader(records, self.schema, job)
        self.is_all_parsed = self.batch is None
        self.values: dict[tuple[str, ...], str] = {}
        """Final values that constraints read, by their columns."""
        self.constraints = constraints_of(schema)
        self.keeps_raw = bool(self.constraints)
        """Whether a record that the batch reader proves may be wrong in a field that it does not read, or in a constraint."""

    @property
    def parsing(self) -> list[tuple[str, str]]:
        """What the records are parsed to; of those that are proven only where a field has to be read of them too."""
        parsing = [*self.records.parsing]
        if self.is_all_parsed:
            return parsing
        if not self.job.compares_keys and not self.keeps_raw:
            # The text of a proven record need not travel.
            parsing.append((RAW, RAW))
        return [(label, when(PROVEN, "null", text)) for label, text in parsing]

    def compile(self) -> tuple[Steps, list[str]]:
        """Build the steps and the last projection."""
        finals = []
        for member in self.schema:
            origin = self.job.fields.get(member.name, FieldSource())
            source = self.records.input_of(member.name, origin)
            proven = self.batch.values.get(member.name) if self.batch else None
            self.steps.is_guarded = proven is not None
            if proven is None and source is not None:
                self.keeps_raw = True
                if not self.records.is_outside(member.name, origin or FieldSource()):
                    self.is_all_parsed = True
            guard = self._computed(member.name, origin)
            value = self._top(member, source, (literal(member.name),), guard, origin or FieldSource())
            # The value of a packed record is nothing to Spark.
            value = value if proven in (None, "null") else when(PROVEN, proven, value)
            self.steps.is_guarded = False
            value = self._constrained(member.name, value)
            finals.append(f"{value} as {name(member.name)}")
        self._check_conditions()
        if self.job.unexpected is Unexpected.REJECT:
            self._check_unexpected()
        self.steps.is_guarded = False
        errors = self.steps.keep(5, self._errors())
        # A record that fits needs no raw text: what is not asked for need not travel to the writer.
        rows = self.constraints.rows
        compares_rows = self.job.compares_keys or rows.unique or rows.references
        is_needed = "true" if compares_rows else f"{errors} is not null"
        origin_columns = ((self.records.raw, RAW), (SOURCE, SOURCE))
        kept = [f"{when(is_needed, text)} as {label}" for text, label in origin_columns]
        return self.steps, [*finals, f"{errors} as {ERRORS}", *kept]

    def _errors(self) -> str:
        found = f"flatten(array_compact(array({', '.join(self.steps.reasons)})))"
        regular = when(self.steps.any_wrong, found) if self.steps.reasons else NO_REASONS
        if self.records.malformed is None:
            return regular
        broken = reason((literal(""),), self.records.fault_rule, self.records.fault_value)
        is_broken = self.records.malformed
        if self.batch is not None:
            is_broken = f"not {PROVEN} and {is_broken}"
        return first_of([(is_broken, f"array({broken})")], regular)

    def _computed(self, label: str, origin: FieldSource | None) -> str | None:
        """Object to an expression that failed; the condition that it did not, None for fields without one."""
        failed = self.records.failing.get(label)
        if failed is None or origin is None:
            return None
        why = reason((literal(label),), literal("expression"), literal(origin.expr or ""))
        self.steps.object_to(failed, when(failed, f"array({why})"))
        return f"(not {failed})"

    def _constrained(self, label: str, value: str) -> str:
        """Object to a value that breaks a constraint; it is kept, for every constraint reads it again."""
        place = self.constraints.column(label)
        is_in_condition = any(
            field.path[0] == label
            for check in self.constraints.rows.checks
            for field in check.condition.fields()
        )
        if place is None and not is_in_condition:
            return value
        kept = self.steps.keep(4, value)
        self.values[label,] = kept
        if place is not None:
            is_wrong = any_of(conditions(place, kept))
            self.steps.object_to(is_wrong, when(is_wrong, reasons(place, kept, (literal(label),))))
        return kept

    def _check_conditions(self) -> None:
        for check in self.constraints.rows.checks:
            is_wrong = f"(not coalesce({condition_sql(check.condition, self.values)}, true))"
            if self.records.is_packed:
                # The values of a packed record are nothing to Spark, and its conditions hold.
                is_wrong = f"(not {PROVEN} and {is_wrong})"
            columns = dict.fromkeys(field.path[:1] for field in check.condition.fields())
            shown = f"to_json({struct((path[0], self.values[path]) for path in columns)})"
            why = reason((literal(check.path),), literal(check.rule), shown)
            self.steps.object_to(is_wrong, when(is_wrong, f"array({why})"))

    def _check_unexpected(self) -> None:
        for source, known, path in self.records.objects(self.schema, self.job):
            extra = nested.unexpected_keys(source, known, path)
            if extra is not None:
                assert isinstance(source, Json)
                self.steps.is_guarded = self.batch is not None and source.steps[1:] in self.batch.objects
                self.is_all_parsed = self.is_all_parsed or not self.steps.is_guarded
                label = self.steps.keep(1, extra)
                self.steps.object_to(f"size({label}) > 0", label)

    def _top(
        self, member: pa.Field, source: Input | None, path: Path, guard: str | None, origin: FieldSource
    ) -> str:
        if source is None:
            return self._nothing(member, path, guard)
        if shapes.is_scalar(member):
            return self._scalar(member, source, path, guard, origin)
        if isinstance(source, Text):
            blank = inputs.token_text(source, tuple({"", *self.rules.null_texts}))
            text = self.steps.keep(0, blank)
            is_marked = has_exact(member)
            variant = self.steps.keep(1, variant_of(with_numbers_marked(text) if is_marked else text))
            broken = f"{text} is not null and {variant} is null"
            self.steps.object_to(broken, when(broken, f"array({reason(path, literal('cast'), text)})"))
            guard = f"not ({broken})" if guard is None else f"({guard} and not ({broken}))"
            return self._container(member, Json(variant, is_marked=is_marked), path, guard, first=2)
        if pa.types.is_struct(member.type):
            return self._struct(member, source, path, guard)
        return self._container(member, source, path, guard, first=0)

    def _nothing(self, member: pa.Field, path: Path, guard: str | None) -> str:
        if not member.nullable:
            is_wrong = guard or "true"
            self.steps.object_to(is_wrong, when(is_wrong, f"array({required(path)})"))
        return f"cast(null as {shapes.spark_type(member)})"

    def _scalar(
        self, member: pa.Field, source: Input, path: Path, guard: str | None, origin: FieldSource
    ) -> str:
        source, origin = nested.as_read(member, source, origin)
        scalar = scalar_of(member, pattern=origin.format, epoch=origin.epoch)
        if isinstance(source, Typed):
            if nested.is_typed_alike(member, source):
                return self._typed(member, source, path, guard)
            if (limits := integer_limits(member, source.type)) is not None and not isinstance(
                source, Counted
            ):
                return self._integer(member, source, path, guard, limits)
            if (
                inputs.is_container(source.type)
                or source.type.simpleString() == scalar.spark_type == "binary"
            ):
                return self._container(member, source, path, guard, first=0)
        j = self.steps.keep(0, self._token(source, scalar))
        text = inputs.exact_text(source, j, scalar.token, self.rules.coerce)
        t = j if text == j else self.steps.keep(1, text)
        v = t if scalar.is_identity else self.steps.keep(2, self._value(source, scalar, t))
        why = nested.scalar_reason(source, j, t, scalar, path, self.rules)
        is_missing = f"{j} is null" if guard is None else f"({guard} and {j} is null)"
        is_wrong = f"({j} is not null and {v} is null)" if v != j else "false"
        if member.nullable:
            self.steps.object_to(is_wrong, when(is_wrong, f"array({why})"))
        else:
            reasons = first_of([(is_missing, f"array({required(path)})"), (is_wrong, f"array({why})")])
            self.steps.object_to(f"({is_missing} or {is_wrong})", reasons)
        return v

    def _token(self, source: Input, scalar: Scalar) -> str:
        token = inputs.token_text(source, self._null_texts(source, scalar))
        if scalar.is_exact and isinstance(source, Json) and source.root == RECORD:
            return exact_token(source, self.records.raw, token)
        return token

    def _value(self, source: Input, scalar: Scalar, t: str) -> str:
        value = scalar.value(t)
        if scalar.is_exact and isinstance(source, Json) and source.root != RECORD:
            return when(is_unsure(source, t), "null", value)
        return value

    def _null_texts(self, source: Input, scalar: Scalar) -> tuple[str, ...]:
        texts = self.rules.null_texts
        return tuple({"", *texts}) if isinstance(source, Text) and not scalar.is_identity else texts

    def _typed(self, member: pa.Field, source: Typed, path: Path, guard: str | None) -> str:
        if not member.nullable:
            is_missing = (
                f"{source.column} is null" if guard is None else f"({guard} and {source.column} is null)"
            )
            self.steps.object_to(is_missing, when(is_missing, f"array({required(path)})"))
        outside = is_outside(member.type, source.column)
        if outside is None:
            return source.column
        wrong = reason(path, literal("range"), source.column)
        self.steps.object_to(f"({source.column} is not null and {outside})", when(outside, f"array({wrong})"))
        return source.column

    def _integer(
        self, member: pa.Field, source: Typed, path: Path, guard: str | None, limits: tuple[int, int]
    ) -> str:
        """Read an integer out of one of another width."""
        column = source.column
        is_wrong = (
            f"({column} is not null and not (cast({column} as bigint) between {limits[0]}L and {limits[1]}L))"
        )
        branches = [(is_wrong, f"array({reason(path, literal('range'), column)})")]
        if not member.nullable:
            is_missing = f"{column} is null" if guard is None else f"({guard} and {column} is null)"
            branches.append((is_missing, f"array({required(path)})"))
        self.steps.object_to(any_of([condition for condition, _ in branches]), first_of(branches))
        inside = f"cast({column} as bigint) between {limits[0]}L and {limits[1]}L"
        return when(inside, f"cast({column} as {shapes.spark_type(member)})")

    def _struct(self, member: pa.Field, source: Input, path: Path, guard: str | None) -> str:
        if isinstance(source, Json):
            shape = f"if({nested.is_object(source)}, 1, 2)"
            state = self.steps.keep(0, when(nested.is_nothing(source), "0", shape))
            shown = f"to_json({source.variant})"
        else:
            assert isinstance(source, Typed)
            state, shown = self.steps.keep(0, f"if({source.column} is null, 0, 1)"), "null"
        around = "" if guard is None else f"{guard} and "
        branches = [(f"{around}{state} = 2", f"array({reason(path, literal('type'), shown)})")]
        if not member.nullable:
            branches.append((f"{around}{state} = 0", f"array({required(path)})"))
        self.steps.object_to(any_of([f"({condition})" for condition, _ in branches]), first_of(branches))
        inside = f"({around}{state} = 1)"
        if self.rules.unexpected is Unexpected.REJECT:
            extra = nested.unexpected_keys(source, [part.name for part in member.type], path)
            if extra is not None:
                label = self.steps.keep(1, when(inside, extra, NO_REASONS))
                self.steps.object_to(f"size({label}) > 0", label)
        parts = [
            (
                part.name,
                self._top(
                    part,
                    inputs.child(source, part.name),
                    (*path, literal("." + part.name)),
                    inside,
                    FieldSource(),
                ),
            )
            for part in member.type
        ]
        return when(inside, struct(parts))

    def _container(
        self, member: pa.Field, source: Input, path: Path, guard: str | None, *, first: int
    ) -> str:
        if isinstance(source, Json) and source.steps:
            source = self._alone(member, source, first)
        slow = nested.convert(member, source, path, self.rules)
        fast = None
        if isinstance(source, Json) and not self.rules.null_texts:
            fast = native_reading(member, source.variant)
        if fast is not None:
            assert isinstance(source, Json)
            read = fast.read
            if source.is_marked:
                # A number with a mark would pass for a text.
                has_mark = f"contains(to_json({source.variant}), {literal(NUMBER_MARK)})"
                read = when(has_mark, "null", read)
            label = self.steps.keep(min(first + 1, 2), read)
            value = nested.outcome(fast.value.replace("{}", label), NO_REASONS)
            slow = when(fast.is_proven.replace("{}", label), value, slow)
        if isinstance(source, Typed):
            found = typed_value(member, source.column, source.type)
            if found is not None:
                is_right = f"{source.column} is not null and not coalesce({found.is_wrong}, false)"
                slow = when(is_right, nested.outcome(found.value, NO_REASONS), slow)
        if guard is not None:
            slow = when(guard, slow)
        result = self.steps.keep(3, slow)
        self.steps.object_to(f"size({result}.e) > 0", f"{result}.e")
        return f"{result}.v"

    def _alone(self, member: pa.Field, source: Json, first: int) -> Json:
        """Keep a value with parts; where digits count, read from the record with its long numbers marked."""
        if source.root != RECORD or not has_exact(member):
            return Json(self.steps.keep(first, source.variant), is_marked=source.is_marked)
        raw = self.records.raw
        marked = Json(parsed(with_numbers_marked(raw)), source.steps).variant
        is_long = f"{raw} rlike {literal(MAY_BE_LONG)}"
        return Json(self.steps.keep(first, when(is_long, marked, source.variant)), is_marked=True)


def key_checked(frame: DataFrame, schema: pa.Schema, job: Job) -> DataFrame:
    """Check the rows against each other and against other tables: constraints, and the primary key where the job asks for it."""
    keys = primary_key(schema)
    frame = rows_checked(frame, schema, job, keys)
    if not keys or not (job.compares_keys or DUPLICATE in job.warned):
        return frame
    # Of records with one key the latest counts; those that are equally late are judged as duplicates.
    latest = [job.target.latest] if job.target.latest is not None else []
    return key_check(frame, [*keys, *latest], job.warned)


def with_warnings(frame: DataFrame, job: Job) -> DataFrame:
    """Take the reasons of rules that only warn out of those that keep a record from the table."""
    if not job.warned:
        return frame
    others = [name(column) for column in frame.columns if column != ERRORS]
    warned, other = _is_among(job.warned), _is_among(job.warned, "not in")
    split = frame.selectExpr(
        *others, f"filter({ERRORS}, {warned}) as {WARNINGS}", f"filter({ERRORS}, {other}) as {ERRORS}"
    )
    return split.withColumn(ERRORS, functions.expr(f"if(size({ERRORS}) > 0, {ERRORS}, null)"))


def key_check(frame: DataFrame, keys: list[str], warned: Sequence[str] = ()) -> DataFrame:
    """Add a reason to every record whose key another good record has as well; reasons that only warn leave it good."""
    is_good = functions.expr(f"not exists(coalesce({ERRORS}, array()), {_is_among(warned, 'not in')})")
    same = Window.partitionBy(is_good, *(functions.col(name(key)) for key in keys))
    shown = f"to_json({struct((key, name(key)) for key in keys)})"
    path = ",".join(keys)
    twin = f"array({reason((literal(path),), literal(DUPLICATE), shown)})"
    counted = frame.withColumn("__twins", functions.count(functions.lit(1)).over(same))
    more = functions.expr(f"concat(coalesce({ERRORS}, array()), {twin})")
    checked = functions.when(is_good & (functions.col("__twins") > 1), more).otherwise(functions.col(ERRORS))
    return counted.withColumn(ERRORS, checked).drop("__twins")


def _is_among(rules: Sequence[str], word: str = "in") -> str:
    """Write the test whether the rule of a reason is one of these."""
    return f"x -> substring_index(x.rule, ':', 1) {word} ({', '.join(map(literal, ['', *rules]))})"


def primary_key(schema: pa.Schema) -> list[str]:
    """Names of the primary key's fields, in the order of the key."""
    mark, position = b"lance-schema:unenforced-primary-key", b"lance-schema:unenforced-primary-key:position"
    keys: Mapping[str, int] = {
        part.name: int((part.metadata or {}).get(position, b"0"))
        for part in schema
        if mark in (part.metadata or {}) or position in (part.metadata or {})
    }
    return sorted(keys, key=lambda label: keys[label])
