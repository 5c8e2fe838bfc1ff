"""The keys of the panel as a table. What each name does is said where the action is added (`Shell.add_action`)."""

from __future__ import annotations

from gui.keys import Shortcut

VIEWS: tuple[tuple[str, str, str], ...] = (
    ("ledger", "Ledger", "database"),
    ("knowledge", "Knowledge", "lightbulb"),
    ("files", "Files", "file-code"),
    ("settings", "Settings", "settings"),
)
"""The views in the middle in the order of their number keys: name, label, icon."""

SHORTCUTS: tuple[Shortcut, ...] = (
    Shortcut("K", "palette", "Find anything, do anything", ("Ctrl",), typing=True),
    Shortcut("P", "palette", "Find anything, do anything", ("Ctrl", "Shift"), typing=True),
    Shortcut("H", "harvest", "Harvest: look first", ("Ctrl",)),
    Shortcut("D", "digest.toggle", "Digest in prompt on or off"),
    Shortcut("D", "digest.power", "Delete or write the digest", ("Shift",)),
    Shortcut("F5", "refresh", "Read everything again"),
    Shortcut("T", "theme", "Light or dark"),
    Shortcut("Plus", "scale.up", "Larger", ("Ctrl",)),
    Shortcut("Minus", "scale.down", "Smaller", ("Ctrl",)),
    Shortcut("0", "scale.reset", "Usual size", ("Ctrl",)),
    Shortcut("F1", "keys", "All keys"),
    *(Shortcut(str(number), f"view.{name}", label) for number, (name, label, _) in enumerate(VIEWS, start=1)),
)
