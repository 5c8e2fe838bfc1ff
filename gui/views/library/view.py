"""The view of the library: ask it and say how it served, its documents, what it learned, and a walk among concepts.

Everything is asked of `core/commands/panel/library.py` on a worker; nothing of the library's packages is loaded before
the view is opened. What the rows say is in `rows.py`, what stands beside them is drawn by `sheet.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.figures import count
from core.base.installed import install_command
from core.base.result import KnowledgeError, Result
from core.commands.library.documents import library_remove, library_restore
from core.commands.library.ingest import library_ingest
from core.commands.library.use import library_consolidate, library_undo
from core.commands.panel import library as commands
from core.commands.workspace import Workspace
from gui.shell import INGEST, LIBRARY, Shell
from gui.state import State, Step
from gui.toolkit.charts import Progress
from gui.toolkit.flow_rows import FlowRow, RowAction, matching
from gui.toolkit.icons import icon
from gui.toolkit.jobs import Job
from gui.toolkit.layout import ChipRow, Columns, Pane, box, lowered
from gui.toolkit.letters import END
from gui.toolkit.styles import FRAME
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, text, text_field
from gui.views.library.rows import (
    CONCEPTS,
    DOCUMENTS,
    KEY_OF,
    LEARNED,
    OUTCOME_LOOKS,
    PAGES,
    PERIODS,
    TASKS,
    LibraryPage,
    everything,
    named,
    sheet,
)
from gui.views.library.sheet import Sheet
from gui.views.list_view import ENTER, SIDEWAYS, ListView, Teach, beside
from gui.views.looks import capital

MISSING = "no-library-support"
ANSWERS = "answers"
"""The name of what stands above the answers to a question."""
HINTS = {DOCUMENTS: "Ask the library, then Enter", LEARNED: "Filter by word", CONCEPTS: "A concept"}
ACTIONS = (
    *(RowAction(name, "", f"It served: {looks.name.lower()}", KEY_OF[name], KEY_OF[name])
      for name, looks in OUTCOME_LOOKS.items()),
    RowAction("walk", "shapes", "What stands around it", "G"),
    RowAction("open", "external-link", "Open it in its program", "Ctrl+O"),
    RowAction("archive", "archive", "Archive its document: kept, and not found any more", "Delete"),
    RowAction("restore", "archive-restore", "Bring it back", "R"),
    RowAction("undo", "undo-2", "Take it back: an outcome that you said, a consolidation", "U"),
    RowAction("copy", "copy", "Copy", "Ctrl+C"),
)  # fmt: skip
ACTION_KEYS: Mapping[str, str] = {
    **{key: name for name, key in KEY_OF.items()},
    "G": "walk", "Ctrl+O": "open", "Delete": "archive", "R": "restore", "U": "undo", "Ctrl+C": "copy",
}  # fmt: skip
TEACH = {
    DOCUMENTS: Teach("library", "No documents yet", "Files, folders and addresses become passages that answer\n"
                     "questions, and are found by what they were good for.", command="knowledge library ingest PATH",
                     action="Add documents…", act="begin_add"),
    "nothing": Teach("search", "Nothing found", "No passage answers this. Fewer or other words find more.",
                     action="Back to the documents", act="clear"),
    LEARNED: Teach("lightbulb", "Nothing to reflect on yet", "Ask the library, and say how the answers served: "
                   "W, P, M or L.\nFrom five uses on a passage gets a profile."),
    CONCEPTS: Teach("shapes", "No such concept", "Concepts come with the documents."),
    "asks": Teach("search", "No document is called so", "Enter asks what stands in them."),
    "filter": Teach("funnel", "No row has these words", "Fewer words show more.", action="Clear the filter",
                    act="clear"),
    "missing": Teach("package", "The library is not installed", "It needs packages that come with the extra 'library'.",
                     command=install_command("library")),
    "waiting": Teach("loader", "Looking…", "The library is being read."),
}  # fmt: skip


class LibraryView(ListView[LibraryPage]):
    """Documents and the answers in them; once there are some, what served, and a walk among concepts. A sheet stands
    beside the list."""

    name = "library"
    keys = (
        ("Left, Right", "Another page"),
        ("/", "Ask, or filter"),
        ("Enter", "Ask; walk on: what stands around it"),
        ("Esc", "From the answers back to the documents"),
        ("W, P, M, L", "The passage was a win, partial, a miss, misleading"),
        ("N", "Say why, with the next outcome; add documents"),
        ("T", "Another kind of task, for this question"),
        ("G", "From a passage into the graph"),
        ("Backspace", "Walk back"),
        ("D", "Reflect on another period"),
        ("Ctrl+Enter", "Consolidate, after the preview"),
        ("U", "Take back: the outcome that you said, a consolidation"),
        ("Delete, R", "Archive a document, bring it back"),
    )
    DATA = LibraryPage
    ACTIONS = ACTIONS
    ACTION_KEYS = ACTION_KEYS
    TEACH = TEACH
    FILTER = "Ask the library"

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell, LibraryPage())
        self.missing = False
        self.job: Job | None = None
        self._home = ""
        self._asked = 0
        self._waits = 0  # questions to the library without an answer yet
        self._words: dict[str, str] = {}
        self._chosen: dict[str, object] = {}
        self._recorded: dict[str, str] = {}  # chunk -> the id of what was recorded of it since the question
        self._session = f"panel-{datetime.now():%Y%m%d-%H%M%S}"

    # --- building ---

    def build(self, parent: int) -> None:
        """Make chips, columns, and what belongs to single pages."""
        look = self._look
        chips = ChipRow(look, parent, parent)
        self.chips = {
            page: chips.add(name, "accent", partial(self._page_clicked, page)) for page, name in PAGES.items()
        }
        holder = box(look, parent, "clear")
        columns = Columns(look, holder, [Pane("list", 0, least=250, good=330), Pane("sheet", 470, least=230)])
        self.columns = columns
        super().build(columns.panes[0].item)
        self.at_rest = int(dpg.get_item_parent(self.list.holder) or 0)
        self.sheet = Sheet(look, columns.panes[1].item)
        self._show()

    def below(self, parent: int) -> None:
        """The lines of single pages, below the field; what could not be done as asked."""
        look = self._look
        self.lines: dict[str, int] = {}
        line = self.lines[ANSWERS] = int(dpg.add_group(parent=parent))
        self.note = text_field(look, line, placeholder=f"{icon('pen')}  Why? It goes with the next outcome      N")
        row = int(dpg.add_group(horizontal=True, parent=line))
        self.kind = Button(look, row, "Any task", self.next_task, icon="target",
                           tip="The kind of task that the answers are for", shortcut="T")  # fmt: skip
        self.task = text(look, lowered(look, row, 7), "", "small", "hint", fit=END)
        line = self.lines[DOCUMENTS] = int(dpg.add_group(parent=parent))
        self.path = text_field(
            look, line, placeholder=f"{icon('plus')}  Add a file, folder or address, then Enter      N"
        )
        row = self._going = int(dpg.add_group(horizontal=True, parent=line, show=False))
        self.stop = Button(look, row, "Stop", self.ingest, icon="circle-stop", tip="What was taken in stays")
        self.bar = Progress(look, lowered(look, row, 11), width=110)
        self.progress = text(look, lowered(look, row, 7), "", "small", "muted", fit=END)
        line = self.lines[LEARNED] = int(dpg.add_group(horizontal=True, parent=parent))
        self.period = Button(look, line, PERIODS[0], self.next_period, icon="hourglass",
                             tip="What was asked and recorded in this time", shortcut="D")  # fmt: skip
        self.apply = Button(look, line, "Consolidate", self.consolidate, icon="layers",
                            tip="Make these changes; they can be taken back", shortcut="Ctrl+Enter")  # fmt: skip
        line = self.lines[CONCEPTS] = int(dpg.add_group(horizontal=True, parent=parent))
        self.back = Button(look, line, "Back", self.walk_back, icon="arrow-left", tip="Walk back", shortcut="Backspace")
        self.add_remark(parent)

    # --- state ---

    def waits(self, _state: State) -> bool:
        """Never: it reads by itself what it shows."""
        return False

    def refresh(self, state: State) -> None:
        """Another home has another library."""
        if state.home != self._home:
            first, self._home = not self._home, state.home
            if not first:
                self._words, self._chosen, self.missing = {}, {}, False
                self.data = LibraryPage(self.data.page)
                self.opened()

    def opened(self) -> None:
        """Look at what the open page shows."""
        self._read()
        self._name_page()

    def put(self, **parts: Any) -> None:
        """Exchange parts of the page, and show it."""
        self.data = replace(self.data, **parts)
        self._show(keep=True)

    def _show(self, keep: bool = False) -> None:
        self.arrange(keep)
        self._name_page()
        blocks = [] if self.missing else sheet(self.data)
        if self.columns.shows("sheet") != bool(blocks or self.list.rows):
            self.columns.show("sheet", bool(blocks or self.list.rows))
        self.sheet.set(blocks)

    def _call(self, name: str, ask: Callable[[Workspace], Any], done: Callable[[Any], object]) -> None:
        """Ask the library on its worker; an answer for another home is put aside."""
        workspace, home = self._shell.workspace, self._shell.state.home
        self._waits += 1

        def answered(result: Result[Any]) -> None:
            self._waits -= 1
            if home == self._shell.state.home:
                if isinstance(result, KnowledgeError):
                    self._failed(result)
                else:
                    done(result.value)
            self._show(keep=True)

        self._shell.submit(name, lambda _job: ask(workspace), answered, lane=LIBRARY)

    def _failed(self, result: KnowledgeError) -> None:
        """Missing packages are told in the place of the rows; that there is no library yet is no error here."""
        if result.error.code == MISSING:
            self.missing = True
            self._name_page()
        elif result.error.code != "no-library":
            self._shell.error(result.error)

    def _read(self) -> None:
        """What the open page shows, again."""
        page, days = self.data.page, self.data.days
        if page == DOCUMENTS:
            self._call("The documents", commands.documents, lambda found: self.put(documents=found.documents))
        elif page == LEARNED:
            self._call("What was learned",
                       lambda workspace: (commands.plots(workspace, days=days), *commands.preview_and_runs(workspace)),
                       lambda found: self.put(plots=found[0], plan=found[1], runs=found[2]))  # fmt: skip
        elif self.data.around is None:
            self._find_concepts()

    # --- pages ---

    def _page_clicked(self, page: str, _on: bool) -> None:
        self.open_page(page)

    def open_page(self, page: str) -> None:
        """Another page; what stood in the field and was chosen on it is there again."""
        before = self.data
        self._words[before.page], self._chosen[before.page] = before.words, before.chosen
        self.words = self._words.get(page, "")
        self.data = replace(before, page=page, words=self.words, chosen=self._chosen.get(page))
        self.list.selected = self.data.chosen
        dpg.set_value(self.filter, self.words)
        self._name_page()
        self._read()
        self._show()

    def _name_page(self) -> None:
        page, asked = self.data.page, self.data.answered is not None
        there = bool(self.data.documents or self.data.dossiers) or page != DOCUMENTS
        for name, chip in self.chips.items():
            dpg.configure_item(chip.item, show=there)  # a page shows what documents gave: before them there is one
            chip.set_on(name == page)
        stands = ANSWERS if page == DOCUMENTS and asked else page
        for name, line in self.lines.items():
            dpg.configure_item(line, show=name == stands and not self.missing)
        self.back.enable(self.data.around is not None)
        sign = "funnel" if page == LEARNED else "search"
        self._look.fitting.hint(self.filter, f"{icon(sign)}  {HINTS[page]}      /", self._look.px(FRAME[0]))

    def rows(self) -> tuple[Sequence[FlowRow], int]:
        made = [] if self.missing else everything(self.data)
        asks = self.data.page == CONCEPTS or self.asked  # a question, or the name of a concept, filters nothing
        return made if asks else matching(made, self.data.words), len(made)

    @property
    def asked(self) -> bool:
        """Whether answers stand in the list."""
        return self.data.page == DOCUMENTS and self.data.answered is not None

    def teach(self, total: int) -> str:
        if self.missing:
            return "missing"
        if self._waits:
            return "waiting"
        if self.asked:
            return "nothing"
        return ("asks" if self.data.page == DOCUMENTS else "filter") if total else self.data.page

    # --- keys and choosing ---

    def press(self, key: str, typing: bool) -> bool:
        """Enter in a field does what the field is for."""
        if key in ENTER and self._entered():
            return True
        if typing and key == "Esc" and self._aside():
            dpg.focus_item(self.at_rest)
            return True
        return super().press(key, typing)

    def _aside(self) -> int:
        """The field of the open page beside the first one, where that has the keyboard; else 0."""
        field = (self.note if self.asked else self.path) if self.data.page == DOCUMENTS else 0
        return field if field and dpg.is_item_focused(field) else 0  # a hidden one keeps what it was told last

    def _entered(self) -> bool:
        aside, page = self._aside(), self.data.page
        if aside == self.path:
            self.ingest()
        elif aside:
            dpg.focus_item(self.at_rest)  # the note waits there for its outcome
        elif not dpg.is_item_focused(self.filter):  # Enter has taken the keyboard from it already, not the focus
            return False
        elif page == DOCUMENTS:
            dpg.focus_item(self.at_rest)
            self.ask(str(dpg.get_value(self.filter)))
        elif page == CONCEPTS and self.list.rows:
            dpg.focus_item(self.at_rest)
            self._walk(str((self.list.current or self.list.rows[0]).key))
        else:
            return False
        return True

    def do(self, key: str) -> bool:
        """Keys of the page; those of a row are in ACTION_KEYS."""
        page = self.data.page
        if key in SIDEWAYS and (self.data.documents or self.data.dossiers):
            self.open_page(beside([*PAGES], page, SIDEWAYS[key]))
        elif key == "N" and page == DOCUMENTS:
            self._look.keys_to(self.note if self.asked else self.path)
        elif key == "T" and self.asked:
            self.next_task()
        elif key == "D" and page == LEARNED:
            self.next_period()
        elif key == "Backspace" and page == CONCEPTS:
            self.walk_back()
        elif key in ("Ctrl+Enter", "Ctrl+Keypad Enter") and page == LEARNED:
            self.consolidate()
        else:
            return False
        return True

    def typed(self, words: str) -> None:
        """Other words: a filter; a question waits for Enter, a concept is looked up at once."""
        self.words = words
        self.data = replace(self.data, words=words)
        if self.data.page == CONCEPTS and (words or self.data.around is None):
            self._find_concepts()
        elif not self.asked:
            self._show()

    def clear(self) -> None:
        """Everything again; on the first page the documents instead of answers."""
        if self.asked:
            self.data = replace(self.data, answered=None, said={}, chosen=None)
            self.list.selected = None
            self.tell(())
        super().clear()
        self._show()

    def select(self, row: FlowRow) -> None:
        """Show what belongs to it at the right."""
        self.data = replace(self.data, chosen=row.key)
        self.sheet.set(sheet(self.data))

    def open(self, row: FlowRow) -> None:
        """Walk on, or show."""
        self.list.select(row.key)
        self.select(row)
        if self.data.page == CONCEPTS:
            self._walk(str(row.key))

    def act(self, name: str, row: FlowRow) -> None:
        if name in OUTCOME_LOOKS:
            self.mark(name, str(row.key))
        elif name == "walk":
            self._begin_walk(row)
        elif name == "undo" and isinstance(row.key, tuple):
            self.take_back(str(row.key[1]))
        elif name == "undo":
            self.unmark(str(row.key))
        elif name in ("archive", "restore"):
            self._set_status(name, str(row.key[1] if isinstance(row.key, tuple) else row.key))
        elif name == "open":
            path = next(str(one["path"]) for one in self.data.documents if one["id"] == row.key)
            self._shell.open_path(path)
        else:
            one = next((one for one in self.data.documents if one["id"] == row.key), None)
            told = commands.dossier_text(self.data.dossier) if self.data.dossier is not None else ""
            self._shell.copy(str(one["path"]) if one is not None else told or row.text)

    # --- find and say ---

    def ask(self, query: str) -> None:
        """Retrieve; the answer to the last question is shown."""
        if not query.strip():
            return
        self._asked += 1
        mine, session, task = self._asked, self._session, self.data.task
        self.words = query
        dpg.set_value(self.filter, query)
        self.data = replace(self.data, words=query)

        def done(found: Any) -> None:
            if mine != self._asked:
                return
            dossiers, retrieved = found.retrieved.dossiers, found.retrieved
            self._recorded = {}
            self.data = replace(self.data, answered=found, said={},
                                chosen=dossiers[0].chunk.id if dossiers else None)  # fmt: skip
            self.list.selected = self.data.chosen
            how = "inferred" if retrieved.inferred else "as asked"
            dpg.set_value(self.task, f"{count(len(dossiers), 'passage')} for {named(retrieved.task_type)}, {how}")
            self.tell(found.warnings)

        self._call("The question", lambda workspace: commands.search(workspace, query, task, session=session), done)

    def next_task(self) -> None:
        """The next kind of task; the question is asked again for it."""
        task = beside(TASKS, self.data.task, 1)
        self.data = replace(self.data, task=task)
        self.kind.set_label(capital(named(task)) if task else "Any task", "target")
        if self.data.answered is not None:
            self.ask(self.data.answered.retrieved.query)

    def next_period(self) -> None:
        """The next period of the reflection."""
        days = beside([*PERIODS], self.data.days, 1)
        self.data = replace(self.data, days=days)
        self.period.set_label(PERIODS[days], "hourglass")
        self._read()

    def mark(self, outcome: str, chunk: str) -> None:
        """Record how a passage served, with what stands in the field for it. The same outcome twice counts once, and
        another one replaces it."""
        found = self.data.answered
        if found is None or self.data.said.get(chunk) == outcome:
            return
        notes, retrieved, session = str(dpg.get_value(self.note)).strip(), found.retrieved, self._session
        before, instead, recorded = self.data.said, self._recorded.get(chunk, ""), self._recorded
        self.put(said={**before, chunk: outcome})

        def record(workspace: Workspace) -> Any:
            try:
                return commands.mark(
                    workspace, outcome, chunk, retrieved.id, retrieved.task_type, notes, session, instead=instead
                )
            except KnowledgeError:
                self._look.jobs.post(lambda: self.put(said=before))
                raise

        def done(trace: Any) -> None:
            recorded[chunk] = trace.id
            dpg.set_value(self.note, "")
            why = " with its reason" if notes else ""
            looks = OUTCOME_LOOKS[outcome]
            self._shell.toast(f"Recorded{why}: {outcome}", icon=looks.icon, color=looks.color, seconds=2.5)

        self._call("The outcome", record, done)

    def unmark(self, chunk: str) -> None:
        """Take back what was said of a passage since the question was asked."""
        trace = self._recorded.pop(chunk, "")
        if not trace:
            return

        def done(_trace: Any) -> None:
            self.put(said={one: outcome for one, outcome in self.data.said.items() if one != chunk})
            self._shell.toast("Taken back: it counts no more", icon="undo-2", seconds=2.5)

        self._call("The outcome", lambda workspace: commands.unmark(workspace, trace), done)

    # --- documents ---

    def begin_add(self) -> None:
        """Go to the field for a path."""
        if self.asked:
            self.clear()
        self._look.keys_to(self.path)

    def ingest(self) -> None:
        """Take in what stands in the field, on a worker of its own; or stop that."""
        if self.job is not None:
            self.job.cancel()
            return
        path, workspace = str(dpg.get_value(self.path)).strip(), self._shell.workspace
        if not path:
            self._look.keys_to(self.path)
            return

        def done(result: Result[Any]) -> None:
            self.job = None
            dpg.configure_item(self._going, show=False)
            dpg.set_value(self.progress, "")
            if isinstance(result, KnowledgeError):
                if result.error.code != "cancelled":
                    self._failed(result)
                self._show(keep=True)
                return
            report = result.value
            said = ", ".join(f"{number:,} {what}" for what, number in report.counts.items() if number)
            skipped = sum(report.skipped.values())
            parts = [
                said or "nothing new",
                f"{report.unchanged:,} unchanged" if report.unchanged else "",
                f"{skipped:,} left out" if skipped else "",
                "stopped before the rest" if report.stopped else "",
            ]
            self._shell.toast(f"Documents: {', '.join(filter(None, parts))}")
            if report.errors:
                self._shell.error(report.errors[0])
            else:
                dpg.set_value(self.path, "")
            self.tell((*report.warnings, *(str(one) for one in report.errors[1:])))
            self._read()

        def report(news: Any) -> None:
            self.bar.set(news.done / news.total if news.total else 0.0)
            dpg.set_value(self.progress, f"{news.done:,} of {news.total:,}  {news.name}")

        self.bar.set(0.0)
        dpg.configure_item(self._going, show=True)
        self.job = self._shell.submit(
            "Taking documents in",
            lambda job: library_ingest(
                workspace, [path], progress=job.report, cancelled=lambda: job.cancelled
            ),
            done, progress=report, lane=INGEST,
        )  # fmt: skip

    def _set_status(self, act: str, which: str) -> None:
        command = library_remove if act == "archive" else library_restore

        def done(changed: Any) -> None:
            other = "restore" if act == "archive" else "archive"
            self._shell.toast(f"{'Archived' if act == 'archive' else 'Brought back'}: {changed.title}", action="Undo",
                              on_action=lambda: self._set_status(other, changed.id))  # fmt: skip
            self._read()

        self._call("The document", lambda workspace: command(workspace, which), done)

    # --- learn ---

    def consolidate(self) -> None:
        """Make the changes of the preview."""
        if self.data.plan is None or not self.data.plan.changes:
            self._shell.toast("Nothing would change", icon="info", color="accent", seconds=2.5)
            return
        self.apply.enable(False)

        def act(workspace: Workspace) -> Any:
            try:
                return library_consolidate(workspace)
            finally:
                self._look.jobs.post(lambda: self.apply.enable(True))

        def done(made: Any) -> None:
            run = made.run_id
            if run:
                self._shell.history.did(Step(lambda: self.take_back(run), run))
            self._shell.toast(f"Consolidated: {count(len(made.changes), 'change')}", action="Undo" if run else "",
                              on_action=(lambda: self.take_back(run)) if run else None)  # fmt: skip
            self.tell(made.warnings)
            self._read()

        self._call("The consolidation", act, done)

    def take_back(self, run: str) -> None:
        """Undo a consolidation."""

        def done(undone: Any) -> None:
            self._shell.history.drop(run)
            kept = f", {len(undone.kept)} stayed, changed since" if undone.kept else ""
            self._shell.toast(f"Taken back: {count(undone.changed, 'change')}{kept}", icon="undo-2")
            self._read()

        self._call("The undo", lambda workspace: library_undo(workspace, run), done)

    # --- walk ---

    def _find_concepts(self) -> None:
        words = self.data.words

        def done(found: Any) -> None:
            if words == self.data.words:
                self.put(concepts=tuple(found), around=None, way=())

        self._call("The concepts", lambda workspace: commands.concepts(workspace, words), done)

    def _begin_walk(self, row: FlowRow) -> None:
        key = row.key
        which = str(key[1] if isinstance(key, tuple) else key)
        if self.data.page != CONCEPTS:
            self._words[CONCEPTS], self._chosen[CONCEPTS] = "", None
            self.data = replace(self.data, around=None, way=())
            self.open_page(CONCEPTS)
        self._walk(which)

    def _walk(self, which: str, back: bool = False) -> None:
        """Stand at another node; the way there is remembered."""
        here = self.data.around
        if here is not None and here.centre.id == which:
            return

        def done(found: Any) -> None:
            way = self.data.way[:-1] if back else (*self.data.way, here.centre) if here is not None else ()
            dpg.set_value(self.filter, "")
            self.words = ""
            self.list.selected = None
            self.put(around=found, way=way, words="", chosen=None)

        self._call("The way there", lambda workspace: commands.neighbourhood(workspace, which), done)

    def walk_back(self) -> None:
        """One step back; from the first to the list of concepts."""
        if self.data.way:
            self._walk(self.data.way[-1].id, back=True)
        elif self.data.around is not None:
            self.data = replace(self.data, around=None, chosen=None)
            self._find_concepts()
