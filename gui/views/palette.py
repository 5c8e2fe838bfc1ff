"""Everything that can be done, to be found: the command palette (one field for actions, files, runs and every bullet,
by keyboard alone), and the dialog of all keys, which reads the tables that make them work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dearpygui.dearpygui as dpg
from rapidfuzz import fuzz

from core.base.markdown import without_emphasis
from core.base.result import Ok, Result
from core.commands.history.runs import Run
from core.commands.panel.bullets import Bullets, all_bullets
from core.commands.panel.overview import FileState
from core.commands.table import command as named_command
from gui.shell import Action, Shell
from gui.toolkit.dialogs import Dialog
from gui.toolkit.icons import icon
from gui.toolkit.keys import Shortcut
from gui.toolkit.layout import Line, Lines, box, gap, space, spread, trailing_row
from gui.toolkit.letters import LETTERS, cut
from gui.toolkit.theme import Look
from gui.toolkit.widgets import floating, text, text_field
from gui.views.list_view import ENTER
from gui.views.looks import CATEGORIES
from gui.views.search import Asked

ROWS = 12
WIDTH = 680
TITLE, ASIDE = 430, 170
"""How wide the words of a row may be."""
HIDDEN = frozenset({"palette"})


class CommandPalette:
    """A window over the panel. Up and Down move, Enter does it, Esc or a click beside it closes."""

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self._entries: list[Entry] = []
        self._bullets: list[Entry] = []
        self._bullets_of: object = None
        self.found: list[Entry] = []
        self.at = 0
        self.is_open = False
        self._placing = 0

    def build(self) -> None:
        """Make the window, hidden."""
        look = self._look
        self.item, body = floating(look, "palette", WIDTH, modal=True)
        self.field = text_field(
            look, body, placeholder="Search bullets, files, views and commands", on_change=self._typed
        )
        look.theme(self.field, "search")
        self._list = look.theme(box(look, body, "clear", height=0), "clear")
        group = look.theme(int(dpg.add_group(parent=self._list)), "loose")
        space(look, group, 0.1)
        self._rows = [self._row(group, number) for number in range(ROWS)]
        space(look, group, 0.1)
        left, right = spread(look, body)
        self._count = text(look, left, "", "small", "hint")
        text(look, right, "Up Down  choose     Enter  do it     Esc  close", "small", "hint")
        self._shell.layers.append(self._key)
        look.every_tick(self.tick)

    def _row(self, parent: int, number: int) -> tuple[int, ...]:
        look = self._look
        holder = int(dpg.add_group(parent=parent, show=False))
        row = int(dpg.add_group(horizontal=True, parent=holder, horizontal_spacing=0.01))
        button = int(dpg.add_selectable(parent=row, callback=self._clicked, user_data=number))
        look.theme(button, "pick")
        left, right = trailing_row(look, row, 2, 1)
        gap(look, left, 1)
        items = holder, button, text(look, left, ""), text(look, left, ""), text(look, right, "", "small", "hint")
        gap(look, right, 1)
        return items

    # --- opening and closing ---

    def open(self) -> None:
        """Show it with an empty field."""
        if self.is_open:
            return
        self.is_open = True
        dpg.set_value(self.field, "")
        self._entries = self._gather()
        self._typed("")
        dpg.configure_item(self.item, show=True)
        self._place()
        self._placing = 3
        self._look.keys_to(self.field)
        self._read_bullets()

    def close(self) -> None:
        """Hide it."""
        self.is_open = False
        dpg.configure_item(self.item, show=False)
        self._look.focus.back()

    def _gather(self) -> list[Entry]:
        shell = self._shell
        rows = action_entries(action for action in shell.actions.values() if action.name not in HIDDEN)
        if shell.state.snapshot is not None:
            rows += file_entries(shell.state.snapshot.overview.files) + run_entries(shell.state.snapshot.overview.runs)
        return rows + self._bullets

    def _read_bullets(self) -> None:
        """Read all bullets on the worker, unless nothing has changed since the last time."""
        snapshot, workspace = self._shell.state.snapshot, self._shell.workspace
        if snapshot is self._bullets_of:
            return

        def done(result: Result[Any]) -> None:
            if isinstance(result, Ok):
                self._bullets, self._bullets_of = result.value, snapshot
                self._entries = self._gather()
                if self.is_open:
                    self._typed(str(dpg.get_value(self.field)))

        self._shell.submit("The bullets", lambda _job: bullet_entries(all_bullets(workspace)), done)

    # --- finding ---

    def _typed(self, words: str) -> None:
        self.found = search(self._entries, words, ROWS)
        if words.strip():
            everywhere = Entry("search", words.strip(), f"Search everything for “{words.strip()}”", "search", "accent")
            self.found = [*self.found[: ROWS - 1], everywhere]
        self.at = 0
        self._show()

    def _show(self) -> None:
        for number, (holder, button, sign, title, aside) in enumerate(self._rows):
            entry = self.found[number] if number < len(self.found) else None
            dpg.configure_item(holder, show=entry is not None)
            if entry is None:
                continue
            dpg.set_value(button, number == self.at)
            dpg.set_value(sign, icon(entry.icon))
            self._look.tint(sign, entry.color)
            beside = self._cut(entry.aside, "small", self._look.px(ASIDE))
            dpg.set_value(aside, beside)
            dpg.set_value(title, self._cut(entry.title, "text", self._look.px(TITLE if beside else TITLE + ASIDE)))
        named = [entry for entry in self.found if entry.kind != "search"]
        asked = bool(str(dpg.get_value(self.field)).strip())
        words = f"The best {len(named)}" if asked else f"{len(self._entries):,} things to find"
        dpg.set_value(self._count, words if named else "Nothing like that")

    def _cut(self, words: str, role: str, room: float) -> str:
        wide = LETTERS.wide(self._look.font_id(role))
        words = " ".join(words.split("\n"))
        return words if wide is None else cut(words, room, wide)

    # --- choosing ---

    def _key(self, name: str, _modifiers: frozenset[str], _typing: bool) -> bool:
        """Takes every key while it is open."""
        if not self.is_open:
            return False
        if name == "Esc":
            self.close()
        elif name in ("Up", "Down") and self.found:
            self.at = (self.at + (1 if name == "Down" else -1)) % len(self.found)
            self._show()
        elif name in ENTER:
            self._do(self.at)
        return True

    def _clicked(self, _sender: int, _on: bool, number: int) -> None:
        self._look.jobs.post(self._do, number)

    def _do(self, number: int) -> None:
        entry = self.found[number] if number < len(self.found) else None
        if entry is None:
            return
        self.close()
        shell = self._shell
        if entry.kind == "action":
            shell.run(entry.key)
        elif entry.kind == "search":
            shell.put({"search": Asked(entry.key)})
            shell.run("view.search")
        elif entry.kind == "file":
            found = shell.state.snapshot.overview.file(entry.key) if shell.state.snapshot is not None else None
            if found is not None:
                shell.open_path(found.path)
        elif entry.kind == "run":
            words = "Its lines leave the files and its conversations come back from the trash."
            words = f"{entry.title[5:]}\n\n{words} What you changed since stays."
            shell.ask("Undo this run?", words, "Undo it", lambda: shell.undo(entry.key), kind="danger")
        else:
            shell.select("bullet", entry.key, entry.line, entry.raw)
            shell.show("files" if entry.key.startswith("files/") else "knowledge")

    # --- its place ---

    def tick(self) -> bool:
        """Keep it in its place while it opens; close after a click beside it."""
        if not self.is_open:
            return False
        if not dpg.is_item_shown(self.item):  # another modal window closed in the same frame took it along
            dpg.configure_item(self.item, show=True)
            self._placing = 3
            self._look.keys_to(self.field)
            return True
        if self._placing:
            self._placing -= 1
            self._place()
            return True
        if dpg.is_mouse_button_clicked(dpg.mvMouseButton_Left) and not self._under_mouse():
            self.close()
        return False

    def _under_mouse(self) -> bool:
        x, y = dpg.get_mouse_pos(local=False)
        left, top = dpg.get_item_pos(self.item)
        width, height = dpg.get_item_rect_size(self.item)
        return bool(left <= x <= left + width and top <= y <= top + height)

    def _place(self) -> None:
        width = max(int(dpg.get_item_rect_size(self.item)[0]), self._look.px(WIDTH))
        left, top, wide, _tall = self._look.place()
        dpg.configure_item(self.item, pos=[left + max(0, (wide - width) // 2), top + self._look.px(62)])


# name of a command -> the action of the panel that does the same
IN_WINDOW = {
    "harvest": "harvest",
    "status": "refresh",
    "digest": "digest.write",
    "context": "context.copy",
    "notes": "view.files",
    "ledger": "view.ledger",
    "trash": "trash.purge",
    "config": "view.settings",
    "doctor": "doctor",
    "demo": "demo",
}
FUZZY_ROWS = 5000
"""This many rows are searched for words that are nearly right; the others only for words that stand there."""
SCORE = 76


@dataclass(frozen=True)
class Entry:
    """One thing that can be chosen. `kind` is action, file, run or bullet; `key` says which one; `words` is looked
    into; `aside` stands at the right."""

    kind: str
    key: str
    title: str
    icon: str
    color: str
    aside: str = ""
    words: str = ""
    line: int = 0
    raw: str = ""


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


def bullet_entries(found: Bullets) -> list[Entry]:
    """All bullets, the newest last as in their files."""
    rows = []
    for row in found.rows:
        _, sign, color, _ = CATEGORIES[row.category]
        title, words = without_emphasis(row.bullet.text), f"{row.bullet.text} {row.bullet.provenance or ''}".lower()
        rows.append(Entry("bullet", row.file, title, sign, color, row.file, words, row.bullet.line, row.bullet.raw))
    return rows


def search(entries: Sequence[Entry], query: str, most: int = 12) -> list[Entry]:
    """The best entries for some words, best first: those that hold every word, then those that nearly do. Without
    words, the first ones."""
    wanted = query.lower().split()
    if not wanted:
        return list(entries[:most])
    exact = [row for row in entries if all(word in row.words for word in wanted)]
    # A title that begins with the words comes first, actions before bullets, short before long.
    order = {"action": 0, "file": 1, "run": 2, "bullet": 3}
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
    for at, row in enumerate(entries[:FUZZY_ROWS]):
        if id(row) in without:
            continue
        score = min(fuzz.partial_ratio(word, row.words) for word in words)
        if score >= SCORE:
            scored.append((-score, at))
    return [entries[at] for _, at in sorted(scored)[:most]]


KEYS_WIDTH, KEYS_HEIGHT, GAP = 580, 480, 8
STEPS = {"Up": -44, "Down": 44, "Page up": -400, "Page down": 400, "Home": -9999, "End": 9999}
EVERYWHERE = (
    ("Up, Down, Page up, Page down", "Move in a list"),
    ("Enter", "Open what is selected; confirm a dialog"),
    ("/", "Filter the list"),
    ("Esc", "Close a dialog, leave a field, empty a filter"),
    ("Right click", "What can be done with a line"),
)


def key_lines(shortcuts: Iterable[Shortcut]) -> list[Line]:
    """One line a command with all its keys, then what works in every list."""
    labels: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for shortcut in shortcuts:
        labels.setdefault(shortcut.command, []).append(shortcut.label)
        words.setdefault(shortcut.command, shortcut.description)
    lines = [Line("", "accent", words[command], "  or  ".join(keys)) for command, keys in labels.items()]
    return lines + [Line("", "accent", what, key) for key, what in EVERYWHERE]


def own_lines(part: object) -> list[Line]:
    """The keys that a view, or the inspector, hears itself; none where it names none."""
    keys: Iterable[tuple[str, str]] = getattr(part, "keys", ())
    return [Line("", "accent", what, key) for key, what in keys]


class KeysDialog:
    """A window with all keys; Esc or Enter closes it."""

    def __init__(self, look: Look, shell: Shell, shortcuts: Iterable[Shortcut]) -> None:
        self._look, self._shell, self._lines = look, shell, key_lines(shortcuts)

    def build(self, parts: Mapping[str, object] | None = None) -> None:
        """Make it, hidden. `parts` are views by their names, each perhaps with `keys`."""
        look = self._look
        self.dialog = Dialog(look, "Keys", "Close", lambda: True, icon="keyboard", width=KEYS_WIDTH)
        dpg.configure_item(self.dialog.cancel_button.item, show=False)
        self._page = box(look, self.dialog.body, "well", height=KEYS_HEIGHT, scroll=True)
        self._part("Everywhere", self._lines)
        for name, part in (parts or {}).items():
            if lines := own_lines(part):
                self._part(name, lines)
        self._shell.layers.append(self._key)

    def _key(self, name: str, modifiers: frozenset[str], typing: bool) -> bool:
        """The arrows move the page; the rest is the dialog's."""
        if self.dialog.is_open and name in STEPS:
            wanted = dpg.get_y_scroll(self._page) + self._look.px(STEPS[name])
            dpg.set_y_scroll(self._page, min(max(0.0, wanted), dpg.get_y_scroll_max(self._page)))
            return True
        return self.dialog.key(name, modifiers, typing)

    def _part(self, name: str, lines: list[Line]) -> None:
        text(self._look, self._page, name, "strong", "muted")
        Lines(self._look, self._page, len(lines)).set(lines)
        space(self._look, self._page, 4)

    def open(self) -> None:
        """Show it; in a low window its page is lower, so that only the page scrolls."""
        self._look.size(self._page, height=min(KEYS_HEIGHT + self.dialog.more, self.dialog.room - GAP))
        self.dialog.open()
