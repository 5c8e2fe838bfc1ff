"""The one search: results as you type, ranked, marked, with the reason for each and what it is beside the list; behind
`>` what can be done and opened, to be found by a few letters: the actions of the panel, files of the store, and runs
that can be taken back.

First these commands, as plain data; then the view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import dearpygui.dearpygui as dpg
from rapidfuzz import fuzz

from core.base.figures import count
from core.base.result import ErrorInfo
from core.commands.conversations import BuildReport, ConversationHit, build
from core.commands.history.runs import Run
from core.commands.panel.overview import FileState
from core.commands.table import command as named_command
from gui.shell import INDEX, Action, Shell
from gui.state import State
from gui.toolkit.flow_rows import SEPARATOR, FlowRow, RowAction
from gui.toolkit.icons import icon
from gui.toolkit.jobs import Job
from gui.toolkit.keys import LETTERS
from gui.toolkit.layout import ChipRow, lowered
from gui.toolkit.letters import END, shortened
from gui.toolkit.messages import Teach
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, choices, text, text_field
from gui.views.list_view import ENTER, SIDEWAYS, ListView, beside, the_same
from gui.views.looks import ENTRY_KINDS, capital
from gui.views.search_rows import (
    LIMIT,
    PERIODS,
    ROLES,
    Findings,
    Wanted,
    bullet_of,
    chip_kinds,
    find,
    key_of,
    longest,
    row_of,
)
from gui.views.state_line import harvest_button

if TYPE_CHECKING:
    from core.commands.search import Hit
    from core.commands.statements import Found

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
RUNS = 5


class Entry(NamedTuple):
    """One thing that can be chosen: what it is (action, file or run), its row, whose key says that and which one (of a
    file its path), and the words that are looked into."""

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
    return [Entry("file", FlowRow(("file", row.path), row.file, aside, "file-text", "muted"), row.file.lower())
            for row in files if row.exists]  # fmt: skip


def run_entries(runs: Sequence[Run]) -> list[Entry]:
    """The newest runs that can still be taken back."""
    rows = []
    for run in [one for one in runs if not one.undone][:RUNS]:
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


SEARCHED = (" searched, and ", "does not tell that nothing was said")
"""In notes that tell only how much was searched; beside `Findings.searched` they say it twice."""
ACTIONS = (
    RowAction("go", "arrow-right", "Show it where it stands", "Enter"),
    RowAction("read", "book-open", "Read the conversation, at this place", "Enter"),
    RowAction("copy", "copy", "Copy", "Ctrl+C"),
    RowAction("open", "external-link", "Open its file in the editor", "Ctrl+O"),
)


HIDDEN = ("search", "show.")
"""How the names of actions begin that need no line of their own."""
FITTING = 40  # commands that are shown
NARROWED = {"since": PERIODS, "role": ROLES}
"""What can be chosen beside the kind, and how each choice is called."""
PARTS = ("knowledge", "files")
HOMES = {"bullet": "knowledge", "note": "files", "memory": "knowledge"}
COMMANDS = ">"


KEYS = {"Ctrl+C": "copy", "Ctrl+O": "open"}
TEACH = {
    "looking": Teach("hourglass", "Searching…", "The first time it takes a while: what is new is read."),
    "begin": Teach(
        "search",
        "Search everything",
        "Conversations, bullets, notes, memories, context files\nand facts, the best first, each with the reason why.\n"
        'Any text will do: session_store.py, C++, "an exact phrase".\n“>” lists what can be done.',
    ),
    "nothing": Teach(
        "search",
        "Nothing found",
        "No entry has these words, nor anything like them.\nFewer or shorter words find more.",
        action="Clear the search",
        act="clear",
    ),
    "nothing-yet": Teach(
        "search",
        "Nothing found so far",
        "What was searched has none of these words, nor anything like them.\n"
        "“Index the rest” searches the conversations that are left.",
        action="Clear the search",
        act="clear",
    ),
    "filtered": Teach(
        "funnel",
        "Nothing of this kind, or of this time",
        "Other kinds may have it.",
        action="Look in everything",
        act="unfiltered",
    ),
}


class SearchView(ListView):
    """One field and what it finds."""

    name = "search"
    keys = (
        ("/, any letter", "Search"),
        ("Up, Down", "Choose, also while you type"),
        (">", "Commands, files and runs to take back"),
        ("Ctrl+I", "Index the rest: read what is not searched yet"),
        ("Enter", "Show it where it stands; read a conversation at its best turn"),
        ("Left, Right", "Another kind"),
        ("Ctrl+C", "Copy it"),
        ("Ctrl+O", "Open its file in the editor"),
        ("Esc", "Clear the search; again: back to where you were"),
    )
    ACTIONS = ACTIONS
    ACTION_KEYS = KEYS
    TEACH = TEACH

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell)
        self.data = Findings()
        self.chosen = Wanted()
        """What the chips and choices ask for beside the words."""
        self.pending = False
        self._stale = False  # the store has changed since the last question
        self._hits: Mapping[Any, Hit | ConversationHit] = {}
        self._entered = False  # Enter was pressed before the answer came
        self._read: tuple[object, ...] = ()
        self._selecting = 0
        self._building: Job | None = None
        self._beside = False  # what is left can be read whole beside its button
        look.every_tick(self._look_beside)

    def build(self, parent: int) -> None:
        super().build(parent)
        self._show()

    def above(self, parent: int) -> None:
        """The field, chips of the kinds, and what could not be searched."""
        self.filter = text_field(self._look, self._shell.search_place or parent, on_change=self.typed, anew=True,
                                 placeholder=f"{icon('search')}  Search everything      /")  # fmt: skip
        self._look.theme(self.filter, "search")
        chips = ChipRow(self._look, parent, parent)
        self.all = chips.add("All", "accent", partial(self.choose, ""))
        self.at_rest = self.all.item
        self.chips = {
            kind: chips.add(looks.name, looks.color, partial(self._turn, kind)) for kind, looks in ENTRY_KINDS.items()
        }
        line = int(dpg.add_group(horizontal=True, parent=parent))
        self._row = int(dpg.add_group(horizontal=True, parent=line, show=False))
        self.choices = {
            name: choices(self._look, self._row, list(names.values()), partial(self._narrow, name), 150)
            for name, names in NARROWED.items()
        }
        self._waits = line = int(dpg.add_group(horizontal=True, parent=line, show=False))
        self.build_all = Button(self._look, line, "", self._build, icon="messages-square", kind="secondary",
                                tip="Read every conversation that is not searched yet, in the background",
                                shortcut="Ctrl+I")  # fmt: skip
        self._built = text(self._look, lowered(self._look, line, 7), "", "small", "muted", fit=END)
        self.add_remark(parent)

    def waits(self, _state: State) -> bool:
        """Never: it reads by itself what it shows."""
        return False

    def refresh(self, state: State) -> None:
        """Search again when the store has changed."""
        read = (state.home, state.snapshot, *(state.of(part) for part in PARTS))
        if not the_same(read, self._read):
            self._read = read
            self._ask(again=True)

    def opened(self) -> None:
        """Whoever comes here wants to search: what is typed goes into the field."""
        self._look.keys_to(self.filter)

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the view; Enter and the arrows also while somebody types."""
        if key == "Ctrl+I" and self.data.waits:
            self._build()
            return True
        if key == "Esc" and not self.filtered:
            self._shell.run("search.leave")
            return True
        if key in ENTER:
            words = str(dpg.get_value(self.filter))
            if words != self.words:
                self.typed(words)  # a quick hand: the field has not told yet
            if not self.commands and (self.pending or self.wanted != self.data.wanted):
                self._entered = True  # the rows are still those of other words
                return True
            row = self.list.current or next(iter(self.list.rows), None)
            if row is not None:
                self.open(row)
            return row is not None
        return super().press(key, typing)

    def do(self, key: str) -> bool:
        """A letter goes into the field; another kind."""
        if key in LETTERS:
            self._look.keys_to(self.filter, self._look.words)
        elif key in SIDEWAYS:
            self.choose(beside(["", *chip_kinds(self.data)], self.chosen.kind, SIDEWAYS[key]))
        else:
            return key in LETTERS
        return True

    # --- asking ---

    def typed(self, words: str) -> None:
        self.words = words
        if self.commands:
            self._show()
        else:
            self._ask()

    @property
    def commands(self) -> bool:
        """Whether commands are looked for, not knowledge."""
        return self.words.lstrip().startswith(COMMANDS)

    def _entries(self) -> list[FlowRow]:
        """The commands that fit what is typed, the best first."""
        shell = self._shell
        actions = {name: one for name, one in shell.actions.items() if not name.startswith(HIDDEN)}
        button = harvest_button(shell.state)
        if button.at_work:
            actions["harvest"] = replace(actions["harvest"], words=f"Harvest: {button.at_work}", shortcut=button.tip)
        rows = action_entries(actions.values())
        if shell.state.snapshot is not None:
            rows += file_entries(shell.state.snapshot.overview.files) + run_entries(shell.state.snapshot.overview.runs)
        return search(rows, self.words.lstrip()[1:], FITTING)

    @property
    def filtered(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.words or self.chosen.narrow)

    @property
    def wanted(self) -> Wanted:
        """What is asked for by words and chips together."""
        return replace(self.chosen, query=self.words)

    def clear(self) -> None:
        """Search for nothing."""
        self.chosen = Wanted()
        super().clear()

    def choose(self, kind: str) -> None:
        """Only this kind, or with "" all."""
        self._switch("kind", kind)

    def _narrow(self, name: str, told: str) -> None:
        self._switch(name, next((value for value, words in NARROWED[name].items() if words == told), ""))

    def _switch(self, name: str, value: str) -> None:
        """Ask for something else ("": for all)."""
        self.chosen = self.chosen.but(name, value)
        self._name_chips()
        self._ask()

    def unfiltered(self) -> None:
        """The words alone."""
        self.chosen = Wanted()
        self._ask()

    def _turn(self, kind: str) -> None:
        """A click on its chip: this kind alone, or all again."""
        self.choose(kind if self.chips[kind].on else "")

    def _ask(self, again: bool = False) -> None:
        """Search for what is wanted now; one question at a time, and only the answer to the last one is shown."""
        wanted = self.wanted
        self._stale = self._stale or again
        waits = self.pending or self.commands or (not self._stale and wanted == self.data.wanted)
        self.pending = self.pending or not waits
        if not self.list.rows:
            self.arrange(keep=True)  # other words than before may stand there
        if waits:
            return
        again, self._stale = self._stale, False
        workspace, project = self._shell.workspace, self._shell.choice("project")

        def done(found: Findings) -> None:
            self.pending = False
            if wanted != self.wanted:
                self._ask(again=True)
                return
            kept = again and wanted == self.data.wanted
            self.data = found
            self._show(keep=kept)
            if self._entered:
                self._entered = False
                self.press("Enter", True)
            if self._stale:
                self._ask()

        def failed(error: ErrorInfo) -> None:
            done(Findings(wanted, notes=(str(error),)))

        self._shell.submit("The search", lambda _job: find(workspace, wanted, project), done, failed=failed)

    def _build(self) -> None:
        """Read all conversations that are not searched yet, on a worker of its own; or stop that."""
        if self._building is not None:
            self._building.cancel()
            return
        workspace = self._shell.workspace

        def ended() -> None:
            self._building = None
            self._show_waiting()

        def done(report: BuildReport) -> None:
            self._shell.toast(f"{count(report.conversations, 'conversation')} can be searched")
            self._ask(again=True)

        def report(news: Any) -> None:
            dpg.set_value(self._built, f"{news.done:,} of {news.total:,}")

        self._building = self._shell.submit(
            "Reading the conversations",
            lambda job: build(workspace, progress=job.report, cancelled=lambda: job.cancelled),
            done, first=ended, progress=report, lane=INDEX,
        )  # fmt: skip
        self._show_waiting()

    def _show_waiting(self) -> None:
        """The button that reads what is not searched yet, while there is something."""
        going = self._building is not None
        dpg.configure_item(self._waits, show=going or (bool(self.data.waits) and not self.commands))
        self.build_all.set_label("Stop" if going else "Index the rest", "circle-stop" if going else "messages-square")
        if not going:
            dpg.set_value(self._built, self.data.waits)

    # --- what is shown ---

    def _show(self, keep: bool = False) -> None:
        self._name_chips()
        self._show_waiting()
        self._tell_searched()
        self._hits = {key_of(hit): hit for hit in self.data.hits}
        if not keep or self.list.selected not in self._hits:
            self.list.selected = None
        self.arrange(keep)

    def _tell_searched(self) -> None:
        """What was searched; and what is left, where that cannot be read whole beside the button."""
        left = self.data.left if not self._beside else ""
        scope = ["; ".join(filter(None, (self.data.searched, left)))] if self.data.searched else []
        notes = [capital(note) for note in self.data.notes if not (scope and any(one in note for one in SEARCHED))]
        told = [] if self.commands else [*notes, *scope]
        self.tell([SEPARATOR.join(told)] if told else [], calm=not notes and not left)

    def _look_beside(self) -> bool:
        """Before each frame: tell what is left at the other place when the room beside the button has changed."""
        if not self.data.waits or not dpg.is_item_visible(self.remark):
            return False
        whole = self._building is not None or dpg.get_value(self._built) == self.data.waits
        beside = whole and dpg.is_item_visible(self._built)
        if beside == self._beside:
            return False
        self._beside = beside
        self._tell_searched()
        return True

    def rows(self) -> Sequence[FlowRow]:
        """What was found; or the commands that fit."""
        return self._entries() if self.commands else [row_of(hit) for hit in self.data.hits]

    def teach(self) -> str:
        if self.commands:
            return "nothing"
        if not (self.wanted.asks and (self.pending or self.data.wanted.asks)):
            return "begin"
        if self.pending:
            return "looking"
        return "filtered" if self.data.wanted.narrow else "nothing-yet" if self.data.waits else "nothing"

    def _name_chips(self) -> None:
        found, kinds = self.data, chip_kinds(self.data)
        asks = found.wanted.asks and not self.commands
        among = sum(found.counts.values())
        dpg.configure_item(self.all.item, show=asks and bool(among or self.chosen.kind))
        self.all.name = "Best" if among >= LIMIT else "All"  # there are more, and these are said to be the best
        self.all.set_count(among)
        self.all.set_on(not self.chosen.kind)
        for kind, chip in self.chips.items():
            dpg.configure_item(chip.item, show=asks and (kind in kinds or kind == self.chosen.kind))
            chip.set_count(found.counts.get(kind, 0))
            chip.set_on(kind == self.chosen.kind)
        dpg.configure_item(self._row, show=asks)
        for name, item in self.choices.items():
            dpg.set_value(item, NARROWED[name][getattr(self.chosen, name)])

    # --- what can be done ---

    def act(self, name: str, row: FlowRow) -> None:
        hit = self._hits.get(row.key)
        if hit is None:
            return
        if name == "copy":
            self._shell.copy(hit.text if isinstance(hit, ConversationHit) else hit.entry.text, "Copied what was found")
        elif name == "open":
            path = hit.path.partition("#")[0] if isinstance(hit, ConversationHit) else hit.entry.path
            self._shell.open_path(path)
        else:
            self.open(row)

    def open(self, row: FlowRow) -> None:
        """Do a command; open the view in which something stands, with it selected."""
        if isinstance(row.key, tuple):
            self._do(row.text, *row.key)
            return
        hit = self._hits.get(row.key)
        if hit is None:
            return
        if isinstance(hit, ConversationHit):
            self._shell.read(name=hit.path or hit.name, turn=hit.turn, words=longest(self.data.wanted.query, hit))
            return
        view = HOMES.get(hit.entry.kind, "")
        if f"view.{view}" not in self._shell.actions:
            self.select(row)
            return
        self._look_at(row, lambda: self._shell.run(f"view.{view}"))

    def _do(self, title: str, kind: str, key: str) -> None:
        shell = self._shell
        shell.run("search.leave")
        if kind == "action":
            shell.run(key)
        elif kind == "file":
            shell.open_path(key)
        else:
            words = "Its lines leave the files and its conversations come back from the trash."
            words = f"{title[5:]}\n\n{words} What you changed since stays."
            shell.ask("Undo this run?", words, "Undo it", lambda: shell.undo(key), kind="danger")

    def select(self, row: FlowRow) -> None:
        """Show what was found beside the list."""
        self._look_at(row)

    def _look_at(self, row: FlowRow, then: Callable[[], object] | None = None) -> None:
        """Show a hit in the inspector, and do something else once it is selected."""
        hit, shell = self._hits.get(row.key), self._shell
        self._selecting += 1
        mine = self._selecting
        if hit is None:
            return
        self.list.select(row.key)
        if isinstance(hit, ConversationHit):
            shell.select("talk", hit.path or hit.name, hit.turn)
            return
        entry, workspace = hit.entry, shell.workspace
        inside = Path(entry.path).is_relative_to(workspace.paths.knowledge)
        if entry.kind not in ("bullet", "note") or not inside:
            shell.select("file", Path(entry.path).relative_to(workspace.paths.knowledge).as_posix() if inside
                         else entry.path)  # fmt: skip
            if then is not None:
                then()
            return

        def looked(found: Found | None) -> None:
            if found is None:
                shell.toast("It is not there any more", icon="info", color="accent", seconds=3.0)
                self._ask(again=True)
                return
            shell.select("bullet", found.file, found.bullet.line, found.bullet.raw)
            if then is not None:
                then()

        shell.submit("What was found", lambda _job: bullet_of(workspace, entry), looked,
                     wanted=lambda: mine == self._selecting)  # fmt: skip
