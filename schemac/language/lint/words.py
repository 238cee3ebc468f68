"""Words in the names of fields, and what they usually mean.

Layer: language.
Shape: English, in small letters; a rule that goes by them is a guess, and none of them is on by default.
"""

import re
from functools import lru_cache

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|[0-9]+")


def _word_set(text: str) -> frozenset[str]:
    """Return the words of a text that have blanks between them."""
    return frozenset(text.split())


MONEY = _word_set(
    "price amount fare cost total balance fee salary revenue tip tax wage discount payment refund budget"
)
DATE_WORDS = _word_set("date day birthday birthdate dob")
TIME_WORDS = _word_set("timestamp datetime")
PERSONAL = _word_set(
    "email mail phone mobile fax ssn passport birthday birthdate dob surname lastname firstname iban address"
    " street postcode zip gender religion ethnicity nationality salary"
)
PERSONAL_NAMES = _word_set("first_name last_name full_name given_name family_name ip_address date_of_birth")
SECRETS = _word_set("password passwd secret token apikey credential credentials pin cvv")
FLAGS = _word_set("is has was can should must may does did are were will allows needs")
NEGATIONS = _word_set("not no non never without")
COUNTS = _word_set("count number quantity age rank position year size length")
STATES = _word_set("status state category severity priority level")
GENERIC = _word_set(
    "value values data field column col misc other temp tmp item info object var x y z foo bar"
)
LARGE = _word_set("content body html document payload raw text message transcript xml")
MEDIA = _word_set("image images photo picture video audio pdf attachment thumbnail blob file")
TYPE_WORDS = _word_set(
    "str string int integer float double bool boolean list array map struct varchar bigint json"
)
UNITS = {
    "km": "km", "kms": "km", "mi": "mi", "cm": "cm", "mm": "mm", "meters": "m", "metres": "m", "miles": "mi",
    "kg": "kg", "lbs": "lb", "lb": "lb", "grams": "g",
    "ms": "ms", "secs": "s", "seconds": "s", "minutes": "min", "mins": "min", "hours": "h", "millis": "ms", "micros": "us",
    "celsius": "°C", "fahrenheit": "°F", "kelvin": "K", "kwh": "kWh", "mb": "MB", "gb": "GB", "kb": "kB", "bytes": "B",
    "percent": "%", "pct": "%", "usd": "USD", "eur": "EUR", "cents": "cent", "kmh": "km/h", "mph": "mi/h", "hz": "Hz",
}  # fmt: skip
"""Words for units, to the unit as `schemac.dev/unit` has it."""
ABBREVIATIONS = {
    "qty": "quantity", "amt": "amount", "cnt": "count", "num": "number", "nbr": "number", "addr": "address",
    "desc": "description", "dt": "date", "ts": "timestamp", "acct": "account", "cust": "customer", "prod": "product",
    "dept": "department", "mgr": "manager", "tot": "total", "avg": "average", "yr": "year", "mth": "month", "wk": "week",
    "pmt": "payment", "txn": "transaction", "trx": "transaction", "usr": "user", "org": "organization", "cd": "code",
    "nm": "name", "flg": "flag", "ctry": "country", "curr": "currency", "lang": "language", "msg": "message",
}  # fmt: skip
_SINGULAR_ENDS = ("ss", "us", "is", "ics", "news")
_IRREGULAR = _word_set("children people men women feet teeth data media criteria geese mice")


@lru_cache(maxsize=8192)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in small letters: those of `tripFare` and of `trip_fare` are `trip` and `fare`."""
    return tuple([part.lower() for part in _PART.findall(name)])


def is_plural(word: str) -> bool:
    """Whether a word is meant for several things."""
    return word in _IRREGULAR or (len(word) > 3 and word.endswith("s") and not word.endswith(_SINGULAR_ENDS))


def plural_of(word: str) -> str:
    """Return what several things of a kind are called."""
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def snake_case(name: str) -> str:
    """Return a name in small letters, with underscores between its words."""
    return "_".join(words_of(name))
