"""The evidence of whatever is selected: what became of it, and what can be done with it. It lies over the list, at the
right; nothing moves when it opens."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from core.commands.history.trash import trash_restore
from core.commands.panel.bullets import BulletView
from core.commands.panel.conversations import ConversationView
from core.commands.statements import Said
from core.conversations.readable import ReadableConversation
from gui.shell import Shell
from gui.state import NOTHING, Selection, State
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow, RowAction
from gui.toolkit.icons import icon as icon_of
from gui.toolkit.jobs import Job
from gui.toolkit.layout import box, spread
from gui.toolkit.letters import shortened
from gui.toolkit.theme import Look
from gui.toolkit.typeset import lettered
from gui.toolkit.widgets import Button, ButtonRow, copy_text, hint, say, say_hint, text
from gui.views.inspector.rows import BUTTONS, Page, leads_to, load, rows_of
from gui.views.knowledge_rows import act_of, change, select_added
from gui.views.list_view import the_same

FACTS = 3


class Inspector:
    """Shows `state.selected`, while something is."""

    name = "inspector"
    keys = (
        ("Alt+Up, Alt+Down", "Move in its list"),
        *((key, tip) for _, _, _, _, tip, key in BUTTONS.values()),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.page: Page | None = None
        self._shown: Selection = NOTHING
        self._seen: tuple[object, ...] = ()
        self._ticket = 0
        self._job: Job | None = None

    def build(self, parent: int) -> None:
        """Make everything once: every kind of thing uses the same items."""
        look = self._look
        self._full = box(look, parent, "clear", show=False)
        head, close = spread(look, self._full)
        self.close = Button(look, close, "", self._shell.select, icon="x", kind="ghost", tip="Close", shortcut="Esc")
        self._icon = text(look, head, "", "heading", "accent")
        self._title = text(look, head, "", "heading", wrap=True)
        self._title_tip = hint(look, self._title, "")
        self._path = copy_text(look, self._full)
        self._body = text(look, self._full, "", wrap=True)
        self._facts = [text(look, self._full, "", "small", "muted", wrap=True) for _ in range(FACTS)]
        self._warning = int(dpg.add_group(horizontal=True, parent=self._full))
        text(look, self._warning, icon_of("triangle-alert"), "text", "edited")
        self._warning_text = text(look, self._warning, "", "text", "edited", wrap=True)
        rows = [int(dpg.add_group(horizontal=True, parent=self._full)) for _ in range(2)]
        self.buttons = {
            name: Button(look, rows[number], label, self._shell.in_order(partial(self.act, name)), icon=picture,
                         kind=kind, tip=tip, shortcut=key)
            for name, (number, label, picture, kind, tip, key) in BUTTONS.items()
        }  # fmt: skip
        self._rows = [
            ButtonRow(look, self._full, [self.buttons[name] for name, one in BUTTONS.items() if one[0] == number])
            for number in range(2)
        ]
        self.list = FlowList(
            look, actions=(RowAction("copy", "copy", "Copy"),), on_select=self._follow, on_open=self._open_row,
            on_action=lambda _name, row: self._shell.copy(row.text),
        ).build(box(look, self._full, "clear"))  # fmt: skip

    def refresh(self, state: State) -> None:
        """Read what is selected when that, or the store, is another one than before."""
        seen = (state.selected, state.snapshot, state.data)
        if the_same(seen, self._seen):
            return
        self._seen = seen
        if state.selected.kind in ("", "source"):  # a source stands in its own view
            self._show(None)
            self._shown = NOTHING
            return
        self._read(state)

    def press(self, key: str, typing: bool) -> bool:
        """Alt with the arrows moves in the inspector, with a letter it presses one of its buttons; the other keys
        belong to the view."""
        if typing or not key.startswith("Alt+") or self.page is None:
            return False
        able = next((name for name, row in BUTTONS.items() if row[5] == key and name in self.page.can | {"copy"}), "")
        if able:
            self.act(able)
            return True
        return self.list.press(key.removeprefix("Alt+"))

    # --- what is shown ---

    def _read(self, state: State) -> None:
        self._ticket += 1
        ticket, core, selected = self._ticket, self._shell.workspace, state.selected
        overview = state.snapshot.overview if state.snapshot is not None else None
        file = overview.file(selected.key) if overview is not None and selected.kind == "file" else None

        def finish(page: Page) -> None:
            same, self._shown = self._shown == selected, selected
            self._show(page, same)

        def failed(error: ErrorInfo) -> None:
            finish(Page("circle-alert", "failed", "This cannot be shown", selected.key, warning=str(error)))

        if self._job is not None:
            self._job.cancel()  # whoever walks through a list waits for the last row alone
        self._job = self._shell.submit("What is selected", lambda _: load(core, selected, file), finish, failed=failed,
                                       wanted=lambda: ticket == self._ticket)  # fmt: skip

    def _show(self, page: Page | None, same: bool = False) -> None:
        if page == self.page:
            return
        self.page = page
        dpg.configure_item(self._full, show=page is not None)
        if page is None:
            return
        look = self._look
        dpg.set_value(self._icon, icon_of(page.icon))
        look.tint(self._icon, page.color)
        dpg.set_value(self._title, lettered(shortened(page.title)))
        say_hint(self._title_tip, page.title)
        say(self._path, page.path)
        say(self._body, lettered(page.body))
        for item, words in zip_longest(self._facts, page.facts[:FACTS], fillvalue=""):
            say(int(item), lettered(str(words)))
        dpg.set_value(self._warning_text, page.warning)
        dpg.configure_item(self._warning, show=bool(page.warning))
        for name, button in self.buttons.items():
            button.show(name in page.can or name in ("open", "copy"))
        self.buttons["open"].enable("open" in page.can)
        self.buttons["copy"].set_label(page.copied)
        for row in self._rows:
            row.fit()
        if not same:
            self.list.select(None, scroll=False)
        self.list.set_rows(rows_of(page), keep_place=same)
        if page.at is not None and not same:
            self.list.select(page.at)

    def _follow(self, row: FlowRow) -> None:
        """A row leads on: an item to its bullet, a harvest to its conversation, a note to its line."""
        wanted = leads_to(self.page.subject if self.page is not None else None, row.key)
        if wanted is not None:
            self._shell.select(wanted.kind, wanted.key, wanted.line, wanted.raw)

    def _open_row(self, row: FlowRow) -> None:
        """A double click on what was said, or on a quote, opens the reader there."""
        page = self.page
        if page is None or page.reading is None or not isinstance(row.key, tuple):
            return
        if row.key[0] == "turn":
            self._shell.on_read(replace(page.reading, turn=int(row.key[1]) + 1))
        elif row.key[0] == "item" and isinstance(page.subject, ReadableConversation):
            self._shell.on_read(replace(page.reading, turn=page.subject.items[int(row.key[1])].turn))
        elif row.key[0] == "proof":
            self._shell.on_read(page.reading)

    # --- what can be done ---

    def act(self, name: str) -> None:
        """Do what one of `BUTTONS` stands for."""
        page, shell = self.page, self._shell
        if page is None or name not in page.can | {"copy"}:
            return
        if name == "copy":
            shell.copy(page.copy, "On the clipboard")
        elif name == "harvest":
            shell.run("harvest")
        elif name == "read":
            if page.reading is not None:
                shell.on_read(page.reading)
        elif name == "show":
            shell.show(self._shown.home)
        elif name == "open":
            self._open(page.subject)
        elif name == "from":
            shell.select("conversation", page.subject.conversation)
        elif name == "restore":
            shell.write(
                "Restoring the conversation",
                lambda workspace: trash_restore(workspace, page.subject.trash),
                said=f"{shortened(page.subject.name)} is back in its place",
            )
        else:
            self._change(name, page.subject)

    def _open(self, subject: Any) -> None:
        """Open its file, that of a fact at its line."""
        knowledge, shell = self._shell.workspace.paths.knowledge, self._shell
        if isinstance(subject, ReadableConversation):
            shell.open_path(subject.path.partition("#")[0])
        elif isinstance(subject, ConversationView):
            shell.open_path(subject.now)
        elif isinstance(subject, BulletView):
            shell.open_path(subject.path)
        else:
            shell.open_path(str(knowledge / self._shown.key))

    def _change(self, name: str, view: BulletView) -> None:
        found = view.found
        if found is not None:
            said, act = act_of(name, Said(found, view.others), view.sha256)
            follow = partial(select_added, self._shell, line=found.bullet.line) if name == "strike" else None
            change(self._shell, said, act, f"{said}: {shortened(found.bullet.text)}", follow)
