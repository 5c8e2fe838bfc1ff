"""The view of the library: its documents; ask them, and say how the answers served.

Everything is asked on a worker; nothing of the library's packages is loaded before the view is opened. What the rows
say is in `rows.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.choices import task_words
from core.base.figures import count
from core.base.installed import install_command
from core.base.result import ErrorInfo, KnowledgeError
from core.commands.library.documents import library_remove, library_restore
from core.commands.library.ingest import library_ingest
from core.commands.library.use import library_record, library_retrieve
from core.commands.panel.overview import documents, dossier_text
from core.commands.workspace import Workspace
from gui.shell import INGEST, LIBRARY, Shell
from gui.state import State
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow, RowAction, matching
from gui.toolkit.icons import icon
from gui.toolkit.jobs import Job
from gui.toolkit.layout import Columns, box, lowered
from gui.toolkit.letters import END
from gui.toolkit.messages import Teach
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, Progress, text, text_field
from gui.views.library.rows import KEY_OF, OUTCOME_LOOKS, LibraryPage, everything, sheet
from gui.views.list_view import ENTER, ListView

MISSING = "no-library-support"
ACTIONS = (
    *(RowAction(name, looks.icon, f"It served: {looks.name.lower()}", KEY_OF[name])
      for name, looks in OUTCOME_LOOKS.items()),
    RowAction("open", "external-link", "Open it in its program", "Ctrl+O"),
    RowAction("archive", "archive", "Archive its document: kept, and not found any more", "Delete"),
    RowAction("restore", "archive-restore", "Bring it back", "R"),
    RowAction("undo", "undo-2", "Take it back: the outcome that you said", "U"),
    RowAction("copy", "copy", "Copy", "Ctrl+C"),
)  # fmt: skip
TEACH = {
    "documents": Teach("library", "No documents yet", "Files, folders and addresses become passages that answer\n"
                     "questions, and are found by what they were good for.", command="knowledge library ingest PATH",
                     action="Add documents…", act="begin_add"),
    "nothing": Teach("search", "Nothing found", "No passage answers this. Fewer or other words find more.",
                     action="Back to the documents", act="clear"),
    "asks": Teach("search", "No document is called so", "Enter asks what stands in them."),
    "missing": Teach("package", "The library is not installed", "It needs packages that come with the extra 'library'.",
                     command=install_command("library")),
    "waiting": Teach("loader", "Looking…", "The library is being read."),
}  # fmt: skip


class LibraryView(ListView):
    """Documents and the answers in them; what is chosen stands beside the list."""

    name = "library"
    keys = (
        ("/", "Ask, or find a document by its title"),
        ("Enter", "Ask"),
        ("Esc", "From the answers back to the documents"),
        ("W, P, M, L", "The passage was a win, partial, a miss, misleading"),
        ("U", "Take back the outcome that you said"),
        ("N", "Add documents"),
        ("Delete, R", "Archive a document, bring it back"),
    )
    ACTIONS = ACTIONS
    ACTION_KEYS: Mapping[str, str] = {one.shortcut: one.name for one in ACTIONS}
    TEACH = TEACH

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell)
        self.data = LibraryPage()
        self.missing = False
        self.job: Job | None = None
        self._home, self._returns = shell.state.home, shell.state.returns
        self._asked = 0
        self._waits = 0  # questions to the library without an answer yet
        self._recorded: dict[str, str] = {}  # chunk -> the id of what was recorded of it since the question
        self._session = f"panel-{datetime.now():%Y%m%d-%H%M%S}"

    # --- building ---

    def build(self, parent: int) -> None:
        """Make the list, and what stands beside it."""
        look = self._look
        holder = box(look, parent, "clear")
        self.columns = Columns(look, holder, lambda _wide: 470, 230, 250, good=330)
        super().build(self.columns.main)
        self.at_rest = int(dpg.get_item_parent(self.list.holder) or 0)
        self.sheet = FlowList(look).build(self.columns.side)
        self._show()

    def above(self, parent: int) -> None:
        """The field; below it what belongs to documents, and what could not be done as asked."""
        look = self._look
        ask = f"{icon('funnel')}  Ask the library, then Enter      /"
        self.filter = text_field(look, parent, placeholder=ask, on_change=self.typed)
        line = self._documents = int(dpg.add_group(parent=parent))
        self.path = text_field(
            look, line, placeholder=f"{icon('plus')}  Add a file, folder or address, then Enter      N"
        )
        row = self._going = int(dpg.add_group(horizontal=True, parent=line, show=False))
        self.stop = Button(look, row, "Stop", self.ingest, icon="circle-stop", tip="What was taken in stays")
        self.bar = Progress(look, lowered(look, row, 11), width=110)
        self.progress = text(look, lowered(look, row, 7), "", "small", "muted", fit=END)
        self.add_remark(parent)

    # --- state ---

    def waits(self, _state: State) -> bool:
        """Never: it reads by itself what it shows."""
        return False

    def refresh(self, state: State) -> None:
        """Another home has another library; who was away may have taken documents in elsewhere."""
        other = state.home != self._home
        if other:
            self._home, self.missing, self.data = state.home, False, LibraryPage()
        if other or state.returns != self._returns:
            self.opened()

    def opened(self) -> None:
        """Look which documents there are."""
        self._returns = self._shell.state.returns
        self._call("The documents", documents, lambda found: self.put(documents=found.documents))

    def put(self, **parts: Any) -> None:
        """Exchange parts of the page, and show it."""
        self.data = replace(self.data, **parts)
        self._show(keep=True)

    def _show(self, keep: bool = False) -> None:
        self.arrange(keep)
        dpg.configure_item(self._documents, show=not self.asked and not self.missing)
        self._tell_chosen()

    def _tell_chosen(self) -> None:
        rows = [] if self.missing else sheet(self.data)
        beside = bool(rows or self.list.rows)
        if self.columns.shown != beside:
            self.columns.show(beside)
        if rows != self.sheet.rows:
            self.sheet.set_rows(rows)

    def _call(self, name: str, ask: Callable[[Workspace], Any], done: Callable[[Any], object]) -> None:
        """Ask the library on its worker; an answer for another home is put aside."""
        workspace, home = self._shell.workspace, self._shell.state.home
        self._waits += 1

        def after(call: Callable[[Any], object], answer: Any) -> None:
            self._waits -= 1
            if home == self._shell.state.home:
                call(answer)
            self._show(keep=True)

        self._shell.submit(name, lambda _job: ask(workspace), partial(after, done), failed=partial(after, self._failed),
                           lane=LIBRARY)  # fmt: skip

    def _failed(self, error: ErrorInfo) -> None:
        """Missing packages are told in the place of the rows; that there is no library yet is no error here."""
        if error.code == MISSING:
            self.missing = True
        elif error.code != "no-library":
            self._shell.error(error)

    def rows(self) -> Sequence[FlowRow]:
        made = [] if self.missing else everything(self.data)
        return made if self.asked else matching(made, self.words)  # a question filters nothing

    @property
    def asked(self) -> bool:
        """Whether answers stand in the list."""
        return self.data.answered is not None

    def teach(self) -> str:
        if self.missing:
            return "missing"
        if self._waits:
            return "waiting"
        if self.asked:
            return "nothing"
        return "asks" if self.data.documents else "documents"

    # --- keys and choosing ---

    def press(self, key: str, typing: bool) -> bool:
        """Enter in a field does what the field is for."""
        adding = dpg.is_item_focused(self.path) and not self.asked  # a hidden one keeps what it was told last
        if key in ENTER and adding:
            self.ingest()
        elif key in ENTER and dpg.is_item_focused(self.filter):  # Enter has taken the keyboard from it, not the focus
            dpg.focus_item(self.at_rest)
            self.ask(str(dpg.get_value(self.filter)))
        elif typing and key == "Esc" and adding:
            dpg.focus_item(self.at_rest)
        else:
            return super().press(key, typing)
        return True

    def do(self, key: str) -> bool:
        """Keys beside those of a row, which are in ACTION_KEYS."""
        if key == "N":
            self.begin_add()
        return key == "N"

    def typed(self, words: str) -> None:
        """Other words: a filter; a question waits for Enter."""
        self.words = words
        if not self.asked:
            self._show()

    def clear(self) -> None:
        """The documents instead of answers."""
        if self.asked:
            self.data = replace(self.data, answered=None, said={}, chosen=None)
            self.list.selected = None
            self.tell(())
        super().clear()
        self._show()

    def select(self, row: FlowRow) -> None:
        """Show what belongs to it at the right."""
        self.data = replace(self.data, chosen=row.key)
        self._tell_chosen()

    def act(self, name: str, row: FlowRow) -> None:
        document = next((one for one in self.data.documents if one["id"] == row.key), None)
        if name in OUTCOME_LOOKS:
            self.mark(name, str(row.key))
        elif name == "undo":
            self.unmark(str(row.key))
        elif name in ("archive", "restore"):
            self._set_status(name, str(row.key))
        elif name == "open" and document is not None:
            self._shell.open_path(str(document["path"]))
        elif document is not None:
            self._shell.copy(str(document["path"]))
        else:
            self._shell.copy(dossier_text(self.data.dossier) if self.data.dossier is not None else row.text)

    # --- find and say ---

    def ask(self, query: str) -> None:
        """Retrieve; the answer to the last question is shown."""
        if not query.strip():
            return
        self._asked += 1
        mine, session = self._asked, self._session
        self.words = query
        dpg.set_value(self.filter, query)

        def done(found: Any) -> None:
            if mine != self._asked:
                return
            dossiers = found.retrieved.dossiers
            self._recorded = {}
            self.data = replace(self.data, answered=found, said={},
                                chosen=dossiers[0].chunk.id if dossiers else None)  # fmt: skip
            self.list.selected = self.data.chosen
            told = f"{count(len(dossiers), 'passage')} for {task_words(found.retrieved.task_type)}"
            self.tell(found.warnings or (told,), calm=not found.warnings)

        self._call("The question", lambda workspace: library_retrieve(workspace, query, session=session), done)

    def mark(self, outcome: str, chunk: str) -> None:
        """Record how a passage served. The same outcome twice counts once, and another one replaces it."""
        found = self.data.answered
        if found is None or self.data.said.get(chunk) == outcome:
            return
        retrieved, session = found.retrieved, self._session
        before, instead, recorded = self.data.said, self._recorded.get(chunk, ""), self._recorded
        self.put(said={**before, chunk: outcome})

        def record(workspace: Workspace) -> Any:
            try:
                done = library_record(workspace, session, [chunk], retrieved.task_type, outcome, retrieval=retrieved.id,
                                      context="the panel")  # fmt: skip
                if instead:
                    library_record(workspace, undo=instead)
            except KnowledgeError:
                self._look.jobs.post(lambda: self.put(said=before))
                raise
            return done

        def done(made: Any) -> None:
            recorded[chunk] = made.traces[0].id
            looks = OUTCOME_LOOKS[outcome]
            self._shell.toast(f"Recorded: {outcome}", icon=looks.icon, color=looks.color, seconds=2.5)

        self._call("The outcome", record, done)

    def unmark(self, chunk: str) -> None:
        """Take back what was said of a passage since the question was asked."""
        trace = self._recorded.pop(chunk, "")
        if not trace:
            return

        def done(_trace: Any) -> None:
            self.put(said={one: outcome for one, outcome in self.data.said.items() if one != chunk})
            self._shell.toast("Taken back: it counts no more", icon="undo-2", seconds=2.5)

        self._call("The outcome", lambda workspace: library_record(workspace, undo=trace), done)

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

        def ended() -> None:
            self.job = None
            dpg.configure_item(self._going, show=False)
            dpg.set_value(self.progress, "")

        def failed(error: ErrorInfo) -> None:
            self._failed(error)
            self._show(keep=True)

        def done(report: Any) -> None:
            skipped = sum(report.skipped.values())
            parts = [f"{number:,} {what}" for what, number in report.counts.items() if number] or ["nothing new"]
            parts += [f"{report.unchanged:,} unchanged"] if report.unchanged else []
            parts += [f"{skipped:,} left out"] if skipped else []
            parts += ["stopped before the rest"] if report.stopped else []
            self._shell.toast(f"Documents: {', '.join(parts)}")
            if report.errors:
                self._shell.error(report.errors[0])
            else:
                dpg.set_value(self.path, "")
            self.tell((*report.warnings, *(str(one) for one in report.errors[1:])))
            self.opened()

        def report(news: Any) -> None:
            self.bar.set(news.done / news.total if news.total else 0.0)
            dpg.set_value(self.progress, f"{news.done:,} of {news.total:,}  {news.name}")

        self.bar.set(0.0)
        dpg.configure_item(self._going, show=True)
        self.job = self._shell.submit(
            "Taking documents in",
            lambda job: library_ingest(workspace, [path], progress=job.report, cancelled=lambda: job.cancelled),
            done, first=ended, failed=failed, progress=report, lane=INGEST,
        )  # fmt: skip

    def _set_status(self, act: str, which: str) -> None:
        command = library_remove if act == "archive" else library_restore

        def done(changed: Any) -> None:
            other = "restore" if act == "archive" else "archive"
            self._shell.toast(f"{'Archived' if act == 'archive' else 'Brought back'}: {changed.title}", action="Undo",
                              on_action=lambda: self._set_status(other, changed.id))  # fmt: skip
            self.opened()

        self._call("The document", lambda workspace: command(workspace, which), done)
