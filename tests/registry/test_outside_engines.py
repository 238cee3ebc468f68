"""Engines of other distributions: what they can do, and what is said of one that is broken.

Each runs in a process of its own, for the engines are found once a process. An installed distribution is a folder on the path
with its `.dist-info` beside the package.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "engine-sqlite"
MANIFEST = "name: trips\nfields:\n  - {name: fare, type: UInt8}\n"
START = "from schemac.registry.engine import Engine, Format\n"
PARTS = "# parts\n"
"""Divides the module that every command loads from the one that holds the capabilities."""


class Site:
    """A folder of distributions, and commands that run with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "site"
        self.work = folder / "work"
        self.work.mkdir()
        (self.work / "trips.yaml").write_text(MANIFEST)

    def install(self, package: str, point: str, source: str | None = None) -> None:
        """Install a distribution with one entry point, and its package where it lies nowhere else."""
        info = self.folder / f"{package}-0.1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n")
        (info / "entry_points.txt").write_text(f"[schemac.engines]\n{point}\n")
        if source is not None:
            head, _, parts = source.partition(PARTS)
            (self.folder / f"{package}.py").write_text(head)
            (self.folder / "parts.py").write_text(parts)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python with these distributions."""
        path = os.pathsep.join(map(str, (self.folder, EXAMPLE, ROOT)))
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        del environment["SCHEMAC_BUILTIN_ENGINES"]
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, check=False
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run schemac with these distributions."""
        return self.python("-m", "schemac", *arguments)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def sqlite(site: Site) -> Site:
    site.install("schemac_sqlite", "sqlite = schemac_sqlite:ENGINE")
    return site


@pytest.mark.slow
def test_pass_the_tests_of_the_example(sqlite: Site) -> None:
    # Without a folder of its own, pytest first removes those of earlier sessions, which can take minutes.
    own = [f"--basetemp={sqlite.work / 'temporary'}", "--rootdir", str(EXAMPLE)]
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, *own]
    ran = sqlite.python("-m", "pytest", *options, str(EXAMPLE / "tests"))
    assert ran.returncode == 0, ran.stdout
    assert "skipped" not in ran.stdout


@pytest.mark.slow
def test_offer_an_engine_where_it_can_do_something(sqlite: Site) -> None:
    ran = sqlite.run("build", "--target", "sqlite", "--losses")
    assert ran.returncode == 0, ran.stderr
    assert "note[SQLITE511]: fare: UInt8 becomes INTEGER" in ran.stdout
    found = json.loads((sqlite.work / "build/trips/losses.json").read_text())["losses"]
    assert [loss["target"] for loss in found] == ["sqlite"]

    assert sqlite.run("lock").returncode == 0
    (sqlite.work / "trips.yaml").write_text(MANIFEST.replace("UInt8", "String"))
    ran = sqlite.run("breaking", "--against", "lock", "--engine", "sqlite", "--ignore-readers")
    assert ran.returncode == 0
    assert "INTEGER stays in existing rows" in ran.stdout
    assert sqlite.run("lock").returncode == 0
    ran = sqlite.run("plan", "trips", "--engine", "sqlite")
    assert ran.returncode == 2
    assert "argument --engine: SQLite has no tables to plan for; choose from lance" in ran.stderr
    (sqlite.work / "schemac.toml").write_text('targets = ["arrow", "sqlite"]\n')
    ran = sqlite.run("plan", "trips")
    assert ran.returncode == 0
    assert "there is nothing to plan: none of the targets has tables" in ran.stderr


@pytest.mark.slow
def test_do_without_engines_of_other_distributions(site: Site) -> None:
    """The environment may ask for the compiler's own engines alone, as the compiler's own tests do."""
    site.install("broken", "other = nowhere:ENGINE")
    script = "import os, sys; os.environ['SCHEMAC_BUILTIN_ENGINES'] = '1'; from schemac.cli.main import main; sys.exit(main(['check']))"
    assert site.run("check").returncode == 2
    assert site.python("-c", script).returncode == 0


@pytest.mark.slow
def test_check_and_describe_the_attributes_that_an_engine_brings(sqlite: Site) -> None:
    extra = "extra: {sqlite.org/primaryKeys: [fare], schemac.dev/targets: [sqlite]}\n"
    (sqlite.work / "trips.yaml").write_text(MANIFEST + extra)
    ran = sqlite.run("check")
    assert ran.returncode == 1
    assert "did you mean `sqlite.org/primaryKey`?" in ran.stdout
    schema = json.loads(sqlite.run("schema", "manifest").stdout)
    properties = schema["$defs"]["SchemaAttributes"]["properties"]
    assert "sqlite.org/primaryKey" in properties
    assert "sqlite" in schema["$defs"]["schemac.dev targets"]["items"]["enum"]


def engine(more: str = "", name: str = "other") -> str:
    """The module with ENGINE; what is put behind it is the module `parts`."""
    return f'{START}ENGINE = Engine("{name}", "Other", position=100, {more})\n{PARTS}'


TARGET = """
from schemac.artifacts.targets import Artifact, ArtifactTarget
from schemac.text.source.diagnostics import Code, Severity
LOSS = Code("OTHER511", "other-loss", Severity.NOTE, "a loss")
C = (LOSS,)
"""
BROKEN = {
    "no module": (
        "other = nowhere:ENGINE",
        None,
        "cannot be loaded: ModuleNotFoundError: No module named 'nowhere'",
    ),
    "no name": ("other = broken:NOTHING", START, "has no attribute 'NOTHING'"),
    "an error": ("other = broken:ENGINE", "raise ValueError('two\\nlines')", "ValueError: two lines"),
    "no engine": ("other = broken:ENGINE", "ENGINE = 1", "is not a schemac.registry.engine.Engine"),
    "taken name": ("other = broken:ENGINE", engine(name="lance"), "two engines are called lance"),
    "bad name": ("other = broken:ENGINE", engine(name="../x"), "cannot be called '../x'"),
    "taken format": (
        "other = broken:ENGINE",
        engine('formats=(Format("odf", "parts:X"),)'),
        "the engines odf and other both have a format odf",
    ),
    "no target": (
        "other = broken:ENGINE",
        engine('artifacts="parts:START"') + "START = 1\n",
        "is not of the type ArtifactTarget",
    ),
    "missing target": (
        "other = broken:ENGINE",
        engine('artifacts="absent:TARGET"'),
        "No module named 'absent'",
    ),
    "other target": (
        "other = broken:ENGINE",
        engine('artifacts="parts:T", codes="parts:C"')
        + TARGET
        + 'T = ArtifactTarget("lance", LOSS, lambda c, e: [])\n',
        "the target of the engine other is called lance",
    ),
    "target with an unlisted code": (
        "other = broken:ENGINE",
        engine('artifacts="parts:T"') + TARGET + 'T = ArtifactTarget("other", LOSS, lambda c, e: [])\n',
        "reports losses as OTHER511, which is not among its `codes`",
    ),
    "failing target": (
        "other = broken:ENGINE",
        engine('artifacts="parts:T", codes="parts:C"')
        + TARGET
        + 'T = ArtifactTarget("other", LOSS, lambda c, e: [1 / 0])\n',
        "the engine other failed: ZeroDivisionError: division by zero",
    ),
    "escaping": (
        "other = broken:ENGINE",
        engine('artifacts="parts:T", codes="parts:C"')
        + TARGET
        + 'T = ArtifactTarget("other", LOSS, lambda c, e: [Artifact("other/../../x", b"")])\n',
        "writes other/../../x, which is not below other/",
    ),
    "taken domain": (
        "other = broken:ENGINE",
        engine('attributes="parts:A", domain="lance.org"') + "A = ()\n",
        "need a `domain` of their own, not 'lance.org'",
    ),
    "no attributes": (
        "other = broken:ENGINE",
        engine('attributes="parts:A", domain="a.b"') + "A = (1,)\n",
        "has an item that is not an Attribute of a.b",
    ),
}
"""An entry point, its module, and what is said."""


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_say_in_one_line_that_an_engine_is_broken(name: str, site: Site) -> None:
    point, source, said = BROKEN[name]
    site.install("broken", point, source)
    target = ["--target", "other"] if "arget" in name or name == "escaping" else []
    ran = site.run("build", *target)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert said in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert not (site.work / "build").exists()


CRASHING = {
    "reader": (
        'formats=(Format("other", "parts:R", (".other",)),)',
        'from schemac.importers.importer import Importer\nR = Importer("other", "Other", lambda path, report: 1 / 0)\n',
        ("import", "trips.other"),
    ),
    "tables": (
        'tables="parts:T"',
        (
            "from schemac.versions.evolution.tables import Tables\nclass Broken(Tables):\n    is_table = lambda self, path: path.endswith('.other')\n"
            "    plan = verify = open = lambda *_: 1 / 0\nT = Broken()\n"
        ),
        ("verify", "trips", "--table", "trips.other"),
    ),
}
"""Capabilities that fail, what they fail at, and the commands that need them."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CRASHING)
def test_blame_the_engine_that_failed(name: str, site: Site) -> None:
    capability, source, command = CRASHING[name]
    site.install("broken", "other = broken:ENGINE", engine(capability) + source)
    (site.work / "trips.other").write_text("x")
    assert site.run("lock").returncode == 0
    ran = site.run(*command)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "the engine other failed: ZeroDivisionError: division by zero" in ran.stderr


CODES = {
    "no item": ("(1,)", "has an item that is not a Code"),
    "ours": ('(Code("SC999", "other", Severity.NOTE, "x"),)', "write a code like OTHER501"),
    "taken": (
        '(Code("OTHER1", "lance-loss", Severity.NOTE, "x"),)',
        "OTHER1 lance-loss, which is already used",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CODES)
def test_refuse_codes_that_are_none(name: str, site: Site) -> None:
    value, said = CODES[name]
    site.install("broken", "other = broken:ENGINE", engine('codes="parts:C"') + TARGET + f"C = {value}\n")
    ran = site.run("explain")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert said in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


WITH_FORM = (
    engine(
        'domain="other.org", attributes="words:ATTRIBUTES", arrow_form="parts:FORM", checks="parts:CHECKS"'
    )
    + """
from schemac.arrow.metadata import ArrowForm
from schemac.language.checks.run import AttributeChecks
from schemac.language.physical import pa
from schemac.text.source.catalogue import UNSUPPORTED_HINT
from words import LARGE
class Form(ArrowForm):
    def metadata(self, key, extra):
        return {"other:large": "yes"} if key == LARGE.key else None
    def to_arrow(self, key, storage, metadata, schema_extra):
        return pa.large_binary()
    def from_arrow(self, type_, metadata, note):
        return ({"kind": "String"}, {LARGE.key: True}) if metadata.pop("other:large", "") else None
FORM = Form()
def check(field, findings):
    if LARGE.key in field.extra and field.is_nullable:
        findings.at_extra(field, LARGE.key, UNSUPPORTED_HINT, "a large text may not be null")
CHECKS = AttributeChecks(check)
"""
)
WORDS = """
from schemac.language.attributes.attribute import Attribute
LARGE = Attribute("other.org/large", bool, "a large text", decides_type=True)
ATTRIBUTES = (LARGE,)
"""
LARGE = "name: a\nfields:\n  - {name: x, type: %s, extra: {other.org/large: true%s}}\n"


@pytest.mark.slow
def test_carry_attributes_of_an_engine_through_arrow(site: Site) -> None:
    site.install("other", "other = other:ENGINE", WITH_FORM)
    (site.folder / "words.py").write_text(WORDS)
    (site.work / "trips.yaml").write_text(LARGE % ("String", ""))
    source = (
        "import schemac; schema = schemac.compile_file('trips.yaml')[0].to_arrow(); field = schema.field(0);"
        "print(field.type, field.metadata); print(schemac.from_arrow(schema).to_odf())"
    )
    ran = site.python("-c", source)
    assert ran.returncode == 0, ran.stderr
    type_, manifest = ran.stdout.split("\n", 1)
    assert type_ == "large_binary {b'other:large': b'yes'}"
    assert "kind: String" in manifest
    assert "other.org/large: true" in manifest


@pytest.mark.slow
def test_report_what_an_engine_checks(site: Site) -> None:
    site.install("other", "other = other:ENGINE", WITH_FORM)
    (site.folder / "words.py").write_text(WORDS)
    (site.work / "trips.yaml").write_text(
        LARGE % ("{kind: Option, inner: String}", ", arrow.apache.org/dictionaryEncoding: {}")
    )
    ran = site.run("check")
    assert ran.returncode == 1, ran.stdout
    assert "a large text may not be null" in ran.stdout
    conflict = "`other.org/large` and `arrow.apache.org/dictionaryEncoding` cannot be used together"
    assert conflict in ran.stdout


@pytest.mark.slow
def test_say_what_does_not_depend_on_engines_all_the_same(site: Site) -> None:
    site.install("broken", "other = nowhere:ENGINE")
    for arguments in (["--version"], ["--help"], ["explain", "SC201"]):
        assert site.run(*arguments).returncode == 0


@pytest.mark.slow
def test_explain_a_code_without_a_page(site: Site) -> None:
    site.install("broken", "other = broken:ENGINE", engine('codes="parts:C"') + TARGET + "C = (LOSS,)\n")
    ran = site.run("explain", "other-loss")
    missing = "There is no page for this code: `pages` of the engine other has no OTHER511.md."
    assert (ran.returncode, ran.stdout) == (0, f"# OTHER511 other-loss\n\nOther: a loss.\n\n{missing}\n")


@pytest.mark.slow
def test_render_a_code_that_an_engine_does_not_list(site: Site) -> None:
    emit = """
OTHER = Code("OTHER512", "odd-thing", Severity.WARNING, "an odd thing")
def emit(compilation, emission):
    emission.findings.at_schema(OTHER, "how odd")
    return []
T = ArtifactTarget("other", LOSS, emit)
"""
    source = engine('artifacts="parts:T", codes="parts:C"') + TARGET + emit
    site.install("broken", "other = broken:ENGINE", source)
    ran = site.run("build", "--target", "other", "--format", "sarif")
    (rule,) = json.loads(ran.stdout)["runs"][0]["tool"]["driver"]["rules"]
    assert (ran.returncode, rule["id"], rule["shortDescription"]["text"]) == (0, "OTHER512", "odd thing")


@pytest.mark.slow
@pytest.mark.parametrize(("facts", "code", "said"), [("Fact", 2, "failed: ZeroDivisionError"), ("()", 1, "")])
def test_refuse_a_fact_that_a_judge_does_not_name(facts: str, code: int, said: str, site: Site) -> None:
    """It is not asked about others, so it cannot fail at them."""
    judge = f"""
from schemac.versions.evolution.judge import Judge
from schemac.language.logical.facts import Fact
J = Judge(dict.fromkeys({facts}, lambda change, pair: 1 / 0))
"""
    site.install("broken", "other = broken:ENGINE", engine('judge="parts:J"') + judge)
    assert site.run("lock").returncode == 0
    (site.work / "trips.yaml").write_text(MANIFEST.replace("UInt8", "UInt16"))
    ran = site.run("breaking", "--against", "lock", "--engine", "other", "--ignore-readers")
    assert ran.returncode == code
    assert said in ran.stderr
    assert ("no verdict is known for this change" in ran.stdout) == (code == 1)


FACTS = """
from schemac.language.attributes.attribute import Attribute, Facts
from schemac.language.logical.facts import AnyFact
class F(AnyFact):
    COLOUR = "FACT"
def __getattr__(name):
    if name != "J":
        raise AttributeError(name)
    from schemac.versions.evolution.judge import Judge
    from schemac.versions.evolution.changes import Judgement, Outcome
    return Judge({F.COLOUR: Judgement(Outcome.REFUSED, "no other colour", "keep it")})
A = (Attribute("a.b/colour", str, "a colour", facts=Facts.all(F.COLOUR)),)
"""
_BRINGING = 'judge="parts:J", facts="parts:F", attributes="parts:A", domain="a.b"'


@pytest.mark.slow
def test_judge_a_fact_that_an_engine_brings(site: Site) -> None:
    """Its own judge answers to it; the others are told of an attribute that is not theirs."""
    site.install(
        "broken", "other = broken:ENGINE", engine(_BRINGING) + FACTS.replace("FACT", "colour-changed")
    )
    assert site.run("lock").returncode == 0
    (site.work / "trips.yaml").write_text(MANIFEST.replace("UInt8}", "UInt8, extra: {a.b/colour: red}}"))
    arguments = ("breaking", "--against", "lock", "--ignore-readers", "--format", "json", "--engine")
    ran = site.run(*arguments, "other", "--engine", "lance")
    assert ran.returncode == 1, ran.stderr
    found = {v["engine"]: v for v in json.loads(ran.stdout)["verdicts"]}
    assert {v["change"] for v in found.values()} == {"colour-changed"}
    assert found["other"]["oldData"]["reason"] == "no other colour"
    assert found["lance"]["oldData"]["outcome"] == "metadata only"


@pytest.mark.slow
def test_name_the_row_that_a_judge_lacks_for_an_attribute_of_its_engine(site: Site) -> None:
    parts = """
from schemac.language.attributes.attribute import Attribute
A = (Attribute("a.b/colour", str, "a colour"),)
def __getattr__(name):
    if name != "J":
        raise AttributeError(name)
    from schemac.versions.evolution.judge import Judge
    return Judge({})
"""
    bringing = 'judge="parts:J", attributes="parts:A", domain="a.b"'
    site.install("broken", "other = broken:ENGINE", engine(bringing) + parts)
    assert site.run("lock").returncode == 0
    (site.work / "trips.yaml").write_text(MANIFEST.replace("UInt8}", "UInt8, extra: {a.b/colour: red}}"))
    ran = site.run("breaking", "--against", "lock", "--ignore-readers", "--engine", "other")
    assert ran.returncode == 1
    assert "the judge of Other has no row for attribute-added" in ran.stdout


@pytest.mark.slow
def test_say_that_a_dialect_lacks_a_type_which_has_a_kind(site: Site) -> None:
    parts = """
from schemac.engines.sql_tables import SqlDialect, importer
X = importer(SqlDialect("clickhouse", str.lower, {}), "Other")
"""
    site.install("broken", "other = broken:ENGINE", engine('formats=(Format("other", "parts:X"),)') + parts)
    (site.work / "rides.sql").write_text("CREATE TABLE rides (id UInt64, place Point)")
    ran = site.run("import", "--from", "other", "rides.sql")
    assert "id of rides: the rules of the dialect clickhouse lack UInt64" in ran.stderr + ran.stdout
    assert "place of rides: there is no kind for Point" in ran.stderr + ran.stdout


@pytest.mark.slow
def test_refuse_a_fact_that_is_taken(site: Site) -> None:
    site.install("broken", "other = broken:ENGINE", engine(_BRINGING) + FACTS.replace("FACT", "field-added"))
    assert site.run("lock").returncode == 0
    (site.work / "trips.yaml").write_text(MANIFEST.replace("UInt8}", "UInt8, extra: {a.b/colour: red}}"))
    ran = site.run("breaking", "--against", "lock")
    assert ran.returncode == 2
    assert "the engine other has a fact field-added, which is already used" in ran.stderr
