"""What can be done and opened, to be found by a few letters: the actions of the panel, files of the store, and runs
that can be taken back. The one search shows them for what begins with `>`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from core.commands.history.runs import Run
from core.commands.panel.overview import FileState
from core.commands.table import command as named_command
from gui.shell import Action

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


@dataclass(frozen=True)
class Entry:
    """One thing that can be chosen. `kind` is action, file or run; `key` says which one; `words` is looked
    into; `aside` stands at the right."""

    kind: str
    key: str
    title: str
    icon: str
    color: str
    aside: str = ""
    words: str = ""


def action_entries(actions: Iterable[Action]) -> list[Entry]:
    """The actions of the panel; those that are a command of the command line can be found by its words, too."""
    commands = {action: named_command(name) for name, action in IN_WINDOW.items()}
    rows = []
    for action in actions:
        command = commands.get(action.name)
        words = f"{action.words} {action.name} {command.name + ' ' + command.summary if command else ''}".lower()
        rows.append(Entry("action", action.name, action.words, action.icon, "accent", action.shortcut, words))
    return rows


def file_entries(files: Iterable[FileState]) -> list[Entry]:
    """The files of the store that are there."""
    aside = "open in the editor"
    return [Entry("file", row.file, row.file, "file-text", "muted", aside, row.file.lower()) for row in files
            if row.exists]  # fmt: skip


def run_entries(runs: Sequence[Run], most: int = 5) -> list[Entry]:
    """The newest runs that can still be taken back."""
    rows = []
    for run in [one for one in runs if not one.undone][:most]:
        what = f"{run.harvested} conversations, {run.added} lines" if run.kind == "harvest" else "one edit"
        title = f"Undo the {run.kind} of {run.when[:16].replace('T', ' ')} ({what})"
        rows.append(Entry("run", run.run, title, "undo-2", "edited", "", f"{title} {run.run}".lower()))
    return rows


def search(entries: Sequence[Entry], query: str, most: int = 12) -> list[Entry]:
    """The best entries for some words, best first: those that hold every word, then those that nearly do. Without
    words, the first ones."""
    wanted = query.lower().split()
    if not wanted:
        return list(entries[:most])
    exact = [row for row in entries if all(word in row.words for word in wanted)]
    # A title that begins with the words comes first, actions before files, short before long.
    order = {"action": 0, "file": 1, "run": 2}
    phrase = " ".join(wanted)
    exact.sort(key=lambda row: (not row.title.lower().startswith(phrase), order[row.kind], len(row.title)))
    if len(exact) >= most:
        return exact[:most]
    return exact + near(entries, phrase, most - len(exact), {id(row) for row in exact})


def near(entries: Sequence[Entry], phrase: str, most: int, without: set[int]) -> list[Entry]:
    """Entries in which every word stands nearly, best first: a letter missing, two that changed places."""
    words = phrase.split()
    if min(map(len, words)) < 3:
        return []  # two letters are near to everything

    scored = []
    for at, row in enumerate(entries):
        if id(row) in without:
            continue
        score = min(fuzz.partial_ratio(word, row.words) for word in words)
        if score >= SCORE:
            scored.append((-score, at))
    return [entries[at] for _, at in sorted(scored)[:most]]
