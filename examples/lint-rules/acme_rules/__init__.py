"""Rules for the manifests of one company."""

from schemac.language.attributes.builtin import OWNER
from schemac.language.lint.rule import Reporter, Subject, rule
from schemac.text.source.catalogue import Code, Severity

TEAM = Code("ACME801", "acme-team", Severity.WARNING, "a dataset that no team of ours answers for")


@rule(TEAM, category="acme", is_default=True)
def acme_team(subject: Subject, say: Reporter) -> None:
    """Owners are teams, and teams are called `team-…`."""
    owner = str(subject.dataset.schema.extra.get(OWNER.key, ""))
    if not owner.startswith("team-"):
        help = f"write `{OWNER.key}: team-…` under the schema's `extra:`"
        say.schema(f"no team answers for {subject.dataset.name}", "extra", OWNER.key, help=help)


RULES = (acme_team,)
