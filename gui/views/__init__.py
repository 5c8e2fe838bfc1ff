"""One file a view. What a view looks like is told at the top of `gui/shell.py`."""
