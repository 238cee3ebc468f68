"""What a change means for Avro data that exists, by the rules of schema resolution.

Layer: engines.
Shape: data is read with the schema that it was written with and the new one. Fields are found by name or alias, absent ones
take their default, types are the same or promoted.
Source: Avro 1.12, "Schema Resolution", asked of fastavro (`tests/engines/avro/test_avro.py`).
"""

from schemac.engines.avro.artifact import is_readable, leaf_of, name_of, old_names
from schemac.engines.avro.attributes import ALIASES, DEFAULT
from schemac.language.logical.facts import Fact
from schemac.language.logical.model import Castability
from schemac.versions.evolution import changes, judge
from schemac.versions.evolution.castability import castability


def _attribute(change: changes.Change, _pair: object) -> changes.Judgement:
    """Refuse to remove an alias; return METADATA for any other change of attributes."""
    if change.key == ALIASES.key and not set(change.old or ()) <= set(change.new or ()):
        return changes.refused(
            "data that was written under an alias cannot be found without it", "keep the alias"
        )
    return changes.METADATA


def _added(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return SAFE if the field may be null or has a default; refuse it otherwise."""
    if change.current_field.is_nullable or DEFAULT.key in change.current_field.extra:
        return changes.SAFE
    return changes.refused(
        f"existing data has no {change.path}, and it has no default",
        f"wrap its type in `{{kind: Option, inner: …}}`, or give it an `{DEFAULT.key}`",
    )


def _renamed(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return METADATA if the name in Avro stays the same or the old one is an alias; refuse the change otherwise."""
    old, new = change.fields
    was = name_of(old)
    if was == name_of(new) or was in old_names(new):
        return changes.Judgement(changes.Outcome.METADATA)
    return changes.refused(
        f"existing data calls it {was}",
        f"write `{ALIASES.key}: [{', '.join([*old_names(new), was])}]` under the field's `extra:`",
    )


def _required(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return DATA: a null in existing data can no longer be read."""
    return changes.depends_on_data(f"a null in {change.path} can no longer be read", "check for nulls first")


def _type(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return the verdict by Avro's schema resolution; refuse what it does not read or what has no cast."""
    old, new = change.fields
    written, target = leaf_of(old.type), leaf_of(new.type)
    if written is None or target is None:
        return judge.judge_parts("Avro", old, new)
    if not is_readable(written, target) or castability(old.type, new.type) is Castability.NEVER:
        reason = f"Avro does not read {written.title} as {target.title} ({new.type.type_text()})"
        return changes.refused(reason, judge.NEW_FIELD_HELP)
    return judge.judge_values("Avro", old, new)


JUDGE = judge.Judge(
    {
        **judge.RULES_OF_MESSAGES,
        **dict.fromkeys(changes.ATTRIBUTE_FACTS, _attribute),
        **dict.fromkeys(changes.TYPE_FACTS, _type),
        Fact.BECAME_OPTIONAL: changes.SAFE,
        Fact.FIELD_ADDED: _added,
        Fact.FIELD_RENAMED: _renamed,
        Fact.FIELD_MOVED: changes.refused(
            "Avro looks for a field in its own record only", judge.NEW_FIELD_HELP
        ),
        Fact.BECAME_REQUIRED: _required,
    }
)
