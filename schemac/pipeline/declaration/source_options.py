"""What each option of a source means: honoured, or refused by its name with what to write instead.

Layer: pipeline.
Shape: one closed table for each form of source that we read ourselves; an option that is in none of its lists is a slip.
       Names ignore case, as Spark's do. Formats that Spark reads on its own take Spark's options as they are.
Source: the options that Spark 4.3 registers for each format (`DataSourceOptions.validOptions`) and for files, and its
        documentation of file sources.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.errors import PipelineError, did_you_mean, leave_out
from schemac.rows.runs.tables import source_of
from schemac.text.source.catalogue import SOURCE_OPTION

FILES = ("pathGlobFilter", "recursiveFileLookup", "modifiedBefore", "modifiedAfter", "basePath")
OF_STREAMS = ("maxFilesPerTrigger", "maxBytesPerTrigger", "latestFirst", "maxFileAge")
"""Of a stream of files, besides those of its format."""
TEXT = ("encoding", "charset", "lineSep", "multiLine")
CSV = ("sep", "delimiter", "quote", "escape", "comment", "header", "ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace",
       "nullValue", "emptyValue")  # fmt: skip
PLACE = ("source", "options")
ALIASES = {"charset": "encoding", "delimiter": "sep"}


def _refused(by_help: Mapping[str, str]) -> dict[str, str]:
    """Return the help for each option; `by_help` has the names of options, with blanks between them, by their help."""
    return {name: help for help, names in by_help.items() for name in names.split()}


TYPES = leave_out(more=": the manifest has the types")
WRITING = leave_out(more=": it is an option for writing")
ENGINE = leave_out(more=": it changes nothing that a table could show")

REFUSED_FILES = _refused({
    leave_out(more=": a file that cannot be read stops the run, so that no record is lost"): "ignoreCorruptFiles ignoreMissingFiles",
    leave_out(more=": names that begin with `_` or `.` are not read; `pathGlobFilter` chooses files"): "ignoredPathSegmentRegex",
    "unpack the archive: archives are not read": "archivePathFilter",
})  # fmt: skip
REFUSED_TEXT = _refused({
    leave_out(more=": a record that does not fit goes to the quarantine with its reasons"): "mode columnNameOfCorruptRecord",
    TYPES: "samplingRatio singleVariantColumn",
    "leave it out, and give the field a `format` under `fields`":
        "dateFormat timestampFormat timestampNTZFormat timeFormat enableDateTimeParsingFallback",
    leave_out(more=": a timestamp has its zone in its text, or gets it from its field's `zone`"): "timeZone",
    leave_out(more=": numbers and names of months are read as in English"): "locale",
    leave_out(more=": it is recognized by the file's name (.gz, .bz2, .zst)"): "compression",
    leave_out(more="; `multiLine: true` reads values that hold line breaks"): "wholetext",
})  # fmt: skip
REFUSED_JSON = _refused({
    TYPES: "primitivesAsString prefersDecimal inferTimestamp dropFieldIfAllNull",
    leave_out(more=": records are JSON as RFC 8259 has it, others go to the quarantine"):
        "allowComments allowUnquotedFieldNames allowSingleQuotes allowNumericLeadingZeros allowNonNumericNumbers"
        " allowBackslashEscapingAnyCharacter allowUnquotedControlChars",
    leave_out(more=": `multiLine: true` reads the items of an array as records"): "explodeEmbeddedArray",
    WRITING: "ignoreNullFields pretty sortKeys writeNonAsciiCharacterAsCodePoint",
    ENGINE: "useUnsafeRow",
})  # fmt: skip
REFUSED_GEOJSON = {
    "multiLine": "leave it out: feature collections and one feature per line are recognized",
    "lineSep": "leave it out: a line ends with a line feed",
}
REFUSED_CSV = _refused({
    TYPES: "inferSchema preferDate",
    leave_out(more=": columns are found by the names in the header of each file"): "enforceSchema",
    leave_out(more=": `escape` escapes itself"): "charToEscapeQuoteEscaping",
    leave_out(more=": a record with a quote that is not escaped goes to the quarantine"): "unescapedQuoteHandling",
    leave_out(more=": write `NaN`, or give `nullValues` where it means null"): "nanValue",
    leave_out(more=": write `Infinity`"): "positiveInf",
    leave_out(more=": write `-Infinity`"): "negativeInf",
    leave_out(more=": a record may have any number of cells"): "maxColumns",
    leave_out(more=": a cell may be of any length"): "maxCharsPerColumn",
    ENGINE: "inputBufferSize columnPruning",
    WRITING: "extension codec escapeQuotes quoteAll",
})  # fmt: skip
OFF = ("inferschema", "enforceschema", "wholetext", "ignorecorruptfiles", "ignoremissingfiles")
HARMLESS = {"mode": "permissive", **dict.fromkeys(OFF, "false")}


@dataclass(frozen=True)
class SourceForm:
    """The options that a format of sources takes, and those that it refuses, with the help."""

    honoured: tuple[str, ...]
    refused: Mapping[str, str]


FORMS = {
    "csv": SourceForm((*FILES, *TEXT, *CSV), REFUSED_FILES | REFUSED_TEXT | REFUSED_CSV),
    "json": SourceForm((*FILES, *TEXT), REFUSED_FILES | REFUSED_TEXT | REFUSED_JSON),
    "geojson": SourceForm(
        (*FILES, "encoding", "charset"), REFUSED_FILES | REFUSED_TEXT | REFUSED_JSON | REFUSED_GEOJSON
    ),
    "parquet": SourceForm(
        (*FILES, "mergeSchema", "datetimeRebaseMode", "int96RebaseMode"),
        REFUSED_FILES | {"compression": WRITING, "parquet.compression": WRITING},
    ),
    "orc": SourceForm(
        (*FILES, "mergeSchema"), REFUSED_FILES | {"compression": WRITING, "orc.compress": WRITING}
    ),
}


def option_mistakes(source: Source, *, is_stream: bool = False) -> Iterator[PipelineError]:
    """Yield the options of a source that are refused, unknown, or set twice."""
    engine = source_of(source.format)
    form = FORMS.get(source.format) if engine is None else SourceForm(engine.options, {})
    if form is None:
        return
    more = OF_STREAMS if is_stream and engine is None else ()
    honoured = {name.lower() for name in (*form.honoured, *more)}
    refused = {name.lower(): help for name, help in form.refused.items()}
    seen: dict[str, str] = {}
    for name, text in source.options.items():
        folded = name.lower()
        meaning = ALIASES.get(folded, folded)
        if meaning in seen:
            message = f"the options `{seen[meaning]}` and `{name}` set the same thing"
            yield PipelineError(SOURCE_OPTION, message, leave_out(name), place=(*PLACE, name))
        seen[meaning] = name
        if folded in honoured or HARMLESS.get(folded) == text.lower():
            continue
        if folded in refused:
            message = f"a {source.format} source does not support the option `{name}`"
            yield PipelineError(SOURCE_OPTION, message, refused[folded], place=(*PLACE, name))
        else:
            message = f"a {source.format} source has no option `{name}`"
            near = did_you_mean(name, form.honoured)
            yield PipelineError(SOURCE_OPTION, message, near, place=(*PLACE, name))


class Options:
    """The options of a source, by name in any case."""

    def __init__(self, source: Source) -> None:
        self._texts = {ALIASES.get(name.lower(), name.lower()): text for name, text in source.options.items()}

    def text(self, name: str, default: str = "") -> str:
        """Return the text of an option."""
        return self._texts.get(name.lower(), default)

    def flag(self, name: str) -> bool | None:
        """Return an option that is true or false; None if it is absent. Raises PipelineError."""
        text = self._texts.get(name.lower())
        if text is None:
            return None
        if text.lower() not in ("true", "false"):
            raise PipelineError(SOURCE_OPTION, f"the option `{name}` is `{text}`", "write true or false")
        return text.lower() == "true"

    def some(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return the options that were set, under Spark's names."""
        return {name: self._texts[name.lower()] for name in names if name.lower() in self._texts}
