"""The view of per-file notes: which files have some, and each file's text with its notes beside it.

First the files as rows, and one of them with its text and the lines its notes speak of, as plain data; then the view.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

import dearpygui.dearpygui as dpg

from core.base.markdown import without_emphasis
from core.base.result import ErrorInfo, KnowledgeError
from core.commands.panel.files import (
    NotesOverview,
    NoteView,
    SourceText,
    Span,
    mentioned_lines,
    notes_overview,
    source_text,
)
from core.commands.statements import Found, Said
from core.commands.workspace import Workspace
from gui.shell import Shell
from gui.state import Selection, State
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow, RowAction
from gui.toolkit.icons import icon
from gui.toolkit.layout import Columns, box, gap, lowered, spread
from gui.toolkit.letters import shortened
from gui.toolkit.messages import EmptyState, Teach
from gui.toolkit.source_lines import SourceLines, Spans, colored, drawable
from gui.toolkit.table import BigTable, Cell, Column
from gui.toolkit.theme import Look
from gui.toolkit.typeset import lettered
from gui.toolkit.widgets import Button, copy_text, say, text
from gui.views.knowledge_rows import act_of, change, meta_of
from gui.views.list_view import FilteredView
from gui.views.looks import capital, joined, short_folder
from gui.watch import SourceWatch

COLUMNS = (
    Column("name", "Files with notes"),
    Column("notes", "Notes", 74, color="hint"),
)
INDENT = "    "
ACTIONS = (
    RowAction("strike", "strikethrough", "Strike through: stays in the file", "S"),
    RowAction("copy", "copy", "Copy", "Ctrl+C"),
    RowAction("delete", "trash-2", "Delete the note", "Delete"),
)
CAN = frozenset({"strike", "copy", "delete"})
ACTION_KEYS = {"S": "strike", "Delete": "delete", "Ctrl+C": "copy"}
TAUGHT = """When a conversation taught something about a file,
the note stands beside the file's own text,
and follows the file when it is renamed."""
TEACH = Teach("file-code", "No notes on files yet", TAUGHT, command="knowledge add files TEXT --file PATH")


@dataclass(frozen=True)
class Loaded:
    """One source file with its notes: `lines` of its text as they are drawn, `spans` one a note; `problem` says why
    there is no text."""

    note: NoteView
    lines: tuple[str, ...] = ()
    spans: tuple[Span | None, ...] = ()
    text: SourceText | None = None
    problem: ErrorInfo | None = None
    colors: tuple[Spans, ...] = ()

    @property
    def marks(self) -> frozenset[int]:
        """The first lines that notes speak of."""
        return frozenset(span[0] for span in self.spans if span is not None)


def load(workspace: Workspace, note: NoteView) -> Loaded:
    """The text of a source file and where its notes belong; on a worker."""
    nowhere: tuple[Span | None, ...] = (None,) * len(note.rows)
    try:
        read = source_text(workspace, note.source)
    except KnowledgeError as failed:
        return Loaded(note, spans=nowhere, problem=failed.error)
    lines = tuple(read.text.replace("\r\n", "\n").removesuffix("\n").split("\n"))
    spans = mentioned_lines([row.bullet.text for row in note.rows], lines)
    drawn = tuple(map(drawable, lines))
    colors = colored(os.path.basename(note.source), drawn)
    return Loaded(note, drawn, tuple(spans), read, colors=colors)


@dataclass(frozen=True)
class Branch:
    """One row of the tree, `depth` folders deep: a folder (`at` is -1), or the file whose notes stand at that place of
    the list. `number` notes are in it."""

    path: str
    name: str
    depth: int
    number: int
    at: int = -1


def tree(notes: Sequence[NoteView], folded: Collection[str] = ()) -> list[Branch]:
    """The files that have notes, in their folders, and no other. A folder with nothing but one folder is one row with
    it; what is in a `folded` one is left out."""
    inside: dict[str, set[str]] = {}
    files: dict[str, list[int]] = {}
    for at, note in enumerate(notes):
        folder = os.path.dirname(note.source)
        files.setdefault(folder, []).append(at)
        while (above := os.path.dirname(folder)) != folder:
            inside.setdefault(above, set()).add(folder)
            folder = above
    rows: list[Branch] = []

    def put(folder: str, shown: str, depth: int, hidden: bool) -> int:
        below, own = sorted(inside.get(folder, ())), files.get(folder, [])
        if len(below) == 1 and not own:
            name = os.path.join(shown, os.path.basename(below[0])) if depth else short_folder(below[0])
            return put(below[0], name, depth, hidden)
        place, hides = len(rows), hidden or folder in folded
        number = sum(put(one, os.path.basename(one), depth + 1, hides) for one in below)
        for at in sorted(own, key=lambda at: os.path.basename(notes[at].source)):
            note = notes[at]
            number += len(note.rows)
            if not hides:
                name = os.path.basename(note.source or note.note)
                rows.append(Branch(note.source, name, depth + 1, len(note.rows), at))
        if not hidden:
            rows.insert(place, Branch(folder, shown or "Nobody knows where", depth, number))
        return number

    for top in sorted(folder for folder in {*inside, *files} if os.path.dirname(folder) == folder):
        put(top, short_folder(top), 0, False)
    return rows


def looks_of(note: NoteView) -> tuple[str, str]:
    """Icon and colour of a file that has notes."""
    if not note.exists:
        return icon("file-x"), "failed"
    return icon("file-pen" if note.renamed else "file-code"), "edited" if note.renamed else "accent"


def cell(row: Branch, note: NoteView | None, column: int, folded: bool = False) -> Cell:
    """What stands in a column of the tree; `note` is None for a folder."""
    if column == 1:
        return f"gone, {row.number:,}" if note is not None and not note.exists else f"{row.number:,}"
    if note is None:
        return f"{INDENT * row.depth}{icon('folder' if folded else 'folder-open')}  {lettered(row.name)}", "muted"
    color = "hint" if not note.exists else "edited" if note.renamed else "text"
    return f"{INDENT * row.depth}{looks_of(note)[0]}  {lettered(row.name)}", color


def note_rows(loaded: Loaded) -> list[FlowRow]:
    """The notes in the order of the lines that they speak of; those about the whole file first."""
    order = sorted(range(len(loaded.note.rows)), key=lambda at: (loaded.spans[at] or (0, 0), -at))
    return [note_row(loaded.note.rows[at], at, loaded.spans[at]) for at in order]


def note_row(found: Found, at: int, span: Span | None) -> FlowRow:
    """One note as a row; its key is its position in the note file."""
    bullet = found.bullet
    where = "whole file" if span is None else f"line {span[0]}" if span[0] == span[1] else f"lines {span[0]}–{span[1]}"
    meta = joined(where, meta_of(found).removeprefix("written "))
    text = "\n".join([without_emphasis(bullet.text), *(line.strip() for line in bullet.more)])
    if bullet.struck:
        return FlowRow(at, text, meta, "strikethrough", "hint", "hint", CAN)
    picture, color = ("file-text", "hint") if span is None else ("arrow-left", "accent")
    return FlowRow(at, text, meta, picture, color, "text", CAN)


def headline(note: NoteView) -> tuple[str, str]:
    """A sentence about where the file is, and its colour; "" when there is nothing to say."""
    if not note.source:
        return "Nobody knows which file these notes are about.", "edited"
    if not note.exists:
        return "The file is not there any more. Its notes stay, and come back to it when it does.", "failed"
    if note.renamed:
        return f"It was renamed; before, it was {short_folder(note.recorded)}", "edited"
    return "", "hint"


TREE = 320
"""The width of the tree, in unscaled pixels like those below."""
SLIM_TREE = 220
"""The width of the tree in a narrow view."""
ROOMY = 860
"""The width below which a view is narrow."""
BESIDE = 600
"""The width from which the tree stands beside the text, not above it."""
APART = 1080
"""The width from which the notes stand beside the text, not below their lines."""
LIST_HEIGHT = 176


class FilesView(FilteredView):
    """The tree of the files that have notes, and the chosen one's text with its notes."""

    name = "files"
    gather = staticmethod(notes_overview)
    keys = (
        ("Left, Right", "Move among the files, or among the notes"),
        ("Shift+Page up, Shift+Page down", "Move the text of the file"),
        ("Ctrl+Shift+C", "Copy the path of the file"),
        ("S", "Strike a note through, or take the line away"),
        ("Delete", "Delete a note"),
        ("Ctrl+C", "Copy a note"),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell)
        self.notes: tuple[NoteView, ...] = ()
        self.branches: list[Branch] = []
        self._folded: set[str] = set()
        self.loaded: Loaded | None = None
        self.chosen = ""  # the note file of the source that is shown
        self.in_notes = False  # whether the keys move through the notes instead of the files
        self._line = 0
        self._stood: tuple[object, ...] = ()
        self._scrolled = (0.0, 0.0)
        self._seen: object = None
        self._selected: object = None
        self._ticket = 0
        self._watch = SourceWatch(lambda: look.jobs.post(self._changed))
        shell.at_end.append(self._watch.stop)

    def build(self, parent: int) -> None:
        """Make list, text, notes and what teaches."""
        look = self._look
        self._full = box(look, parent, "clear")
        self._both = int(dpg.add_group(parent=self._full, horizontal=True, horizontal_spacing=look.px(16)))
        self._listing = box(look, self._both, "clear", width=TREE)
        self.table = BigTable(
            look, COLUMNS, self._cell, on_select=self._pick, on_open=lambda _row: self.open_file(),
            tip=lambda row: self.branches[row].path, head=lambda row: self.branches[row].at < 0,
        ).build(self._listing)  # fmt: skip
        look.follow(self._full, self._fit)
        body = box(look, self._both, "clear")
        left, right = spread(look, body, lower=0)
        self._icon = text(look, lowered(look, left, 3), "", "text", "accent")
        self.path = copy_text(look, left, "muted")
        gap(look, right, 1)
        self.open = Button(look, right, "Open", self.open_file, icon="external-link", tip="Open the file in its editor",
                           shortcut="Enter")  # fmt: skip
        Button(look, right, "", self.copy_path, icon="copy", kind="ghost", tip="Copy the path", shortcut="Ctrl+Shift+C")
        self._head = text(look, body, "", "small", "hint", wrap=True)
        below = box(look, body, "clear")
        self.columns = Columns(look, below, lambda wide: max(264, min(430, 0.3 * wide)), 140, 150)
        self._source_box = box(look, self.columns.main, "well")
        self._no_text = text(look, self._source_box, "", "text", "hint", wrap=True)
        self.source = SourceLines(look, self._note_clicked)
        self.source.build(self._source_box)
        self.list = FlowList(look, actions=ACTIONS, on_select=self._jump, on_action=self._shell.in_order(self.act))
        self.list.build(self.columns.side)
        look.every_tick(self.tick)
        self._none = EmptyState(look, parent, TEACH)

    def _fit(self, width: float, height: float) -> None:
        """The tree beside the text, or above it where there is no room."""
        look, beside = self._look, width >= self._look.px(BESIDE)
        dpg.configure_item(self._both, horizontal=beside)
        tall = -1 if beside else min(LIST_HEIGHT, int(height / look.scale / 3))
        tree_width = TREE if width >= look.px(ROOMY) else SLIM_TREE
        look.size(self._listing, width=tree_width if beside else -1, height=tall)
        if self.columns.shown != (width >= look.px(APART)):
            self.columns.show(width >= look.px(APART))
            self._weave()

    def _weave(self) -> None:
        """The notes below their lines, where they have no room beside the text."""
        loaded, apart = self.loaded, self.columns.shown
        spans = loaded.spans if loaded is not None and loaded.problem is None and not apart else ()
        rows = [row for row in self.list.rows if cast(int, row.key) < len(spans)]
        lines = ((spans[cast(int, row.key)] or (0, 0))[1] for row in rows)
        self.source.weave([(line, cast(int, row.key), lettered(f"{row.text}  ·  {row.meta}"))
                           for line, row in zip(lines, rows, strict=True)])  # fmt: skip

    def _note_clicked(self, key: int) -> None:
        row = self.list.row(key)
        if row is not None:
            self.list.select(key, scroll=False)
            self._jump(row)

    def tick(self) -> bool:
        """Keep each note at the height of its line, and both scrolls at one place; true when something moved."""
        loaded = self.loaded
        if loaded is None or not self.list.rows or loaded.problem is not None or not self.columns.shown:
            return False
        places = (loaded, self.list.width, self.source.length, self._look.scale, tuple(self.list.rows))
        if places != self._stood:
            self._stood = places
            spans = (loaded.spans[cast(int, row.key)] for row in self.list.rows)
            self.list.stand_at([self.source.top_of(span[0] if span else 0) for span in spans], self.source.length)
            return True
        source, notes = self.source.canvas.scroller, self.list.canvas.scroller
        now = (source.at, notes.at)
        if now[0] == now[1] or now == self._scrolled:
            return False
        leader, other = (notes, source) if now[0] == self._scrolled[0] else (source, notes)
        other.go(leader.at)
        self._scrolled = (source.at, notes.at)
        return True

    def refresh(self, state: State) -> None:
        """Take over which notes there are, follow a selection made elsewhere, read the text again."""
        data = state.of(self.name)
        if isinstance(data, NotesOverview) and data is not self._seen:
            self._seen = data
            self.notes = data.notes
            self.arrange(keep=True)
            self._none.show(not data.notes)
            dpg.configure_item(self._full, show=bool(data.notes))
        if state.selected is not self._selected:
            self._selected = state.selected
            self._follow(state.selected)
        if self.notes and self.note is None:
            self.choose(self.notes[self._first()].note)
        elif self.note is not None and (self.loaded is None or self.loaded.note is not self.note):
            self._load()

    def _first(self) -> int:
        """The place of the first file of the tree, one that is there before one that is gone."""
        places = [row.at for row in tree(self.notes) if row.at >= 0]
        return next((at for at in places if self.notes[at].exists), places[0])

    def _follow(self, chosen: Selection) -> None:
        """Show the file of a source or of a note that was chosen elsewhere."""
        sources = {name: row.note for row in reversed(self.notes) for name in (row.recorded, row.source)}
        notes = {row.note: row.note for row in self.notes}
        found = {"source": sources, "bullet": notes}.get(chosen.kind, {}).get(chosen.key)
        if found is not None:
            self._line = chosen.line if chosen.kind == "source" else 0
            self.choose(found)

    def _tell_selected(self, kind: str, key: str, line: int = 0, raw: str = "") -> None:
        """Let the inspector show something; that is no news to this view."""
        self._shell.select(kind, key, line, raw)
        self._selected = self._shell.state.selected

    def do(self, key: str) -> bool:
        """Left and Right change between files and notes; the rest is told by the tooltips of the buttons."""
        row = self.list.current if self.in_notes else None
        wanted = ACTION_KEYS.get(key, "")
        if wanted and row is not None:
            self.act(wanted, row)
            return True
        if key in ("Left", "Right"):
            self.in_notes = key == "Right"
            if self.in_notes and self.list.current is None:
                self.list.press("Home")
        elif key == "Ctrl+Shift+C":
            self.copy_path()
        elif key in ("Shift+Page down", "Shift+Page up"):
            self.source.scroll_by(0.8 if key == "Shift+Page down" else -0.8)
        elif key == "Enter":
            self.open_file()
        else:
            return False
        return True

    def move(self, key: str) -> bool:
        """A key for the notes, or for the files."""
        return self.list.press(key) if self.in_notes else self.table.press(key)

    # --- which file ---

    @property
    def note(self) -> NoteView | None:
        """The notes of the file that is shown, as they were read last."""
        return next((row for row in self.notes if row.note == self.chosen), None)

    def choose(self, note: str) -> None:
        """Show the file of another note."""
        if note != self.chosen:
            self.chosen, self.loaded = note, None
            self.in_notes = False
        self.table.select(self._place())
        self._load()

    def _place(self) -> int | None:
        """The row of the file that is shown, None while its folder is folded."""
        shown = [self.notes[row.at].note if row.at >= 0 else None for row in self.branches]
        return shown.index(self.chosen) if self.chosen in shown else None

    def open_file(self) -> None:
        """Open the file in the program that the system has for it."""
        if self.note is not None and self.note.exists:
            self._shell.open_path(self.note.source)

    def copy_path(self) -> None:
        """Put the path on the clipboard."""
        if self.note is not None:
            self._shell.copy(self.note.source, "Copied the path")

    def _pick(self, place: int) -> None:
        row = self.branches[place]
        if row.at < 0:
            self._folded ^= {row.path}
            self.arrange(keep=True)
            return
        self.choose(self.notes[row.at].note)
        if self._shell.state.selected.kind:  # the notes stand beside the text: the inspector gives its room back
            self._tell_selected("", "")

    def _cell(self, place: int, column: int) -> Cell:
        row = self.branches[place]
        return cell(row, self.notes[row.at] if row.at >= 0 else None, column, row.path in self._folded)

    def arrange(self, keep: bool) -> None:
        """Show the files that have notes."""
        self.branches = tree(self.notes, self._folded)
        self.table.selected = self._place()
        self.table.set_rows(range(len(self.branches)), keep_place=keep)

    # --- its text ---

    def _load(self) -> None:
        note = self.note
        if note is None:
            return
        self._ticket += 1
        ticket, core = self._ticket, self._shell.workspace
        what = f"The text of {os.path.basename(note.source)}"
        self._shell.submit(what, lambda _job: load(core, note), self._put, wanted=lambda: ticket == self._ticket)

    def _put(self, loaded: Loaded) -> None:
        before, self.loaded = self.loaded, loaded
        same = before is not None and before.note.note == loaded.note.note
        note = loaded.note
        mark = loaded.text.mark if loaded.text is not None else (0, 0, 0)
        self._watch.watch(note.source, mark)
        dpg.set_value(self.path, lettered(short_folder(note.source) or note.note))
        picture, color = looks_of(note)
        dpg.set_value(self._icon, picture)
        self._look.tint(self._icon, color)
        sentence, color = headline(note)
        if loaded.text is not None and loaded.text.cut:
            sentence = f"{sentence} Only the beginning of the file is shown.".strip()
        say(self._head, lettered(sentence))
        self._look.tint(self._head, color)
        self.open.enable(note.exists)
        say(self._no_text, capital(str(loaded.problem)) if loaded.problem is not None else "")
        dpg.configure_item(self.source.item, show=loaded.problem is None)
        headings = note.source.endswith((".md", ".markdown"))
        self.source.set_lines(loaded.lines, loaded.marks, keep_place=same, headings=headings, spans=loaded.colors)
        self.list.set_rows(note_rows(loaded), keep_place=same)
        self._weave()
        if not same:
            self.list.select(None, scroll=False)
        if self._line:
            self.source.light(self._line, self._line)
            self._line = 0
        elif same and self.list.current is not None:
            self._light(self.list.current)

    def _jump(self, row: FlowRow) -> None:
        """A note was chosen: its lines come into sight."""
        self.in_notes = True
        self._light(row)
        found = self._found(row)
        if found is not None:
            self._tell_selected("bullet", found.file, found.bullet.line, found.bullet.raw)

    def _light(self, row: FlowRow) -> None:
        span = self.loaded.spans[cast(int, row.key)] if self.loaded is not None else None
        self.source.light(*(span or (0, 0)))

    def _changed(self) -> None:
        """The file was changed outside: where it is now is found by reading the notes again."""
        self._shell.refresh()
        self._load()

    def _found(self, row: FlowRow) -> Found | None:
        at = cast(int, row.key)
        return self.loaded.note.rows[at] if self.loaded is not None and at < len(self.loaded.note.rows) else None

    # --- single notes ---

    def act(self, name: str, row: FlowRow) -> None:
        found, loaded = self._found(row), self.loaded
        if found is None or loaded is None:
            return
        if name == "copy":
            self._shell.copy(found.bullet.text, "Copied the note")
            return
        said, act = act_of(name, Said(found), loaded.note.sha256)
        change(self._shell, said, act, f"{said}: {shortened(row.text)}")
