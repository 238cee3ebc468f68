"""Tests of the language server."""
