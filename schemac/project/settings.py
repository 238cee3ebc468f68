"""What may be in `[tool.schemac]` or schemac.toml, and what is wrong with what is there.

Layer: project.
Shape: `project.settings_file` has the values; this module is loaded where they have to be checked.
Errors: SC601 invalid-configuration.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, create_model

from schemac.language.attributes.builtin import TargetName
from schemac.language.attributes.registry import DOMAINS
from schemac.language.lint.settings import LintSettings
from schemac.language.logical.names import Variant
from schemac.language.manifest.json_schema_conditions import json_schema
from schemac.project.discovery import is_pattern, is_within
from schemac.project.settings_file import Configuration, SettingsFile
from schemac.registry.engine import EngineError, engines, named_versions, version_settings
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import Help, one_of, shortened
from schemac.text.source.text import reason_of
from schemac.text.syntax.model import AuthoredModel, Items, model_errors

if TYPE_CHECKING:
    # For start-up time: most projects have no settings for rules.
    from schemac.language.lint.run import Selection


_DEFAULT = Configuration()


class _Encodings(AuthoredModel):
    """Encodings of fields without a hint."""

    string: Literal["string", "large_string", "string_view"] = Field(
        "string", description="The Arrow type of a String."
    )
    binary: Literal["binary", "large_binary", "binary_view"] = Field(
        "binary", description="The Arrow type of a Binary."
    )
    list: Literal["list", "large_list", "list_view", "large_list_view"] = Field(
        "list", description="The Arrow type of a List."
    )
    date: Literal["date32", "date64"] = Field("date32", description="The Arrow type of a Date.")


class _Lint(AuthoredModel):
    """The rules to enable; each is named by code, by the beginning of codes, by slug or by category."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"))
    select: Items[str] = Field(
        _DEFAULT.lint.select,
        description="Rules to enable; `all`, or `default` for those that are on by default.",
    )
    extend_select: Items[str] = Field((), description="Rules to enable in addition.")
    ignore: Items[str] = Field((), description="Rules to disable.")
    severity: dict[str, Literal["error", "warning", "note"]] = Field(
        {}, description="Severity of the findings of rules, if not a warning."
    )
    per_path: dict[str, Items[str]] = Field(
        {}, description="Rules to disable in some manifests, by patterns of paths from the project's folder."
    )
    rules: Items[str] = Field((), description="Python files with rules of the project's own.")
    max_name_length: int = Field(_DEFAULT.lint.max_name_length, ge=1, description="Characters of a name.")
    max_fields: int = Field(
        _DEFAULT.lint.max_fields, ge=1, description="Fields of a dataset, with those of its structs."
    )
    max_depth: int = Field(
        _DEFAULT.lint.max_depth, ge=1, description="Levels of nesting, including the column."
    )
    max_precision: int = Field(_DEFAULT.lint.max_precision, ge=1, description="Digits of a decimal.")
    max_key_fields: int = Field(_DEFAULT.lint.max_key_fields, ge=1, description="Fields of a primary key.")
    max_values: int = Field(_DEFAULT.lint.max_values, ge=1, description="Values of an enumeration.")


def _pattern(text: str) -> str:
    """Return a pattern of `.gitignore`. Raises ValueError if it is invalid."""
    if not is_pattern(text):
        message = f"'{text}' is not a pattern of .gitignore; write one such as `charts/` or `*.tpl.yaml`"
        raise ValueError(message)
    return text


_Pattern = Annotated[str, AfterValidator(_pattern)]


_OPTIONAL_ARTIFACTS = [artifact for engine in engines() for artifact in engine.optional_artifacts]


def _optional_artifact(path: str) -> str:
    """Return the path of an artifact that is written only on request. Raises ValueError for any other text."""
    if path not in _OPTIONAL_ARTIFACTS:
        known = one_of(f"`{artifact}`" for artifact in _OPTIONAL_ARTIFACTS)
        raise ValueError(f"`{path}` is not an optional file; write {known}")
    return path


_OptionalArtifact = Annotated[str, AfterValidator(_optional_artifact)]


class _Settings(AuthoredModel):
    """Settings for all manifests of a project."""

    manifests: Items[str] = Field(
        _DEFAULT.manifests,
        description="Files and folders to compile if the command line names none; by default the project's folder.",
    )
    out: str = Field(_DEFAULT.out, pattern=r"^[^\x00]+$", description="Folder of the artifacts.")
    targets: Items[TargetName] = Field(
        _DEFAULT.targets, min_length=1, description="The engines to build for."
    )
    strict: bool = Field(_DEFAULT.strict, description="Accept only what is in the standard.")
    metadata: bool = Field(_DEFAULT.metadata, description="Write attributes into the Arrow metadata.")
    files: Items[_OptionalArtifact] = Field(
        _DEFAULT.files, description=f"Optional artifacts to write too, such as `{_OPTIONAL_ARTIFACTS[0]}`."
    )
    encodings: _Encodings = Field(
        default_factory=_Encodings, description="Encodings of fields without a hint, at every depth."
    )
    system_columns: Variant | None = Field(
        None, description="Insert the standard's system columns, in this variant of their types."
    )
    exclude: Items[_Pattern] | None = Field(
        _DEFAULT.exclude, description="Patterns of files and folders to skip, instead of the default ones."
    )
    extend_exclude: Items[_Pattern] = Field(
        _DEFAULT.extend_exclude,
        description="Patterns of files and folders to skip, in addition to the default ones.",
    )
    import_folders: Items[str] = Field(
        _DEFAULT.import_folders,
        description="Folders outside the project and its repository that manifests may import from.",
    )
    vocabularies: dict[str, str] = Field({}, description="JSON Schema files by attribute domain.")
    lint: _Lint = Field(default_factory=_Lint, description="Which rules are enabled.")


# With the version that each engine's warnings, verdicts and plans are to hold for, where they depend on one.
_versions: Mapping[str, Any] = {
    s.key: (Annotated[str, AfterValidator(s.checked)] | None, Field(None, description=s.help))
    for s in version_settings().values()
}
Settings: type[_Settings] = create_model(
    "Settings", __base__=_Settings, __doc__=_Settings.__doc__, **_versions
)


def checked_settings(file: SettingsFile, table: Json, report: Report) -> Configuration | None:
    """Return the values of a table of settings; None after reporting what is wrong with it."""
    try:
        settings = Settings.model_validate(table)
        same = {one.name for one in fields(Configuration)} & _Settings.model_fields.keys()
        values = {name: getattr(settings, name) for name in same} | {
            "are_targets_named": "targets" in settings.model_fields_set,
            "encodings": settings.encodings.model_dump(),
            "versions": named_versions(settings),
            "lint": LintSettings(**settings.lint.model_dump()),
        }
        return Configuration(**values)
    except ValidationError as error:
        for diagnostic in model_errors(error, Settings, table):
            keys = [str(step) for step in diagnostic.path]
            file.report(diagnostic.message, keys, report, diagnostic.help, on_key=diagnostic.on_key)
        return None


def report_rule_files(file: SettingsFile, configuration: Configuration, report: Report) -> None:
    """Report files of rules that do not exist or are outside of the project; they are not run for that."""
    folder = file.path.parent
    for i, name in enumerate(configuration.lint.rules):
        keys = ["lint", "rules", str(i)]
        if not is_within(folder / name, folder):
            message = f"{shortened(name)} is outside the project; rules are programs, and run with it"
            help = "copy it into the project, or install it as a distribution with the entry point `schemac.language.lint`"
            file.report(message, keys, report, help)
        elif not (folder / name).is_file():
            file.report(f"there is no file {shortened(name)} with rules", keys, report)


def report_rules(file: SettingsFile, select: "Callable[[], Selection]", report: Report) -> None:
    """Report unknown names of rules in a configuration, and files of rules that cannot be used."""
    try:
        selection = select()
    except EngineError as error:
        file.report(str(error), ["lint", "rules"], report)
        return
    for keys, word, near in selection.unknown():
        help = Help.did_you_mean(near, word) if near else "`schemac explain` lists the codes of all rules"
        file.report(f"there is no rule '{word}'", ["lint", *keys], report, help, on_key=keys[-1] == word)


def report_vocabularies(
    settings: SettingsFile, files: Mapping[str, str], contents: Mapping[str, bytes | OSError], report: Report
) -> None:
    """Report what is wrong with the vocabularies of a configuration, by domain."""
    for domain, file in files.items():
        keys = ["vocabularies", domain]
        if domain in DOMAINS:
            message = f"the domain {domain} is closed, and schemac checks it itself"
            settings.report(message, keys, report, "register vocabularies only for your own domains")
            continue
        # Imported here for start-up time: only projects with vocabularies need jsonschema.
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError as InvalidSchema

        content = contents[domain]
        problem = f"{shortened(file)} cannot be read: "
        try:
            if not isinstance(content, OSError):
                Draft202012Validator.check_schema(json.loads(content))
                continue
            problem += reason_of(content)
        except ValueError as error:
            problem += str(error)
        except RecursionError:
            problem += "it is nested too deeply"
        except InvalidSchema as error:
            problem = f"{file} is not a valid JSON Schema: {error.message}"
        settings.report(f"the vocabulary {problem}", keys, report)


def vocabulary(content: bytes) -> Any:
    """Return the validator of a valid vocabulary."""
    from jsonschema import Draft202012Validator  # for start-up time, as above
    from jsonschema_specifications import REGISTRY

    # With this registry, nothing is fetched from elsewhere: a build depends on the project alone.
    schema: Any = json.loads(content)
    return Draft202012Validator(schema, registry=REGISTRY)


def config_schema() -> Json:
    """Return the schema of `schemac.toml`, and of `[tool.schemac]` in pyproject.toml."""
    dialect, document = {"$schema": "https://json-schema.org/draft/2020-12/schema"}, json_schema(Settings)
    definitions = {"$defs": document.pop("$defs")}
    return {**dialect, **document, "title": "schemac configuration", **definitions}
