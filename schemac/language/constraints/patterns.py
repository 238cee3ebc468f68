"""Regular expressions that mean the same to RE2, Java, Python and ECMAScript.

Layer: language.
Shape: a pattern is read once, into pieces; each piece knows how it is written in JSON Schema's form and in Java's. What the
four would read differently is refused, with the pattern as it may be written instead where there is one.
Source: RE2's "Syntax"; java.util.regex.Pattern; Python's `re`; JSON Schema 2020-12, section 6.4. They differ in `.`, `\\d`, `\\w`,
`\\s` and `\\b` (which characters they are), `$` (whether a last line break may follow), classes inside classes, and all
that has a `(?` but groups.
"""

import re
from dataclasses import dataclass, field

from schemac.language.constraints.constraint import UnfitValueError
from schemac.text.source.catalogue import UNPORTABLE_PATTERN
from schemac.text.source.phrases import Help

_PUNCTUATION = frozenset("\\^$.|?*+()[]{}-/\"'#&~!%,:;<=>@_` ")
_CONTROLS = frozenset("ntrf")
_CLASSES = {
    "d": "0-9", "w": "A-Za-z0-9_", "s": " \\t\\n\\r\\f",
    "D": "^0-9", "W": "^A-Za-z0-9_", "S": "^ \\t\\n\\r\\f",
}  # fmt: skip
"""What the letters of classes are for ASCII, as it is written in a class."""
_OTHER_CHARACTERS = "matches different characters in Python than in RE2 and Java"
_REPEAT = re.compile(r"\{(?P<low>[0-9]*)(?P<comma>,?)(?P<high>[0-9]*)\}")
_MOST_REPEATS = 1000
"""RE2 refuses more, also of repeats in repeats."""


class PatternError(UnfitValueError):
    """A pattern that is invalid, or that engines read differently; the help may have one that may be written."""

    code = UNPORTABLE_PATTERN


@dataclass(frozen=True)
class PortablePattern:
    """A pattern that four engines read alike."""

    text: str
    """As it was written; RE2 reads it like this."""
    java: str
    """For `find` of java.util.regex, and for the regex crate of Rust."""
    ecma: str
    """For ECMAScript with the flag `u`, which refuses a backslash before what needs none."""


def read_pattern(text: str) -> PortablePattern:
    """Read a pattern. Raises PatternError."""
    reader = _Reader(text)
    reader.alternatives(0)
    if reader.problem:
        raise PatternError(reader.problem, Help.write_text("".join(reader.portable)))
    try:
        re.compile(text)
    except (re.error, OverflowError) as error:
        raise PatternError(f"this is not a valid regular expression: {error}") from error
    ecma = re.sub(
        r"\\(.)", lambda match: match[1] if match[1] in "&~" else match[0], "".join(reader.portable)
    )
    return PortablePattern(text, "".join(reader.java), ecma)


@dataclass
class _Reader:
    """Reads a pattern once; what can be rewritten is rewritten on the way and reported at the end."""

    text: str
    at: int = 0
    java: list[str] = field(default_factory=list)
    portable: list[str] = field(default_factory=list)
    problem: str = ""

    @property
    def next(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.at : self.at + 1]

    def emit(self, portable: str, java: str | None = None, *, read: int = 1) -> None:
        """Add a piece for all engines, and its form for Java where that differs; `read` characters are then behind it."""
        self.portable.append(portable)
        self.java.append(portable if java is None else java)
        self.at += read

    def mend(self, written: str, portable: str, why: str) -> None:
        """Take something else for what comes next, and remember why."""
        self.problem = self.problem or f"`{written}` {why}"
        self.emit(portable, read=len(written))

    def unescaped(self, message: str, at: int, count: int = 1) -> PatternError:
        """Return what is wrong with characters that have a special meaning, and the pattern with backslashes before them."""
        escaped = "".join(f"\\{c}" for c in self.text[at : at + count])
        whole = self.text[:at] + escaped + self.text[at + count :]
        return PatternError(message, Help.rewrite(f"write `{escaped}` for the character", whole))

    def differs(self) -> PatternError:
        """Return what is wrong with a character that comes next."""
        message = f"the `{self.next}` at character {self.at + 1} is read differently by RE2, Java and Python"
        return self.unescaped(message, self.at)

    def alternatives(self, depth: int, opened: int = 0) -> int:
        """Read up to the end of a group, or of the pattern; return how often what is inside may be repeated."""
        most = 1
        while self.next:
            if self.next == ")":
                if depth:
                    return most
                raise self.unescaped(f"the `)` at character {self.at + 1} closes no group", self.at)
            if self.next == "|":
                self.emit("|")
                continue
            most = max(most, self.fragment(depth))
        if depth:
            raise self.unescaped("a group is not closed", opened)
        return most

    def fragment(self, depth: int) -> int:
        """Read one atom with its quantifier; return how often its inside may be repeated."""
        inside, is_anchor = 1, self.next in "^$"
        if self.next == "(":
            inside = self.group(depth)
        elif self.next == "[":
            self.char_class()
        elif self.next == "\\":
            self.escape()
        elif self.next in "*+?":
            message = f"the `{self.next}` at character {self.at + 1} repeats nothing"
            raise self.unescaped(message, self.at)
        elif self.next in "{}":
            raise self.differs()
        elif self.next == "]":
            self.mend("]", "\\]", "outside of a class is read differently by RE2, Java and Python")
        elif self.next == ".":
            self.mend(".", "[^\\n]", "matches different characters in Java than in RE2 and Python")
        elif self.next == "$":
            self.emit("$", "\\z")
        else:
            self.emit(self.next)
        return self.quantifier(inside, is_anchor)

    def quantifier(self, inside: int, is_anchor: bool) -> int:
        """Read the quantifier that may come next; return how often what is inside of it may be repeated. Raises PatternError."""
        start, repeats = self.at, 1
        if self.next and self.next in "*+?":
            self.at += 1
        elif self.next == "{":
            repeats = self.counted()
        if self.at == start:
            return inside
        if is_anchor:
            raise PatternError(f"`{self.text[start - 1]}` is an anchor, which cannot be repeated")
        if self.next == "?":
            self.at += 1
        elif self.next and self.next in "+*{":
            message = f"the second quantifier at character {self.at + 1} is read differently by RE2, Java and Python"
            raise PatternError(message, "put what is repeated twice into a group: `(?:…)`")
        if inside * repeats > _MOST_REPEATS:
            message = f"it repeats something {inside * repeats} times, but RE2 allows at most {_MOST_REPEATS}"
            raise PatternError(message, "use `minLength` and `maxLength` for the length of a text")
        self.emit(self.text[start : self.at], read=0)
        return inside * repeats

    def counted(self) -> int:
        """Read `{…}`; return the highest number of repeats that it names. Raises PatternError."""
        match = _REPEAT.match(self.text, self.at)
        if match is None or not (match["low"] or match["high"]):
            raise self.differs()
        if not match["low"]:
            high = match["high"]
            instead = f"{self.text[: self.at]}{{0,{high}}}{self.text[match.end() :]}"
            message = f"`{match[0]}` is read differently by RE2, Java and Python"
            raise PatternError(message, Help.write_text(instead))
        self.at = match.end()
        return int(match["high"] or match["low"])

    def group(self, depth: int) -> int:
        """Read a group; return how often its inside may be repeated. Raises PatternError."""
        if depth > 50:
            raise PatternError("its groups are nested more than 50 deep")
        opening = "(?:" if self.text.startswith("(?:", self.at) else "("
        if opening == "(" and self.text.startswith("(?", self.at):
            group = self.text[self.at : self.at + 4]
            raise PatternError(
                f"`{group}` is not in all of RE2, Java and Python",
                "write groups as `(…)` or `(?:…)`; look-arounds, named groups and flags are not supported",
            )
        start = self.at
        self.emit(opening, read=len(opening))
        inside = self.alternatives(depth + 1, start)
        self.emit(")")
        return inside

    def escape(self) -> None:
        """Read a backslash with its letter, outside of a class. Raises PatternError."""
        written, letter = self.text[self.at : self.at + 2], self.text[self.at + 1 : self.at + 2]
        if letter in _CLASSES:
            self.mend(written, f"[{_CLASSES[letter]}]", _OTHER_CHARACTERS)
        elif letter and letter in _CONTROLS:
            self.emit(written, read=2)
        elif letter and letter in _PUNCTUATION:
            # Some engines refuse a backslash before what needs none.
            needs_one = letter in "\\^$.|?*+()[]{}"
            self.emit(written if needs_one else letter, read=2)
        else:
            raise _foreign_escape(written)

    def char_class(self) -> None:
        """Read a class of characters in square brackets. Raises PatternError."""
        start = self.at
        opening = "[^" if self.text.startswith("[^", self.at) else "["
        self.emit(opening, read=len(opening))
        if self.next == "]":
            raise self.differs()
        while self.next != "]":
            if not self.next:
                raise self.unescaped(f"the class at character {start + 1} is not closed", start)
            low = self.class_member(is_first=self.text[self.at - 1] in "[^")
            if self.next == "-" and self.text[self.at + 1 : self.at + 2] != "]" and low:
                self.emit("-")
                high = self.class_member(is_first=False)
                if not high or _character(high) < _character(low):
                    raise PatternError(f"`{low}-{high}` is not a valid character range")
        self.emit("]")

    def class_member(self, *, is_first: bool) -> str:
        """Read one character of a class; a class of several is empty."""
        if self.next == "\\":
            written, letter = self.text[self.at : self.at + 2], self.text[self.at + 1 : self.at + 2]
            if letter in ("d", "w", "s"):
                self.mend(written, _CLASSES[letter], _OTHER_CHARACTERS)
                return ""
            if not letter or letter not in _CONTROLS | _PUNCTUATION:
                raise _foreign_escape(written)
            member = letter if letter in _PUNCTUATION and letter not in "\\^[]-&~|" else written
            self.emit(member, _java_of(member), read=2)
            return written
        character, following = self.next, self.text[self.at + 1 : self.at + 2]
        if character == "[" or (character in "&~|-" and following == character):
            pair = character if character == "[" else character * 2
            message = f"`{pair}` in a class is read differently by Java and Python"
            raise self.unescaped(message, self.at, len(pair))
        if character == "-" and not is_first and following != "]":
            message = "a `-` in the middle of a class may be read as a range"
            raise self.unescaped(message, self.at)
        self.emit(character, _java_of(character))
        return character


def _java_of(member: str) -> str:
    """Return a member of a class for Java, which has operators of its own there."""
    return f"\\{member}" if member in ("&", "#", "~", "|") else member


def _character(written: str) -> str:
    """Return the character that an escape of a class stands for; any other one as it is."""
    return {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\f": "\f"}.get(
        written, written.removeprefix("\\") or "\\"
    )


def _foreign_escape(written: str) -> PatternError:
    """Return what is wrong with a backslash and a letter that some engine does not have, and what to write."""
    letter, instead = written[1:], "write the character without the backslash, or `\\\\` for a backslash"
    if letter and letter in "bB":
        instead = "write which characters are allowed there, such as `(?:^|[^A-Za-z0-9_])`"
    elif letter.isdigit():
        instead = "references to groups are not supported"
    elif letter in ("x", "u", "U", "N"):
        instead = "write the character itself"
    elif letter in ("A", "Z", "z"):
        instead = f"write `{'^' if letter == 'A' else '$'}`"
    elif letter in ("p", "P"):
        instead = "write the characters themselves, such as `[A-Za-z]`"
    return PatternError(f"`{written}` is not in all of RE2, Java and Python", instead)
