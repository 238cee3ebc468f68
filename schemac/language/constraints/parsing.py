"""Reads conditions over fields.

Layer: language.
Shape: a subset of SQL: fields by their paths, numbers, texts in single quotes, `true`, `false`; `= <> < <= > >=`, `+ - *`,
`is [not] null`, `[not] in (…)`, `[not] between … and …`, `length(…)`, `not`, `and`, `or`, parentheses.
Rule: both sides of a comparison have values of one sort; a value that is written out is read as one of the other side's type,
as in `minimum`. What the engines could calculate differently is refused.
"""

import decimal
from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import NamedTuple

from schemac.language.attributes.attribute import Family
from schemac.language.attributes.constraints import CONDITION_TOKEN, CONDITION_WORDS
from schemac.language.constraints.constraint import UnfitValueError, read_value, scale_of
from schemac.language.constraints.expressions import (
    MOST_DIGITS,
    AmongNode,
    ArithmeticNode,
    ComparisonNode,
    FieldNode,
    LengthNode,
    LiteralNode,
    LogicNode,
    Node,
    NotNode,
    NullNode,
    Operand,
    common_digits,
    result_type,
)
from schemac.language.kinds.plain import Decimal, Int64
from schemac.language.logical.model import SchemaField, dotted
from schemac.text.source.catalogue import INVALID_CHECK
from schemac.text.source.phrases import Help, closest, fields_text, with_article

_COMPARISONS = {"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_EXACT = frozenset({Family.INTEGER, Family.DECIMAL})
_COMPARED = _EXACT | {
    Family.FLOAT, Family.TEXT, Family.BOOLEAN, Family.DATE, Family.TIME, Family.TIMESTAMP, Family.DURATION,
}  # fmt: skip


PAGE = "see `schemac explain SC327` for what can be written"

_PATTERN = "set `schemac.dev/pattern` on the field, which takes a regular expression"
_ONLY_FUNCTION = "the only function is `length`, for text; let the pipeline fill a field with the result of another function (`expr`), and compare that field"
_ITEMS = "set `schemac.dev/minItems` or `schemac.dev/maxItems` on the list"
_TEXT_ALONE = "write the text alone, such as '2020-01-31' or '2020-01-31T13:45:00Z'"
_OTHER_ROWS = "set `schemac.dev/references` on the schema, which looks values up in another dataset"
_CAST = "leave the cast out: numbers of any width are compared with each other exactly"

INSTEAD = {
    "/": "multiply instead: write `a = 2 * b` for `a / 2 = b`",
    "%": "set `schemac.dev/multipleOf` on the field",
    **dict.fromkeys(("like", "ilike", "rlike", "regexp", "similar"), _PATTERN),
    **dict.fromkeys(("date", "time", "timestamp"), _TEXT_ALONE),
    "interval": "compare with a value that is written out, such as '2020-01-31'",
    "case": "write conditions of single values, and join them by `and` and `or`",
    "xor": "write `(a and not b) or (b and not a)`",
    **dict.fromkeys(("exists", "select"), _OTHER_ROWS),
    **dict.fromkeys((":", "cast"), _CAST),
    "coalesce": "write `a is null or a > 1`; where a value is null, a condition holds",
    "|": "compare the texts one by one",
    ";": "leave it out",
    '"': "write texts in single quotes, and names in backticks",
    "null": "write `is null` or `is not null`; where a value is null, every other condition holds",
    **dict.fromkeys(("size", "cardinality", "array_length"), _ITEMS),
    "'": "write a quote inside of a text twice, as in 'it''s'",
    "is": "write the field alone, or `not` before it",
}
"""Words and characters of SQL in small letters, with what is in their place."""


def _instead_of(word: str, otherwise: str = PAGE) -> str:
    """Return what to write in place of a word or a character."""
    return INSTEAD.get(word.lower(), otherwise)


class ExpressionError(UnfitValueError):
    """A condition that cannot be read, or that means nothing."""

    code = INVALID_CHECK


class ConditionToken(NamedTuple):
    """A word of a condition."""

    kind: str
    text: str
    at: int


class Unread(NamedTuple):
    """A literal whose type is that of the other side."""

    authored: str | bool
    source_text: str


def read_condition(text: str, fields: Mapping[str, SchemaField]) -> Node:
    """Read a condition over the fields of a schema that are in structs only. Raises ExpressionError."""
    parser = _Parser(text, fields)
    node = parser.condition(parser.disjunction())
    if parser.token is not None:
        raise parser.unexpected("nothing may follow a condition")
    return node


_Part = Node | Unread


class _Parser:
    """Reads one condition from left to right, by recursive descent."""

    def __init__(self, text: str, fields: Mapping[str, SchemaField]) -> None:
        self.text, self.fields = text, fields
        self.tokens: list[ConditionToken] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = CONDITION_TOKEN.match(text, at)
            if match is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                message = f"`{text[at]}` (character {at + 1}) cannot be read"
                raise ExpressionError(message, _instead_of(text[at]))
            kind = str(match.lastgroup)
            self.tokens.append(ConditionToken(kind, match[kind], match.start(kind)))
            at = match.end()
        self.place = 0
        self.depth = 0

    @property
    def token(self) -> ConditionToken | None:
        """The next token; None at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self, *texts: str) -> str | None:
        """Return the next token in small letters and step over it, if it is one of these; otherwise None."""
        token = self.token
        if token is None or token.kind not in ("word", "mark") or token.text.lower() not in texts:
            return None
        self.place += 1
        return token.text.lower()

    def expect(self, text: str) -> None:
        """Take a word or a mark, which has to come next. Raises ExpressionError."""
        if self.take(text) is None:
            raise self.unexpected(f"`{text}` is expected")

    def unexpected(self, what: str) -> ExpressionError:
        """Return the error that something else is expected at the next token, or at the end."""
        token = self.token
        where = f"at `{token.text}` (character {token.at + 1})" if token is not None else "at its end"
        return ExpressionError(f"{what} {where}", _instead_of(token.text) if token is not None else PAGE)

    def condition(self, part: _Part) -> Node:
        """Return what can be true or false by itself."""
        if isinstance(part, FieldNode) and part.type.family is Family.BOOLEAN:
            return part
        if isinstance(part, Unread):
            raise ExpressionError(f"`{part.source_text}` alone is not a condition", "compare a field with it")
        if isinstance(part, Operand):
            token = self.token
            if token is not None and token.kind == "word" and token.text.lower() in INSTEAD:
                message = f"`{token.text}` (character {token.at + 1}) is not supported"
                raise ExpressionError(message, _instead_of(token.text))
            message = f"`{part}` is neither true nor false"
            raise ExpressionError(message, f"compare it, such as `{_sample(part)}`")
        return part

    def disjunction(self) -> _Part:
        """Read conditions with `or` between them, and those with `and` between them first."""
        return self._logic("or", lambda: self._logic("and", self._predicate))

    def _logic(self, word: str, inner: Callable[[], _Part]) -> _Part:
        """Read conditions with `and` or `or` between them; a single one comes back unchanged."""
        left = inner()
        while self.take(word):
            left = LogicNode(word, self.condition(left), self.condition(inner()))
        return left

    def _predicate(self) -> _Part:
        """Read a comparison, `is null`, `in` or `between`, with or without `not`. Raises ExpressionError."""
        if self.take("not"):
            self._nest()
            not_node = NotNode(self.condition(self._predicate()))
            self.depth -= 1
            return not_node
        left = self._sum()
        operator = self.take(*_COMPARISONS)
        if operator is not None:
            return compared(_COMPARISONS[operator], left, self._sum())
        if self.take("is"):
            is_negated = self.take("not") is not None
            if self.take("true", "false") is not None:
                raise ExpressionError("`is` has to be followed by `null` or `not null`", _instead_of("is"))
            self.expect("null")
            if not isinstance(left, FieldNode):
                raise ExpressionError("only a field may be null", "write `is null` after the path of a field")
            return NotNode(NullNode(left)) if is_negated else NullNode(left)
        is_negated = self.take("not") is not None
        if self.take("in"):
            node = self._in_list(left)
        elif self.take("between"):
            low = self._sum()
            self.expect("and")
            node = LogicNode("and", compared(">=", left, low), compared("<=", left, self._sum()))
        elif is_negated:
            raise self.unexpected("`in` or `between` is expected after `not`")
        else:
            return left
        return NotNode(node) if is_negated else node

    def _nest(self) -> None:
        """Count one more level of nesting. Raises ExpressionError beyond 50."""
        self.depth += 1
        if self.depth > 50:
            raise ExpressionError("it is nested more than 50 deep")

    def _in_list(self, left: _Part) -> Node:
        """Read the list behind `in`; exact comparisons are joined by `or`. Raises ExpressionError."""
        self.expect("(")
        values = [self._list_item()]
        while self.take(","):
            values.append(self._list_item())
        self.expect(")")
        if not isinstance(left, Operand):
            raise ExpressionError("`in` has to follow a field")
        comparisons = [compared("=", left, value) for value in values]
        if comparisons[0].is_exact:
            nodes: list[Node] = [*comparisons]
            return reduce(partial(LogicNode, "or"), nodes)
        return AmongNode(left, tuple(one.right for one in comparisons if isinstance(one.right, LiteralNode)))

    def _list_item(self) -> Unread:
        """Read an item of the list behind `in`, which has no type yet. Raises ExpressionError if it is a field."""
        operand = self._sum()
        if not isinstance(operand, Unread):
            raise ExpressionError("`in (…)` lists values, not fields", "write `a = b or a = c` for fields")
        return operand

    def _sum(self) -> _Part:
        """Read a sum or a difference, in which products come first."""
        return self._arithmetic(("+", "-"), lambda: self._arithmetic(("*",), self._primary))

    def _arithmetic(self, operators: tuple[str, ...], inner: Callable[[], _Part]) -> _Part:
        """Read operands with some operators between them, from left to right; a single one comes back unchanged."""
        left = inner()
        while operator := self.take(*operators):
            left = calculated(operator, left, inner())
        return left

    def _primary(self) -> _Part:
        """Read a literal, a field, `length(…)`, or what is in parentheses. Raises ExpressionError."""
        token = self.token
        if token is None:
            raise self.unexpected("a field or a value is expected")
        if self.take("("):
            self._nest()
            operand = self.disjunction()
            self.expect(")")
            self.depth -= 1
            return operand
        if self.take("-"):
            operand = self._primary()
            if isinstance(operand, Unread) and token.text == "-" and not isinstance(operand.authored, bool):
                return Unread(f"-{operand.authored}", f"-{operand.source_text}")
            raise ExpressionError("`-` comes before a number, or between two numbers", "write `0 - field`")
        self.place += 1
        if token.kind == "text":
            return Unread(token.text[1:-1].replace("''", "'"), token.text)
        if token.kind == "number":
            return Unread(token.text, token.text)
        if token.kind == "word" and token.text.lower() in ("true", "false"):
            return Unread(token.text.lower() == "true", token.text)
        if token.kind == "word" and token.text.lower() == "length" and self.take("("):
            operand = self._primary()
            self.expect(")")
            if not isinstance(operand, FieldNode) or operand.type.family is not Family.TEXT:
                is_list = isinstance(operand, FieldNode) and operand.type.family is Family.LIST
                raise ExpressionError("`length` takes a text field", _instead_of("size") if is_list else "")
            return LengthNode(Int64(), operand)
        if token.kind == "quoted" or (token.kind == "word" and token.text.lower() not in CONDITION_WORDS):
            return self._field(token)
        self.place -= 1
        raise self.unexpected("a field or a value is expected")

    def _field(self, first: ConditionToken) -> FieldNode:
        """Read the rest of a path from its first word. Raises ExpressionError, with a name that is near, if there is no such field."""
        words = [first]
        while self.take("."):
            token = self.token
            if token is None or token.kind not in ("word", "quoted"):
                raise self.unexpected("the name of a member is expected")
            words.append(token)
            self.place += 1
        path = tuple(
            word.text[1:-1].replace("``", "`") if word.kind == "quoted" else word.text for word in words
        )
        field = self.fields.get(dotted(path))
        if field is None:
            name = ".".join(word.text for word in words)
            plain = [text for text, one in self.fields.items() if not one.children]
            near = closest(name, plain)
            if self.token is not None and self.token.text == "(":
                raise ExpressionError(f"there is no function `{name}`", _instead_of(name, _ONLY_FUNCTION))
            if name.lower() in INSTEAD:
                message = f"`{name}` (character {first.at + 1}) is not supported, and no field has that name"
                raise ExpressionError(message, _instead_of(name))
            above = self.fields.get(dotted(path[:1]))
            help = Help.did_you_mean_part(near, name) if near else fields_text(plain)
            if above is not None and above.type.family in (Family.LIST, Family.MAP):
                help = f"`{path[0]}` has no single value in a row; set constraints on its items instead, such as `schemac.dev/enum`"
            raise ExpressionError(f"there is no field `{name}`", help)
        return FieldNode.of(field)


def compared(operator: str, left: _Part, right: _Part) -> ComparisonNode:
    """Return the comparison of two parts; a literal gets the type of the other side. Raises ExpressionError for unlike types."""
    if isinstance(left, Unread) and isinstance(right, Unread):
        raise ExpressionError(f"`{left.source_text} {operator} {right.source_text}` does not compare a field")
    if isinstance(left, Unread):
        left = _literal(left, _operand(right))
    elif isinstance(right, Unread):
        right = _literal(right, _operand(left))
    left, right = _operand(left), _operand(right)
    _refuse_unlike(operator, left, right)
    return ComparisonNode(operator, left, right)


def calculated(operator: str, left: _Part, right: _Part) -> ArithmeticNode:
    """Return the sum, difference or product of two exact numbers. Raises ExpressionError for other types, or too many digits."""
    if isinstance(left, Unread) and isinstance(right, Unread):
        message = f"`{left.source_text} {operator} {right.source_text}` is the same in every row"
        raise ExpressionError(message, "write the result; write a date in quotes, such as '2020-01-31'")
    sides = [side if isinstance(side, Unread) else _operand(side) for side in (left, right)]
    operands = [_number(side) if isinstance(side, Unread) else side for side in sides]
    for one in operands:
        if one.type.family not in _EXACT:
            help = "calculate with integers and decimals"
            message = f"`{one}` is {with_article(one.type.type_text())}: no engine calculates with it exactly"
            raise ExpressionError(message, help)
    decimal = result_type(operator, operands[0].type, operands[1].type)
    if decimal is None:
        message = f"`{operands[0]} {operator} {operands[1]}` may need more than {MOST_DIGITS} digits"
        raise ExpressionError(message, "give the fields fewer digits, or compare them without calculating")
    return ArithmeticNode(decimal, operator, *operands)


def _operand(part: Node | Unread) -> Operand:
    """Return a part as it is. Raises ExpressionError if it is a condition, or of a type that cannot be compared."""
    if isinstance(part, Operand):
        if part.type.family in _COMPARED and scale_of(part.type) >= 0:
            return part
        text = with_article(part.type.type_text())
        raise ExpressionError(f"`{part}` is {text}, which cannot be compared")
    raise ExpressionError("a condition in parentheses cannot be compared", "compare fields and values")


def _literal(unread: Unread, other: Operand) -> LiteralNode:
    """Return a value in the type of the operand that it is compared with. Raises ExpressionError."""
    type_ = other.type
    if type_.family in _EXACT:
        if not isinstance(unread.authored, str) or unread.source_text.startswith("'"):
            is_in_quotes = _is_number(unread.source_text[1:-1])
            message = f"{unread.source_text} is not a number, but `{other}` is one"
            help = "write it without quotes" if is_in_quotes else "compare it with a number"
            raise ExpressionError(message, help)
        return _number(unread)
    is_quoted = unread.source_text.startswith("'")
    if type_.family is Family.TEXT and not is_quoted:
        message = f"{unread.source_text} is not text, but `{other}` is"
        raise ExpressionError(message, f"write '{unread.source_text}'")
    if type_.family is Family.DATE and not is_quoted:
        help = "write a date in quotes, such as '2020-01-31'"
        raise ExpressionError(f"{unread.source_text} is not a date", help)
    try:
        return LiteralNode(type_, read_value(type_, unread.authored))
    except UnfitValueError as error:
        help = "write a date as '2020-01-31'" if type_.family is Family.DATE else error.help
        raise ExpressionError(error.message, help) from error


def _is_number(text: str) -> bool:
    """Whether a text is a finite number in digits."""
    try:
        return decimal.Decimal(text).is_finite()
    except decimal.InvalidOperation:
        return False


def _number(unread: Unread) -> LiteralNode:
    """Return a number with the digits of its text."""
    if not isinstance(unread.authored, str) or unread.source_text.startswith("'"):
        raise ExpressionError(f"{unread.source_text} is not a number", "write it without quotes")
    whole, _, fraction = unread.authored.lstrip("-").partition(".")
    precision = max(len(whole.lstrip("0")) + len(fraction), 1)
    if precision > MOST_DIGITS:
        raise ExpressionError(f"{unread.source_text} has more than {MOST_DIGITS} digits")
    type_ = Decimal(precision=precision, scale=len(fraction))
    return LiteralNode(type_, decimal.Decimal(unread.authored))


def _refuse_unlike(operator: str, left: Operand, right: Operand) -> None:
    """Raise ExpressionError if two operands cannot be compared in the same way by all engines."""
    one, other = left.type, right.type
    both = f"`{left}` is {with_article(one.type_text())} and `{right}` {with_article(other.type_text())}"
    if one.family in _EXACT and other.family in _EXACT:
        if sum(common_digits(one, other)) > MOST_DIGITS:
            raise ExpressionError(f"{both}: comparing them needs more than {MOST_DIGITS} digits")
        return
    if one.family is not other.family:
        raise ExpressionError(f"{both}; values of different types cannot be compared")
    for side in (left, right):
        if side.type.family is Family.FLOAT and getattr(side.type, "bits", 64) < 32:
            message = f"`{side}` is {with_article(side.type.type_text())}, which a pipeline reads with more digits than are stored"
            raise ExpressionError(message, "use Float32")
    is_zoned = [getattr(type_, "timezone", None) is not None for type_ in (one, other)]
    if getattr(one, "unit", None) != getattr(other, "unit", None) or is_zoned[0] != is_zoned[1]:
        raise ExpressionError(f"{both}", "give both the same unit, and a zone to both or to none")
    if one.family is Family.BOOLEAN and operator not in ("=", "<>"):
        raise ExpressionError(f"true and false have no order, so `{operator}` cannot compare them")


def _sample(operand: Operand) -> str:
    """Return a condition of an operand that can be read."""
    if operand.type.family in _EXACT or operand.type.family is Family.FLOAT:
        return f"{operand} > 0"
    return f"{operand} = 'x'" if operand.type.family is Family.TEXT else f"{operand} is not null"
