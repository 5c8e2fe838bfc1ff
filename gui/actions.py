"""The keys of the panel as a table, and what can be done from everywhere by key, palette or button.

No plain letter stands here: a letter that somebody types in the belief that a field has the keyboard must not change
anything. The keys of a view or of the inspector stand in its class (`keys`) and are heard in its `press`; there a plain
letter acts on the chosen row alone, and shows something or can be taken back. The keys dialog lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.commands.sources import NAMES, title_of
from gui.history import HISTORY_KEYS
from gui.store_actions import add_store_actions
from gui.toolkit.keys import Shortcut, label_of
from gui.views.digest_switch import ask_delete, write_digest
from gui.views.table import VIEWS, view_keys

if TYPE_CHECKING:
    from gui.panel import KnowledgePanel

SCALE_STEP = 0.125

SHORTCUTS: tuple[Shortcut, ...] = (
    *HISTORY_KEYS,
    Shortcut("K", "palette", "Find anything, do anything", ("Ctrl",), typing=True),
    Shortcut("P", "palette", "Find anything, do anything", ("Ctrl", "Shift"), typing=True),
    Shortcut("H", "harvest", "Harvest: look first", ("Ctrl",)),
    Shortcut("D", "digest.toggle", "Digest in prompt on or off", ("Ctrl", "Shift")),
    Shortcut("F5", "refresh", "Read everything again"),
    Shortcut("B", "pane.rail", "Hide or show the left column", ("Ctrl",)),
    Shortcut("I", "pane.inspector", "Hide or show the inspector", ("Ctrl",)),
    Shortcut("T", "theme", "Light or dark", ("Ctrl", "Shift")),
    Shortcut("Plus", "scale.up", "Larger", ("Ctrl",)),
    Shortcut("Minus", "scale.down", "Smaller", ("Ctrl",)),
    Shortcut("0", "scale.reset", "Usual size", ("Ctrl",)),
    Shortcut("F1", "keys", "All keys"),
    *view_keys(),
)


def add_actions(panel: KnowledgePanel) -> None:
    """Make known to the shell what this panel can do."""
    shell, size = panel.shell, panel.set_scale

    def scaled(by: float) -> Callable[[], object]:
        return lambda: size(panel.look.scale + by)

    rows: tuple[tuple[str, str, str, Callable[[], object]], ...] = (
        ("harvest", "Harvest: look first, then apply", "wheat", panel.harvest.open),
        ("palette", "Find anything, do anything", "search", panel.palette.open),
        ("digest.toggle", "Digest in prompt on or off", "toggle-right", panel.header.digest.press),
        ("digest.delete", "Delete the digest", "trash-2", lambda: ask_delete(shell)),
        ("digest.write", "Write the digest anew", "sparkles", lambda: write_digest(shell)),
        ("refresh", "Read everything again", "refresh-cw", shell.refresh),
        ("pane.rail", "Hide or show the left column", "panel-left", lambda: panel.toggle_pane("rail")),
        ("pane.inspector", "Hide or show the inspector", "panel-right", lambda: panel.toggle_pane("inspector")),
        ("theme", "Light or dark theme", "sun", panel.switch_theme),
        ("scale.up", "Larger", "arrow-up", scaled(SCALE_STEP)),
        ("scale.down", "Smaller", "arrow-down", scaled(-SCALE_STEP)),
        ("scale.reset", "Usual size", "target", lambda: size(panel.usual_scale)),
        ("keys", "All keys", "keyboard", panel.keys.open),
        ("cancel", "Stop the running harvest", "circle-stop", panel.run.cancel),
        ("home.own", "Back to your own home", "house", panel.homes.back),
    )
    for name, words, icon, act in rows:
        shell.add_action(name, words, icon, act, label_of(SHORTCUTS, name))
    add_store_actions(shell)
    for row in VIEWS:
        shell.add_action(
            row.action, f"Go to {row.label}", row.icon, opener(panel, row.name), label_of(SHORTCUTS, row.action)
        )
    for source in NAMES:
        words = f"Harvest {title_of(source)} alone: look first, then apply"
        shell.add_action(f"harvest.{source}", words, "wheat", harvester(panel, source))


def harvester(panel: KnowledgePanel, source: str) -> Callable[[], None]:
    """What opens the harvest dialog with a dry run of one source."""
    return lambda: panel.harvest.open((source,))


def opener(panel: KnowledgePanel, name: str) -> Callable[[], None]:
    """What opens a view, and remembers that it was the last one."""

    def show() -> None:
        panel.leave_first()
        panel.shell.choices["view"] = name
        panel.shell.show(name)
        panel.workbench.open(name)  # at once: the next key is for this view already
        panel.workbench.refresh(panel.shell.state)

    return show
