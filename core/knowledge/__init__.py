"""The knowledge folder on disk, one module per kind of file in it."""
