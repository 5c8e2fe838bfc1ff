"""What can be done and opened, to be found by a few letters: the actions of the panel, files of the store, and runs
that can be taken back. The one search shows them for what begins with `>`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rapidfuzz import fuzz

from core.base.figures import count
from core.commands.history.runs import Run
from core.commands.panel.overview import FileState
from core.commands.table import command as named_command
from gui.shell import Action
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.letters import shortened

# name of a command -> the action of the panel that does the same
IN_WINDOW = {
    "harvest": "harvest",
    "status": "refresh",
    "digest": "digest.write",
    "context": "context.copy",
    "notes": "view.files",
    "ledger": "view.conversations",
    "trash": "trash.purge",
    "config": "view.settings",
    "doctor": "doctor",
    "demo": "demo",
}
SCORE = 76


class Entry(NamedTuple):
    """One thing that can be chosen: what it is (action, file or run), its row, whose key says that and which one, and
    the words that are looked into."""

    kind: str
    row: FlowRow
    words: str


def action_entries(actions: Iterable[Action]) -> list[Entry]:
    """The actions of the panel; those that are a command of the command line can be found by its words, too."""
    commands = {action: named_command(name) for name, action in IN_WINDOW.items()}
    rows = []
    for action in actions:
        command = commands.get(action.name)
        words = f"{action.words} {action.name} {command.name + ' ' + command.summary if command else ''}".lower()
        row = FlowRow(("action", action.name), action.words, action.shortcut, action.icon)
        rows.append(Entry("action", row, words))
    return rows


def file_entries(files: Iterable[FileState]) -> list[Entry]:
    """The files of the store that are there."""
    aside = "open in the editor"
    return [Entry("file", FlowRow(("file", row.file), row.file, aside, "file-text", "muted"), row.file.lower())
            for row in files if row.exists]  # fmt: skip


def run_entries(runs: Sequence[Run], most: int = 5) -> list[Entry]:
    """The newest runs that can still be taken back."""
    rows = []
    for run in [one for one in runs if not one.undone][:most]:
        what = f" ({count(run.harvested, 'conversation')}, {count(run.added, 'line')})" if run.kind == "harvest" else ""
        title = f"Undo the {run.kind} of {run.when[:16].replace('T', ' ')}{what}"
        row = FlowRow(("run", run.run), title, shortened(run.text), "undo-2", "edited")
        rows.append(Entry("run", row, f"{title} {run.run}".lower()))
    return rows


def search(entries: Sequence[Entry], query: str, most: int = 12) -> list[FlowRow]:
    """The rows of the best entries for some words, best first: those that hold every word, then those that nearly do.
    Without words, the first ones."""
    wanted = query.lower().split()
    if not wanted:
        return [one.row for one in entries[:most]]
    exact = [one for one in entries if all(word in one.words for word in wanted)]
    # A title that begins with the words comes first, actions before files and runs, short before long.
    phrase = " ".join(wanted)
    exact.sort(key=lambda one: (not one.row.text.lower().startswith(phrase), one.kind, len(one.row.text)))
    near = []
    if min(map(len, wanted)) >= 3:  # two letters are near to everything
        scores = [min(fuzz.partial_ratio(word, one.words) for word in wanted) for one in entries]
        best = sorted(range(len(entries)), key=lambda at: -scores[at])
        near = [entries[at] for at in best if scores[at] >= SCORE and entries[at] not in exact]
    return [one.row for one in (*exact, *near)][:most]
