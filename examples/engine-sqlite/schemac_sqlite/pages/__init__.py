"""What `schemac explain` shows of this engine: a page a code, and `losses/sqlite.md`."""
