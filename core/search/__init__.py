"""Finds entries of every room: one SQLite full-text index in the cache folder, rebuilt whenever it is missing."""

ENTRIES_VERSION, CONVERSATIONS_VERSION = 5, 122
"""Of the two index files: raised whenever their tables, the tokenizer or what is put into them change, for an index of
another version is made again. They stand here for the hook, which asks for them and loads no more."""
