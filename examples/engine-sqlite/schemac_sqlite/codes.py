"""The diagnostics of this engine; each has a page in `pages/`."""

from schemac.text.source.catalogue import Code, Severity

SQLITE_NAME = Code("SQLITE501", "sqlite-name", Severity.ERROR, "columns that SQLite cannot tell apart")
SQLITE_KEY = Code("SQLITE502", "sqlite-key", Severity.ERROR, "a primary key with unknown columns")
SQLITE_LOSS = Code("SQLITE511", "sqlite-loss", Severity.NOTE, "something that SQLite does not keep")
CODES = (SQLITE_NAME, SQLITE_KEY, SQLITE_LOSS)
