"""The desktop panel: a thin face over `core.commands`, drawn with Dear PyGui.

`panel.py` is the part that a host embeds, `app.py` the program around it, `shell.py` what a view may ask for. A view is
one file in `views/` and one row in `workbench.py`, which tells how to add another: tab, number key, entry in the
palette and in the keys dialog, and its reading of the store all come from that row.
"""

NAME = "Knowledge Memory"
"""What the program is called, in its window and at its head."""
