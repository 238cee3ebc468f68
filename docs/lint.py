"""The list of the rules for manifests, from their registry."""

from docs.markdown import heading, section, table
from schemac.language.lint.run import builtin_rules
from schemac.language.lint.settings import DEFAULT


def pages() -> dict[str, str]:
    """The page with all rules, by category."""
    categories = dict.fromkeys(rule.category for rule in builtin_rules())
    parts = [section(category.capitalize(), _table(category)) for category in categories]
    intro = (
        "Rules say what may be better in a sound manifest. Settings under `[lint]` name them by code, by the beginning of"
        f" codes, by slug, or by category; `{DEFAULT}` are those that are wanted where a project says nothing."
    )
    return {"lint.md": heading("Rules for manifests", intro, *parts)}


def _table(category: str) -> str:
    rows = [
        (
            f"[{rule.code.id}](diagnostics/{rule.code.id}.md)",
            f"`{rule.code.slug}`",
            "yes" if rule.is_default else "",
            rule.code.title,
        )
        for rule in builtin_rules()
        if rule.category == category
    ]
    return table(("code", "slug", DEFAULT, "finds"), rows)
