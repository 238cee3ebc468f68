"""Pages of the diagnostic codes, of the rules of the quarantine and of what each target loses."""

from docs.markdown import captioned, heading, section, table, toctree
from schemac.registry.codes import builtin_codes, loss_pages, page
from schemac.registry.engine import engine
from schemac.text.source.pages import rule_pages

GROUPS = {
    "SC1": "Text and YAML",
    "SC2": "The grammar of manifests",
    "SC3": "One schema",
    "SC4": "Identity and changes",
    "SC5": "Targets and importers",
    "SC6": "Configuration and pipelines",
    "SC8": "Rules for manifests",
}
"""Parts of the list, by the beginning of a code."""


def pages() -> dict[str, str]:
    """All pages by path."""
    codes = {f"diagnostics/{code.id}.md": captioned(page(code)) for code in builtin_codes().values()}
    rules = {f"rules/{name}.md": captioned(text) for name, text in rule_pages().items()}
    losses = {f"losses/{name}.md": captioned(text) for name, text in loss_pages().items()}
    return {
        "diagnostics/index.md": _list_of_codes(),
        **codes,
        "rules/index.md": heading(
            "Rules of the quarantine",
            "A record that does not fit the schema is kept in the quarantine together with the rules that it breaks."
            " `schemac explain rules` lists the same rules.",
            toctree(rule_pages()),
        ),
        **rules,
        "losses/index.md": heading(
            "Losses",
            "What each target cannot keep of a schema. `schemac build --losses` shows the same for your own fields.",
            toctree(f"{engine(name).title} <{name}>" for name in loss_pages()),
        ),
        **losses,
    }


def _list_of_codes() -> str:
    parts = []
    for prefix, title in GROUPS.items():
        known = [code for code in builtin_codes().values() if code.id.startswith(prefix)]
        rows = [(f"[{c.id}]({c.id}.md)", f"`{c.slug}`", str(c.severity), c.title) for c in known]
        parts.append(section(title, table(("code", "slug", "severity", "meaning"), rows)))
    hidden = toctree(builtin_codes()).replace(":maxdepth: 1", ":hidden:")
    return heading("Diagnostics", "`schemac explain CODE` shows the same pages.", *parts, hidden)
