"""Pages of the engines: what each can do, and the formats that it reads."""

from typing import Any

from docs.markdown import heading, section, table, toctree
from schemac.artifacts.targets import ARTIFACTS
from schemac.registry.codes import loss_pages
from schemac.registry.engine import Capability, Engine, engines
from schemac.versions.evolution.judge import JUDGE
from schemac.versions.evolution.tables import TABLES

COMMANDS: tuple[tuple[Capability[Any], str], ...] = (
    (ARTIFACTS, "`schemac build` writes its artifacts"),
    (JUDGE, "`schemac diff` and `schemac breaking` give verdicts for it"),
    (TABLES, "`schemac plan`, `apply` and `verify` work on its tables"),
)
"""Capabilities, with what people can do where an engine has them."""


def pages() -> dict[str, str]:
    """All pages by path."""
    names = [engine.name for engine in engines()]
    return {
        "engines/index.md": heading("Engines", _overview(), toctree(names)),
        **{f"engines/{engine.name}.md": _page(engine) for engine in engines()},
    }


def _overview() -> str:
    rows = [
        (
            f"[{engine.title}]({engine.name}.md)",
            *("yes" if able.is_of(engine) else "no" for able, _ in COMMANDS),
            "yes" if engine.formats else "no",
        )
        for engine in engines()
    ]
    return table(("engine", "build", "breaking", "plan, apply, verify", "import"), rows)


def _page(engine: Engine) -> str:
    able = [f"- {what}" for capability, what in COMMANDS if capability.is_of(engine)]
    formats = [
        (f"`--from {f.name}`", ", ".join(f"`{suffix}`" for suffix in f.suffixes)) for f in engine.formats
    ]
    attributes = f"Its attributes are those of [`{engine.domain}`](../attributes/{engine.domain}.md)."
    losses = f"What it cannot keep of a schema is listed in its [losses](../losses/{engine.name}.md)."
    setting = engine.version
    option = setting and f"`--{setting.key.replace('_', '-')}`: {setting.help}."
    optional = "A dataset that does not mention it may be built without it."
    return heading(
        engine.title,
        section("Capabilities", "\n".join(able)),
        section("Formats of `schemac import`", table(("option", "suffixes"), formats)) if formats else "",
        section("Version", f"Its verdicts, plans and losses depend on {option}") if option else "",
        attributes if engine.domain else "",
        losses if engine.name in loss_pages() else "",
        optional if engine.is_optional else "",
    )
