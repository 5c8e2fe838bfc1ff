"""What a view may ask of the panel (state, work, speaking to the user), and what a view looks like.

**What a view looks like.** Views never know each other, nor the panel: they ask the shell, which also has what another
view gathered (`state.of(name)`).

A new view is a file in `gui/views/` and one row in `gui/workbench.py`.

A view is a class of this shape (all on the interface thread, except `gather`):

    class KnowledgeView(View):
        name = "knowledge"                   # what `shell.show` and `State.view` call it
        @staticmethod
        def gather(workspace, before): ...   # optional; on a worker: read what the view shows, return plain frozen data
        def __init__(self, look, shell): ... # keep both; make no item yet
        def build(self, parent): ...         # once: make every item inside `parent`, a child window that is shown and
                                             # hidden by the panel; `look.follow(parent, fit)` tells its size
        def refresh(self, state): ...        # set values from `state`; makes no item. Called after a change of state
                                             # while the view is open, and whenever it is opened. Cheap when nothing
                                             # it shows is new: compare `state.of(self.name) is self._seen`
        def waits(self, state): ...          # optional: whether it has nothing to show yet, and "Loading…" stands there
                                             # instead; without it, until there is a snapshot
        def opened(self): ...                # optional: it was opened, or asked for again: give its field the keyboard
        def press(self, key, typing): ...    # a key that no dialog took: "Down", "Enter", "Delete", "Ctrl+Z"; `typing`
                                             # tells that a text field has the keyboard (then leave plain keys alone).
                                             # True when used. Number keys and shortcuts of the panel come after it.
        keys = (("N", "Write a bullet"), )   # optional: those keys with what they do, for the keys dialog
        is_editing, is_asking                # optional: a text is written in it; or a question of it is open

A view may have a `side`: an object with `build`, `refresh`, shown in the left column while the view is open. The
evidence (`gui/views/inspector/`) shows `state.selected` over the list.

**Reading.** `gather(workspace, before)` runs after every change on disk, after every edit and harvest; `before` is what
it returned last (None at first): return that very object when nothing has changed, so that nothing is drawn again. An
exception or a KnowledgeError from it becomes a sentence at the top of the middle. What is wanted for one selection only
(a conversation's turns, the text of a source file) is read on demand with `shell.submit`.

**Writing.** `shell.write(name, act, ...)` runs `act(workspace)`, a command of `core/commands`, on the worker, with the
sha256 of what was seen. On success the store is gathered again and `said` appears as a toast, with Undo when the answer
has a `run`. On failure `failed(error)` is called, or the error stands at the top of the middle; "changed-outside" also
gathers again, so that the user sees what is there now. Until a write has been read back keys wait by themselves; an
act by mouse begins with `if shell.defers(again): return`, else it would be refused as if another had changed the
file. What is edited in the place of its row: gui/views/editing.py.

**Choices.** `shell.choice(name)` remembers a word between starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Unpack

import dearpygui.dearpygui as dpg

from core.base.figures import count
from core.base.markdown import split_provenance
from core.base.result import ErrorInfo, Ok, Result
from core.commands.history.runs import EDIT_RUN
from core.commands.settings import config_set, settings_to_open
from core.commands.workspace import Workspace
from gui.state import NOTHING, History, Selection, State, Step
from gui.toolkit.dialogs import Question
from gui.toolkit.jobs import Job, Worker
from gui.toolkit.letters import shortened
from gui.toolkit.messages import Toast, ToastLook
from gui.toolkit.outside import open_outside
from gui.toolkit.theme import Look

QUICK, GATHER, RUN, COMPARE, READ, INDEX = "quick", "gather", "run", "compare", "read", "index"
LIBRARY, INGEST = "library", "ingest"
NAMED = 60
"""This many characters of a line a toast names."""
LONGEST_SECONDS = 6.0
"""A reading that takes longer, or fails, holds nobody up for ever: then the file itself tells whether it is another."""
LANES = (QUICK, GATHER, RUN, COMPARE, READ, INDEX, LIBRARY, INGEST)
"""Workers: single edits and small reads; the gathering of the store; harvests; comparing; whole conversations; the
index of conversations; questions to the library; documents that it takes in. None waits for another."""


class Shell:
    """One for a panel. Everything here is for the interface thread; the work that is submitted runs elsewhere."""

    def __init__(self, look: Look, workspace: Workspace) -> None:
        self.look = look
        self.workspace = workspace
        self.state = State(home=str(workspace.paths.home))
        self.actions: dict[str, Action] = {}
        self.scale = 0.0
        """The scale that the user has chosen, 0 for none; to be remembered."""
        self.choices: dict[str, str] = {}
        self._chosen: dict[str, Selection] = {}  # view -> what was selected when it was left
        self.on_refresh: Callable[[], object] = lambda: None
        self.use_home: Callable[[Workspace], object] = lambda _: None
        self.on_next_reading: list[Callable[[], object]] = []
        self.on_banner: Callable[[ErrorInfo, str, Callable[[], object] | None], object] = lambda *_: None
        self.on_refused: Callable[[], object] = lambda: None
        self.on_read: Callable[[Reading], object] = lambda _: None
        self.on_success: Callable[[str], object] = lambda _name: None
        self.layers: list[Callable[[str, frozenset[str], bool], bool]] = []
        self.at_end: list[Callable[[], object]] = []
        """What ends threads that a view has begun; windows made with `look.own` are deleted with the look."""
        self.search_place = 0  # where the field of the search stands: in the header, where there is one
        self.dirty = True
        self.history = History()
        self._workers = {lane: Worker(look.jobs, f"knowledge-{lane}") for lane in LANES}
        self._open_writes, self._written_until = 0, 0.0
        self._deferred: list[Callable[[], object]] = []

    # --- state ---

    def change(self, **parts: Any) -> None:
        """Exchange parts of the state (fields of `State`); the open view is refreshed with the next frame."""
        self.state = replace(self.state, **parts)
        self.dirty = True
        self.look.jobs.wake()

    def put(self, data: Mapping[str, Any]) -> None:
        """Exchange what views have gathered, by their names."""
        self.change(data={**self.state.data, **data})

    def select(self, kind: str = "", key: str = "", line: int = 0, raw: str = "") -> None:
        """Show the evidence of something; see `Selection` for what the words mean. Without words, none."""
        self.change(selected=Selection(kind, key, line, raw))

    def show(self, view: str) -> None:
        """Open a view by its name. What was selected goes with the view that is left, unless the other one shows such
        things (`Selection.home`), and comes back with it: the inspector never speaks of what is not in sight."""
        before, selected = self.state.view, self.state.selected
        if view != before:
            self._chosen[before] = selected
            if selected.home != view:
                selected = self._chosen.get(view, NOTHING)
        self.change(view=view, selected=selected)

    def forget_selections(self) -> None:
        """For another home, where none of them is; nor is what was done in this one."""
        self._chosen.clear()
        self.history.clear()

    def read(self, key: str = "", name: str = "", turn: int = 0, words: str = "") -> None:
        """Open the reader on a conversation; see `Reading`."""
        self.on_read(Reading(key, name, turn, words))

    def refresh(self) -> None:
        """Gather the store again, soon; several wishes become one."""
        self.on_refresh()

    def choice(self, name: str) -> str:
        """A remembered word, "" for none; `self.choices[name] = …` remembers another."""
        return self.choices.get(name, "")

    # --- work ---

    def submit(
        self,
        name: str,
        work: Callable[[Job], Any],
        done: Callable[[Any], object],
        *,
        failed: Callable[[ErrorInfo], object] | None = None,
        progress: Callable[[Any], object] | None = None,
        lane: str = QUICK,
        wanted: Callable[[], bool] = lambda: True,
        first: Callable[[], object] = lambda: None,
    ) -> Job:
        """Run `work(job)` on a worker; `done` gets its value, or `failed` its error (an exception comes as one), which
        else stands below the middle. Neither hears of an answer that is not `wanted()` any more; `first()` is called
        before either. `name` begins a sentence: "The notes of app.py". Use `self.workspace` as it is when you submit,
        not inside the work."""

        def ended(result: Result[Any]) -> None:
            if not wanted():
                return
            first()
            if isinstance(result, Ok):
                done(result.value)
            else:
                (failed or self.error)(result.error)

        return self._workers[lane].submit(name, work, ended, progress)

    def write(
        self,
        name: str,
        act: Callable[[Workspace], Any],
        *,
        done: Callable[[Any], object] | None = None,
        failed: Callable[[ErrorInfo], object] | None = None,
        said: str = "",
        remember: bool = True,
    ) -> Job:
        """Run a command that changes the store; see the top of this file. `done` gets the value of its `Ok`. Until it
        has been read back the keys wait, and what asks `defers`. An edit comes into the `history` of the window,
        unless `remember` is false: then `done` sees to that."""
        workspace = self.workspace
        self._open_writes += 1
        self._written_until = time.monotonic() + LONGEST_SECONDS

        def refused(error: ErrorInfo) -> None:
            self._read_back()
            self.on_refused()
            (failed or self.error)(error)
            if error.code == "changed-outside":
                self.refresh()

        def finish(value: Any) -> None:
            warning = str(getattr(value, "warning", "") or "")
            run = str(getattr(value, "run", "") or "")
            if remember and run.startswith(EDIT_RUN):
                self.history.did(Step(lambda: self.undo(run), run))
            if warning:
                self.toast(warning, icon="triangle-alert", color="edited")
            elif said:
                undo = (lambda: self.undo(run)) if run else None
                self.toast(said, action="Undo" if run else "", on_action=undo)
            self.on_success(name)
            self.on_next_reading.append(self._read_back)
            self.refresh()
            if done is not None:
                done(value)

        return self.submit(name, lambda _job: act(workspace), finish, failed=refused)

    def in_order(self, act: Callable[..., object]) -> Callable[..., object]:
        """`act` as something that waits until the edit before it has been read back: for a click on a button."""

        def run(*words: Any) -> object:
            return self.defers(lambda: act(*words)) or act(*words)

        return run

    @property
    def settling(self) -> bool:
        """Whether something was written here that is not yet shown. A command carries the sha256 of the file as it was
        seen: between a write and the next reading of the store that is the one before the write, and the next act would
        be refused as if somebody else had changed the file."""
        if self._open_writes and time.monotonic() > self._written_until:
            self._open_writes = 1
            self._read_back()
        return self._open_writes > 0

    def _read_back(self) -> None:
        """A write has been read back, or nothing was written; after the last one what had to wait is done."""
        self._open_writes = max(0, self._open_writes - 1)
        if not self._open_writes:
            calls, self._deferred = self._deferred, []
            for call in calls:
                self.look.jobs.post(call)

    def defers(self, call: Callable[[], object]) -> bool:
        """True while an edit has not been read back: `call` is made then, and is done to the file as it is."""
        if self.settling:
            self._deferred.append(call)
            return True
        return False

    def undo(self, run: str, done: Callable[[Any], object] | None = None, of: Workspace | None = None) -> Job:
        """Take back one run (a harvest or a single edit) and say what came of it; `of` another home than is shown."""
        from core.commands.history.undo import undo

        def finish(report: Any) -> None:
            out, back = report.lines_out, report.lines_back
            moved = next((row for row in report.edits if row["out"] or row["back"]), None)
            kept = next((row for row in report.edits if row["stayed"]), None)
            if moved is not None:
                words = f"Took back: {_named(moved['out'] or moved['back'], moved['file'])}"
                self.history.went_back(Step(lambda: self.redo(run), run), run)
                self._follow(moved["file"], moved["out"], moved["back"])
                self.toast(words, icon="undo-2", action="Do again", on_action=lambda: self.redo(run))
            elif kept is not None:
                words = f"This has changed since, so it stays as it is: {_named(kept['stayed'], kept['file'])}"
                self.history.drop(run)
                self.error(ErrorInfo("changed-since", words, "", "edit it as it is now"))
            elif report.already or report.run.startswith(EDIT_RUN):
                self.history.drop(run)
                words = "This was taken back already, or is gone from the file: nothing was changed"
                self.toast(words, icon="info", color="accent")
            else:
                stayed = len(report.stayed)
                parts = [f"{count(out, 'line')} taken out of the files"] if out or not back else []
                parts += [f"{count(back, 'line')} came back"] if back else []
                parts += [f"{stayed} stayed, changed since"] if stayed else []
                words = f"Taken back: {', '.join(parts)}"
                self.toast(words, icon="undo-2")
            if report.errors:
                self.error(report.errors[0])
            if done is not None:
                done(report)

        return self.write(f"Undo of {run}", lambda shown: undo(of or shown, run), done=finish, remember=False)

    def redo(self, run: str) -> Job:
        """Make an edit again that was taken back."""
        from core.commands.history.undo import redo

        def finish(value: Any) -> None:
            self.history.went_on(Step(lambda: self.undo(value.run), value.run), run)
            row = value.edits[0]
            self._follow(row["file"], row["out"], row["in"])
            words = f"Done again: {_named(row['in'] or row['out'], row['file'])}"
            self.toast(words, icon="redo-2", action="Undo", on_action=lambda: self.undo(value.run))

        def failed(error: ErrorInfo) -> None:
            if error.code in ("changed-since", "not-undone", "missing"):
                self.history.drop(run)
            self.error(error)

        name = f"Doing {run} again"
        return self.write(name, lambda workspace: redo(workspace, run), done=finish, failed=failed, remember=False)

    def _follow(self, file: str, gone: Sequence[str], come: Sequence[str]) -> None:
        """A bullet stays selected under the words that it has after a step back, or forth."""
        selected = self.state.selected
        if selected.key == file and selected.raw in gone and len(gone) == len(come):
            self.select(selected.kind, selected.key, selected.line, come[gone.index(selected.raw)])

    def change_setting(
        self,
        key: str,
        value: str,
        before: str,
        said: Callable[[str], str],
        failed: Callable[[ErrorInfo], object],
        done: Callable[[str], object] = lambda _value: None,
        way: Callable[[Step, str], object] | None = None,
    ) -> None:
        """Write one setting (`value` and `before` as `config_set` reads them), with the sha256 of the file that was
        seen, as a step of the window's history. `said(value)` is what the toast says, `done(value)` hears of it;
        `way` where the step goes, for one that is taken back or done again."""
        if self.defers(lambda: self.change_setting(key, value, before, said, failed, done, way)):
            return
        history, snapshot = self.history, self.state.snapshot
        seen = snapshot.settings_sha if snapshot is not None and snapshot.settings_sha else None
        other = history.went_back if way is None or way == history.went_on else history.went_on

        def finish(_settings: object) -> None:
            run = f"setting {key}"
            step = Step(lambda: self.change_setting(key, before, value, said, failed, done, other), run)
            if way is None:
                history.did(step)
            else:
                way(step, run)
            back = way == history.went_back
            self.toast(said(value), action="Do again" if back else "Undo", on_action=step.act)
            done(value)

        self.write(key, lambda workspace: config_set(workspace, key, value, seen), done=finish, failed=failed)

    def take_back(self) -> None:
        """Take back what was done last in this window: nothing that another window or program has written."""
        self._step(self.history.done, "Nothing was done in this window that can be taken back")

    def do_again(self) -> None:
        """Do again what was taken back last in this window."""
        self._step(self.history.taken_back, "Nothing was taken back in this window")

    def _step(self, steps: list[Step], none: str) -> None:
        if self.defers(lambda: self._step(steps, none)):
            return
        if steps:
            steps[-1].act()
        else:
            self.toast(none, icon="info", color="accent", seconds=3.0)

    def open_settings(self) -> None:
        """Open the user's own settings file; the first time it is made."""
        workspace = self.workspace
        self._opening("the settings file", lambda: open_outside(str(settings_to_open(workspace))))

    def open_path(self, path: str, line: int = 0) -> None:
        """Open a file in the system's editor (at a line, where that can be), or a folder in its file browser."""
        self._opening(path, lambda: open_outside(path, line))

    def _opening(self, what: str, act: Callable[[], str]) -> None:
        def opened(name: str) -> None:
            self.toast(f"Opened {name}", icon="external-link", color="accent", seconds=2.5)

        self.submit(f"Opening {what}", lambda _job: act(), opened)

    def copy(self, words: str, what: str = "Copied") -> None:
        """Put words on the clipboard and say so."""
        dpg.set_clipboard_text(words)
        self.toast(what, icon="copy", color="accent", seconds=2.0)

    def run(self, action: str) -> bool:
        """Do a named action of the panel (`harvest`, `refresh`, `view.knowledge`, `palette`); False: there is none."""
        row = self.actions.get(action)
        if row is not None:
            self.look.jobs.attempt(row.act)
        return row is not None

    def add_action(self, name: str, words: str, icon: str, act: Callable[[], object], shortcut: str = "") -> None:
        """One more thing that can be done from everywhere."""
        self.actions[name] = Action(name, words, icon, act, shortcut)

    # --- speaking to the user ---

    def toast(self, words: str, **how: Unpack[ToastLook]) -> None:
        """A short message at the lower right."""
        self._toast.show(words, **how)

    def error(self, error: ErrorInfo, action: str = "", on_action: Callable[[], object] | None = None) -> None:
        """An error as a sentence below the middle, with the way out as a button; what was cancelled is none."""
        if error.code != "cancelled":
            self.on_banner(error, action, on_action)

    def ask(
        self, title: str, words: str, confirm: str, on_confirm: Callable[[], object], *, kind: str = "primary"
    ) -> None:
        """A modal question that says what will happen (`words`, several lines are fine); `kind` is primary or danger.

        Esc cancels; Enter confirms what is not a danger. `on_confirm()` is called for a yes, nothing for a no.
        """
        self._question.ask(title, words, confirm, on_confirm, kind)

    # --- for the panel ---

    def build(self, at_foot: Callable[[], int] = lambda: 0) -> None:
        """Make the toast and the question; once, after the root. `at_foot` is what the toast stays above."""
        self._toast = Toast(self.look, at_foot)
        self._question = Question(self.look)
        self.layers.append(self._question.dialog.key)

    def busy(self) -> tuple[Job, ...]:
        """Every job whose answer has not come yet."""
        return tuple(job for worker in self._workers.values() for job in worker.open_jobs)

    def dispose(self, timeout: float = 10.0) -> bool:
        """Cancel every job and wait for the workers; True when all have ended."""
        for call in self.at_end:
            call()
        for worker in self._workers.values():
            worker.cancel_all()
        end = time.monotonic() + timeout
        ended = [worker.dispose(max(0.1, end - time.monotonic())) for worker in self._workers.values()]
        return all(ended)


def _named(lines: Sequence[str], file: str) -> str:
    """The first of some lines and the file that it is in."""
    text = split_provenance(str(lines[0]).strip().removeprefix("- "))[0]
    text = shortened(text, NAMED)
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    return f"'{text}'{more} in {file}"


@dataclass(frozen=True)
class Reading:
    """A conversation that somebody wants to read: by the `key` of its ledger entry, or by the `name` that search and
    provenances tell. `turn` is the one to begin with, from 1 (0: the first), `words` what is looked for in it."""

    key: str = ""
    name: str = ""
    turn: int = 0
    words: str = ""


@dataclass(frozen=True)
class Action:
    """Something that a user can do anywhere in the panel: in the search, by a shortcut, from a button.

    `name` is dotted (`harvest`, `view.files`, `digest.toggle`); `words` say what it does; `shortcut` is how its key is
    written, "" for none.
    """

    name: str
    words: str
    icon: str
    act: Callable[[], object]
    shortcut: str = ""


class Column(Protocol):
    """The left column of a view."""

    def build(self, parent: int) -> object: ...
    def refresh(self, state: State) -> object: ...


class View:
    """A view that has nothing of its own: what each of these is, stands at the top of this file."""

    name: str
    keys: tuple[tuple[str, str], ...] = ()
    gather: Callable[[Workspace, Any], Any] | None = None
    side: Column | None = None

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell

    def build(self, parent: int) -> object:
        raise NotImplementedError

    def refresh(self, state: State) -> object:
        raise NotImplementedError

    def waits(self, state: State) -> bool:
        return state.snapshot is None

    def opened(self) -> None:
        return

    def press(self, key: str, typing: bool) -> bool:
        return False

    @property
    def is_editing(self) -> bool:
        return False

    @property
    def is_asking(self) -> bool:
        return self.is_editing
