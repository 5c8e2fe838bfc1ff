"""Finds entries of every room: one SQLite full-text index in the cache folder, rebuilt whenever it is missing."""
